/* SPDX-License-Identifier: BSD-3-Clause */
/* h5ex.h - the HDF5 exerciser: n-dimensional datasets, and the cost of each call around them */
#ifndef WEIR_DRIVERS_H5EXERCISER_H5EX_H
#define WEIR_DRIVERS_H5EXERCISER_H5EX_H

#include "backends/session-array.h"
#include "base/cells.h"
#include "engine/driver.h"

#define H5EX_ATTRS 64
#define H5EX_ATTR_BYTES 1024

struct h5ex_options {
    struct weir_run_options run; /* first: the engine reads it */
    const char *api, *path;
    int dims, sizes;
    struct weir_optlist minels, bufmult, dimranks, fileblocks, filestrides;
    int64_t mem_block, mem_stride; /* elements */
    int64_t shift;                 /* ranks */
    int64_t max_check;             /* bytes, -1: no limit */
    bool collective_metadata, derived, attributes, independent, chunked, keep;
};

/* ---- h5ex-size.c: arithmetic without I/O ---- */

/* How the ranks divide the dimensions. */
struct h5ex_grid {
    int dims, tasks;
    uint64_t ranks[WEIR_RANK_MAX];
    uint64_t
        asked; /* the product that the options have; another one than tasks: dimension 0 is divided */
};

/* One size of the sweep: what each rank has, and how it lies in file and memory. */
struct h5ex_size {
    uint64_t len[WEIR_RANK_MAX]; /* elements of a rank in each dimension */
    uint64_t block[WEIR_RANK_MAX], stride[WEIR_RANK_MAX], count[WEIR_RANK_MAX]; /* in the file */
    bool odd[WEIR_RANK_MAX]; /* the block that was asked for does not divide the extent */
    uint64_t mem_block, mem_stride, mem_count;
    bool mem_odd;
    uint64_t elements, buffer;       /* of a rank: without and with the gaps in memory */
    struct weir_shape shape, packed; /* of the dataset with its gaps, and without */
};

/* Both local. Return 0, or -1 and err (WEIR_EUSAGE) that names the option. */
int h5ex_grid_make(const struct h5ex_options *o, int tasks, struct h5ex_grid *g,
                   struct weir_err *err);
int h5ex_size_make(const struct h5ex_options *o, const struct h5ex_grid *g, int index,
                   struct h5ex_size *s, struct weir_err *err);

/* ---- the datasets ---- */

enum h5ex_which { H5EX_DOUBLES, H5EX_RECORDS, H5EX_SETS };

/* A record of the compound one. */
struct h5ex_record {
    int32_t blocks, steps, nxb, nyb, nzb;
    double time, timestep;
};

extern const struct weir_type h5ex_types[H5EX_SETS];

/* One of the two: what this rank writes, what it reads, and the buffer of both. */
struct h5ex_set {
    enum h5ex_which which;
    struct weir_array_spec spec;
    struct weir_cells put, get;
    struct weir_memory gaps; /* the buffer's, where it has gaps */
    struct weir_str name;
    struct weir_cells_wrong wrong; /* in this repetition */
};

/* h5ex-size.c: a set of 'rank' without buffer and name. Local. */
void h5ex_set_make(const struct h5ex_options *o, const struct h5ex_grid *g,
                   const struct h5ex_size *s, enum h5ex_which which, int rank, struct h5ex_set *d);

/* ---- the test ---- */

/* Each operation is timed by itself, in this order. */
enum h5ex_op {
    H5EX_FILE_CREATE,
    H5EX_GROUP_CREATE,
    H5EX_ATTR_WRITE,
    H5EX_SET_CREATE,
    H5EX_WRITE,
    H5EX_SET_CLOSE,
    H5EX_FLUSH,
    H5EX_FILE_CLOSE,
    H5EX_FILE_OPEN,
    H5EX_GROUP_OPEN,
    H5EX_ATTR_READ,
    H5EX_SET_OPEN,
    H5EX_READ,
    H5EX_READ_SET_CLOSE,
    H5EX_DERIVED_GROUP,
    H5EX_DERIVED_CREATE,
    H5EX_DERIVED_WRITE,
    H5EX_DERIVED_READ,
    H5EX_DERIVED_CLOSE,
    H5EX_READ_FLUSH,
    H5EX_READ_FILE_CLOSE,
    H5EX_OPS
};

/* Columns of the table in their order; times are sums of operations. */
enum h5ex_column {
    H5EX_COL_WRITE,
    H5EX_COL_WRITE_RATE,
    H5EX_COL_READ,
    H5EX_COL_READ_RATE,
    H5EX_COL_SET,
    H5EX_COL_GROUP,
    H5EX_COL_ATTR,
    H5EX_COL_OPEN,
    H5EX_COL_CLOSE,
    H5EX_COL_FLUSH,
    H5EX_COL_OTHER,
    H5EX_COLS,
    H5EX_COL_NONE = H5EX_COLS
};

/* A repetition: the slowest rank, of each operation and then of each column. ns; bytes/s. */
struct h5ex_sample {
    double v[H5EX_OPS + H5EX_COLS];
};

struct h5ex_test {
    const struct h5ex_options *o;
    const struct weir_backend *be;
    const char *path; /* the run's */
    struct weir_access access;
    struct weir_session session;
    struct h5ex_grid grid;
    struct h5ex_size size;
    struct h5ex_set set[H5EX_SETS];
    char *attrs;
    struct weir_array_file *file;
    struct weir_array *array;
    enum h5ex_op turn[H5EX_OPS]; /* the operations of the phase that runs */
    int turns;
    uint64_t ns[H5EX_OPS];      /* of this rank in this repetition */
    struct h5ex_sample *sample; /* rank 0 */
    int samples, room;
    uint64_t wrong_attrs, wrong_sum; /* of this rank in this repetition; of all in the test */
    bool complete;
};

/* h5ex-ops.c: the operations and the phases that are made of them. */
extern const struct weir_operation h5ex_operations[H5EX_OPS + 1];
extern const struct weir_phase h5ex_write_phase, h5ex_read_phase;
enum h5ex_column h5ex_column_of(enum h5ex_op op);
/* The dataset that it is about. Local. */
const struct h5ex_set *h5ex_set_of(const struct h5ex_test *t, enum h5ex_op op);
/* Is the operation a part of this test? */
bool h5ex_has(const struct h5ex_test *t, enum h5ex_op op);

/* h5ex-report.c: what is shown. Collective over run->par but for banner (run->world). */
void h5ex_banner(struct weir_run *run, struct weir_test *tests, int n, int argc, char *const *argv);
int h5ex_report_test(struct weir_run *run, void *state, struct weir_err *err);
int h5ex_report_repetition(struct weir_run *run, struct h5ex_test *t, struct weir_err *err);
int h5ex_conclude(struct weir_run *run, void *state, struct weir_err *err);
void h5ex_finish(struct weir_run *run, const struct weir_test *tests);

/* h5ex.c */
extern const struct weir_opt h5ex_rows[];
extern const struct weir_driver h5ex_driver;

#endif
