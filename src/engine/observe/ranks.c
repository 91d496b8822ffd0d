/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks.c - what single ranks did in a phase: a file with a row for each, and outliers */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/text/columns.h"
#include "base/text/wholefile.h"
#include "engine/observe/all.h"
#include "engine/observe/gather.h"
#include "par/agree.h"
#include "par/reduce.h"

/* One line of saveRankPerformanceDetailsCSV; times in ns, rates in bytes/s. */
struct rank_row {
    const char *access;
    int64_t rank, test, iter, bytes, steps;
    double total, work, total_rate, work_rate;
};

#define R struct rank_row
#define CSV(T, f, head, ...) COL_##T(R, f, NULL, NULL, .csv = (head), __VA_ARGS__)

static const struct weir_col rank_cols[] = { CSV(STR, access, "access"),
                                             CSV(INT, rank, "rank"),
                                             CSV(REAL, total, "runtime-with-openclose",
                                                 .unit = WEIR_NS_PER_S),
                                             CSV(REAL, work, "runtime", .unit = WEIR_NS_PER_S),
                                             CSV(REAL, total_rate, "throughput-withopenclose"),
                                             CSV(REAL, work_rate, "throughput"),
                                             CSV(INT, test, "test"),
                                             CSV(INT, iter, "iter"),
                                             CSV(INT, bytes, "bytes"),
                                             CSV(INT, steps, "transfers"),
                                             WEIR_COL_END };

/* ---- times of a phase ---- */

static int add_row(struct weir_run *run, const struct weir_phase_rec *rec,
                   const int64_t at[WEIR_MARKS], struct weir_err *err)
{
    double total = (double)(at[WEIR_MARK_CLOSED] - at[WEIR_MARK_OPEN]);
    double work = (double)(at[WEIR_MARK_WORKED] - at[WEIR_MARK_WORK]);
    double bytes = (double)run->counters.bytes;
    struct rank_row row = {
        .access = rec->phase->key,
        .rank = run->par.rank,
        .test = run->test->id,
        .iter = rec->repetition,
        .bytes = (int64_t)run->counters.bytes,
        .steps = (int64_t)rec->steps,
        .total = total,
        .work = work,
        .total_rate = total > 0 ? bytes / total * WEIR_NS_PER_S : NAN,
        .work_rate = work > 0 ? bytes / work * WEIR_NS_PER_S : NAN,
    };
    struct weir_str line = { 0 };
    int rc;

    weir_col_csv(&line, rank_cols, &row);
    rc = weir_ranks_rows(run, &line, err);
    weir_str_free(&line);
    return rc;
}

/* The quantities of -j: from one mark to another; from the first open of all where 'from' is -1. */
static const struct {
    const char *name;
    int from, to;
} quantities[] = {
    { "start time", -1, WEIR_MARK_OPEN },
    { "elapsed create time", WEIR_MARK_OPEN, WEIR_MARK_OPENED },
    { "elapsed transfer time", WEIR_MARK_WORK, WEIR_MARK_WORKED },
    { "elapsed close time", WEIR_MARK_CLOSE, WEIR_MARK_CLOSED },
    { "end time", -1, WEIR_MARK_CLOSED },
};

#define QUANTITIES (sizeof(quantities) / sizeof(*quantities))

static double quantity(const int64_t at[WEIR_MARKS], size_t q)
{
    int64_t from = quantities[q].from < 0 ? 0 : at[quantities[q].from];

    return (double)(at[quantities[q].to] - from) / WEIR_NS_PER_S;
}

/* Warnings on their way to rank 0. */
struct warnings {
    const struct weir_run *run;
    struct weir_err *err;
    int rc;
};

static void warn(void *warnings, const char *bytes, size_t len)
{
    struct warnings *w = warnings;

    for (const char *at = bytes; at < bytes + len && w->rc == 0; at += strlen(at) + 1)
        w->rc = weir_warn(&w->run->log, w->err, "%s", at);
}

/* Each rank compares itself with the mean of all, one quantity after the other. */
static int find_outliers(struct weir_run *run, const struct weir_phase_rec *rec,
                         const int64_t mine[WEIR_MARKS], struct weir_err *err)
{
    double limit_s = run->test->plan.options->outlier_s;
    struct warnings w = { run, err, 0 };
    struct weir_str text = { 0 };

    if (limit_s <= 0)
        return 0;
    for (size_t q = 0; q < QUANTITIES; q++) {
        struct weir_stats s = { 0 };
        double x = quantity(mine, q);

        weir_stats_add(&s, x);
        weir_merge_stats(&run->par, &s);
        weir_bcast(&run->par, &s, sizeof(s), 0);
        weir_str_clear(&text);
        if (fabs(x - s.mean) > limit_s)
            weir_str_addf(&text, "for %s, task %d, %s %s is %f (mean=%f, stddev=%f)%c",
                          run->par.host, run->par.rank, rec->phase->key, quantities[q].name, x,
                          s.mean, weir_stats_sd(&s, WEIR_DEVIATION_POPULATION), '\0');
        run->report.lost |= weir_pieces(&run->par, &text, warn, &w) < 0;
    }
    weir_str_free(&text);
    return weir_agree(&run->par, w.rc, err);
}

/* ---- before the first test, and after each phase ---- */

/* The first test that uses a path empties the file, later ones append to it. */
static bool is_first_use(const struct weir_test *tests, int i)
{
    const char *path = tests[i].plan.options->rank_csv;

    for (int k = 0; k < i; k++)
        if (tests[k].plan.options->rank_csv && strcmp(tests[k].plan.options->rank_csv, path) == 0)
            return false;
    return true;
}

static int begin_rank_file(const struct weir_test *t, struct weir_err *err)
{
    const char *path = t->plan.options->rank_csv;
    struct weir_str head = { 0 };
    FILE *f = weir_open_now(path, "w");
    int rc = 0;

    if (!f)
        return weir_fail(err, WEIR_ESETUP, "open '%s' for the results of the ranks", path);
    if (weir_output_of(t->program)->rank_head)
        t->program->output->rank_head(t->state, &head);
    else
        weir_col_csv(&head, rank_cols, NULL);
    fputs(weir_str_text(&head), f);
    if (!weir_close_written(f) || head.failed)
        rc = weir_fail(err, WEIR_ESETUP, "write the results of the ranks to '%s'", path);
    weir_str_free(&head);
    return rc;
}

static int run_begin(struct weir_run *run, void *state, struct weir_test *tests, int n,
                     struct weir_err *err)
{
    int rc = 0;

    /* So that a file that cannot be written is found before the first test. */
    for (int i = 0; run->world.rank == 0 && i < n && rc == 0; i++)
        if (tests[i].plan.options->rank_csv && is_first_use(tests, i))
            rc = begin_rank_file(&tests[i], err);
    return weir_agree(&run->world, rc, err);
}

static bool wanted(const struct weir_test *t)
{
    return t->plan.options->rank_csv || t->plan.options->outlier_s > 0;
}

/* Appends a row for each rank, and warns of ranks whose times are far from the mean. */
static int after(struct weir_run *run, void *state, struct weir_phase_rec *rec,
                 struct weir_err *err)
{
    int64_t mine[WEIR_MARKS]; /* in ns after the first open of any rank */

    if (rec->failed || !rec->stage || (rec->stage->flags & WEIR_STAGE_UNTIMED))
        return 0;
    for (int m = 0; m < WEIR_MARKS; m++)
        mine[m] = weir_clock_common(&run->clock, rec->mark[m]) - rec->first[WEIR_MARK_OPEN];
    if (find_outliers(run, rec, mine, err) < 0)
        return -1;
    if (weir_output_of(run->test->program)->rank_head)
        return 0;
    return add_row(run, rec, mine, err);
}

const struct weir_observer weir_ranks = {
    .name = "ranks", .wanted = wanted, .run_begin = run_begin, .after = after
};
