/* SPDX-License-Identifier: BSD-3-Clause */
/* queue.c - how full the queue of transfers was in a phase (--depth) */

#include <inttypes.h>

#include "base/clock.h"
#include "engine/observe/all.h"
#include "engine/observe/latency.h"

/* Groups of depths: 1, 2, up to 4, 8, 16, 32, more. */
enum { DEPTH_1, DEPTH_2, DEPTH_4, DEPTH_8, DEPTH_16, DEPTH_32, DEPTH_MORE, GROUPS };

struct queue_row {
    const char *operation;
    int64_t test, iter, asked, min, max;
    double mean, share[GROUPS];
    struct weir_latency between;
};

#define Q struct queue_row
#define COUNT(f, k, h) COL_INT(Q, f, k, h)
#define SHARE(i, k, h) COL_REAL(Q, share[i], k, "Submissions at depth " h ", percent")
#define SECONDS(f, k, h) COL_REAL(Q, between.f, k, h, .unit = WEIR_NS_PER_S)

static const struct weir_col cols[] = {
    COUNT(test, "test", "Number of the test, from 0"),
    COUNT(iter, "iter", "Repetition, from 0"),
    COL_STR(Q, operation, "operation", "Phase"),
    COUNT(asked, "depth", "Transfers of a task that may be in flight"),
    COUNT(between.n, "completions", "Transfers of all tasks that followed another one out of the queue"),
    COL_REAL(Q, mean, "depthMean", "Mean number of transfers in flight, with each that is submitted"),
    COUNT(min, "depthMin", "Least of these numbers"),
    COUNT(max, "depthMax", "Most of them"),
    SHARE(DEPTH_1, "depth1", "1"),
    SHARE(DEPTH_2, "depth2", "2"),
    SHARE(DEPTH_4, "depth4", "3 to 4"),
    SHARE(DEPTH_8, "depth8", "5 to 8"),
    SHARE(DEPTH_16, "depth16", "9 to 16"),
    SHARE(DEPTH_32, "depth32", "17 to 32"),
    SHARE(DEPTH_MORE, "depthMore", "33 and more"),
    SECONDS(mean, "betweenMean", "Mean time of a task from one completion to the next, seconds"),
    SECONDS(p50, "betweenP50", "p50 of these times, seconds"),
    SECONDS(p99, "betweenP99", "p99 of these times, seconds"),
    SECONDS(max, "betweenMax", "Longest of them, seconds"),
    WEIR_COL_END
};

static const struct weir_table table = { .key = "queue", .cols = cols, .readers = WEIR_FOR_DATA };

/* Depths up to 32 have a bin each. */
static void share_groups(const struct weir_hist *h, double *share)
{
    uint64_t below = 0;

    for (int i = 0; i < GROUPS; i++) {
        uint64_t n = h->n - below;

        if (i < GROUPS - 1) {
            n = 0;
            for (uint64_t depth = i > 0 ? (1u << (i - 1)) + 1 : 1; depth <= 1u << i; depth++)
                n += h->bin[weir_hist_bin(depth)];
        }
        share[i] = 100.0 * (double)n / (double)h->n;
        below += n;
    }
}

static void report(struct weir_run *run, const struct weir_session *s,
                   const struct weir_phase_rec *rec)
{
    const struct weir_hist *depth = &s->stats->hist[WEIR_HIST_DEPTH];
    struct queue_row row = {
        .operation = rec->phase->key,
        .test = run->test->id,
        .iter = rec->repetition,
        .asked = s->depth,
        .mean = (double)depth->sum_ns / (double)depth->n,
        .min = (int64_t)depth->min_ns,
        .max = (int64_t)depth->max_ns,
    };

    share_groups(depth, row.share);
    weir_latency_of(&s->stats->hist[WEIR_HIST_BETWEEN], &row.between);
    weir_report_row(&run->report, &table, &row);
    if (run->log.verbose >= 1)
        weir_report_line(&run->report,
                         "queue of %s: depth %" PRId64 ", mean %.1f, most %" PRId64
                         "; time between completions: mean %.6f s, p99 %.6f s",
                         row.operation, row.asked, row.mean, row.max,
                         row.between.mean / WEIR_NS_PER_S, row.between.p99 / WEIR_NS_PER_S);
}

static void measured(struct weir_run *run, void *state, struct weir_session *s,
                     const struct weir_phase_rec *rec)
{
    if (!rec || s->depth < 2 || !(run->report.details || run->log.verbose >= 1)) /* as on all ranks */
        return;
    weir_latency_sum(run, s, rec);
    if (run->par.rank == 0 && s->stats && s->stats->hist[WEIR_HIST_DEPTH].n > 0)
        report(run, s, rec);
}

const struct weir_observer weir_queue_use = { .name = "queue", .measured = measured };
