/* SPDX-License-Identifier: BSD-3-Clause */
/* mc.h - checkpoints of models: each rank of a training job saves its parts of the tensors, and the
 * checkpoint is published as a whole. The ranks of the same or of another shape load it and verify it */
#pragma once

#include <string.h>

#include "backends/session/queue.h"
#include "base/data/damage.h"
#include "engine/program.h"
#include "par/group.h"
#include "programs/model_checkpoint/mc-shape.h"

struct mc_options {
    struct weir_run_options run; /* first: the engine reads it */
    const char *path, *model, *scale, *preset, *play, *dtype, *optimizer, *layout;
    const char *save, *load, *read_back, *packet;
    int tp, pp, dp, ep, zero, load_tp, load_pp, load_dp, load_ep, keep, every;
    int64_t align, transfer, sieve;
    double compute_s;
    bool list, broadcast, remove;
};

#define MC_MODEL "llama3-8b" /* where --model is not given */

/* The index of an operation in the table of the program. */
enum mc_operation { MC_WRITE, MC_READ, MC_COPY, MC_PUBLISH, MC_REMOVE };

enum mc_layout {
    MC_TORCH,    /* a file a rank */
    MC_MEGATRON, /* a file for each tensor-parallel part of each stage */
    MC_DEEPSPEED, /* parameters as MC_MEGATRON, the optimizer in a file a rank */
    MC_SHARED,   /* one file */
    MC_ARRAYS,   /* one file of arrays */
    MC_LAYOUTS
};
extern const char *const mc_layout_names[]; /* in that order; end with NULL */

#define MC_ARRAYS_FILE "checkpoint.arrays"
#define MC_ARRAYS_ALIGN 64 /* of parts of arrays in memory */
#define MC_REGIONS 2 /* of a rank: parameters, or all; and the optimizer */
#define MC_FILE_TEXT 64
#define MC_LINE 256 /* bytes of a line of a table of contents */

/* The part of a file that one rank writes: a table of contents of 'head' bytes, then its parts of tensors, all at
 * multiples of the alignment. bytes: of both. */
struct mc_region {
    char file[MC_FILE_TEXT];
    int rank;
    uint64_t at, head, bytes, file_bytes, lines;
    bool has_toc; /* loading: its table of contents was read, */
    uint64_t toc; /* into the memory of the rank from here on */
};

/* Job, layout and alignment, from which the places of parts in files follow (arrays: in memory). */
struct mc_form {
    const struct mc_job *job;
    enum mc_layout layout;
    uint64_t align;
};

/* One transfer. */
struct mc_move {
    int region;    /* saving: of this rank; loading: of the checkpoint */
    uint32_t part; /* of the list of parts; saving: only of arrays */
    uint64_t at, len; /* bytes of it; saving: from the begin of what is written together */
    uint64_t off;     /* in the file */
    uint64_t memory;  /* loading, and arrays: in the memory of the rank */
};

/* Parts of tensors, and what is to be moved. Release with mc_plan_free. */
struct mc_plan {
    struct mc_part *part;
    struct mc_move *move;
    size_t parts, moves, part_capacity, move_capacity;
};

/* A checkpoint as its metadata describe it. Release with mc_meta_free. */
struct mc_meta {
    char *text;        /* all of it */
    const char *dtype, *optimizer, *api; /* api: of the backend that saved it */
    const char *packet; /* --dataPacketType of the run that saved it; NULL: none */
    struct weir_pattern data; /* of it */
    struct mc_job job;
    struct weir_arena arena; /* of names in the job */
    int layout; /* enum mc_layout */
    int64_t step, sequence, ranks, align, bytes;
    int64_t first, last; /* ranks whose files there are */
    int64_t file_bytes;  /* of a file of arrays; 0: not known */
    struct mc_region *region; /* in the order of their ranks */
    int regions;
};

/* The state of a checkpoint by its name; objects without metadata: MC_STAGED. */
enum mc_name { MC_PUBLISHED, MC_STAGED, MC_REMOVED };

/* The contents of the place of checkpoints. Free 'at'. */
struct mc_found {
    struct mc_seen {
        enum mc_name what;
        int64_t step;
    } *at; /* those that are published, ascending, and what a run that was killed has left */
    size_t published, n, capacity;
    int64_t last; /* the highest step of any, -1: none */
};

/* A save or a load. Bytes, seconds; NaN: it has none. */
struct mc_row {
    const char *operation;
    int64_t test, iter, step, tasks, bytes;
    double rate, seconds, stall, copy, make, write, publish, remove, work;
    double slowest, slowest_rate, find, metadata;
    double asked, read, storage, amplification, opens, verify;
};

/* Results of all saves, or all loads: bytes/s, seconds; NaN: they have none. */
struct mc_series {
    const char *operation;
    struct weir_stats rate, seconds, stall, slowest, slowest_rate;
    double deviation; /* of the rates */
};

/* Memory, as large as was ever asked for: of a GPU, or for its copy pinned memory of the host. */
struct mc_memory {
    char *at;
    uint64_t capacity;
    struct weir_gpu *gpu; /* NULL: of the host */
    bool is_copy;
};

/* Saves: what this rank writes, and where (mc-region.c) */
struct mc_saving {
    uint64_t bytes; /* of the tensors that the tasks write; 0: of another job, and not yet known */
    uint64_t opens, files;     /* of all ranks */
    uint64_t once_bytes;       /* objects: of all files, or that loading each byte once reads, whichever is more */
    struct weir_leaders sharers; /* the ranks that share the file of the first region */
    bool is_shared_upload;     /* objects: several of them write it */
    struct mc_region region[MC_REGIONS];
    int regions;
    struct mc_form form;
    struct mc_plan plan;
    /* while it is written (mc-save.c) */
    struct weir_file *file[MC_REGIONS];
    struct mc_writer *writer; /* while files are open, where it writes them; else NULL */
    uint64_t work_ns;         /* emulated work between two saves; 0 and async: as long as the save takes */
    uint64_t work_left_ns;    /* beside an asynchronous save */
    uint64_t make_ns, blocked_ns; /* of this rank: making the directory; work that stood still */
    struct mc_series series;
};

/* The checkpoint that is published by a save. */
struct mc_publication {
    int64_t first_step, first_sequence, step, sequence; /* of the first repetition; of this one */
    int64_t made_first;            /* step of the first one that this test has published; -1: none */
    int lock;                      /* descriptor of the directory; -1: none. Rank 0 */
    bool made_dir, is_staged;      /* by this test, and there. Rank 0 */
    struct weir_str staged, place; /* directories of the checkpoint that is saved; objects: the same */
    struct weir_str names; /* texts of metadata; removing: files on all ranks, each with its NUL */
};

struct mc_removal {
    struct weir_str gone; /* directories, each with its NUL */
    const char *next;     /* of this rank, in the names of files */
    int stays;            /* number of checkpoints that had foreign files */
};

/* Bytes in memory, and written, of the rank and of the node with the most. */
enum { MC_RANK_MEMORY, MC_RANK_WRITTEN, MC_NODE_MEMORY, MC_NODE_WRITTEN, MC_NEEDS };

/* The bytes, opens and time of a load on this rank. */
struct mc_use {
    uint64_t asked, read, opens, metadata_ns;
    uint64_t io_before; /* bytes from devices */
    bool io_known;
};

struct mc_loading {
    int place_of;    /* a rank: this one, or one of another node */
    int role, ranks; /* the rank of the shape that loads; -1: none; and all of them */
    struct mc_job job;
    int64_t step;
    double find_s;   /* search for it, and its metadata; of all ranks */
    unsigned states; /* that are loaded, a bit each */
    struct weir_str from;
    struct weir_leaders copies; /* --broadcast: ranks that need the same */
    struct mc_meta meta;
    struct mc_plan plan;
    struct mc_plan reads; /* its moves as they are read: neighbours in one transfer */
    size_t same;          /* of these, the first ones: read by one rank for all of 'copies' */
    uint64_t bytes;       /* of memory */
    struct weir_file *in;
    int in_region; /* whose table of contents was read last; -1: none */
    struct mc_use used;
    struct mc_series series;
};

struct mc_test {
    const struct mc_options *o;
    enum mc_layout layout;
    bool async;
    struct weir_arena arena;
    struct weir_str path; /* of mc_path */
    struct mc_job job;
    struct {
        int first, tasks; /* --play: the rank that the first task is; tasks 0: they are all ranks */
    } play;
    int64_t need[MC_NEEDS];
    struct weir_pattern data; /* that are saved */
    struct weir_access access;
    struct weir_session session;
    struct weir_queue queue;
    bool is_stored; /* the backend keeps files */
    bool is_objects; /* which are objects */
    const struct mc_store *store;
    /* the state of the training on this rank, of a save as its regions are, of a load as it was read; and its copy */
    struct mc_memory memory, copy;
    struct mc_row row; /* of the save of this repetition */
    struct {
        struct weir_array_file *file;
        struct weir_array **array; /* by state and tensor */
    } arrays;                      /* MC_ARRAYS: saving and loading */
    struct mc_saving save;
    struct mc_publication pub;
    struct mc_removal removal;
    struct mc_loading load;
};

extern const struct weir_opt mc_opts[];

/* ---- mc-data.c: the bytes of tensors ---- */

/* The data of a save. */
struct mc_data {
    int64_t sequence;        /* its number */
    struct weir_ratio ratio; /* zeros: words that do not repeat */
};

/* len bytes of a part from byte 'at' of it on; zeros after its end. They are the same however the tensor is divided.
 * Local. */
void mc_data_fill(const struct mc_part *p, const struct mc_data *d, uint64_t at, void *buf, uint64_t len);

/* Compare, with the zeros after its end. Returns whether all are right; else *wrong is the first wrong byte of the part, and *kind what it
 * is. Local, without allocation. */
bool mc_data_check(const struct mc_part *p, const struct mc_data *d, uint64_t at, const void *buf, uint64_t len,
                   uint64_t *wrong, enum weir_damage *kind);

/* ---- mc-region.c: what a rank writes, and where ---- */

/* The region of a rank in which a state is. */
static inline int mc_region_of(enum mc_layout layout, enum mc_state state)
{
    return layout == MC_DEEPSPEED && state != MC_PARAMETER;
}

/* True for the region of the optimizer's state, which --layout=deepspeed has apart. */
static inline bool mc_region_is_second(const struct mc_region *r)
{
    return strncmp(r->file, "optimizer-", 10) == 0;
}

/* Append the table of contents of a region: r->head bytes, with which r->rank of the job begins it. Local.
 * Returns 0, or -1 and err: no memory. */
int mc_region_head(const struct mc_form *form, const struct mc_region *r, struct weir_str *out, struct weir_err *err);

/* Fill the form, regions and plan of t->save. Collective over run->par. Returns 0, or -1 and err
 * on every rank. */
int mc_regions_begin(struct weir_run *run, struct mc_test *t, struct weir_err *err);
void mc_plan_free(struct mc_plan *p);
/* The geometry with which the file of a region is opened to be saved. Local. */
struct weir_extent mc_region_extent(const struct mc_test *t, int k);

/* Add a part; then what is to be moved of its bytes from 'begin' up to 'end' in pieces of 'most'. off: of its first
 * byte in the file. Local. Returns 0, or -1 and err: no memory. */
int mc_plan_part(struct mc_plan *p, const struct mc_part *part, struct weir_err *err);
int mc_plan_moves(struct mc_plan *p, int region, uint32_t part, uint64_t begin, uint64_t end, uint64_t off,
                  uint64_t most, struct weir_err *err);

/* A way through the parts of a region in the order of its table of contents. */
struct mc_walk {
    struct mc_form form;
    const struct mc_region *r;
    bool is_at; /* there is a part, at 'off' in the file, */
    struct mc_part part;
    uint64_t off, bytes; /* with its bytes up to the next one */
    struct mc_parts it;
};

void mc_walk_begin(struct mc_walk *w, const struct mc_form *form, const struct mc_region *r);
/* Go on to the next part, at first to the first one. False: there are no more; 'off' is the end of
 * the last. */
bool mc_walk_next(struct mc_walk *w);
/* Go on to the part of this state and tensor, from the end to the begin; *off: where it begins in its file. Local. False: the
 * region does not have it. */
bool mc_walk_to(struct mc_walk *w, const struct mc_part *p, uint64_t *off);

/* ---- mc-meta.c: the file that is written last ---- */

/* The text of a checkpoint that this test saves; on rank 0. Collective over run->par. Returns 0, or -1 and err on
 * every rank. */
int mc_meta_write(struct weir_run *run, struct mc_test *t, struct weir_str *out, struct weir_err *err);

/* Read metadata; text belongs to *m then, also after an error. Local. Returns 0, or -1 and err
 * (WEIR_EDATA) that names the line. */
int mc_meta_read(struct mc_meta *m, char *text, size_t len, const char *path, struct weir_err *err);
void mc_meta_free(struct mc_meta *m);

static inline struct mc_form mc_meta_form(const struct mc_meta *m)
{
    return (struct mc_form) { &m->job, (enum mc_layout)m->layout, (uint64_t)m->align };
}

/* ---- mc-place.c: the place of checkpoints. Local, for rank 0 ---- */

#define MC_METADATA "metadata"

/* The storage of checkpoints, and what publishes one: in directories of the system their new name, on objects the metadata,
 * which are put last. Functions are local, for rank 0 (unlink: for all); they return 0, or -1 and err (WEIR_EIO,
 * WEIR_ESETUP). */
struct mc_store {
    /* take, make and rmdir may be NULL: there is nothing to do.
     * Before the first save: make the place, and let no other job save there, as far as that is possible. */
    int (*take)(struct mc_test *t, struct weir_err *err);
    /* Take the names in the checkpoint 'of'; NULL: in the place of checkpoints. Objects have all
     * of their name there ("checkpoint-00000001/metadata"), one checkpoint after the other. Names
     * but those of regular files end with a '/'; a checkpoint that cannot be read has that name
     * alone. A missing place has none. */
    int (*list)(struct mc_test *t, const char *of, weir_name_fn *take, void *mine,
                struct weir_err *err);
    /* Free space for the files of the next checkpoint, at t->pub.staged. */
    int (*make)(struct mc_test *t, struct weir_err *err);
    /* All files are complete: now there is a checkpoint, with t->pub.names as its metadata. */
    int (*publish)(struct mc_test *t, struct weir_err *err);
    /* From here on it is none any more, whatever happens. */
    int (*withdraw)(struct mc_test *t, const char *from, const char *to, struct weir_err *err);
    /* Remove a file, and directories around removed files. A missing one is no error. */
    int (*unlink)(struct mc_test *t, const char *path, struct weir_err *err);
    int (*rmdir)(struct mc_test *t, const char *path, struct weir_err *err);
    /* Append the text of metadata. */
    int (*read)(struct mc_test *t, const char *path, struct weir_str *text, struct weir_err *err);
};

/* Find what keeps the checkpoints of this backend, for t->store. Local. -1 and err (WEIR_EUSAGE): nothing does. */
int mc_place_store(struct mc_test *t, const struct weir_backend *be, struct weir_err *err);

extern const struct mc_store mc_directories; /* mc-directories.c */
extern const struct mc_store mc_objects;     /* mc-objects.c */

/* Append the path of a checkpoint in this state; objects have one for all. */
void mc_place_name(const struct mc_test *t, enum mc_name what, int64_t step, struct weir_str *out);
/* The path of a file of a checkpoint, until the next call. Local. NULL and err (WEIR_ESETUP): no memory. */
const char *mc_path(struct mc_test *t, const char *dir, const char *file, struct weir_err *err);
/* Add the paths of checkpoints in all states. As 'add' of struct weir_test_files. */
int mc_place_files(const void *opt, int tasks, struct weir_files *files, struct weir_err *err);
/* Find existing checkpoints under our names, in order. -1 and err; free f->at in both cases. */
int mc_place_scan(struct mc_test *t, struct mc_found *f, struct weir_err *err);

/* Append the paths of the files of a checkpoint, each with its NUL, in the order of their removal:
 * the metadata first, so that what is left is no checkpoint. Sets *ours to false when something
 * there is not ours, or cannot be read. -1 and err. */
int mc_place_list(struct mc_test *t, const char *path, struct weir_str *out, bool *ours,
                  struct weir_err *err);

/* Remove a checkpoint, unless other files are in it (*stays). 0, or -1 and err (WEIR_EIO). */
int mc_place_remove(struct mc_test *t, const char *path, bool *stays, struct weir_err *err);

/* ---- mc-save.c, mc-publish.c, mc-load.c: what the stages do ---- */

typedef int mc_after_fn(struct weir_run *run, void *state, const struct weir_stage *stage, struct weir_phase_rec *rec,
                        struct weir_err *err);

extern const struct weir_phase mc_copy, mc_save, mc_publish, mc_remove, mc_load;
extern weir_stage_fn mc_compute, mc_before_copy, mc_before_save, mc_before_publish, mc_before_remove, mc_before_load;
extern mc_after_fn mc_after_copy, mc_after_save, mc_after_publish, mc_after_remove;

/* Make a transfer, or begin it where there is a queue. *clock_ns as in weir_transfer. Local. Returns 0, or -1 and err. */
int mc_transfer(struct weir_run *run, struct mc_test *t, struct weir_file *f, const struct weir_io *io, uint64_t *clock_ns,
                struct weir_err *err);

/* Get memory of at least 'bytes' bytes; old contents are lost. Local. Returns 0, or -1 and err (WEIR_ESETUP). */
int mc_memory_take(struct mc_memory *m, uint64_t bytes, struct weir_err *err);

/* Before the first save: take the place, remove what a killed run has left, and choose the step. Collective. Returns
 * 0, or -1 and err on every rank. */
int mc_publish_begin(struct weir_run *run, struct mc_test *t, struct weir_err *err);
/* After a failure: as clean of struct weir_test_files. */
void mc_clean(struct weir_run *run, void *state);

/* Choose the rank whose part each rank loads, by --read-back; before the first load.
 * Collective. Returns 0, or -1 and err on every rank. */
int mc_load_begin(struct weir_run *run, struct mc_test *t, struct weir_err *err);

/* Refuse a checkpoint that was saved with another layout, model or shape than the options describe
 * (t->load.meta); those that were not given describe nothing. Local. Returns 0, or -1 and err
 * (WEIR_EUSAGE). */
int mc_check_saved(const struct weir_values *given, const struct mc_test *t, struct weir_err *err);

/* The shape that loads, of a job of 'size' ranks, from that which was saved and the options:
 * t->load.job, t->load.states and t->load.ranks. Local. Returns 0, or -1 and err. */
int mc_load_shape(struct mc_test *t, const struct mc_job *saved, const char *dtype, const char *optimizer, int size,
                  struct weir_err *err);

/* Compare what was read, tables of contents, too, and the length of each file. Add the number of transfers, tables and files
 * that are wrong to *n. Local. Returns 0, or -1 and err, which describes the first of them, or what failed. */
int mc_load_verify(struct mc_test *t, uint64_t *n, struct weir_err *err);

/* ---- mc-need.c ---- */

/* Write the lines of --list about the memory of a rank, of 'ranks' ranks, and about the preset.
 * Local. False: they cannot be written. */
bool mc_need_list(const struct mc_test *t, int ranks, FILE *to);
/* Fill t->need, before memory is taken or a file is made. Collective over par. Returns 0, or -1 and
 * err on every rank: a node has less memory (WEIR_ESETUP). */
int mc_need_check(struct weir_run *run, const struct weir_par *par, struct mc_test *t,
                  struct weir_err *err);

/* ---- mc-preset.c ---- */

/* --preset: set the options of the model that were not given. Local. Returns 0, or -1 and err
 * (WEIR_EUSAGE): the preset has no such model. */
int mc_preset_take(const struct weir_values *given, struct mc_options *o, struct weir_err *err);

/* Append a line about the size of the model here and in the preset, if there is one. */
void mc_preset_words(const struct mc_options *o, const struct mc_job *job, struct weir_str *out);

/* --play: choose t->play, the ranks of the job that the tasks are, of 'ranks' ranks. Local. Returns
 * 0, or -1 and err (WEIR_EUSAGE): they are not as many as the tasks, or not all there. */
int mc_play_read(const struct weir_par *world, struct mc_test *t, int64_t ranks,
                 struct weir_err *err);

/* ---- mc-arrays.c ---- */

/* Add a part and the transfers of its boxes, from *memory on, which grows by its bytes. Local. Returns 0, or -1 and err. */
int mc_arrays_plan(struct mc_plan *p, const struct mc_part *part, uint64_t *memory, struct weir_err *err);

/* Memory for the arrays of a save or a load, before its file is opened. Local. Returns 0, or -1 and err (WEIR_ESETUP). */
int mc_arrays_reserve(struct mc_test *t, bool saves, struct weir_err *err);
/* Make or open the file of the arrays; close it, which is harmless without one. Collective. Returns 0, or -1 and err. */
int mc_arrays_open(struct mc_test *t, bool saves, struct weir_err *err);
int mc_arrays_close(struct mc_test *t, struct weir_err *err);
/* A step: transfer i of the plan. Local. *clock_ns as in struct weir_phase. Returns 0, or -1 and err. */
int mc_arrays_move(struct weir_run *run, struct mc_test *t, bool saves, uint64_t i, uint64_t *clock_ns, struct weir_err *err);

/* ---- mc-report.c ---- */

extern const struct weir_output mc_output;
struct mc_row mc_row_of(const struct weir_run *run, const char *operation, int64_t step);
extern weir_stage_fn mc_saved;    /* a save is over: its row, and the work that is left */
extern mc_after_fn mc_after_load; /* a load is: verify it, and its row */
int mc_conclude(struct weir_run *run, void *state, struct weir_err *err);
