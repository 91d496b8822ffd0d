/* SPDX-License-Identifier: BSD-3-Clause */
/* until.c - the rates of repetitions, and repetitions until their interval is narrow */
#include "engine/observe/until.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/size.h"
#include "base/stats.h"
#include "base/steady.h"
#include "base/str.h"
#include "base/text/quote.h"
#include "engine/observe/all.h"
#include "engine/phase.h"

#define LEAST 5  /* repetitions */
#define KINDS 40 /* of phases */

/* The rates of one kind of phase, in the order of the repetitions. */
struct series {
    const struct weir_stage *stage;
    bool moves_bytes;         /* bytes a second; else operations */
    struct weir_series rates; /* one value each */
};

/* Reasons for the end of the repetitions, and their names in results. */
enum end { GO_ON, NARROW, TIME, MOST, FAILED, ENDS };
static const char *const ends[ENDS] = { NULL, "narrow", "time", "most", "failed" };

/* State of the test that runs. The series are those of rank 0; the rest is the same on all ranks. */
struct state {
    struct series series[KINDS];
    int kinds;
    enum end ended; /* of the repetitions; GO_ON: all that were asked for were made */
};

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

bool weir_until_polls(int n)
{
    int at = LEAST + 1;

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

static int check(const struct weir_run_options *o, struct weir_files *files,
                 struct weir_err *err)
{
    static const char *const words[] = { "steady", NULL };
    int most = weir_run_options_most(o);

    if ((!o->until || weir_steady_asked(o->until)) && (o->until_max || o->until_time_s))
        return weir_refuse(err, WEIR_EUSAGE, "option %s needs --until=PERCENT",
                           o->until_max ? "--until-max" : "--until-time");
    if (!o->until || weir_steady_asked(o->until))
        return 0;
    if (isnan(percent_of(o->until))) {
        weir_refuse(err, WEIR_EUSAGE,
                    "option --until: '%s' is not a number of percent above 0 and below 100, nor "
                    "steady",
                    o->until);
        return weir_near_ask(err, o->until, strcspn(o->until, ",+"), words);
    }
    if (most < LEAST)
        return weir_refuse(err, WEIR_EUSAGE,
                           "option --until needs at least %d repetitions, but %s allows %d: give "
                           "--until-max",
                           LEAST, o->until_max ? "--until-max" : "the number of repetitions", most);
    return 0;
}

/* ---- series ---- */

static struct series *series_of(struct state *u, const struct weir_stage *stage)
{
    for (int i = 0; i < u->kinds; i++)
        if (u->series[i].stage == stage)
            return &u->series[i];
    if (u->kinds == KINDS)
        return NULL;
    u->series[u->kinds] = (struct series) { .stage = stage, .rates.width = 1 };
    return &u->series[u->kinds++];
}

/* Keep the rate of a phase of the repetitions. */
static int after(struct weir_run *run, void *state, struct weir_phase_rec *rec,
                 struct weir_err *err)
{
    const unsigned others = WEIR_STAGE_FIRST | WEIR_STAGE_LAST | WEIR_STAGE_UNTIMED;
    const struct weir_stage *stage = rec->stage;
    struct series *s;
    uint64_t work;

    if (run->par.rank != 0 || rec->failed || !stage || (stage->flags & others) ||
        rec->interrupted || rec->sum.steps == 0 || run->test->plan.options->dry_run)
        return 0;
    s = series_of(state, stage);
    if (!s)
        return 0;
    if (weir_series_reserve(&s->rates, NULL) < 0) {
        run->report.lost = true;
        return 0;
    }
    s->moves_bytes = rec->sum.bytes > 0 && (stage->flags & (WEIR_STAGE_WRITES | WEIR_STAGE_READS));
    work = s->moves_bytes ? rec->sum.bytes : rec->sum.done;
    *weir_series_add(&s->rates) =
        (double)work / weir_phase_span(rec, WEIR_MARK_OPEN, WEIR_MARK_CLOSED);
    return 0;
}

/* The widest interval of all series, in percent; NaN while one has none. */
static double widest_of(const struct state *u, const char **key)
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
            *key = u->series[i].stage->key;
        }
    }
    return widest;
}

/* ---- the end ---- */

static int64_t judge(const struct weir_run *run, const struct state *u,
                     const struct weir_run_options *o)
{
    const struct weir_test *t = run->test;
    double seconds = (double)(weir_now_ns() - t->begin_ns) / WEIR_NS_PER_S;
    int done = run->repetition;
    const char *key;

    if (weir_until_polls(done) && widest_of(u, &key) <= percent_of(o->until))
        return NARROW;
    if ((o->until_time_s > 0 && seconds > o->until_time_s) ||
        (o->max_minutes > 0 && seconds > 60.0 * o->max_minutes))
        return TIME;
    return GO_ON;
}

static bool is_enough(struct weir_run *run, void *state)
{
    const struct weir_run_options *o = run->test->plan.options;
    struct state *u = state;
    int64_t why = GO_ON;

    if (!o->until || weir_steady_asked(o->until) || o->dry_run)
        return false;
    if (run->par.rank == 0)
        why = judge(run, u, o);
    weir_bcast(&run->par, &why, sizeof(why), 0);
    u->ended = (enum end)why;
    return why != GO_ON;
}

/* ---- what is reported ---- */

struct row {
    const char *operation, *unit;
    int64_t repetitions;
    struct weir_until_center c;
};

#define RATE(f, k, h, title, ...)                                                                  \
    COL_REAL(struct row, f, k, h, .head = (title), .none = "-", .width = 12, .digits = 6, __VA_ARGS__)

static const struct weir_col cols[] = {
    COL_STR(struct row, operation, "operation", "The kind of phase", .head = "Rates", .width = -24,
            .gap = 1),
    COL_INT(struct row, repetitions, "repetitions", "Of which the rates are", .head = "Reps",
            .width = 6, .gap = 1),
    RATE(c.median, "median", "Of the rates, first open to last close", "Median", .gap = 1),
    RATE(c.low, "low", "Nonparametric 95 % interval of the median: from", "95 % from", .gap = 1),
    RATE(c.high, "high", "to; null for fewer than 6 repetitions", "to", .gap = 1),
    RATE(c.harmonic, "harmonicMean", "Of the rates", "Harmonic", .gap = 2),
    COL_STR(struct row, unit, "unit", "Of the rates: bytes/s or ops/s", .head = "Unit"),
    WEIR_COL_END
};

static const struct weir_table rates = { .key = "rates", .cols = cols, .readers = WEIR_FOR_DATA };

static bool fill_row(const struct series *s, struct row *row)
{
    *row = (struct row) { .operation = s->stage->key,
                          .unit = s->moves_bytes ? "bytes/s" : "ops/s",
                          .repetitions = (int64_t)s->rates.n };
    return weir_until_center(s->rates.v, (int)s->rates.n, &row->c);
}

/* Return the reason why no further repetition came. */
static enum end end_of(const struct weir_run *run, const struct state *u, double widest)
{
    const struct weir_run_options *o = run->test->plan.options;

    if (run->test->failed)
        return FAILED;
    if (widest <= percent_of(o->until)) /* also with the last one that was allowed */
        return NARROW;
    return u->ended != GO_ON ? u->ended : MOST;
}

static void note_end(const struct weir_run *run, enum end end, double widest, const char *key)
{
    const struct weir_run_options *o = run->test->plan.options;
    char width[128] = "no interval of the median yet";

    if (!isnan(widest) &&
        snprintf(width, sizeof(width),
                 "the interval of the median is +-%.2g %% within this run (%.40s)", widest, key) < 0)
        width[0] = '\0';
    if (end == FAILED)
        weir_note(&run->log, "--until: the test ended early, in repetition %d", run->repetition);
    else if (end == NARROW)
        weir_note(&run->log, "--until: condition met after %d repetitions: %s; differences between "
                             "runs are not included", run->repetition, width);
    else
        weir_note(&run->log,
                  "--until: condition not met, but %s after %d repetition%s: %s, wanted +-%s %%",
                  end == TIME ? "the time limit was reached" : "the maximum number was reached",
                  run->repetition, run->repetition == 1 ? "" : "s", width, o->until);
}

/* Report each series for programs, and keep a table of them for people, below the findings. */
static void report_rates(struct weir_run *run, const struct state *u)
{
    struct weir_report *r = &run->report;
    struct weir_str table = { 0 };
    struct row row;

    weir_report_head(r, &rates);
    weir_col_heading(&table, cols);
    for (int i = 0; i < u->kinds; i++) {
        if (!fill_row(&u->series[i], &row)) {
            table.failed = true;
            break;
        }
        weir_report_row(r, &rates, &row);
        if (u->series[i].moves_bytes)
            row = (struct row) { row.operation, "MiB/s", row.repetitions,
                                 { row.c.median / WEIR_MIB, row.c.low / WEIR_MIB,
                                   row.c.high / WEIR_MIB, row.c.harmonic / WEIR_MIB } };
        weir_str_addc(&table, '\n');
        weir_col_text(&table, cols, &row);
    }
    weir_str_addc(&table, '\n');
    if (run->test->plan.options->findings) {
        run->test->rates = weir_arena_strdup(&run->arena, weir_str_text(&table), NULL);
        r->lost |= !run->test->rates;
    }
    weir_report_free(r, &table);
}

/* Report why the repetitions ended, and the rates. */
static void test_end(struct weir_run *run, void *state)
{
    const struct weir_run_options *o = run->test->plan.options;
    const struct state *u = state;
    const char *key = "";

    if (run->par.rank != 0)
        return;
    if (o->until && !weir_steady_asked(o->until) && !o->dry_run) {
        double widest = widest_of(u, &key);
        enum end end = end_of(run, u, widest);

        note_end(run, end, widest, key);
        weir_report_str(&run->report, WEIR_FOR_DATA, "untilEnded", ends[end]);
    }
    if (u->kinds > 0)
        report_rates(run, u);
}

static void test_free(struct weir_run *run, void *state)
{
    struct state *u = state;

    for (int i = 0; i < u->kinds; i++)
        free(u->series[i].rates.v);
    *u = (struct state) { .kinds = 0 };
}

const struct weir_observer weir_until = {
    .name = "until",
    .state_size = sizeof(struct state),
    .check = check,
    .is_enough = is_enough,
    .test_end = test_end,
    .test_free = test_free,
    .after = after,
};
