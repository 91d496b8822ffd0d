/* SPDX-License-Identifier: BSD-3-Clause */
/* h5ex-report.c - what is shown: the lines and the table that parsers know, and all of it for
 * programs */
#include "programs/h5exerciser/h5ex.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "engine/about/banner.h"
#include "par/agree.h"

#define DATE "%Y-%m-%d %H:%M:%S"

/* A row of the table: one statistic of all columns. */
struct summary {
    const char *name;
    int64_t bytes;
    double col[H5EX_COLS];
};

#define SECONDS(c, k, t, g)                                                                        \
    COL_REAL(struct summary, col[c], k, "Slowest task, seconds", .head = (t),                      \
             .unit = WEIR_NS_PER_S, .width = 10, .prec = 6, .gap = (g))
#define RATE(c, k, t)                                                                              \
    COL_REAL(struct summary, col[c], k, "Bytes of a task x tasks / time of the slowest, MiB/s",    \
             .head = (t), .unit = WEIR_MIB, .width = 12, .prec = 6, .gap = 1)

static const struct weir_col summary_cols[] = {
    COL_STR(struct summary, name, "statistic", "Of the repetitions", .head = "Metric", .width = -9),
    COL_INT(struct summary, bytes, "bufferSize", "Bytes of a task in the dataset of doubles",
            .head = "Bufsize", .width = 10, .gap = 1),
    SECONDS(H5EX_COL_WRITE, "write", "H5DWrite", 2),
    RATE(H5EX_COL_WRITE_RATE, "writeMiB", "RawWrBDWTH"),
    SECONDS(H5EX_COL_READ, "read", "H5Dread", 2),
    RATE(H5EX_COL_READ_RATE, "readMiB", "RawRdBDWTH"),
    SECONDS(H5EX_COL_SET, "dataset", "Dataset", 1),
    SECONDS(H5EX_COL_GROUP, "group", "Group", 1),
    SECONDS(H5EX_COL_ATTR, "attribute", "Attribute", 1),
    SECONDS(H5EX_COL_OPEN, "fileOpen", "H5Fopen", 1),
    SECONDS(H5EX_COL_CLOSE, "fileClose", "H5Fclose", 1),
    SECONDS(H5EX_COL_FLUSH, "fileFlush", "H5Fflush", 1),
    SECONDS(H5EX_COL_OTHER, "otherClose", "OtherClose", 0),
    WEIR_COL_END
};

static const struct weir_table summary_table = { .key = "summary",
                                                 .cols = summary_cols,
                                                 .readers = WEIR_FOR_ALL };

/* ---- what each operation of a repetition costs, where it is done once by all tasks together ---- */

static const char *const five_names[H5EX_FIVES] = { "Min", "Med", "Max", "Avg", "Std" };

void h5ex_five(const struct weir_series *s, size_t i, double out[H5EX_FIVES])
{
    double *v = s->v + s->width * s->capacity;
    struct weir_stats all = { 0 };

    for (size_t k = 0; k < s->n; k++) {
        v[k] = s->v[s->width * k + i];
        weir_stats_add(&all, v[k]);
    }
    out[H5EX_MIN] = all.min;
    out[H5EX_MED] = weir_median(v, s->n);
    out[H5EX_MAX] = all.max;
    out[H5EX_AVG] = all.mean;
    out[H5EX_STD] = weir_stats_sd(&all, H5EX_DEVIATION);
}

/* One operation: in a repetition, or over all of them. */
struct row {
    const char *name, *side, *column;
    int64_t repetition;
    double rate, v[H5EX_FIVES]; /* bytes/s; ns, of one repetition the first */
};

#define WORD(f, k, h) COL_STR(struct row, f, k, h)
#define COST(f, k, h) COL_REAL(struct row, v[f], k, h, .unit = WEIR_NS_PER_S)
#define NAMES                                                                                      \
    WORD(name, "operation", "Operation"),                                                          \
        WORD(side, "side", "In which half of a repetition: write or read"),                        \
        WORD(column, "column", "Key in the summary that shares its time, or none")

static const struct weir_col over_all_cols[] = {
    NAMES,
    COST(H5EX_MIN, "min", "Shortest time of the slowest task, seconds"),
    COST(H5EX_MED, "median", "Median, seconds"),
    COST(H5EX_MAX, "max", "Longest, seconds"),
    COST(H5EX_AVG, "mean", "Mean, seconds"),
    COST(H5EX_STD, "sd", "Standard deviation of the population, seconds"),
    WEIR_COL_END
};

static const struct weir_col result_cols[] = {
    NAMES, COL_INT(struct row, repetition, "iter", "Repetition, from 0"),
    COST(0, "seconds", "Time of the slowest task, seconds"),
    COL_REAL(struct row, rate, "MiBps", "Bytes of all tasks / that time, MiB/s", .unit = WEIR_MIB),
    WEIR_COL_END
};

static const struct weir_table over_all_table = { .key = "operations",
                                                  .cols = over_all_cols,
                                                  .readers = WEIR_FOR_DATA };
static const struct weir_table result_table = { .key = "Results",
                                                .cols = result_cols,
                                                .readers = WEIR_FOR_DATA };

#define AS_COLUMN(op, f, col, n, k, t) [H5EX_##op] = H5EX_COL_##col,
static const enum h5ex_column column_of[H5EX_OPS] = { H5EX_OPERATIONS(AS_COLUMN) };

static struct row name_row(enum h5ex_op op)
{
    enum h5ex_column c = column_of[op];

    return (struct row) { .name = h5ex_operations[op].key,
                          .side = op < H5EX_FILE_OPEN ? "write" : "read",
                          .column = c == H5EX_COL_NONE ? "none" : summary_cols[2 + c].key };
}

/* Each operation in this repetition: ns of the slowest task. */
static void report_costs(struct weir_run *run, struct h5ex_test *t, const double *slowest)
{
    double elements = (double)t->size.file.elements * t->grid.tasks;

    for (enum h5ex_op op = 0; op < H5EX_OPS; op++) {
        double bytes = elements * (double)h5ex_set_of(t, op)->put.size;
        struct row row = name_row(op);

        row.repetition = run->repetition;
        row.v[0] = slowest[op];
        row.rate = h5ex_operations[op].moves_bytes ? bytes * WEIR_NS_PER_S / slowest[op] : NAN;
        if (h5ex_has(t, op))
            weir_report_row(&run->report, &result_table, &row);
    }
}

/* Each operation over all repetitions. */
static void report_all_costs(struct weir_run *run, const struct h5ex_test *t)
{
    for (enum h5ex_op op = 0; op < H5EX_OPS; op++) {
        struct row row = name_row(op);

        h5ex_five(&t->series, (size_t)op, row.v);
        if (h5ex_has(t, op))
            weir_report_row(&run->report, &over_all_table, &row);
    }
}

/* ---- above ---- */

static void show_banner(struct weir_run *run, struct weir_test *tests)
{
    const struct h5ex_test *t = tests[0].state;
    const struct h5ex_options *o = t->o;
    struct weir_report *r = &run->report;
    struct weir_str heading = { 0 };
    char now[32];

    weir_banner_data(run);
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
    weir_col_heading(&heading, summary_cols);
    weir_report_line(r, "%s", weir_str_text(&heading));
    weir_report_free(r, &heading);
    weir_report_flush(r);
}

/* A dimension of the part of a task in an array. */
struct space {
    int64_t dim, length, block, stride, count;
};

#define SPACE(f, h) COL_INT(struct space, f, #f, h)

static const struct weir_col space_cols[] = {
    SPACE(dim, "Dimension, from 0"),
    SPACE(length, "Elements of all tasks with the gaps; in memory of a task"),
    SPACE(block, "Elements of a block"),
    SPACE(stride, "From block to block"),
    SPACE(count, "Blocks of a task"),
    WEIR_COL_END
};

/* len: of the array. */
static void report_part(struct weir_run *run, const char *head, const char *key,
                        const struct h5ex_part *part, const uint64_t *len)
{
    const struct weir_table table = { .key = key, .cols = space_cols, .readers = WEIR_FOR_DATA };

    for (int d = 0; d < part->dims; d++) {
        struct space s = { d, (int64_t)len[d], (int64_t)part->block[d], (int64_t)part->stride[d],
                           (int64_t)part->count[d] };

        weir_report_line(&run->report,
                         "%s Dim= %" PRId64 " Block= %" PRId64 " Stride= %" PRId64
                         " Count= %" PRId64,
                         head, s.dim, s.block, s.stride, s.count);
        weir_report_row(&run->report, &table, &s);
    }
}

static int report_test(struct weir_run *run, void *state, struct weir_err *err)
{
    const struct h5ex_test *t = state;
    const struct h5ex_size *s = &t->size;
    struct weir_report *r = &run->report;

    weir_banner_test(run);
    weir_report_str(r, WEIR_FOR_DATA, "path", t->path);
    report_part(run, "FileSpace:", "fileSpace", &s->file, s->shape[H5EX_DOUBLES].len);
    report_part(run, "MemSpace: ", "memorySpace", &s->memory, &s->buffer);
    weir_report_flush(r);
    return 0;
}

/* ---- a repetition ---- */

/* The slowest task of each operation, and of the sums that the columns are. */
static void measure(struct weir_run *run, const struct h5ex_test *t, double *m)
{
    double bytes = (double)t->size.file.elements * sizeof(double) * run->par.size * WEIR_NS_PER_S;
    int64_t ns[H5EX_OPS + H5EX_COLS] = { 0 };

    for (enum h5ex_op op = 0; op < H5EX_OPS; op++) {
        ns[op] = (int64_t)t->ns[op];
        if (column_of[op] != H5EX_COL_NONE)
            ns[H5EX_OPS + column_of[op]] += ns[op];
    }
    weir_allmax_i64(&run->par, ns, H5EX_OPS + H5EX_COLS);
    for (int i = 0; i < H5EX_OPS + H5EX_COLS; i++)
        m[i] = (double)ns[i];
    m[H5EX_OPS + H5EX_COL_WRITE_RATE] = bytes / (m[H5EX_WRITE] + (m[H5EX_WRITE] == 0));
    m[H5EX_OPS + H5EX_COL_READ_RATE] = bytes / (m[H5EX_READ] + (m[H5EX_READ] == 0));
}

/* Names the place of the first wrong element of a dataset. Returns -1. */
static int name_wrong(const struct h5ex_test *t, const struct h5ex_set *d, struct weir_err *err)
{
    struct weir_str words = { 0 };

    h5ex_describe_wrong(&d->wrong, &d->spec.shape, &words);
    weir_refuse(err, WEIR_EDATA, "'%s' in '%s', %s; %" PRIu64 " wrong in this task",
                weir_str_text(&d->name), t->path, weir_str_words(&words), d->wrong.n);
    weir_str_free(&words);
    return -1;
}

/* One line for all tasks: how many are wrong, and where the first of the lowest task is. */
static int report_wrong(struct weir_run *run, const struct h5ex_test *t, struct weir_phase_rec *rec,
                        struct weir_err *err)
{
    uint64_t sum = t->set[0].wrong.n + t->set[1].wrong.n + t->wrong_attrs;
    struct weir_err first = WEIR_ERR_INIT;
    int rc = 0;

    for (int i = 0; i < H5EX_SETS && rc == 0; i++)
        rc = t->set[i].wrong.n > 0 ? name_wrong(t, &t->set[i], &first) : 0;
    if (rc == 0 && t->wrong_attrs > 0)
        rc = weir_refuse(&first, WEIR_EDATA, "%" PRIu64 " wrong attributes in '%s'", t->wrong_attrs,
                         t->path);
    if (weir_agree(&run->par, rc, &first) == 0)
        return 0;
    weir_allsum_u64(&run->par, &sum, 1);
    rec->wrong_found = sum - rec->sum.wrong;
    rc = weir_warn(&run->log, err, "Incorrect data on read (%" PRIu64 " wrong): %s", sum,
                   first.text);
    if (rc < 0 && err)
        err->code = WEIR_EDATA; /* --warning-as-errors */
    return rc;
}

int h5ex_report_repetition(struct weir_run *run, struct h5ex_test *t, struct weir_phase_rec *rec,
                           struct weir_err *err)
{
    double m[H5EX_OPS + H5EX_COLS];

    measure(run, t, m);
    if (run->par.rank == 0)
        memcpy(weir_series_add(&t->series), m, sizeof(m));
    report_costs(run, t, m);
    return report_wrong(run, t, rec, err);
}

/* ---- below ---- */

static void show_table(struct weir_run *run, const struct h5ex_test *t)
{
    int64_t bytes = (int64_t)(t->size.file.elements * sizeof(double));
    double five[H5EX_COLS][H5EX_FIVES];

    for (int c = 0; c < H5EX_COLS; c++)
        h5ex_five(&t->series, (size_t)(H5EX_OPS + c), five[c]);
    for (int i = 0; i < H5EX_FIVES; i++) {
        struct summary row = { .name = five_names[i], .bytes = bytes };

        for (int c = 0; c < H5EX_COLS; c++)
            row.col[c] = five[c][i];
        weir_report_row(&run->report, &summary_table, &row);
    }
}

int h5ex_conclude(struct weir_run *run, void *state, struct weir_err *err)
{
    struct h5ex_test *t = state;

    weir_report_int(&run->report, WEIR_FOR_DATA, "verificationErrors", (int64_t)run->test->wrong);
    if (t->series.n > 0) {
        show_table(run, t);
        report_all_costs(run, t);
    }
    return 0;
}

static void finish(struct weir_run *run, const struct weir_test *tests)
{
    const struct h5ex_test *first = tests[0].state;
    bool complete = true;
    char now[32];

    weir_report_str(&run->report, WEIR_FOR_DATA, "Finished", weir_banner_now(now, DATE));
    for (int i = 0; i < first->o->sizes; i++)
        complete &= !tests[i].failed && tests[i].wrong == 0;
    if (complete)
        weir_report_line(&run->report, "All done -- Finishing normally.");
}

const struct weir_output h5ex_output = {
    .deviation = H5EX_DEVIATION,
    .banner = show_banner,
    .report = report_test,
    .finish = finish,
};
