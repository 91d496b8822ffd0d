/* SPDX-License-Identifier: BSD-3-Clause */
/* interval.c - bandwidth and operations of a phase in intervals of time */
#include "config.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/size.h"
#include "engine/observe/all.h"
#include "par/reduce.h"

#define LEAST_S 0.001
#define MOST_S 1e6
#define MIB 1048576.0
#define TEXT_MOST ((size_t)8 << 20) /* of the tables of a test; data readers get everything */

/* One interval of a phase, summed over the ranks. Times in ns, rates a second. */
struct interval_row {
    const char *operation;
    int64_t test, iter, bytes, ops;
    double begin, width, rate, ops_rate;
};

#define ROW struct interval_row

static const struct weir_col cols[] = {
    COL_INT(ROW, test, "test", "Number of the test, from 0"),
    COL_STR(ROW, operation, "operation", "Phase", .head = "phase", .width = -16, .gap = 1),
    COL_INT(ROW, iter, "iter", "Repetition, from 0", .head = "iter", .width = 4, .gap = 1),
    COL_REAL(ROW, begin, "begin", "Begin of the interval after that of the phase, seconds",
             .head = "begin(s)", .unit = WEIR_NS_PER_S, .width = 11, .prec = 3, .gap = 1),
    COL_REAL(ROW, width, "seconds",
             "Its width; of the last one up to the end of the work, seconds", .head = "width(s)",
             .unit = WEIR_NS_PER_S, .width = 9, .prec = 3, .gap = 1),
    COL_INT(ROW, bytes, "bytes",
            "Bytes moved in it by all tasks; those of an operation are distributed by time",
            .head = "bytes", .width = 16, .gap = 1),
    COL_REAL(ROW, rate, "bwMiB", "Bytes over its width", .head = "bw(MiB/s)", .unit = MIB,
             .width = 12, .prec = 2, .gap = 1),
    COL_INT(ROW, ops, "operations", "Operations of all tasks that ended in it",
            .head = "operations", .width = 12, .gap = 1),
    COL_REAL(ROW, ops_rate, "opsPerSecond", "Operations over its width", .head = "ops/s",
             .width = 14, .prec = 2),
    WEIR_COL_END
};

static const struct weir_table table = { .key = "intervals",
                                         .cols = cols,
                                         .readers = WEIR_FOR_DATA };

struct state {
    struct weir_intervals bins; /* of this rank; after a phase on rank 0 of all ranks */
    struct weir_str text;       /* rank 0: tables that wait for the end of the test */
};

/* The width that --interval asks for, in ns; 0 for NULL and "0": none. */
static int parse(const char *text, uint64_t *ns, struct weir_err *err)
{
    const char *end;
    double s;

    *ns = 0;
    if (!text)
        return 0;
    end = weir_real_scan(text, &s);
    if (end == text || *end || !(s == 0 || (s >= LEAST_S && s <= MOST_S)))
        return weir_refuse(err, WEIR_EUSAGE,
                           "option --interval: '%s' is no time in seconds from %g to %g, or 0 for "
                           "no intervals",
                           text, LEAST_S, MOST_S);
    *ns = (uint64_t)(s * WEIR_NS_PER_S + 0.5);
    return 0;
}

static bool wanted(const struct weir_test *t)
{
    return t->plan.options->interval != NULL;
}

static int check(const struct weir_run_options *o, struct weir_files *files,
                 struct weir_err *err)
{
    uint64_t ns;

    (void)files;
    return parse(o->interval, &ns, err);
}

static int test_begin(struct weir_run *run, void *state, struct weir_err *err)
{
    struct state *s = state;
    uint64_t ns;

    if (parse(run->test->plan.options->interval, &ns, err) < 0)
        return -1;
    if (ns == 0) {
        weir_note(&run->log, "option --interval: 0 shows no intervals; a width is at least %g s",
                  LEAST_S);
        return 0;
    }
    if (weir_intervals_init(&s->bins, ns, err) < 0)
        return -1;
    run->records.intervals = &s->bins;
    return 0;
}

/* ---- around a phase ---- */

/* All ranks begin to count at one time, on rank 0's clock, which is the common one. */
static void start(struct weir_run *run, void *state, const struct weir_phase_rec *rec)
{
    struct state *s = state;
    int64_t now = (int64_t)weir_now_ns();

    (void)rec;
    if (!s->bins.bytes)
        return;
    weir_bcast(&run->par, &now, sizeof(now), 0);
    weir_intervals_begin(&s->bins, weir_clock_local(&run->clock, now));
}

/* All ranks' bins are as wide as the widest and summed on rank 0. Two bins become one, so the last
 * bin of all follows from the end of the last bin of each rank. */
static void sum_up(struct weir_run *run, struct weir_intervals *s)
{
    int64_t most[2] = { (int64_t)s->width_ns, (int64_t)(s->used * s->width_ns) };

    weir_allmax_i64(&run->par, most, 2);
    weir_intervals_widen(s, (uint64_t)most[0]);
    s->used = (unsigned)((most[1] + most[0] - 1) / most[0]);
    weir_sum_u64(&run->par, s->bytes, s->used);
    weir_sum_u64(&run->par, s->ops, s->used);
}

static void fill_row(const struct weir_run *run, const struct weir_phase_rec *rec,
                     const struct weir_intervals *s, unsigned i, struct interval_row *row)
{
    double worked = (double)(rec->last[WEIR_MARK_WORKED] - (int64_t)s->origin_ns);

    *row = (struct interval_row) { .operation = rec->phase->key,
                                   .test = run->test->id,
                                   .iter = rec->repetition,
                                   .begin = (double)i * (double)s->width_ns,
                                   .width = (double)s->width_ns,
                                   .bytes = (int64_t)s->bytes[i],
                                   .ops = (int64_t)s->ops[i] };
    if (i + 1 == s->used && worked > row->begin && worked < row->begin + row->width)
        row->width = worked - row->begin;
    row->rate = (double)row->bytes * WEIR_NS_PER_S / row->width;
    row->ops_rate = (double)row->ops * WEIR_NS_PER_S / row->width;
}

static void keep_text(struct weir_str *text, const struct interval_row *row)
{
    if (text->len > TEXT_MOST)
        return;
    if (text->len == 0) {
        weir_str_addf(text, "\nIntervals:\n");
        weir_col_heading(text, cols);
        weir_str_addc(text, '\n');
    }
    weir_col_text(text, cols, row);
    weir_str_addf(text, text->len > TEXT_MOST ? "\n... the rest is in JSON\n" : "\n");
}

static void report(struct weir_run *run, const struct weir_phase_rec *rec, struct state *s)
{
    const struct weir_intervals *bins = &s->bins;
    struct interval_row row;

    for (unsigned i = 0; i < bins->used; i++) {
        fill_row(run, rec, bins, i, &row);
        weir_report_row(&run->report, &table, &row);
        keep_text(&s->text, &row);
    }
    if (bins->width_ns > bins->asked_ns)
        weir_note(
            &run->log,
            "--interval: the %s phase took more than %d intervals of %g s; they are %g s wide",
            rec->phase->key, WEIR_INTERVALS, (double)bins->asked_ns / WEIR_NS_PER_S,
            (double)bins->width_ns / WEIR_NS_PER_S);
}

static int after(struct weir_run *run, void *state, struct weir_phase_rec *rec,
                 struct weir_err *err)
{
    struct state *s = state;

    (void)err;
    if (!s->bins.bytes || !run->stage || rec->failed)
        return 0;
    sum_up(run, &s->bins);
    if (run->par.rank == 0)
        report(run, rec, s);
    return 0;
}

/* ---- the end ---- */

/* The intervals of all phases of the test as a table of text, after its results. */
static void test_end(struct weir_run *run, void *state)
{
    struct weir_str *text = &((struct state *)state)->text;

    if (text->len > 0) {
        text->text[text->len - 1] = '\0'; /* a line brings its own */
        weir_report_line(&run->report, "%s", text->text);
    }
}

static void test_free(struct weir_run *run, void *state)
{
    struct state *s = state;

    run->records.intervals = NULL;
    weir_intervals_free(&s->bins);
    weir_report_free(&run->report, &s->text);
    s->text = (struct weir_str) { 0 };
}

const struct weir_observer weir_interval = {
    .name = "interval",
    .state_size = sizeof(struct state),
    .wanted = wanted,
    .check = check,
    .test_begin = test_begin,
    .start = start,
    .after = after,
    .test_end = test_end,
    .test_free = test_free,
};
