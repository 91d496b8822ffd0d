/* SPDX-License-Identifier: BSD-3-Clause */
/* mc-shape.h - a model, the ranks of a training job, and which bytes of which tensor each rank has. Numbers only:
 * everything here is local, and nothing needs memory or time in proportion to the number of ranks */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/shape/slab.h"
#include "base/str.h"

/* ---- a model (mc-model.c) ---- */

/* A transformer. Counts, but for the names. */
struct mc_model {
    const char *name;
    int64_t layers, hidden, heads;
    int64_t kv_heads;   /* heads of keys and values; FILE: 0 stands for as many as heads */
    int64_t head_dim;   /* elements of a head; FILE: 0 stands for hidden / heads */
    int64_t ffn;        /* width inside the feed-forward part, of one expert where there are some */
    int64_t vocabulary;
    int64_t vocabulary_multiple; /* the vocabulary is divided as if it were a multiple of this and of tp */
    int64_t positions;  /* learned positions; 0: none */
    int64_t experts;    /* of each layer; 0: the feed-forward part is dense */
    bool gated;         /* three matrices in the feed-forward part, not two */
    bool tied;          /* the output layer is the embedding */
    bool norm_bias, qkv_bias, bias; /* biases of norms; of queries, keys and values; of other linear layers */
};

/* The names of the rows of the table, ending with NULL. */
extern const char *const mc_model_names[];

/* The row of that name, in upper or lower case. Returns 0, or -1 and err (WEIR_EUSAGE: the nearest name). */
int mc_model_row(const char *name, struct mc_model *m, struct weir_err *err);

/* The model that a text describes in lines "key = value". file, before: for messages, its name and
 * the number of lines before the text. The arena owns the name of the model. Returns 0, or -1 and
 * err (WEIR_EUSAGE: names file, line and the nearest word). */
int mc_model_read(const char *text, size_t len, const char *file, int before,
                  struct weir_arena *arena, struct mc_model *m, struct weir_err *err);

/* Append the lines that mc_model_read reads. */
void mc_model_write(const struct mc_model *m, struct weir_str *out);

/* Scale the model to about a fraction of its parameters: "1/1000", "0.001". Layers, heads and experts stay, so there are as
 * many tensors and the same shapes are possible. The elements of a head, hidden, ffn, vocabulary and positions shrink by the
 * square root. Returns 0, or -1 and err (WEIR_EUSAGE). */
int mc_model_scale(struct mc_model *m, const char *scale, struct weir_err *err);

/* ---- tensors of a model (mc-tensors.c) ---- */

enum mc_section {
    MC_FIRST,  /* before the layers: on the first stage of the pipeline */
    MC_LAYER,
    MC_EXPERT, /* of a layer: for each expert */
    MC_LAST,   /* after the layers: on the last stage */
    MC_SECTIONS
};

#define MC_ROWS_MAX 20 /* of a section */

/* The rows of the table of tensors that a model has. */
struct mc_rows {
    int n[MC_SECTIONS];
    unsigned char row[MC_SECTIONS][MC_ROWS_MAX];
};

/* The division of a tensor among the ranks of a tensor-parallel group. */
enum mc_split {
    MC_WHOLE,      /* each has all of it */
    MC_ROWS,       /* column-parallel linear layers: outputs are rows */
    MC_COLUMNS,    /* row-parallel ones */
    MC_KV,         /* rows, as whole heads of keys or values; several ranks have the same where there are more ranks */
    MC_VOCABULARY, /* rows, as if their number were a multiple of vocabulary_multiple and tp */
};

/* One tensor of the model. */
struct mc_tensor {
    uint64_t number;
    enum mc_section section;
    enum mc_split split;
    int row;               /* in the section, of mc_rows */
    int64_t layer, expert; /* of its section; else 0 */
    int dims;
    uint64_t len[2]; /* a vector: the second is 1 */
};

void mc_rows_of(const struct mc_model *m, struct mc_rows *rows);

/* The number of tensors, of their elements (UINT64_MAX: as many or more), and one of them. */
uint64_t mc_tensors(const struct mc_model *m, const struct mc_rows *rows);
uint64_t mc_model_parameters(const struct mc_model *m);
void mc_tensor_get(const struct mc_model *m, const struct mc_rows *rows, enum mc_section section, int64_t layer,
                   int64_t expert, int row, struct mc_tensor *out);
void mc_tensor_at(const struct mc_model *m, const struct mc_rows *rows, uint64_t number, struct mc_tensor *out);
void mc_tensor_name(const struct mc_rows *rows, const struct mc_tensor *t, struct weir_str *out);

/* ---- a job (mc-job.c, mc-shape.c) ---- */

/* The numbers that are saved for each parameter. */
enum mc_state { MC_PARAMETER, MC_MASTER, MC_EXP_AVG, MC_EXP_AVG_SQ, MC_STATES };
#define MC_ONLY_PARAMETERS (1u << MC_PARAMETER)
#define MC_ALL_STATES ((1u << MC_STATES) - 1)

extern const char *const mc_dtype_names[], *const mc_optimizer_names[]; /* end with NULL */

struct mc_shape {
    int64_t tp, pp;
    int64_t dp; /* 0: what is left of the ranks */
    int64_t ep; /* number of data-parallel ranks over which experts are divided */
    int64_t zero;
    bool spread; /* what all data-parallel ranks have is written by all, each some whole tensors; else by the first */
};

struct mc_job {
    struct mc_model model;
    struct mc_shape shape;
    struct mc_rows rows;
    int bytes[MC_STATES]; /* of an element; 0: there is no such state */
};

/* Fill *job, and shape->dp where it is 0. dtype and optimizer: one of the names. Returns 0, or
 * -1 and err (WEIR_EUSAGE): what would be right for this model and this number of ranks. */
int mc_job_init(struct mc_job *job, const struct mc_model *m, const struct mc_shape *shape, const char *dtype,
                const char *optimizer, int ranks, struct weir_err *err);

static inline int64_t mc_job_ranks(const struct mc_job *job)
{
    return job->shape.tp * job->shape.pp * job->shape.dp;
}

/* Return the bytes of all tensors with all states; UINT64_MAX: more than that. */
uint64_t mc_job_bytes(const struct mc_job *job);

/* The place of a rank, in Megatron's order: rank = tp + TP * (dp + DP * pp). */
struct mc_place {
    int64_t tp, pp, dp, ep; /* ep is dp % EP */
};

struct mc_place mc_job_place(const struct mc_job *job, int rank);

/* The division of a tensor's slice, of a tensor-parallel rank of a stage, among the data-parallel
 * ranks with the same tensors. These are "copies": all dp ranks, of experts dp / ep. */
struct mc_share {
    bool divided;       /* ZeRO: copy c has the elements from c * chunk - before on, 'chunk' of them at most */
    uint64_t chunk, before;
    int64_t copies, writer; /* not divided: the copy that writes all */
    int dim;            /* which dimension the slices divide: */
    uint64_t step;      /* number of its elements in each, */
    int64_t repeat;     /* and number of tp ranks one after the other with the same slice */
};

/* A rank's part of one tensor in one state: of the elements of a box, in the order of the array, those from 'from' up to
 * 'to'. They lie together in files and in memory. */
struct mc_part {
    enum mc_state state;
    uint64_t tensor;  /* its number, the same in every shape; a rank has one part at most of a tensor and state */
    int elem, dims;   /* bytes of an element */
    uint64_t len[2];  /* of the whole tensor; a vector: the second is 1 */
    uint64_t start[2], count[2];
    uint64_t from, to; /* a range only where ZeRO divides; else all elements of the box */
    bool writes;       /* this rank writes it; otherwise another one does, which has the same */
};

static inline uint64_t mc_least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* n rounded up to a multiple of the alignment. */
static inline uint64_t mc_aligned(uint64_t n, uint64_t align)
{
    return (n + align - 1) / align * align;
}

static inline uint64_t mc_part_bytes(const struct mc_part *p)
{
    return (p->to - p->from) * (uint64_t)p->elem;
}

/* Return the stage of a tensor (of an embedding that the last stage has, too: the first). Then fill in how the slice of a
 * tensor-parallel rank of a stage is shared, and what a copy has of it, which may be nothing. */
int64_t mc_job_stage(const struct mc_job *job, const struct mc_tensor *t);
void mc_job_share(const struct mc_job *job, const struct mc_tensor *t, enum mc_state state, int64_t stage, int64_t tp,
                  struct mc_share *out);
void mc_job_part(const struct mc_job *job, const struct mc_tensor *t, enum mc_state state, const struct mc_share *share,
                 int64_t stage, int64_t tp, int64_t copy, struct mc_part *out);

/* Set *out to a whole tensor in one state. false: there is no such state or number. */
bool mc_job_whole(const struct mc_job *job, enum mc_state state, uint64_t tensor, struct mc_part *out);

/* Append the name of the tensor and state. */
void mc_part_name(const struct mc_job *job, const struct mc_part *p, struct weir_str *out);

/* The parts of a rank: parameters, then each state that 'states' has (a bit each), by layers. */
struct mc_parts {
    const struct mc_job *job;
    struct mc_place place;
    unsigned states;
    bool only_written;
    int state;
    uint64_t at, begin, end; /* the coming tensor, the first and one past the last of the stage */
};

void mc_parts_begin(struct mc_parts *it, const struct mc_job *job, int rank, unsigned states, bool only_written);
bool mc_parts_next(struct mc_parts *it, struct mc_part *out);

/* Return the bytes of these parts, each rounded up to the alignment. */
uint64_t mc_parts_bytes(const struct mc_job *job, int rank, unsigned states, bool only_written,
                        uint64_t align);

/* ---- another shape (mc-reshard.c) ---- */

/* A rank of the saved shape, its part, and how many bytes of this part are needed. */
struct mc_source {
    int rank;
    struct mc_part part;
    uint64_t bytes;
};

/* From where a rank gets a part: all sources in the saved shape, whose parts together have each byte once. */
struct mc_sources {
    const struct mc_job *saved;
    struct mc_part need;
    struct mc_tensor tensor;
    int64_t stage, repeat;  /* of the tensor; tensor-parallel ranks with the same slice */
    uint64_t slice, slices; /* the coming and one past the last in the tensor-parallel group */
    uint64_t copy, copies;  /* data-parallel ranks of this slice, likewise */
};

void mc_sources_begin(struct mc_sources *it, const struct mc_job *saved, const struct mc_part *need);
bool mc_sources_next(struct mc_sources *it, struct mc_source *out);

/* The pieces that two parts of one tensor and state have in common, in ascending order. */
struct mc_pieces {
    const struct mc_part *have, *need;
    uint64_t row, rows;     /* the coming and one past the last row of the tensor */
    uint64_t column, width; /* of it */
};

void mc_pieces_begin(struct mc_pieces *it, const struct mc_part *have, const struct mc_part *need);

/* len bytes are at *at_have of the bytes of one part, at *at_need of those of the other. false: there are no more. */
bool mc_pieces_next(struct mc_pieces *it, uint64_t *at_have, uint64_t *at_need, uint64_t *len);

/* A part as 1 to 3 boxes of the whole tensor, in the order of its bytes. Returns their number, 0 for an empty part. */
int mc_part_boxes(const struct mc_part *p, struct weir_slab out[3]);

/* ---- words (mc-list.c) ---- */

/* The tensors that a rank has, or writes. */
struct mc_sum {
    int64_t rank, tp, pp, dp, ep, tensors, largest; /* largest: bytes of the largest part */
    int64_t parameters, optimizer, bytes;           /* bytes */
};

void mc_sum_rank(const struct mc_job *job, int rank, bool only_written, struct mc_sum *out);

/* Write the text of --list: what each rank would write; details: each of its tensors, too. A rank at a time, so that a job of
 * any size needs no memory. False: it cannot be written. */
bool mc_list(const struct mc_job *job, bool details, FILE *to);
