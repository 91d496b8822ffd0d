/* SPDX-License-Identifier: BSD-3-Clause */
/* mdw-measure.c - from the counts and latencies of the ranks to those of a phase, the files of -L,
 * and with -v -v each operation of rank 0 */
#include "config.h"
#include "programs/md-workbench/mdw.h"

#include <math.h>

#include "base/clock.h"
#include "base/stats.h"
#include "engine/observe/latency.h"
#include "engine/observe/gather.h"
#include "par/agree.h"

const struct weir_operation mdw_operations[MDW_OPS + 1] = {
    [MDW_READ] = { "read", "Read", "objects", true },
    [MDW_STAT] = { "stat", "Stat", "objects", false },
    [MDW_CREATE] = { "create", "Create", "objects", true },
    [MDW_DELETE] = { "delete", "Delete", "objects", false },
};

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

/* ---- each operation of rank 0, with -v -v ---- */

static int outcome(const struct mdw_test *t, uint64_t i, enum mdw_op op)
{
    return t->outcome[i] & (1u << op) ? -1 : 0;
}

static void trace_precreate(struct weir_run *run, struct mdw_test *t,
                            const struct weir_phase_rec *rec)
{
    uint64_t sets = (uint64_t)t->o->sets;

    for (uint64_t i = sets; i < rec->steps; i++) {
        const char *last = mdw_name_dir(&t->to, 0, (int)sets - 1); /* stands in front of all */
        const char *path = mdw_name_object(&t->own, 0, (int)(i % sets), t->first + i / sets - 1);

        weir_report_line(&run->report, "0: write %s:%s (%d) pretend: 0", last, path,
                         outcome(t, i, MDW_CREATE));
    }
}

static void trace_benchmark(struct weir_run *run, struct mdw_test *t,
                            const struct weir_phase_rec *rec)
{
    struct weir_report *r = &run->report;
    uint64_t sets = (uint64_t)t->o->sets;

    for (uint64_t i = 0; i < rec->steps * sets; i++) {
        const struct mdw_set *s = mdw_set_of(t, i % sets);
        uint64_t object = t->pos + i / sets;
        int d = (int)(i % sets);
        const char *path = mdw_name_object(&t->from, s->from_rank, d, object);

        weir_report_line(r, "0: stat %s (%d)", path, outcome(t, i, MDW_STAT));
        if (outcome(t, i, MDW_STAT) < 0)
            continue;
        weir_report_line(r, "0: read %s pretend: %d", path, s->from_rank);
        if (t->o->read_only)
            continue;
        weir_report_line(r, "0: delete %s", path);
        weir_report_line(
            r, "0: write %s (%d) pretend: %d",
            mdw_name_object(&t->to, s->to_rank, d, object + (uint64_t)t->o->population),
            outcome(t, i, MDW_CREATE), s->to_rank);
    }
}

static void trace_cleanup(struct weir_run *run, struct mdw_test *t)
{
    for (uint64_t d = 0; d < (uint64_t)t->o->sets && d <= t->at_set; d++) {
        const struct mdw_set *s = mdw_set_of(t, d);
        uint64_t end = d == t->at_set ? t->at_object : s->high;

        for (uint64_t i = s->low; i < end; i++)
            weir_report_line(&run->report, "0: delete %s", mdw_name_object(&t->own, 0, (int)d, i));
        if (d < t->at_set)
            weir_report_line(&run->report, "0: delete dset %s", mdw_name_dir(&t->own, 0, (int)d));
    }
}

static void trace(struct weir_run *run, struct mdw_test *t, const struct weir_phase_rec *rec)
{
    if (run->log.verbose < 2 || run->par.rank > 0)
        return;
    if (t->m->phase == MDW_PRECREATE)
        trace_precreate(run, t, rec);
    else if (t->m->phase == MDW_BENCHMARK)
        trace_benchmark(run, t, rec);
    else
        trace_cleanup(run, t);
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
    trace(run, t, rec);
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
