/* SPDX-License-Identifier: BSD-3-Clause */
/* mdw-measure.c - from the counts and latencies of the ranks to those of a phase */
#include "config.h"
#include "drivers/md-workbench/mdw.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/stats.h"
#include "engine/ranks.h"
#include "par/agree.h"
#include "par/reduce.h"

/* Times of all ranks, for rank 0. */
static int gather_times(struct weir_run *run, struct mdw_measure *sum, struct weir_err *err)
{
    struct weir_stats stats = { 0 };
    void *all;

    if (weir_ranks_gather(run, &sum->seconds, sizeof(sum->seconds), &all, err) < 0)
        return -1;
    for (int k = 0; all && k < run->par.size; k++)
        weir_stats_add(&stats, ((const double *)all)[k]);
    free(all);
    if (run->par.rank > 0)
        return 0;
    sum->seconds = stats.max;
    sum->min_s = stats.min;
    sum->mean_s = stats.mean;
    sum->sd_s = stats.n > 1 ? sqrt(stats.m2 / (double)(stats.n - 1)) : 0;
    return 0;
}

/* Rounds when the stonewall came before the last one; 0: it did not. */
static uint64_t stopped_at(const struct mdw_test *t, const struct weir_phase_rec *rec, bool all)
{
    uint64_t planned = (uint64_t)t->o->steps;

    if (t->m->phase != MDW_BENCHMARK || t->o->run.deadline_s == 0)
        return 0;
    if (rec->stonewall.known)
        return rec->stonewall.steps_min < planned ? rec->steps_max : 0;
    if (all)
        return rec->steps_min < planned ? rec->steps_min : 0;
    return rec->steps < planned ? rec->steps : 0;
}

static void report_wall(struct weir_run *run, const struct mdw_test *t,
                        const struct weir_phase_rec *rec)
{
    double s =
        (double)(rec->stonewall.known ? rec->stonewall.time_ns
                                      : rec->mark[WEIR_MARK_WORKED] - rec->mark[WEIR_MARK_WORK]) /
        WEIR_NS_PER_S;

    if (stopped_at(t, rec, true) == 0 || rec->interrupted)
        return;
    if (run->log.verbose >= 1)
        weir_report_line(&run->report, "0: stonewall runtime %fs (%ds)", s, t->o->run.deadline_s);
    if (rec->stonewall.known)
        weir_report_line(&run->report, "stonewall wear out %fs (%llu iter)", s,
                         (unsigned long long)rec->stonewall.steps_max);
}

/* The reason of the lowest rank where something failed. */
static void tell_failures(struct weir_run *run, struct mdw_test *t, const struct mdw_measure *sum)
{
    struct weir_err words = t->first_err;
    uint64_t failed = 0;

    for (int c = 0; c < MDW_COUNTS; c++)
        failed += sum->failed[c];
    t->failed += failed;
    if (failed > 0 && weir_agree(&run->par, words.code == WEIR_OK ? 0 : -1, &words) < 0)
        weir_note(&run->log, "%s", words.text);
}

int mdw_measure(struct weir_run *run, struct mdw_test *t, const struct weir_phase_rec *rec,
                struct weir_err *err)
{
    struct mdw_measure *m = t->m, *sum = t->sum;
    uint64_t ns = rec->mark[WEIR_MARK_WORKED] - rec->mark[WEIR_MARK_WORK];
    struct weir_str line = { 0 };
    int rc;

    m->seconds = (double)(ns > 0 ? ns : 1) / WEIR_NS_PER_S;
    m->stopped = stopped_at(t, rec, false);
    m->span_s = weir_phase_span(rec, WEIR_MARK_WORK, WEIR_MARK_CLOSED);
    t->wrong += rec->wrong_sum;
    if (t->o->each_rank) {
        mdw_report_text(&line, t, m, run->par.rank);
        weir_str_addc(&line, '\n');
    }
    *sum = *m;
    sum->stopped = stopped_at(t, rec, true);
    weir_allsum_u64(&run->par, sum->done, MDW_COUNTS);
    weir_allsum_u64(&run->par, sum->failed, MDW_COUNTS);
    for (int op = 0; op < MDW_OPS; op++)
        weir_hist_sum(&run->par, &sum->lat[op]);
    rc = gather_times(run, sum, err);
    if (rc < 0)
        goto done;
    mdw_trace(run, t, rec);
    report_wall(run, t, rec);
    mdw_report_phase(run, t, sum);
    if (t->o->each_rank)
        weir_ranks_lines(run, &line);
    weir_report_flush(&run->report);
    weir_metrics_report(run, &t->session, rec);
    tell_failures(run, t, sum);
    rc = mdw_latency_write(run, t, rec, err);
done:
    weir_str_free(&line);
    return rc;
}
