/* SPDX-License-Identifier: BSD-3-Clause */
/* mdw-report.c - from the counts and latencies of the ranks to the numbers of a phase, for people and
 * for programs */
#include "programs/md-workbench/mdw.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>

#include "base/clock.h"
#include "base/stats.h"
#include "engine/about/banner.h"
#include "engine/observe/gather.h"
#include "engine/observe/latency.h"
#include "par/agree.h"
#include "par/reduce.h"

/* ---- numbers of a phase ---- */

uint64_t mdw_errors(const struct mdw_measure *m)
{
    uint64_t n = 0;

    for (int c = 0; c < MDW_COUNTS; c++)
        n += m->failed[c];
    return n;
}

static double longest_s(const struct mdw_measure *m)
{
    uint64_t ns = 0;

    for (int op = 0; op < MDW_OPS; op++)
        ns = m->lat[op].max_ns > ns ? m->lat[op].max_ns : ns;
    return (double)ns / WEIR_NS_PER_S;
}

double mdw_throughput(const struct mdw_test *t, const struct mdw_measure *m)
{
    return (double)(m->done[MDW_CREATE] + m->done[MDW_READ]) * t->o->size / m->seconds / WEIR_MIB;
}

double mdw_iops(const struct mdw_test *t, const struct mdw_measure *m)
{
    switch (m->phase) {
    case MDW_PRECREATE:
        return (double)(m->done[MDW_SET_CREATE] + m->done[MDW_CREATE]) / m->seconds;
    case MDW_CLEANUP:
        return (double)(m->done[MDW_SET_DELETE] + m->done[MDW_DELETE]) / m->seconds;
    default:
        return (t->o->read_only ? 2.0 : 4.0) * (double)m->done[MDW_READ] / m->seconds;
    }
}

uint64_t mdw_objects(const struct mdw_measure *m)
{
    static const enum mdw_op of[MDW_PHASES] = { MDW_CREATE, MDW_READ, MDW_DELETE };

    return m->done[of[m->phase]];
}

void mdw_quartiles(double out[MDW_QUARTILES], const struct weir_hist *h)
{
    static const double share[] = { 0.25, 0.5, 0.75, 0.9, 0.99 };
    _Static_assert(sizeof(share) / sizeof(*share) + 2 == MDW_QUARTILES, "with the ends");

    out[0] = h->n ? (double)h->min_ns / WEIR_NS_PER_S : NAN;
    for (int i = 0; i < MDW_QUARTILES - 2; i++)
        out[i + 1] = h->n ? (double)weir_hist_quantile(h, share[i]) / WEIR_NS_PER_S : NAN;
    out[MDW_QUARTILES - 1] = h->n ? (double)h->max_ns / WEIR_NS_PER_S : NAN;
}

/* ---- a record for programs ---- */

struct record {
    const char *phase;
    struct mdw_measure m;
    int64_t objects, sets, errors, stopped;
    double iops, rate, tp, op_max;
    double quantile[MDW_OPS][MDW_QUARTILES];
};

#define INT(k, f, h) COL_INT(struct record, f, k, h)
#define REAL(k, f, h) COL_REAL(struct record, f, k, h)
#define QUARTILES(name, op)                                                                        \
    REAL(name "Min", quantile[op][0], "Shortest " name ", seconds"),                               \
        REAL(name "Q1", quantile[op][1],                                                           \
             "p25 of the times of " name " operations, seconds"),                                  \
        REAL(name "Median", quantile[op][2],                                                       \
             "p50 of the times of " name " operations, seconds"),                                  \
        REAL(name "Q3", quantile[op][3],                                                           \
             "p75 of the times of " name " operations, seconds"),                                  \
        REAL(name "P90", quantile[op][4], "p90 of the times of " name " operations, seconds"),     \
        REAL(name "P99", quantile[op][5], "p99 of the times of " name " operations, seconds"),     \
        REAL(name "Max", quantile[op][6], "Longest " name ", seconds")

static const struct weir_col cols[] = {
    COL_STR(struct record, phase, "phase", "Phase"),
    INT("iteration", m.iteration, "Iteration, from 0"),
    REAL("waitingFactor", m.wait, "Waiting time over the time of each operation"),
    REAL("seconds", m.seconds, "Time of the slowest task, seconds"),
    REAL("fastestSeconds", m.min_s, "Time of the fastest task, seconds"),
    INT("objects", objects, "Objects made, read or removed by all tasks"),
    INT("sets", sets, "Data sets made or removed by all tasks"),
    INT("errors", errors, "Operations that failed"),
    INT("stonewallIter", stopped,
        "Rounds of a task when the stonewall ended the work early, else 0"),
    REAL("iops", iops, "Operations a second"),
    REAL("objectRate", rate, "Objects a second"),
    REAL("throughputMiB", tp, "MiB a second written and read"),
    REAL("opMax", op_max, "Longest operation, seconds"),
    QUARTILES("read", MDW_READ),
    QUARTILES("stat", MDW_STAT),
    QUARTILES("create", MDW_CREATE),
    QUARTILES("delete", MDW_DELETE),
    WEIR_COL_END
};

static const struct weir_table table = { .key = "Results", .cols = cols, .readers = WEIR_FOR_DATA };

static struct record record_of(const struct mdw_test *t, const struct mdw_measure *m)
{
    struct record r = {
        .phase = mdw_phases[m->phase].key,
        .m = *m,
        .objects = (int64_t)mdw_objects(m),
        .sets = (int64_t)(m->done[MDW_SET_CREATE] + m->done[MDW_SET_DELETE]),
        .errors = (int64_t)mdw_errors(m),
        .stopped = (int64_t)m->stopped,
        .iops = mdw_iops(t, m),
        .rate = (double)mdw_objects(m) / m->seconds,
        .tp = mdw_throughput(t, m),
        .op_max = longest_s(m),
    };

    for (int op = 0; op < MDW_OPS; op++)
        mdw_quartiles(r.quantile[op], &m->lat[op]);
    return r;
}

/* ---- the line of a phase ---- */

static void add_body(struct weir_str *s, const struct record *r)
{
    double set_rate = (double)r->sets / r->m.seconds;

    weir_str_addf(s, "rate:%.1f iops/s ", r->iops);
    if (r->m.phase == MDW_PRECREATE)
        weir_str_addf(s, "dsets: %" PRId64 " objects:%" PRId64 " rate:%.3f dset/s rate:%.1f obj/s",
                      r->sets, r->objects, set_rate, r->rate);
    else if (r->m.phase == MDW_CLEANUP)
        weir_str_addf(s, "objects:%" PRId64 " dsets: %" PRId64 " rate:%.1f obj/s rate:%.3f dset/s",
                      r->objects, r->sets, r->rate, set_rate);
    else
        weir_str_addf(s, "objects:%" PRId64 " rate:%.1f obj/s", r->objects, r->rate);
    if (r->m.phase != MDW_CLEANUP)
        weir_str_addf(s, " tp:%.1f MiB/s", r->tp);
    weir_str_addf(s, " op-max:%.4es", r->op_max);
    if (r->m.wait > 0)
        weir_str_addf(s, " waiting_factor:%.2f", r->m.wait);
}

static void add_latencies(struct weir_str *s, const struct record *r)
{
    for (int op = 0; op < MDW_OPS; op++) {
        if (r->m.lat[op].max_ns <= 1)
            continue;
        weir_str_addf(s, " %s(", mdw_operations[op].key);
        for (int i = 0; i < MDW_QUARTILES; i++)
            weir_str_addf(s, "%s%.4es", i ? ", " : "", r->quantile[op][i]);
        weir_str_addc(s, ')');
    }
}

static void add_tail(struct weir_str *s, const struct record *r, bool quiet)
{
    if (r->errors > 0)
        weir_str_addf(s, " (%" PRId64 " errs!!!)", r->errors);
    else if (!quiet)
        weir_str_addf(s, " (0 errs)");
    if (r->stopped > 0 && !quiet)
        weir_str_addf(s, " stonewall-iter:%" PRId64, r->stopped);
    add_latencies(s, r);
}

/* The columns of detailed rows, with tabs between them: a word, and the count below it. Some words
 * stand above nothing; the last four above the times, which have units of their own. */
static const struct {
    const char *head;
    int count;
} detailed[] = {
    { "phase\t", -1 },
    { "d name", -1 },
    { "create", MDW_SET_CREATE },
    { "delete", MDW_SET_DELETE },
    { "ob nam", -1 },
    { "create", MDW_CREATE },
    { "read", MDW_READ },
    { "stat", MDW_STAT },
    { "delete", MDW_DELETE },
    { "t_inc_b", -1 },
    { "t_no_bar", -1 },
    { "thp", -1 },
    { "max_t", -1 },
};

#define DETAILED (sizeof(detailed) / sizeof(*detailed))

static void report_heading(struct weir_report *r)
{
    struct weir_str s = { 0 };

    for (size_t i = 0; i < DETAILED; i++)
        weir_str_addf(&s, "%s%s", i ? "\t" : "", detailed[i].head);
    weir_report_line(r, "%s", weir_str_text(&s));
    weir_report_free(r, &s);
}

static void add_counts(struct weir_str *s, const uint64_t *counts)
{
    for (size_t i = 0; i < DETAILED; i++)
        if (detailed[i].count >= 0)
            weir_str_addf(s, "\t%" PRIu64, counts[detailed[i].count]);
}

static void add_detailed(struct weir_str *s, const struct record *r)
{
    weir_str_addf(s, "%s ", r->phase);
    add_counts(s, r->m.done);
    weir_str_addf(s, "\t%.3fs\t%.3fs\t%.2f MiB/s %.4e", r->m.span_s, r->m.seconds, r->tp, r->op_max);
    if (r->errors == 0)
        return;
    weir_str_addf(s, "\n%s err", r->phase);
    add_counts(s, r->m.failed);
}

/* About one rank (rank < 0: all), without newline. */
static void add_line(struct weir_str *s, const struct mdw_test *t, const struct mdw_measure *m,
                     int rank)
{
    const struct record r = record_of(t, m);

    if (rank >= 0)
        weir_str_addf(s, "%d: ", rank);
    if (t->o->detailed) {
        add_detailed(s, &r);
        return;
    }
    weir_str_addf(s, "%s process max:%.2fs ", r.phase, m->seconds);
    if (rank < 0)
        weir_str_addf(s, "min:%.2fs mean: %.2fs balance:%.1f stddev:%.1f ", m->min_s, m->mean_s,
                      100.0 * m->min_s / m->seconds, m->sd_s);
    add_body(s, &r);
    add_tail(s, &r, t->o->quiet);
}

static void report_phase(struct weir_run *run, struct mdw_test *t, const struct mdw_measure *m)
{
    struct weir_str s = { 0 };
    struct record r;

    if (run->par.rank > 0)
        return;
    if (t->o->detailed && !t->o->quiet && !t->headed)
        report_heading(&run->report);
    t->headed = true;
    add_line(&s, t, m, -1);
    weir_report_line(&run->report, "%s", weir_str_text(&s));
    weir_report_free(&run->report, &s);
    r = record_of(t, m);
    weir_report_row(&run->report, &table, &r);
}

/* ---- the phases ---- */

/* Times of all ranks, for rank 0. */
static void sum_up_times(const struct weir_run *run, struct mdw_measure *sum)
{
    struct weir_stats stats = { 0 };

    weir_stats_add(&stats, sum->seconds);
    weir_merge_stats(&run->par, &stats);
    if (run->par.rank > 0)
        return;
    sum->seconds = stats.max;
    sum->min_s = stats.min;
    sum->mean_s = stats.mean;
    sum->sd_s = weir_stats_sd(&stats, WEIR_DEVIATION_SAMPLE);
}

/* Rounds when the stonewall came before the last one; 0: it did not. */
static uint64_t stopped_at(const struct mdw_test *t, const struct weir_phase_rec *rec, bool all)
{
    uint64_t planned = (uint64_t)t->o->steps;

    if (t->m->phase != MDW_BENCHMARK || weir_run_options_bound(&t->o->run) == 0)
        return 0;
    if (rec->stonewall.known)
        return rec->stonewall.min.steps < planned ? rec->max.steps : 0;
    if (all)
        return rec->min.steps < planned ? rec->min.steps : 0;
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
        weir_report_line(&run->report, "0: stonewall runtime %fs (%.15gs)", s, t->o->run.deadline_s);
    if (rec->stonewall.known)
        weir_report_line(&run->report, "stonewall wear out %fs (%llu iter)", s,
                         (unsigned long long)rec->stonewall.max.steps);
}

/* The reason of the lowest rank where something failed. */
static void note_failures(struct weir_run *run, struct mdw_test *t, const struct mdw_measure *sum)
{
    struct weir_err words = t->first_err;
    uint64_t failed = mdw_errors(sum);

    t->failed += failed;
    if (failed > 0 && weir_agree(&run->par, words.code == WEIR_OK ? 0 : -1, &words) < 0) {
        weir_note(&run->log, "%s", words.text);
        t->why = t->why.code == WEIR_OK ? words : t->why;
    }
}

int mdw_measure(struct weir_run *run, struct mdw_test *t, const struct weir_phase_rec *rec,
                struct weir_err *err)
{
    struct mdw_measure *m = t->m, sum;
    uint64_t ns = rec->mark[WEIR_MARK_WORKED] - rec->mark[WEIR_MARK_WORK];
    struct weir_str line = { 0 };
    int rc = 0;

    m->seconds = (double)(ns > 0 ? ns : 1) / WEIR_NS_PER_S;
    m->stopped = stopped_at(t, rec, false);
    m->span_s = weir_phase_span(rec, WEIR_MARK_WORK, WEIR_MARK_CLOSED);
    if (t->o->each_rank) {
        add_line(&line, t, m, run->par.rank);
        weir_str_addc(&line, '\n');
    }
    sum = *m; /* of all ranks, on rank 0 */
    sum.stopped = stopped_at(t, rec, true);
    weir_allsum_u64(&run->par, sum.done, MDW_COUNTS);
    weir_allsum_u64(&run->par, sum.failed, MDW_COUNTS);
    weir_latency_sum(run, &t->fs.session, rec);
    sum_up_times(run, &sum);
    mdw_trace(run, t, rec);
    report_wall(run, t, rec);
    report_phase(run, t, &sum);
    if (t->o->each_rank)
        weir_ranks_lines(run, &line);
    weir_report_flush(&run->report);
    weir_observers_measured(run, &t->fs.session, rec);
    note_failures(run, t, &sum);
    if (t->o->latency)
        rc = mdw_write_operations(run, t, rec, err);
    weir_str_free(&line);
    return rc;
}

/* ---- above and below ---- */

#define FORM "%Y-%m-%d %H:%M:%S"

static void show_banner(struct weir_run *run, struct weir_test *tests)
{
    struct mdw_test *t = tests[0].state;
    const struct mdw_options *o = t->o;
    struct weir_report *r = &run->report;
    int64_t objects =
        ((int64_t)o->steps * o->run.repetitions + o->population) * o->sets * run->world.size;
    double set = (double)run->world.size * o->sets * o->population * o->size / WEIR_MIB;
    char now[32];

    t->begin_ns = weir_now_ns();
    weir_banner_words(run, "Args: ", '"', INT_MAX);
    weir_banner_data(run);
    weir_banner_fakes(run);
    weir_banner_nodemap(run, WEIR_FOR_TEXT);
    weir_report_str(r, WEIR_FOR_DATA, "Began", weir_banner_now(now, FORM));
    if (o->start > 0)
        weir_report_line(r, "Using start position %" PRId64, o->start);
    if (!o->quiet)
        weir_report_line(r,
                         "MD-Workbench total objects: %" PRId64
                         " workingset size: %.3f MiB (version: 4.1.0+weir-%s) time: %s",
                         objects, set, PACKAGE_VERSION, now);
    if (!o->quiet && o->steps > o->population)
        weir_report_line(r, "WARNING: num > precreate, this may cause the situation that no "
                            "objects are available to read");
    weir_report_flush(r);
}

static void finish(struct weir_run *run, const struct weir_test *tests)
{
    const struct mdw_test *t = tests[0].state;
    char now[32];

    weir_report_str(&run->report, WEIR_FOR_DATA, "Finished", weir_banner_now(now, FORM));
    if (!t->o->quiet)
        weir_report_line(&run->report, "Total runtime: %.0fs time: %s",
                         (double)(weir_now_ns() - t->begin_ns) / WEIR_NS_PER_S, now);
}

const struct weir_output mdw_output = {
    .banner = show_banner,
    .finish = finish,
};
