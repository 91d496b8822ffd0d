/* SPDX-License-Identifier: BSD-3-Clause */
/* h5ex.h - the HDF5 exerciser: n-dimensional datasets, and the cost of each call around them */
#pragma once

#include "backends/session/session-array.h"
#include "base/shape/slab.h"
#include "base/stats.h"
#include "engine/program.h"

#define H5EX_ATTRS 64
#define H5EX_ATTR_BYTES 1024

struct h5ex_options {
    struct weir_run_options run; /* first: the engine reads it */
    const char *path;
    int dims, sizes;
    struct weir_optlist minels, bufmult, dimranks, fileblocks, filestrides;
    int64_t mem_block, mem_stride; /* elements */
    int64_t shift;                 /* ranks */
    int64_t max_check;             /* bytes, -1: no limit */
    bool collective_metadata, derived, attributes, independent, chunked, keep;
};

/* ---- h5ex-size.c: arithmetic without I/O ---- */

/* Tasks along each dimension; the last dimension varies fastest over the tasks. */
struct h5ex_grid {
    int dims, tasks;
    uint64_t ranks[WEIR_RANK_MAX];
    uint64_t
        asked; /* the product that was asked for; when it is not 'tasks', dimension 0 is divided */
};

/* The part of a task in each dimension: 'count' blocks of 'block' elements, each 'stride' after
 * the one before, together 'len' elements without the gaps. */
struct h5ex_part {
    int dims;
    uint64_t len[WEIR_RANK_MAX], block[WEIR_RANK_MAX], stride[WEIR_RANK_MAX], count[WEIR_RANK_MAX];
    bool odd[WEIR_RANK_MAX]; /* the block that was asked for does not divide the length */
    uint64_t elements;       /* without gaps */
};

/* One size of the sweep: what each rank has, and how it lies in file and memory. */
struct h5ex_size {
    struct h5ex_part file, packed, memory; /* in the file with gaps and without; in the buffer */
    bool mem_odd;
    uint64_t buffer;            /* elements of a rank with the gaps in memory */
    struct weir_shape shape[2]; /* of the datasets */
};

/* Make the grid of tasks; make a size. Local. 0, or -1 and err (WEIR_EUSAGE) with the option. */
int h5ex_grid_make(const struct h5ex_options *o, int tasks, struct h5ex_grid *g,
                   struct weir_err *err);
int h5ex_size_make(const struct h5ex_options *o, const struct h5ex_grid *g, int index,
                   struct h5ex_size *s, struct weir_err *err);

/* ---- the datasets ---- */

/* A slab of an array, and as many elements in the same order in memory. Element i of an array
 * (counted with the last dimension fastest) is the number i + 1 and a fraction for the
 * repetition: data show their place and their repetition. */
struct h5ex_elements {
    struct weir_shape array, memory;
    struct weir_slab slab, in_memory;
    void *buf;   /* memory */
    size_t size; /* bytes of an element */
    /* For elements that are larger than a double; NULL: an element is one double. make writes the
     * one with number 'at', whose value is 'value'. Its check is differs, which returns whether
     * it is wrong, and then its first wrong double in *got and the right one in *want. */
    void (*make)(void *element, uint64_t at, double value, int repetition);
    bool (*differs)(const void *element, uint64_t at, double value, int repetition, double *want,
                    double *got);
};

/* Elements that are not right. */
struct h5ex_wrong {
    uint64_t n;
    uint64_t at; /* number of the first in the array; UINT64_MAX: a byte between the elements */
    double want, got; /* of it */
};

enum h5ex_which { H5EX_DOUBLES, H5EX_RECORDS, H5EX_SETS };

/* A record of the compound one. */
struct h5ex_record {
    int32_t blocks, steps, nxb, nyb, nzb;
    double time, timestep;
};

/* One of the two: what this rank writes, what it reads, and the buffer of both. */
struct h5ex_set {
    enum h5ex_which which;
    struct weir_array_spec spec;
    struct h5ex_elements put, get;
    struct weir_memory gaps;          /* the buffer's, and */
    const struct weir_memory *memory; /* NULL where it has none */
    struct weir_str name;
    struct h5ex_wrong wrong; /* in this repetition */
};

/* h5ex-size.c: a set of 'rank' without buffer and name. Local. */
void h5ex_set_make(const struct h5ex_options *o, const struct h5ex_grid *g,
                   const struct h5ex_size *s, enum h5ex_which which, int rank, struct h5ex_set *d);

/* All local. Fill the slab's elements, and the gaps of memory with zeros. */
void h5ex_fill(const struct h5ex_elements *c, int repetition);

/* Fill memory with values that no element has, so that h5ex_check finds elements that were not
 * read and writes into the gaps. */
void h5ex_invalidate(const struct h5ex_elements *c);

/* Compare what was read into such memory, and add to *wrong. Runs at the speed of memory. */
void h5ex_check(const struct h5ex_elements *c, int repetition, struct h5ex_wrong *wrong);

/* Append where the first wrong element of an array is, and what is wrong: "element 1,2: expected 3,
 * found 0". */
void h5ex_describe_wrong(const struct h5ex_wrong *w, const struct weir_shape *array,
                         struct weir_str *out);

/* True when memory has gaps between the elements. */
bool h5ex_has_gaps(const struct h5ex_elements *c);

/* ---- the test ---- */

/* Each operation is timed by itself, in this order: name, function (h5ex-phases.c), the column that
 * has its time, when it is done, key, title. */
#define H5EX_OPERATIONS(X)                                                                         \
    X(FILE_CREATE, create_file, OPEN, ALWAYS, "fileCreate", "File creation")                       \
    X(GROUP_CREATE, create_group, GROUP, GROUPS, "groupCreate", "Group creation")                  \
    X(ATTR_WRITE, put_attrs, ATTR, ATTRIBUTES, "attributeWrite", "Attributes written")             \
    X(SET_CREATE, create_set, SET, ALWAYS, "datasetCreate", "Dataset creation")                    \
    X(WRITE, write_set, WRITE, ALWAYS, "write", "Dataset write")                                   \
    X(SET_CLOSE, close_set, OTHER, ALWAYS, "datasetCloseWritten", "Dataset close after write")     \
    X(FLUSH, flush_file, FLUSH, ALWAYS, "flushWritten", "Flush after write")                       \
    X(FILE_CLOSE, close_file, CLOSE, ALWAYS, "fileCloseWritten", "File close after write")         \
    X(FILE_OPEN, open_file, OPEN, ALWAYS, "fileOpen", "File open")                                 \
    X(GROUP_OPEN, open_group, GROUP, GROUPS, "groupOpen", "Group open")                            \
    X(ATTR_READ, get_attrs, NONE, ATTRIBUTES, "attributeRead", "Attributes read")                  \
    X(SET_OPEN, open_set, SET, ALWAYS, "datasetOpen", "Dataset open")                              \
    X(READ, read_set, READ, ALWAYS, "read", "Dataset read")                                        \
    X(READ_SET_CLOSE, close_set, OTHER, ALWAYS, "datasetCloseRead", "Dataset close after read")    \
    X(DERIVED_GROUP, create_group, GROUP, DERIVED_GROUPS, "derivedGroupCreate", "Compound: group") \
    X(DERIVED_CREATE, create_set, SET, DERIVED, "derivedCreate", "Compound: creation")             \
    X(DERIVED_WRITE, write_set, NONE, DERIVED, "derivedWrite", "Compound: write")                  \
    X(DERIVED_READ, read_set, NONE, DERIVED, "derivedRead", "Compound: read")                      \
    X(DERIVED_CLOSE, close_set, OTHER, DERIVED, "derivedClose", "Compound: close")                 \
    X(READ_FLUSH, flush_file, FLUSH, ALWAYS, "flushRead", "Flush after read")                      \
    X(READ_FILE_CLOSE, close_file, CLOSE, ALWAYS, "fileCloseRead", "File close after read")

#define H5EX_AS_NAME(op, f, col, n, k, t) H5EX_##op,
enum h5ex_op { H5EX_OPERATIONS(H5EX_AS_NAME) H5EX_OPS };

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

struct h5ex_test {
    const struct h5ex_options *o;
    const struct weir_backend *be;
    const char *path; /* the run's */
    struct weir_access access;
    struct weir_session session;
    struct h5ex_grid grid;
    struct h5ex_size size;
    struct h5ex_set set[H5EX_SETS];
    struct weir_array_file *file;
    struct weir_array *array;
    enum h5ex_op op[H5EX_OPS]; /* the operations of the phase that runs */
    int ops;
    uint64_t ns[H5EX_OPS]; /* of this rank in this repetition */
    bool has_failed; /* this rank, which the others do not know yet; and why */
    struct weir_err failure;
    /* Rank 0; of each repetition the slowest rank, in each operation and then in each column: ns,
     * bytes/s. */
    struct weir_series series;
    bool removes;         /* the file is of this test */
    uint64_t wrong_attrs; /* of this rank in this repetition */
};

/* h5ex-phases.c: the operations and the phases that are made of them. */
extern const struct weir_operation h5ex_operations[H5EX_OPS + 1];
extern const struct weir_phase h5ex_write_phase, h5ex_read_phase;
/* Make the file before the measurement, so that all measured creations do the same. Arguments
 * and result are those of 'before' of a stage. */
int h5ex_make_file(struct weir_run *run, void *state, const struct weir_stage *s,
                   struct weir_err *err);
/* Return the dataset of an operation. Local. */
struct h5ex_set *h5ex_set_of(struct h5ex_test *t, enum h5ex_op op);
/* True when the operation is a part of this test. */
bool h5ex_has(const struct h5ex_test *t, enum h5ex_op op);

/* h5ex-report.c: value i of all rows of a series in five numbers. Local. */
#define H5EX_DEVIATION WEIR_DEVIATION_POPULATION
enum { H5EX_MIN, H5EX_MED, H5EX_MAX, H5EX_AVG, H5EX_STD, H5EX_FIVES };
void h5ex_five(const struct weir_series *s, size_t i, double out[H5EX_FIVES]);

/* h5ex-report.c: what is shown. Collective over run->par. */
extern const struct weir_output h5ex_output;
int h5ex_report_repetition(struct weir_run *run, struct h5ex_test *t, struct weir_phase_rec *rec,
                           struct weir_err *err);
int h5ex_conclude(struct weir_run *run, void *state, struct weir_err *err);

/* h5ex.c */
extern const struct weir_program h5ex_program;
