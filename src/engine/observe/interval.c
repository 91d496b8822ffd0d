/* SPDX-License-Identifier: BSD-3-Clause */
/* interval.c - bandwidth and operations of a phase in intervals of time */
#include "config.h"
#include "engine/observe/interval.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/size.h"
#include "engine/test.h"
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

#define CELL(f) .offset = offsetof(struct interval_row, f), .record = sizeof(struct interval_row)

static const struct weir_col cols[] = {
    { .key = "test", .type = WEIR_COL_INT, CELL(test), .help = "Number of the test, from 0" },
    { .key = "operation",
      .head = "phase",
      .type = WEIR_COL_STR,
      CELL(operation),
      .width = -16,
      .gap = 1,
      .help = "Phase" },
    { .key = "iter",
      .head = "iter",
      .type = WEIR_COL_INT,
      CELL(iter),
      .width = 4,
      .gap = 1,
      .help = "Repetition, from 0" },
    { .key = "begin",
      .head = "begin(s)",
      .type = WEIR_COL_REAL,
      CELL(begin),
      .unit = WEIR_NS_PER_S,
      .width = 11,
      .prec = 3,
      .gap = 1,
      .help = "Begin of the interval after that of the phase, seconds" },
    { .key = "seconds",
      .head = "width(s)",
      .type = WEIR_COL_REAL,
      CELL(width),
      .unit = WEIR_NS_PER_S,
      .width = 9,
      .prec = 3,
      .gap = 1,
      .help = "Its width; of the last one up to the end of the work, seconds" },
    { .key = "bytes",
      .head = "bytes",
      .type = WEIR_COL_INT,
      CELL(bytes),
      .width = 16,
      .gap = 1,
      .help = "Bytes moved in it by all tasks; those of an operation are distributed by time" },
    { .key = "bwMiB",
      .head = "bw(MiB/s)",
      .type = WEIR_COL_REAL,
      CELL(rate),
      .unit = MIB,
      .width = 12,
      .prec = 2,
      .gap = 1,
      .help = "Bytes over its width" },
    { .key = "operations",
      .head = "operations",
      .type = WEIR_COL_INT,
      CELL(ops),
      .width = 12,
      .gap = 1,
      .help = "Operations of all tasks that ended in it" },
    { .key = "opsPerSecond",
      .head = "ops/s",
      .type = WEIR_COL_REAL,
      CELL(ops_rate),
      .width = 14,
      .prec = 2,
      .help = "Operations over its width" },
    WEIR_COL_END
};

static const struct weir_table table = { .key = "intervals",
                                         .cols = cols,
                                         .readers = WEIR_FOR_DATA };

int weir_interval_parse(const char *text, uint64_t *ns, struct weir_err *err)
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

int weir_interval_take(struct weir_run *run, const char *text, struct weir_err *err)
{
    uint64_t ns;

    if (weir_interval_parse(text, &ns, err) < 0)
        return -1;
    if (text && ns == 0)
        weir_note(&run->log, "option --interval: 0 shows no intervals; a width is at least %g s",
                  LEAST_S);
    return ns > 0 ? weir_intervals_init(&run->records.intervals, ns, err) : 0;
}

/* ---- around a phase ---- */

void weir_interval_begin(struct weir_run *run)
{
    int64_t now = (int64_t)weir_now_ns(); /* of rank 0, whose clock is the common one */

    if (!run->records.intervals.bytes)
        return;
    weir_bcast(&run->par, &now, sizeof(now), 0);
    weir_intervals_begin(&run->records.intervals, weir_clock_local(&run->clock, now));
}

/* All ranks' bins are as wide as the widest and summed on rank 0. */
static void sum_up(struct weir_run *run, struct weir_intervals *s)
{
    int64_t width = (int64_t)s->width_ns, used;

    weir_allmax_i64(&run->par, &width, 1);
    weir_intervals_widen(s, (uint64_t)width);
    used = s->used;
    weir_allmax_i64(&run->par, &used, 1);
    s->used = (unsigned)used;
    weir_sum_u64(&run->par, s->bytes, s->used);
    weir_sum_u64(&run->par, s->ops, s->used);
}

static void fill_row(const struct weir_run *run, const struct weir_phase_rec *rec, unsigned i,
                     struct interval_row *row)
{
    const struct weir_intervals *s = &run->records.intervals;
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

void weir_interval_end(struct weir_run *run, const struct weir_phase_rec *rec)
{
    struct weir_intervals *s = &run->records.intervals;
    struct interval_row row;

    if (!s->bytes || !run->stage)
        return;
    sum_up(run, s);
    if (run->par.rank != 0)
        return;
    for (unsigned i = 0; i < s->used; i++) {
        fill_row(run, rec, i, &row);
        weir_report_row(&run->report, &table, &row);
        keep_text(&run->interval_text, &row);
    }
    if (s->width_ns > s->asked_ns)
        weir_note(
            &run->log,
            "--interval: the %s phase took more than %d intervals of %g s; they are %g s wide",
            rec->phase->key, WEIR_INTERVALS, (double)s->asked_ns / WEIR_NS_PER_S,
            (double)s->width_ns / WEIR_NS_PER_S);
}

void weir_interval_show(struct weir_run *run)
{
    struct weir_str *text = &run->interval_text;

    if (text->len > 0) {
        text->text[text->len - 1] = '\0'; /* a line brings its own */
        weir_report_line(&run->report, "%s", text->text);
    }
    weir_report_free(&run->report, text);
    *text = (struct weir_str) { 0 };
}
