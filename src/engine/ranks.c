/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks.c - what single ranks did in a phase: a file with a row for each, and outliers */
#include "config.h"
#include "engine/ranks.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/col.h"
#include "base/stats.h"
#include "par/agree.h"

/* One line of saveRankPerformanceDetailsCSV; times in ns, rates in bytes/s. */
struct rank_row {
    const char *access;
    int64_t rank, test, iter, bytes, steps;
    double total, work, total_rate, work_rate;
};

#define CELL(f) .offset = offsetof(struct rank_row, f)

static const struct weir_col rank_cols[] = {
    { .csv = "access", .type = WEIR_COL_STR, CELL(access) },
    { .csv = "rank", .type = WEIR_COL_INT, CELL(rank) },
    { .csv = "runtime-with-openclose", .type = WEIR_COL_REAL, CELL(total), .unit = WEIR_NS_PER_S },
    { .csv = "runtime", .type = WEIR_COL_REAL, CELL(work), .unit = WEIR_NS_PER_S },
    { .csv = "throughput-withopenclose", .type = WEIR_COL_REAL, CELL(total_rate) },
    { .csv = "throughput", .type = WEIR_COL_REAL, CELL(work_rate) },
    { .csv = "test", .type = WEIR_COL_INT, CELL(test) },
    { .csv = "iter", .type = WEIR_COL_INT, CELL(iter) },
    { .csv = "bytes", .type = WEIR_COL_INT, CELL(bytes) },
    { .csv = "transfers", .type = WEIR_COL_INT, CELL(steps) },
    WEIR_COL_END
};

/* What a rank tells of its phase: times in ns after the first open of any rank. */
struct rank_times {
    int64_t at[WEIR_MARKS];
    uint64_t bytes, steps;
    char host[64];
};

int weir_ranks_begin_file(const char *path, struct weir_err *err)
{
    struct weir_str head = { 0 };
    int rc;

    weir_col_csv_head(&head, rank_cols);
    rc = weir_rank_lines_put(path, true, &head, err);
    weir_str_free(&head);
    return rc;
}

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

static void add_rank_line(const struct weir_phase_rec *rec, int test, int rank,
                          const struct rank_times *r, struct weir_str *lines)
{
    double total = (double)(r->at[WEIR_MARK_CLOSED] - r->at[WEIR_MARK_OPEN]);
    double work = (double)(r->at[WEIR_MARK_WORKED] - r->at[WEIR_MARK_WORK]);
    struct rank_row row = {
        .access = rec->phase->key,
        .rank = rank,
        .test = test,
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

static int write_ranks(const struct weir_run *run, const struct weir_phase_rec *rec, int test,
                       const char *path, const struct rank_times *all, struct weir_err *err)
{
    struct weir_str lines = { 0 };
    int rc;

    for (int i = 0; i < run->par.size; i++)
        add_rank_line(rec, test, i, &all[i], &lines);
    rc = weir_rank_lines_put(path, false, &lines, err);
    weir_str_free(&lines);
    return rc;
}

/* The quantities of -j: from one mark to another; from the first open of all where 'from' is -1
 * (ior.md 6.7). */
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
                         double limit_s, const struct rank_times *all, struct weir_err *err)
{
    int rc = 0;

    for (size_t q = 0; q < sizeof(quantities) / sizeof(*quantities); q++) {
        struct weir_stats s = { 0 };

        for (int i = 0; i < run->par.size; i++)
            weir_stats_add(&s, quantity(&all[i], q));
        for (int i = 0; i < run->par.size && rc == 0; i++)
            if (fabs(quantity(&all[i], q) - s.mean) > limit_s)
                rc = weir_warn(&run->log, err, "for %s, task %d, %s %s is %f (mean=%f, stddev=%f)",
                               all[i].host, i, rec->phase->key, quantities[q].name,
                               quantity(&all[i], q), s.mean, weir_stats_sd(&s));
    }
    return rc;
}

int weir_ranks_phase(struct weir_run *run, const struct weir_phase_rec *rec, int test,
                     const char *path, double outlier_s, struct weir_err *err)
{
    struct rank_times mine, *all = NULL;
    int rc = 0;

    if (!path && outlier_s <= 0)
        return 0;
    fill_times(run, rec, &mine);
    if (run->par.rank == 0 && !(all = malloc(sizeof(*all) * (size_t)run->par.size)))
        rc = weir_fail(err, WEIR_ESETUP, "hold the times of %d ranks", run->par.size);
    if (weir_agree(&run->par, rc, err) < 0)
        return -1;
    weir_gather(&run->par, &mine, sizeof(mine), all);
    if (all && outlier_s > 0)
        rc = warn_outliers(run, rec, outlier_s, all, err);
    if (all && rc == 0 && path)
        rc = write_ranks(run, rec, test, path, all, err);
    free(all);
    return weir_agree(&run->par, rc, err);
}

/* ---- programs of one test ---- */

static void name_rank_file(const void *opt, uint64_t rank, struct weir_str *out)
{
    const struct weir_run_options *o = opt;

    weir_str_addf(out, "%s-%05d.csv", o->op_csv, (int)rank);
}

int weir_ranks_files(const void *opt, int tasks, struct weir_files *files, struct weir_err *err)
{
    const struct weir_run_options *o = opt;
    const struct weir_file_names names = {
        .prefix = o->op_csv, .n = (uint64_t)tasks, .name = name_rank_file, .arg = o
    };

    if (!o->op_csv)
        return 0;
    return weir_files_add_names(files, "savePerOpDataCSV", &names, WEIR_FILE_WRITE, err);
}

int weir_ranks_begin(struct weir_run *run, struct weir_test *tests, int n, struct weir_err *err)
{
    const struct weir_run_options *o = tests[0].plan.options;
    struct weir_str path = { 0 };
    int rc = 0;

    (void)n;
    if (run->world.rank == 0 && o->rank_csv)
        rc = weir_ranks_begin_file(o->rank_csv, err);
    if (rc == 0 && o->op_csv) {
        name_rank_file(o, (uint64_t)run->world.rank, &path);
        rc = weir_records_begin_file(weir_str_text(&path), err);
        weir_str_free(&path);
    }
    return weir_agree(&run->world, rc, err);
}

int weir_ranks_report(struct weir_run *run, const struct weir_phase_rec *rec, struct weir_err *err)
{
    const struct weir_run_options *o = run->test->plan.options;
    struct weir_str path = { 0 };
    int rc;

    if (o->op_csv) {
        name_rank_file(o, (uint64_t)run->par.rank, &path);
        rc = weir_records_append(run, rec, run->test->id, weir_str_text(&path), 0, err);
        weir_str_free(&path);
        if (weir_agree(&run->par, rc, err) < 0)
            return -1;
    }
    return weir_ranks_phase(run, rec, run->test->id, o->rank_csv, 0, err);
}
