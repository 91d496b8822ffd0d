/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks.c - what single ranks did in a phase: a file with a row for each, and outliers */
#include "config.h"
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text/columns.h"
#include "engine/observe/all.h"
#include "engine/observe/gather.h"
#include "par/agree.h"

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

/* The numbers that a rank sends of its phase: times in ns after the first open of any rank. */
struct rank_times {
    int64_t at[WEIR_MARKS];
    uint64_t bytes, steps;
    char host[64];
};

/* ---- times of a phase ---- */

static void fill_times(const struct weir_run *run, const struct weir_phase_rec *rec,
                       struct rank_times *mine)
{
    memset(mine, 0, sizeof(*mine));
    for (int m = 0; m < WEIR_MARKS; m++)
        mine->at[m] = weir_clock_common(&run->clock, rec->mark[m]) - rec->first[WEIR_MARK_OPEN];
    mine->bytes = run->counters.bytes;
    mine->steps = rec->steps;
    memcpy(mine->host, run->par.host, sizeof(mine->host) - 1);
}

static void add_rank_line(const struct weir_run *run, const struct weir_phase_rec *rec, int rank,
                          const struct rank_times *r, struct weir_str *lines)
{
    double total = (double)(r->at[WEIR_MARK_CLOSED] - r->at[WEIR_MARK_OPEN]);
    double work = (double)(r->at[WEIR_MARK_WORKED] - r->at[WEIR_MARK_WORK]);
    struct rank_row row = {
        .access = rec->phase->key,
        .rank = rank,
        .test = run->test->id,
        .iter = rec->repetition,
        .bytes = (int64_t)r->bytes,
        .steps = (int64_t)r->steps,
        .total = total,
        .work = work,
        .total_rate = total > 0 ? (double)r->bytes / total * WEIR_NS_PER_S : NAN,
        .work_rate = work > 0 ? (double)r->bytes / work * WEIR_NS_PER_S : NAN,
    };

    weir_col_csv(lines, rank_cols, &row);
}

static void add_times(const struct weir_run *run, const void *rec, const void *all,
                      struct weir_str *lines)
{
    for (int i = 0; i < run->par.size; i++)
        add_rank_line(run, rec, i, (const struct rank_times *)all + i, lines);
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

static double quantity(const struct rank_times *r, size_t q)
{
    int64_t from = quantities[q].from < 0 ? 0 : r->at[quantities[q].from];

    return (double)(r->at[quantities[q].to] - from) / WEIR_NS_PER_S;
}

static int warn_outliers(const struct weir_run *run, const struct weir_phase_rec *rec,
                         const struct rank_times *all, struct weir_err *err)
{
    double limit_s = run->test->plan.options->outlier_s;
    int rc = 0;

    for (size_t q = 0; q < sizeof(quantities) / sizeof(*quantities); q++) {
        struct weir_stats s = { 0 };

        for (int i = 0; i < run->par.size; i++)
            weir_stats_add(&s, quantity(&all[i], q));
        for (int i = 0; i < run->par.size && rc == 0; i++)
            if (fabs(quantity(&all[i], q) - s.mean) > limit_s)
                rc = weir_warn(&run->log, err, "for %s, task %d, %s %s is %f (mean=%f, stddev=%f)",
                               all[i].host, i, rec->phase->key, quantities[q].name,
                               quantity(&all[i], q), s.mean, weir_stats_sd(&s, WEIR_DEVIATION_POPULATION));
    }
    return rc;
}

static int find_outliers(struct weir_run *run, const struct weir_phase_rec *rec,
                         const struct rank_times *mine, struct weir_err *err)
{
    void *all;
    int rc = 0;

    if (run->test->plan.options->outlier_s <= 0)
        return 0;
    if (weir_ranks_gather(run, mine, sizeof(*mine), &all, err) < 0)
        return -1;
    if (all)
        rc = warn_outliers(run, rec, all, err);
    free(all);
    return weir_agree(&run->par, rc, err);
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
    struct weir_str head = { 0 };
    int rc;

    if (weir_words_of(t->program)->rank_head)
        t->program->words->rank_head(&head);
    else
        weir_col_csv(&head, rank_cols, NULL);
    rc = weir_rank_lines_put(t->plan.options->rank_csv, true, &head, err);
    weir_str_free(&head);
    return rc;
}

/* So that a file that cannot be written is found before the first test. Rank 0. */
static int begin_files(const struct weir_test *tests, int n, struct weir_err *err)
{
    for (int i = 0; i < n; i++)
        if (tests[i].plan.options->rank_csv && is_first_use(tests, i) &&
            begin_rank_file(&tests[i], err) < 0)
            return -1;
    return 0;
}

static int run_begin(struct weir_run *run, void *state, struct weir_test *tests, int n,
                     struct weir_err *err)
{
    (void)state;
    return weir_agree(&run->world, run->world.rank == 0 ? begin_files(tests, n, err) : 0, err);
}

static bool wanted(const struct weir_test *t)
{
    return t->plan.options->rank_csv || t->plan.options->outlier_s > 0;
}

/* Appends a row for each rank, and warns of ranks whose times are far from the mean. */
static int after(struct weir_run *run, void *state, struct weir_phase_rec *rec,
                 struct weir_err *err)
{
    struct rank_times mine;

    (void)state;
    if (rec->failed || !rec->stage || (rec->stage->flags & WEIR_STAGE_UNTIMED))
        return 0;
    fill_times(run, rec, &mine);
    if (find_outliers(run, rec, &mine, err) < 0)
        return -1;
    if (weir_words_of(run->test->program)->rank_head)
        return 0;
    return weir_ranks_rows(run, &mine, sizeof(mine), add_times, rec, err);
}

const struct weir_observer weir_ranks = {
    .name = "ranks", .wanted = wanted, .run_begin = run_begin, .after = after
};
