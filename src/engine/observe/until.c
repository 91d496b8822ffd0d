/* SPDX-License-Identifier: BSD-3-Clause */
/* until.c - the rates of repetitions, and repetitions until their interval is narrow */
#include "config.h"
#include "engine/observe/until.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/size.h"
#include "base/stats.h"
#include "engine/driver.h"
#include "engine/phase.h"

/* ---- arithmetic ---- */

bool weir_until_center(const double *rate, int n, struct weir_until_center *out)
{
    double *sorted = n > 0 ? malloc(sizeof(*sorted) * (size_t)n) : NULL, seconds = 0;

    if (!sorted)
        return false;
    memcpy(sorted, rate, sizeof(*sorted) * (size_t)n);
    out->median = weir_median(sorted, (size_t)n); /* sorts */
    out->low = out->high = NAN;
    weir_median_interval(sorted, n, &out->low, &out->high);
    for (int i = 0; i < n; i++)
        seconds += 1 / rate[i];
    out->harmonic = n / seconds;
    free(sorted);
    return true;
}

double weir_until_width(const struct weir_until_center *c)
{
    return 100 * (c->high - c->low) / 2 / c->median;
}

bool weir_until_looks(int n)
{
    int at = WEIR_UNTIL_LEAST + 1;

    while (at < n && at < INT32_MAX / 2)
        at += (at + 1) / 2;
    return at == n;
}

/* ---- options ---- */

static double percent_of(const char *text)
{
    double value;
    const char *end = weir_real_scan(text, &value);

    if (end > text && strcmp(end, "%") == 0)
        end++;
    return end > text && !*end && value > 0 && value < 100 ? value : NAN;
}

int weir_until_check(const struct weir_run_options *o, struct weir_err *err)
{
    int most = weir_run_options_most(o);

    if (!o->until && (o->until_max || o->until_time_s))
        return weir_refuse(err, WEIR_EUSAGE, "option %s does nothing without --until",
                           o->until_max ? "--until-max" : "--until-time");
    if (!o->until)
        return 0;
    if (isnan(percent_of(o->until)))
        return weir_refuse(err, WEIR_EUSAGE,
                           "option --until: '%s' is not a number of percent above 0 and below 100",
                           o->until);
    if (most < WEIR_UNTIL_LEAST)
        return weir_refuse(err, WEIR_EUSAGE,
                           "option --until needs at least %d repetitions, but %s allows %d: give "
                           "--until-max",
                           WEIR_UNTIL_LEAST, o->until_max ? "--until-max" : "the number of them",
                           most);
    return 0;
}

/* ---- series ---- */

static struct weir_until_series *series_of(struct weir_until *u, const struct weir_stage *stage)
{
    for (int i = 0; i < u->kinds; i++)
        if (u->series[i].kind == stage)
            return &u->series[i];
    if (u->kinds == WEIR_UNTIL_KINDS)
        return NULL;
    u->series[u->kinds] =
        (struct weir_until_series) { .kind = stage, .key = stage->key, .rates.width = 1 };
    return &u->series[u->kinds++];
}

void weir_until_note(struct weir_run *run, const struct weir_stage *stage,
                     const struct weir_phase_rec *rec)
{
    const unsigned others = WEIR_STAGE_FIRST | WEIR_STAGE_LAST | WEIR_STAGE_UNTIMED;
    struct weir_until_series *s;
    uint64_t work;

    if (run->par.rank != 0 || (stage->flags & others) || rec->interrupted || rec->steps_sum == 0 ||
        run->test->plan.options->dry_run)
        return;
    s = series_of(&run->until, stage);
    if (!s)
        return;
    if (weir_series_reserve(&s->rates, NULL) < 0) {
        run->report.lost = true;
        return;
    }
    s->moves_bytes = rec->bytes_sum > 0 && (stage->flags & (WEIR_STAGE_WRITES | WEIR_STAGE_READS));
    work = s->moves_bytes ? rec->bytes_sum : rec->done_sum;
    *weir_series_add(&s->rates) =
        (double)work / weir_phase_span(rec, WEIR_MARK_OPEN, WEIR_MARK_CLOSED);
}

/* The widest interval of all series, in percent; NaN while one has none. */
static double widest_of(const struct weir_until *u, const char **key)
{
    struct weir_until_center c;
    double widest = u->kinds > 0 ? 0 : NAN, width;

    for (int i = 0; i < u->kinds; i++) {
        if (!weir_until_center(u->series[i].rates.v, (int)u->series[i].rates.n, &c))
            return NAN;
        width = weir_until_width(&c);
        if (isnan(width))
            return NAN;
        if (width >= widest) {
            widest = width;
            *key = u->series[i].key;
        }
    }
    return widest;
}

/* ---- the end ---- */

enum { GO_ON, NARROW, TIME, REASONS };
static const char *const reasons[REASONS] = { NULL, "narrow", "time" };

static int64_t judge(const struct weir_run *run, const struct weir_run_options *o)
{
    const struct weir_test *t = run->test;
    double seconds = (double)(weir_now_ns() - t->begin_ns) / WEIR_NS_PER_S;
    int done = run->repetition;
    const char *key;

    if (weir_until_looks(done) && widest_of(&run->until, &key) <= percent_of(o->until))
        return NARROW;
    if ((o->until_time_s > 0 && seconds > o->until_time_s) ||
        (o->max_minutes > 0 && seconds > 60.0 * o->max_minutes))
        return TIME;
    return GO_ON;
}

bool weir_until_over(struct weir_run *run)
{
    const struct weir_run_options *o = run->test->plan.options;
    int64_t why = GO_ON;

    if (!o->until || o->dry_run || run->repetition == 0)
        return false;
    if (run->par.rank == 0)
        why = judge(run, o);
    weir_bcast(&run->par, &why, sizeof(why), 0);
    run->until.ended = reasons[why];
    return why != GO_ON;
}

/* ---- what is told ---- */

struct row {
    const char *operation, *unit;
    int64_t repetitions;
    double median, low, high, harmonic;
};

static const struct weir_col cols[] = {
    COL_STR(struct row, operation, "operation", "The kind of phase"),
    COL_INT(struct row, repetitions, "repetitions", "Of which the rates are"),
    COL_REAL(struct row, median, "median", "Of the rates, first open to last close"),
    COL_REAL(struct row, low, "low", "Nonparametric 95 % interval of the median: from here"),
    COL_REAL(struct row, high, "high", "to here; null for fewer than 6 repetitions"),
    COL_REAL(struct row, harmonic, "harmonicMean", "Of the rates"),
    COL_STR(struct row, unit, "unit", "Of the rates: bytes/s or ops/s"),
    WEIR_COL_END
};

static const struct weir_table rates = { .key = "rates", .cols = cols, .readers = WEIR_FOR_DATA };

static bool fill_row(const struct weir_until_series *s, struct row *row)
{
    struct weir_until_center c;

    if (!weir_until_center(s->rates.v, (int)s->rates.n, &c))
        return false;
    *row = (struct row) { .operation = s->key,
                          .unit = s->moves_bytes ? "bytes/s" : "ops/s",
                          .repetitions = (int64_t)s->rates.n,
                          .median = c.median,
                          .low = c.low,
                          .high = c.high,
                          .harmonic = c.harmonic };
    return true;
}

/* Why no further repetition came. */
static const char *reason_of(const struct weir_run *run, double widest)
{
    const struct weir_run_options *o = run->test->plan.options;

    if (run->test->failed)
        return "failed";
    if (widest <= percent_of(o->until)) /* also with the last one that was allowed */
        return "narrow";
    return run->until.ended ? run->until.ended : "most";
}

static void note_end(const struct weir_run *run, const char *reason, double widest, const char *key)
{
    const struct weir_run_options *o = run->test->plan.options;
    char width[128] = "no interval of the median yet";

    if (!isnan(widest) &&
        snprintf(width, sizeof(width),
                 "the interval of the median is +-%.2g %% within this run (%.40s)", widest, key) < 0)
        width[0] = '\0';
    if (strcmp(reason, "failed") == 0)
        weir_note(&run->log, "--until: the test ended early, in repetition %d", run->repetition);
    else if (strcmp(reason, "narrow") == 0)
        weir_note(&run->log,
                  "--until: enough after %d repetitions: %s; what differs between runs is not in it",
                  run->repetition, width);
    else
        weir_note(&run->log,
                  "--until: not enough, but %s after %d repetition%s: %s, wanted +-%s %%",
                  strcmp(reason, "time") == 0 ? "the time was up" : "no more were allowed",
                  run->repetition, run->repetition == 1 ? "" : "s", width, o->until);
}

void weir_until_report(struct weir_run *run)
{
    const struct weir_run_options *o = run->test->plan.options;
    const struct weir_until *u = &run->until;
    struct weir_report *r = &run->report;
    const char *key = "";
    struct row row;

    if (run->par.rank != 0)
        return;
    if (o->until && !o->dry_run) {
        double widest = widest_of(u, &key);
        const char *reason = reason_of(run, widest);

        note_end(run, reason, widest, key);
        weir_report_str(r, WEIR_FOR_DATA, "untilEnded", reason);
    }
    if (u->kinds > 0)
        weir_report_head(r, &rates);
    for (int i = 0; i < u->kinds; i++)
        if (fill_row(&u->series[i], &row))
            weir_report_row(r, &rates, &row);
        else
            r->lost = true;
}

/* A cell of the table for people. */
static void add_cell(struct weir_str *out, double value)
{
    if (isfinite(value))
        weir_str_addf(out, " %12.6g", value);
    else
        weir_str_addf(out, " %12s", "-");
}

void weir_until_write(const struct weir_run *run, struct weir_str *out)
{
    const struct weir_until *u = &run->until;
    struct row row;

    if (u->kinds > 0)
        weir_str_addf(out, "%-24s %6s %12s %12s %12s %12s  %s\n", "Rates", "Reps", "Median",
                      "95 % from", "to", "Harmonic", "Unit");
    for (int i = 0; i < u->kinds; i++) {
        double by = u->series[i].moves_bytes ? 1048576.0 : 1;

        if (!fill_row(&u->series[i], &row)) {
            out->failed = true;
            return;
        }
        weir_str_addf(out, "%-24s %6d", row.operation, (int)row.repetitions);
        add_cell(out, row.median / by);
        add_cell(out, row.low / by);
        add_cell(out, row.high / by);
        add_cell(out, row.harmonic / by);
        weir_str_addf(out, "  %s\n", by > 1 ? "MiB/s" : "ops/s");
    }
}

void weir_until_clear(struct weir_until *u)
{
    for (int i = 0; i < u->kinds; i++)
        free(u->series[i].rates.v);
    *u = (struct weir_until) { .kinds = 0 };
}
