/* SPDX-License-Identifier: BSD-3-Clause */
/* h5ex-report.c - what is shown: the lines and the table that parsers know, and all of it for programs */
#include "config.h"
#include "drivers/h5exerciser/h5ex.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/stats.h"
#include "engine/banner.h"
#include "engine/provenance.h"
#include "par/agree.h"

#define MIB 1048576.0
#define DATE "%Y-%m-%d %H:%M:%S"

/* A row of the table: one statistic of all columns. */
struct summary {
    const char *name;
    int64_t bytes;
    double col[H5EX_COLS];
};

/* One operation: in a repetition, and over all of them. */
struct over_all {
    const char *name, *side, *column;
    int64_t repetition;
    double rate, v[WEIR_FIVES]; /* bytes/s; ns, of one repetition the first */
};

struct space {
    int64_t dim, length, block, stride, count;
};

#define SECONDS(c, k, g)                                                                           \
    COL_REAL(struct summary, col[c], k, "Slowest task, seconds", .head = "",                       \
             .unit = WEIR_NS_PER_S, .width = 10, .prec = 6, .gap = (g))
#define RATE(c, k)                                                                                 \
    COL_REAL(struct summary, col[c], k, "Bytes of a task x tasks / time of the slowest, MiB/s",    \
             .head = "", .unit = MIB, .width = 12, .prec = 6, .gap = 1)

static const struct weir_col summary_cols[] = {
    COL_STR(struct summary, name, "statistic", "Of the repetitions", .head = "", .width = -9),
    COL_INT(struct summary, bytes, "bufferSize", "Bytes of a task in the dataset of doubles",
            .head = "", .width = 10, .gap = 1),
    SECONDS(H5EX_COL_WRITE, "write", 2),
    RATE(H5EX_COL_WRITE_RATE, "writeMiB"),
    SECONDS(H5EX_COL_READ, "read", 2),
    RATE(H5EX_COL_READ_RATE, "readMiB"),
    SECONDS(H5EX_COL_SET, "dataset", 1),
    SECONDS(H5EX_COL_GROUP, "group", 1),
    SECONDS(H5EX_COL_ATTR, "attribute", 1),
    SECONDS(H5EX_COL_OPEN, "fileOpen", 1),
    SECONDS(H5EX_COL_CLOSE, "fileClose", 1),
    SECONDS(H5EX_COL_FLUSH, "fileFlush", 1),
    SECONDS(H5EX_COL_OTHER, "otherClose", 0),
    WEIR_COL_END
};

static const struct weir_table summary_table = { .key = "summary",
                                                 .cols = summary_cols,
                                                 .readers = WEIR_FOR_ALL };

#define WORD(f, k, h) COL_STR(struct over_all, f, k, h)
#define ALL(f, k, h) COL_REAL(struct over_all, v[f], k, h, .unit = WEIR_NS_PER_S)
#define SPACE(f, h) COL_INT(struct space, f, #f, h)
#define NAMES                                                                                      \
    WORD(name, "operation", "Operation"),                                                          \
        WORD(side, "side", "In which half of a repetition: write or read"),                        \
        WORD(column, "column", "Key in the summary that shares its time, or none")

static const struct weir_col over_all_cols[] = {
    NAMES,
    ALL(WEIR_FIVE_MIN, "min", "Shortest time of the slowest task, seconds"),
    ALL(WEIR_FIVE_MED, "median", "Median, seconds"),
    ALL(WEIR_FIVE_MAX, "max", "Longest, seconds"),
    ALL(WEIR_FIVE_AVG, "mean", "Mean, seconds"),
    ALL(WEIR_FIVE_STD, "sd", "Standard deviation of the population, seconds"),
    WEIR_COL_END
};

static const struct weir_col result_cols[] = {
    NAMES, COL_INT(struct over_all, repetition, "iter", "Repetition, from 0"),
    ALL(0, "seconds", "Time of the slowest task, seconds"),
    COL_REAL(struct over_all, rate, "MiBps", "Bytes of all tasks / that time, MiB/s", .unit = MIB),
    WEIR_COL_END
};

static const struct weir_col space_cols[] = {
    SPACE(dim, "Dimension, from 0"),
    SPACE(length, "Elements of all tasks with the gaps; in memory of a task"),
    SPACE(block, "Elements of a block"),
    SPACE(stride, "From block to block"),
    SPACE(count, "Blocks of a task"),
    WEIR_COL_END
};

#define TABLE(k, c)                                                                                \
    {                                                                                              \
        .key = (k), .cols = (c), .readers = WEIR_FOR_DATA                                          \
    }

static const struct weir_table over_all_table = TABLE("operations", over_all_cols);
static const struct weir_table result_table = TABLE("Results", result_cols);
static const struct weir_table file_table = TABLE("fileSpace", space_cols);
static const struct weir_table memory_table = TABLE("memorySpace", space_cols);

/* ---- above ---- */

void h5ex_banner(struct weir_run *run, struct weir_test *tests, int n, int argc, char *const *argv)
{
    const struct h5ex_test *t = tests[0].state;
    const struct h5ex_options *o = t->o;
    struct weir_report *r = &run->report;
    char now[32];

    (void)n;
    weir_banner_program(run, tests[0].driver->name);
    weir_banner_command(run, argc, argv);
    weir_banner_machine(run, WEIR_FOR_DATA);
    if (run->details)
        weir_provenance_run(run);
    weir_report_str(r, WEIR_FOR_DATA, "Began", weir_banner_now(now, DATE));
    if (t->grid.asked != (uint64_t)t->grid.tasks) {
        weir_report_line(r, "WARNING!! - ndomains: %" PRIu64 " must be: %d. Only dividing dim-0",
                         t->grid.asked, t->grid.tasks);
        weir_report_message(r, "warning",
                            "the product of --dimranks is not the number of tasks: "
                            "only dimension 0 is divided");
    }
    weir_report_line(r, "WARNING: Bufsize is the size of the double-type dataset (The derived-type "
                        "dataset is 5x larger!).");
    weir_report_line(r,
                     "useMetaDataCollectives: %d addDerivedTypeDataset: %d addAttributes: %d "
                     "useIndependentIO: %d numDims: %d useChunked: %d rankShift: %" PRId64,
                     o->collective_metadata, o->derived, o->attributes, o->independent, o->dims,
                     o->chunked, o->shift);
    weir_report_line(r, "Metric      Bufsize   H5DWrite    RawWrBDWTH    H5Dread    RawRdBDWTH    "
                        "Dataset      Group  Attribute    H5Fopen   H5Fclose   H5Fflush "
                        "OtherClose");
    weir_report_flush(r);
}

static void show_space(struct weir_run *run, const struct weir_table *table, struct space s)
{
    weir_report_line(
        &run->report,
        "%-10s Dim= %" PRId64 " Block= %" PRId64 " Stride= %" PRId64 " Count= %" PRId64,
        table == &file_table ? "FileSpace:" : "MemSpace:", s.dim, s.block, s.stride, s.count);
    weir_report_row(&run->report, table, &s);
}

int h5ex_report_test(struct weir_run *run, void *state, struct weir_err *err)
{
    const struct h5ex_test *t = state;
    const struct h5ex_size *s = &t->size;
    struct weir_report *r = &run->report;

    (void)err;
    weir_report_int(r, WEIR_FOR_DATA, "TestID", run->test->id);
    if (run->details)
        weir_provenance_test(run, t->be, t->path);
    weir_banner_parameters(run, h5ex_rows, t->o);
    weir_report_int(r, WEIR_FOR_DATA, "tasks", run->par.size);
    weir_report_str(r, WEIR_FOR_DATA, "path", t->path);
    for (int d = 0; d < t->grid.dims; d++)
        show_space(run, &file_table,
                   (struct space) { d, (int64_t)s->shape.len[d], (int64_t)s->block[d],
                                    (int64_t)s->stride[d], (int64_t)s->count[d] });
    show_space(run, &memory_table,
               (struct space) { 0, (int64_t)s->buffer, (int64_t)s->mem_block,
                                (int64_t)s->mem_stride, (int64_t)s->mem_count });
    weir_report_flush(r);
    return 0;
}

/* ---- a repetition ---- */

/* The slowest task of each operation, and of the sums that the columns are. */
static void measure(struct weir_run *run, const struct h5ex_test *t, struct h5ex_sample *m)
{
    double bytes = (double)t->size.elements * sizeof(double) * run->par.size * WEIR_NS_PER_S;
    int64_t v[H5EX_OPS + H5EX_COLS] = { 0 };

    for (int op = 0; op < H5EX_OPS; op++) {
        enum h5ex_column c = h5ex_column_of((enum h5ex_op)op);

        v[op] = (int64_t)t->ns[op];
        if (c != H5EX_COL_NONE)
            v[H5EX_OPS + c] += v[op];
    }
    weir_allmax_i64(&run->par, v, H5EX_OPS + H5EX_COLS);
    for (int i = 0; i < H5EX_OPS + H5EX_COLS; i++)
        m->v[i] = (double)v[i];
    m->v[H5EX_OPS + H5EX_COL_WRITE_RATE] = bytes / (m->v[H5EX_WRITE] + (m->v[H5EX_WRITE] == 0));
    m->v[H5EX_OPS + H5EX_COL_READ_RATE] = bytes / (m->v[H5EX_READ] + (m->v[H5EX_READ] == 0));
}

static struct over_all name_op(enum h5ex_op op)
{
    enum h5ex_column c = h5ex_column_of(op);

    return (struct over_all) {
        .name = h5ex_operations[op].key,
        .side = op < H5EX_FILE_OPEN ? "write" : "read",
        .column = c == H5EX_COL_NONE ? "none" : summary_cols[2 + c].key,
    };
}

static void show_sample(struct weir_run *run, const struct h5ex_test *t,
                        const struct h5ex_sample *m)
{
    for (enum h5ex_op op = 0; op < H5EX_OPS; op++) {
        struct over_all row = name_op(op);
        double bytes = (double)t->size.elements * (double)h5ex_set_of(t, op)->put.size;

        row.repetition = run->repetition;
        row.v[0] = m->v[op];
        row.rate = h5ex_operations[op].moves_bytes
                       ? bytes * run->par.size * WEIR_NS_PER_S / m->v[op]
                       : NAN;
        if (h5ex_has(t, op))
            weir_report_row(&run->report, &result_table, &row);
    }
}

/* Where the first wrong element of a dataset is. Returns -1. */
static int name_wrong(const struct h5ex_test *t, const struct h5ex_set *d, struct weir_err *err)
{
    const struct weir_shape *shape = &d->spec.shape;
    const struct weir_cells_wrong *w = &d->wrong;
    uint64_t at[WEIR_SLAB_RANK], left = w->at;
    struct weir_str where = { 0 };

    for (int k = shape->rank - 1; k >= 0; left /= shape->len[k--])
        at[k] = left % shape->len[k];
    for (int k = 0; k < shape->rank && w->at != UINT64_MAX; k++)
        weir_str_addf(&where, "%s%" PRIu64, k ? "," : "element ", at[k]);
    if (w->at == UINT64_MAX)
        weir_str_addf(&where, "a byte of memory that belongs to no element");
    weir_refuse(err, WEIR_EDATA,
                "'%s' in '%s', %s: expected %.17g, found %.17g; %" PRIu64 " wrong in this task",
                weir_str_text(&d->name), t->path, weir_str_text(&where), w->want, w->got, w->n);
    weir_str_free(&where);
    return -1;
}

/* One line for all tasks: how many are wrong, and where the first of the lowest task is. */
static int report_wrong(struct weir_run *run, struct h5ex_test *t, struct weir_err *err)
{
    uint64_t sum = t->set[0].wrong.n + t->set[1].wrong.n + t->wrong_attrs;
    struct weir_err first = WEIR_ERR_INIT;
    int rc = 0;

    for (int i = 0; i < H5EX_SETS && rc == 0; i++)
        rc = t->set[i].wrong.n > 0 ? name_wrong(t, &t->set[i], &first) : 0;
    if (rc == 0 && t->wrong_attrs > 0)
        rc = weir_refuse(&first, WEIR_EDATA, "%" PRIu64 " attributes in '%s'", t->wrong_attrs,
                         t->path);
    if (weir_agree(&run->par, rc, &first) == 0)
        return 0;
    weir_allsum_u64(&run->par, &sum, 1);
    t->wrong_sum += sum;
    rc = weir_warn(&run->log, err, "Incorrect data on read (%" PRIu64 " wrong): %s", sum,
                   first.text);
    if (rc < 0 && err)
        err->code = WEIR_EDATA; /* --warning-as-errors */
    return rc;
}

int h5ex_report_repetition(struct weir_run *run, struct h5ex_test *t, struct weir_err *err)
{
    struct h5ex_sample m;

    measure(run, t, &m);
    if (run->par.rank == 0)
        t->sample[t->samples] = m;
    t->samples++;
    show_sample(run, t, &m);
    return report_wrong(run, t, err);
}

/* ---- below ---- */

/* Of value i of all samples; v has room for one of each. */
static void judge(const struct h5ex_test *t, int i, double *v, double out[WEIR_FIVES])
{
    for (int k = 0; k < t->samples; k++)
        v[k] = t->sample[k].v[i];
    weir_five_of(v, (size_t)t->samples, out);
}

static void show_table(struct weir_run *run, const struct h5ex_test *t, double *v)
{
    int64_t bytes = (int64_t)(t->size.elements * sizeof(double));
    double five[H5EX_COLS][WEIR_FIVES];

    for (int c = 0; c < H5EX_COLS; c++)
        judge(t, H5EX_OPS + c, v, five[c]);
    for (int i = 0; i < WEIR_FIVES; i++) {
        struct summary row = { .name = weir_five_names[i], .bytes = bytes };

        for (int c = 0; c < H5EX_COLS; c++)
            row.col[c] = five[c][i];
        weir_report_row(&run->report, &summary_table, &row);
    }
}

static void show_operations(struct weir_run *run, const struct h5ex_test *t, double *v)
{
    for (enum h5ex_op op = 0; op < H5EX_OPS; op++) {
        struct over_all row = name_op(op);

        judge(t, (int)op, v, row.v);
        if (h5ex_has(t, op))
            weir_report_row(&run->report, &over_all_table, &row);
    }
}

int h5ex_conclude(struct weir_run *run, void *state, struct weir_err *err)
{
    struct h5ex_test *t = state;
    double *v = calloc((size_t)t->samples + 1, sizeof(*v));
    int rc = v ? 0 : weir_fail(err, WEIR_ESETUP, "memory for the statistics");

    weir_report_int(&run->report, WEIR_FOR_DATA, "verificationErrors", (int64_t)t->wrong_sum);
    t->complete = !run->test->failed && t->wrong_sum == 0;
    if (v && t->sample && t->samples > 0) {
        show_table(run, t, v);
        show_operations(run, t, v);
    }
    free(v);
    return weir_agree(&run->par, rc, err);
}

void h5ex_finish(struct weir_run *run, const struct weir_test *tests)
{
    const struct h5ex_test *first = tests[0].state;
    bool complete = true;
    char now[32];

    weir_report_str(&run->report, WEIR_FOR_DATA, "Finished", weir_banner_now(now, DATE));
    for (int i = 0; i < first->o->sizes; i++)
        complete &= ((const struct h5ex_test *)tests[i].state)->complete;
    if (complete)
        weir_report_line(&run->report, "All done -- Finishing normally.");
}
