/* SPDX-License-Identifier: BSD-3-Clause */
/* mdw-measure.c - from the counts and latencies of the ranks to those of a phase, for people,
 * programs and files */
#include "config.h"
#include "programs/md-workbench/mdw.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "base/stats.h"
#include "engine/observe/latency.h"
#include "engine/observe/gather.h"
#include "par/agree.h"

#define MIB 1048576.0

const struct weir_operation mdw_operations[MDW_OPS + 1] = {
    [MDW_READ] = { "read", "Read", "objects", true },
    [MDW_STAT] = { "stat", "Stat", "objects", false },
    [MDW_CREATE] = { "create", "Create", "objects", true },
    [MDW_DELETE] = { "delete", "Delete", "objects", false },
};

uint64_t mdw_errors(const struct mdw_measure *m)
{
    uint64_t n = 0;

    for (int c = 0; c < MDW_COUNTS; c++)
        n += m->failed[c];
    return n;
}

double mdw_longest_s(const struct mdw_measure *m)
{
    uint64_t ns = 0;

    for (int op = 0; op < MDW_OPS; op++)
        ns = m->lat[op].max_ns > ns ? m->lat[op].max_ns : ns;
    return (double)ns / WEIR_NS_PER_S;
}

double mdw_throughput(const struct mdw_test *t, const struct mdw_measure *m)
{
    return (double)(m->done[MDW_CREATE] + m->done[MDW_READ]) * t->o->size / m->seconds / MIB;
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
    static const double share[MDW_QUARTILES - 2] = { 0.25, 0.5, 0.75, 0.9, 0.99 };

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
             "A quarter of all " name " operations took less, seconds"),                           \
        REAL(name "Median", quantile[op][2],                                                       \
             "Half of all " name " operations took less, seconds"),                                \
        REAL(name "Q3", quantile[op][3],                                                           \
             "Three quarters of all " name " operations took less, seconds"),                      \
        REAL(name "P90", quantile[op][4], "90 % of all " name " operations took less, seconds"),   \
        REAL(name "P99", quantile[op][5], "99 % of all " name " operations took less, seconds"),   \
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

void mdw_record(struct weir_run *run, const struct mdw_test *t, const struct mdw_measure *m)
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
        .op_max = mdw_longest_s(m),
    };

    for (int op = 0; op < MDW_OPS; op++)
        mdw_quartiles(r.quantile[op], &m->lat[op]);
    weir_report_row(&run->report, &table, &r);
}

/* ---- files of operations (-L) ---- */

/* Which operations a phase has, and the name of their file; NULL: the operation's own. */
static const struct {
    bool has[MDW_OPS];
    const char *name;
} kinds[MDW_PHASES] = {
    [MDW_PRECREATE] = { .has = { [MDW_CREATE] = true }, .name = "precreate" },
    [MDW_BENCHMARK] = { .has = { true, true, true, true } },
    [MDW_CLEANUP] = { .has = { [MDW_DELETE] = true }, .name = "cleanup" },
};

uint64_t mdw_count_operations(struct weir_run *run, void *state)
{
    const struct mdw_test *t = state;
    const struct mdw_options *o = t->o;
    uint64_t each = t->m->phase == MDW_PRECREATE ? (uint64_t)o->population : (uint64_t)o->steps;
    uint64_t n = t->m->phase == MDW_CLEANUP ? mdw_sets_objects(t) : (uint64_t)o->sets * each;
    uint64_t kinds_of_phase = 0;

    (void)run;
    for (int op = 0; op < MDW_OPS; op++)
        kinds_of_phase += kinds[t->m->phase].has[op];
    return n * kinds_of_phase;
}

/* The file of an operation in a phase. */
static void name_file(const struct mdw_options *o, double wait, int iteration, enum mdw_phase phase,
                      enum mdw_op op, struct weir_str *out)
{
    weir_str_addf(out, "%s-%.2f-%d-%s%s.csv", o->latency, wait, iteration,
                  kinds[phase].name ? kinds[phase].name : mdw_operations[op].key,
                  o->latency_all ? "-all" : "");
}

#define FACTORS 9

/* Waiting factors of all files: none, that of -t, the seven of -T. */
static double factor_of(const struct mdw_options *o, uint64_t i)
{
    if (i < 2)
        return i == 0 ? 0 : o->wait;
    return ldexp(MDW_LEAST_WAIT, (int)i - 2);
}

static void name_any_file(const void *opt, uint64_t i, struct weir_str *out)
{
    const struct mdw_options *o = opt;
    uint64_t phase = i % MDW_PHASES, op = i / MDW_PHASES % MDW_OPS;
    uint64_t rest = i / (MDW_PHASES * MDW_OPS);

    name_file(o, factor_of(o, rest % FACTORS), (int)(rest / FACTORS), (enum mdw_phase)phase,
              (enum mdw_op)op, out);
}

int mdw_files(const void *opt, int tasks, struct weir_files *files, struct weir_err *err)
{
    const struct mdw_options *o = opt;
    const struct weir_file_names names = { .prefix = o->latency,
                                           .n = (uint64_t)o->run.repetitions * FACTORS *
                                                MDW_PHASES * MDW_OPS,
                                           .name = name_any_file,
                                           .arg = o };

    (void)tasks;
    if (!o->latency || !*o->latency)
        return 0;
    return weir_files_add_names(files, "-L (latency)", &names, WEIR_FILE_WRITE, err);
}

static bool name_of(const void *test, int op, struct weir_str *path)
{
    const struct mdw_test *t = test;

    if (!kinds[t->m->phase].has[op])
        return false;
    name_file(t->o, t->m->wait, (int)t->m->iteration, t->m->phase, (enum mdw_op)op, path);
    return true;
}

/* ---- a phase ---- */

/* Times of all ranks, for rank 0. */
static int gather_times(struct weir_run *run, struct mdw_measure *sum, struct weir_err *err)
{
    struct weir_stats stats;

    if (weir_ranks_stats(run, sum->seconds, &stats, err) < 0)
        return -1;
    if (run->par.rank > 0)
        return 0;
    sum->seconds = stats.max;
    sum->min_s = stats.min;
    sum->mean_s = stats.mean;
    sum->sd_s = weir_stats_sd(&stats, WEIR_DEVIATION_SAMPLE);
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
        weir_report_line(&run->report, "0: stonewall runtime %fs (%.15gs)", s, t->o->run.deadline_s);
    if (rec->stonewall.known)
        weir_report_line(&run->report, "stonewall wear out %fs (%llu iter)", s,
                         (unsigned long long)rec->stonewall.steps_max);
}

/* The reason of the lowest rank where something failed. */
static void note_failures(struct weir_run *run, struct mdw_test *t, const struct mdw_measure *sum)
{
    struct weir_err words = t->first_err;
    uint64_t failed = mdw_errors(sum);

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
    if (t->o->each_rank) {
        mdw_report_text(&line, t, m, run->par.rank);
        weir_str_addc(&line, '\n');
    }
    *sum = *m;
    sum->stopped = stopped_at(t, rec, true);
    weir_allsum_u64(&run->par, sum->done, MDW_COUNTS);
    weir_allsum_u64(&run->par, sum->failed, MDW_COUNTS);
    weir_latency_sum(run, &t->fs.session);
    rc = gather_times(run, sum, err);
    if (rc < 0)
        goto done;
    mdw_trace(run, t, rec);
    report_wall(run, t, rec);
    mdw_report_phase(run, t, sum);
    if (t->o->each_rank)
        weir_ranks_lines(run, &line);
    weir_report_flush(&run->report);
    weir_metrics_report(run, &t->fs.session, rec);
    note_failures(run, t, sum);
    if (t->o->latency)
        rc = weir_op_files_gather(run, rec, t->o->latency_all, name_of, t, err);
done:
    weir_str_free(&line);
    return rc;
}
