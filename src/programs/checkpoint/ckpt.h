/* SPDX-License-Identifier: BSD-3-Clause */
/* ckpt.h - checkpoints of a climate model: fields of a cubed sphere, gathered to few writers
 * and written by these; read by few readers and scattered */
#pragma once

#include "backends/session/session-array.h"
#include "backends/session/session.h"
#include "base/stats.h"
#include "base/text/script.h"
#include "engine/program.h"
#include "par/group.h"

#define WEIR_CUBE_FACES 6

/* Six faces of im times im cells, stacked in y, with lm levels. Each face has nx times ny patches,
 * one for each rank, in rows; groups have whole rows. */
struct weir_cube {
    uint64_t im, lm;
    int nx, ny;
    int rows; /* of patches: 6 ny */
    int groups;
};

/* Cells from (x, y) on, in the field of im times 6 im cells. */
struct weir_box {
    uint64_t x, y, nx, ny;
};

/* The file of options that a program reads when it is there and none is named. */
#define CKPT_WRITE_SCRIPT "checkpoint_benchmark.rc"
#define CKPT_READ_SCRIPT "restart_benchmark.rc"

/* Options of checkpoint_simulator.x and restart_simulator.x. 'writers' are readers there,
 * 'barrier', 'whole' and 'moves' are READ_BARRIER, SCATTER_3D and DO_READS. */
struct ckpt_options {
    struct weir_run_options run; /* first: the engine reads it */
    const char *config, *api, *path, *other, *verify;
    struct weir_optlist sweep;
    int nx, ny, im, lm, writers, arrays;
    bool split, whole, barrier, random, constant, moves, suppressed, netcdf, binary, chunk,
        no_chunk;
    bool extra, collective, sync, keep_buffers;
};

#define CKPT_DEVIATION WEIR_DEVIATION_POPULATION
#define CKPT_ALIGN 4096 /* of buffers: enough for direct I/O */

/* Allocate memory for 'elements' numbers; the caller frees it. Untouched pages take no memory.
 * Local. Returns 0, or -1 and err. */
int ckpt_take(float **out, uint64_t elements, bool touched, struct weir_err *err);

enum ckpt_stage {
    CKPT_GATHER,
    CKPT_REORDER,
    CKPT_MOVE,
    CKPT_FLUSH,
    CKPT_LOOK, /* at a file, between open and work */
    CKPT_VERIFY,
    CKPT_STAGES
};

/* One trial. Seconds, bytes, bytes/s; NaN: not measured. */
struct ckpt_trial {
    int64_t test, trial, writers, bytes;
    double create, work, close, gather, gather_max, reorder, reorder_max, move, move_max, flush,
        flush_max, look_max, verify_max;
    double application, file_system;             /* as the wiki defines them */
    double application_whole, file_system_whole; /* with all parts of them */
};

/* The mark of the data in the fields of a file. Its members are the numbers of an attribute. */
struct ckpt_mark {
    int32_t form; /* 0: none of weir's */
    int32_t kind; /* values follow from the cell, or are the numbers of the writing ranks */
    int32_t nx, ny; /* of the run that wrote it */
};

struct ckpt {
    const struct ckpt_options *o;
    bool reads;
    bool moves; /* files are written or read */
    int number; /* of writers in this test */
    uint64_t begin_ns;
    struct weir_cube layout;
    const struct weir_backend *be;
    struct weir_backend_opt be_opt;
    struct weir_access access;
    uint64_t bytes; /* of all fields */
    /* from start to end */
    struct weir_leaders ranks;     /* groups; their leaders move files */
    struct weir_session session; /* of the movers */
    struct weir_patches patches;
    struct weir_box mine, block;
    uint64_t levels, steps;  /* of a step; of a variable */
    float *data;             /* of this rank: all levels of all variables */
    struct ckpt_mark mark;   /* what they are */
    float *got;              /* reading: what came back */
    float *rows;             /* reading, on movers: two rows of a plane */
    /* On movers, of a step: in rank order, in order of the file; may be the same. They are
     * those of the test, or new in each step. Then those of the test are used only when there
     * is no memory for new ones, because the other ranks wait for the step. */
    float *gathered, *field, *kept[2];
    uint64_t step_bytes; /* of each */
    struct weir_array_spec spec;
    struct weir_str name;
    bool removes; /* after a failure: the file is of this test */
    struct weir_array_file *file;
    struct weir_array **array;
    struct weir_slab slab;
    /* reading: what a look at the file of this rank's group has found */
    bool is_ours;
    struct weir_err look; /* why there could be none; code WEIR_OK: there was */
    int foreign;          /* files that weir has not written, the same on all ranks */
    uint64_t there, file_bytes; /* on movers, of a plain file: its bytes, and those of the arrays */
    /* of a trial */
    uint64_t ns[CKPT_STAGES];
    struct weir_err wrong;       /* of the first place with wrong data; code WEIR_OK: none */
    struct weir_stats series[4]; /* the rates of struct ckpt_trial, in MiB/s */
};

extern const struct weir_program ckpt_checkpoint, ckpt_restart;
extern const struct weir_opt ckpt_checkpoint_opts[], ckpt_restart_opts[];
extern const struct weir_stage ckpt_write_stages[], ckpt_read_stages[];

/* ---- ckpt-options.c ---- */

/* As weir_script_read for a file of lines KEY: value: each is handed on as a directive KEY=value,
 * and the file is one test. Empty lines and comments are skipped. A line without a colon, key or
 * value is refused. A note names the sizes that are missing: what is run is then another model.
 * Returns 0, or -1 and err (WEIR_EUSAGE) "FILE:LINE: ...". Local. */
int ckpt_read_config(const char *text, size_t len, const char *name,
                     const struct weir_script_sink *sink, struct weir_err *err);

/* ---- ckpt-data.c ---- */

/* The patch of a rank: parts of an edge differ by one cell at most, the longer ones first.
 * Local. */
void weir_cube_patch(const struct weir_cube *l, int rank, struct weir_box *out);

/* The rank whose patch has a cell. Local. */
int weir_cube_owner(const struct weir_cube *l, uint64_t y, uint64_t x);

/* The group of a rank; the first row of patches of a group; its cells. Groups differ by one row at
 * most. Local. */
int weir_cube_group_of(const struct weir_cube *l, int rank);
int weir_cube_row(const struct weir_cube *l, int group);
void weir_cube_group(const struct weir_cube *l, int group, struct weir_box *out);

/* The value of a cell on a plane (a level, whichever way the caller numbers them): in [0, 1), the
 * same however the field is cut. Local. */
float weir_cube_value(const struct weir_cube *l, uint64_t plane, uint64_t y, uint64_t x);

/* Copy between the patches of a group, in rank order and each with its levels, and the block of the
 * group, levels slowest. Local. */
void weir_cube_reorder(const struct weir_cube *l, int group, uint64_t levels, float *patches,
                       float *block, bool to_block);

/* Fill t->data as the options say. Local. */
void ckpt_fill(struct ckpt *t);

/* Writers: record in a new file what its fields hold. Collective over the session. */
int ckpt_put_mark(struct ckpt *t, struct weir_err *err);

/* After the first open for reading: find who wrote the file and what is in it, and set t->data to
 * that. Collective over run->par. */
void ckpt_scan(struct weir_run *run, struct ckpt *t);

/* After the first trial: note what ckpt_scan has found. Collective over run->par. */
void ckpt_note_scan(struct weir_run *run, struct ckpt *t);

/* Return whether what was read was verified: "yes", "no" or "partly". Local. */
const char *ckpt_verified(const struct ckpt *t);

/* The data of a step on this rank. Local. */
static inline float *ckpt_patch(const struct ckpt *t, uint64_t i)
{
    return t->data + i * t->levels * t->mine.nx * t->mine.ny;
}

/* Compare what was read in a step with its data, where that is wanted and possible. Local. */
void ckpt_verify(struct ckpt *t, struct weir_run *run, uint64_t i);

/* ---- ckpt-report.c ---- */

extern const struct weir_output ckpt_output;
int ckpt_report_trial(struct weir_run *run, void *state, const struct weir_stage *stage,
                      struct weir_phase_rec *rec, struct weir_err *err);
int ckpt_conclude(struct weir_run *run, void *state, struct weir_err *err);

/* ---- raw_bw.x, gatherv.x and combo.x (parts.c): the parts of a checkpoint alone ---- */

#define PARTS_DEVIATION WEIR_DEVIATION_SAMPLE

enum parts_kind { PARTS_RAW, PARTS_GATHERV, PARTS_COMBO };

struct parts_options {
    struct weir_run_options run; /* first: the engine reads it */
    const char *api, *type;
    int nx, levels, writers;
    bool keep_buffers;
};

struct parts {
    const struct parts_options *o;
    enum parts_kind kind;
    uint64_t total, packet, part; /* elements of all, of a writer, of a rank */
    const struct weir_backend *be;
    struct weir_backend_opt be_opt;
    struct weir_access access;
    struct weir_leaders ranks;     /* groups with a writer each */
    struct weir_session session; /* of the writers */
    struct weir_patches patches;
    float *mine;
    float *received;    /* on the first rank of a group; see gather */
    float *packet_data; /* on writers */
    struct weir_str name;
    bool is_new; /* no other file has this name */
    uint64_t ns[2]; /* of a try: gather, write */
    struct weir_stats gather, write, both;
};

/* ckpt-report.c: as in struct weir_program. */
extern const struct weir_output parts_output;
int parts_conclude(struct weir_run *run, void *state, struct weir_err *err);

extern const struct weir_program parts_raw, parts_gatherv, parts_combo;
