/* SPDX-License-Identifier: BSD-3-Clause */
/* mdw-report.c - what is shown, and with -v -v each operation of rank 0 */
#include "config.h"
#include "programs/md-workbench/mdw.h"

#include <inttypes.h>
#include <limits.h>

#include "base/clock.h"
#include "engine/about/banner.h"

#define MIB 1048576.0

/* ---- the line of a phase ---- */

static void add_body(struct weir_str *s, const struct mdw_test *t, const struct mdw_measure *m)
{
    double iops = mdw_iops(t, m), tp = mdw_throughput(t, m), op_max = mdw_longest_s(m);
    uint64_t objects = mdw_objects(m);
    double rate = (double)objects / m->seconds;

    if (m->phase == MDW_PRECREATE) {
        uint64_t sets = m->done[MDW_SET_CREATE];

        weir_str_addf(s,
                      "rate:%.1f iops/s dsets: %" PRIu64 " objects:%" PRIu64
                      " rate:%.3f dset/s rate:%.1f obj/s tp:%.1f MiB/s "
                      "op-max:%.4es",
                      iops, sets, objects, (double)sets / m->seconds, rate, tp, op_max);
    } else if (m->phase == MDW_CLEANUP) {
        uint64_t sets = m->done[MDW_SET_DELETE];

        weir_str_addf(s,
                      "rate:%.1f iops/s objects:%" PRIu64 " dsets: %" PRIu64
                      " rate:%.1f obj/s rate:%.3f dset/s op-max:%.4es",
                      iops, objects, sets, rate, (double)sets / m->seconds, op_max);
    } else {
        weir_str_addf(
            s, "rate:%.1f iops/s objects:%" PRIu64 " rate:%.1f obj/s tp:%.1f MiB/s op-max:%.4es",
            iops, objects, rate, tp, op_max);
        if (m->wait > 0)
            weir_str_addf(s, " waiting_factor:%.2f", m->wait);
    }
}

static void add_latencies(struct weir_str *s, const struct mdw_measure *m)
{
    double q[MDW_QUARTILES];

    for (int op = 0; op < MDW_OPS; op++) {
        if (m->lat[op].max_ns <= 1)
            continue;
        mdw_quartiles(q, &m->lat[op]);
        weir_str_addf(s, " %s(", mdw_operations[op].key);
        for (int i = 0; i < MDW_QUARTILES; i++)
            weir_str_addf(s, "%s%.4es", i ? ", " : "", q[i]);
        weir_str_addc(s, ')');
    }
}

static void add_tail(struct weir_str *s, const struct mdw_test *t, const struct mdw_measure *m)
{
    uint64_t errors = mdw_errors(m);

    if (errors > 0)
        weir_str_addf(s, " (%" PRIu64 " errs!!!)", errors);
    else if (!t->o->quiet)
        weir_str_addf(s, " (0 errs)");
    if (m->stopped > 0 && !t->o->quiet)
        weir_str_addf(s, " stonewall-iter:%" PRIu64, m->stopped);
    add_latencies(s, m);
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

static void add_detailed(struct weir_str *s, const struct mdw_test *t, const struct mdw_measure *m)
{
    weir_str_addf(s, "%s ", mdw_phases[m->phase].key);
    add_counts(s, m->done);
    weir_str_addf(s, "\t%.3fs\t%.3fs\t%.2f MiB/s %.4e", m->span_s, m->seconds, mdw_throughput(t, m),
                  mdw_longest_s(m));
    if (mdw_errors(m) == 0)
        return;
    weir_str_addf(s, "\n%s err", mdw_phases[m->phase].key);
    add_counts(s, m->failed);
}

void mdw_report_text(struct weir_str *s, const struct mdw_test *t, const struct mdw_measure *m,
                     int rank)
{
    if (rank >= 0)
        weir_str_addf(s, "%d: ", rank);
    if (t->o->detailed) {
        add_detailed(s, t, m);
        return;
    }
    weir_str_addf(s, "%s process max:%.2fs ", mdw_phases[m->phase].key, m->seconds);
    if (rank < 0)
        weir_str_addf(s, "min:%.2fs mean: %.2fs balance:%.1f stddev:%.1f ", m->min_s, m->mean_s,
                      100.0 * m->min_s / m->seconds, m->sd_s);
    add_body(s, t, m);
    add_tail(s, t, m);
}

void mdw_report_phase(struct weir_run *run, struct mdw_test *t, const struct mdw_measure *m)
{
    struct weir_str s = { 0 };

    if (run->par.rank > 0)
        return;
    if (t->o->detailed && !t->o->quiet && !t->headed)
        report_heading(&run->report);
    t->headed = true;
    mdw_report_text(&s, t, m, -1);
    weir_report_line(&run->report, "%s", weir_str_text(&s));
    weir_report_free(&run->report, &s);
    mdw_record(run, t, m);
}

/* ---- above and below ---- */

#define FORM "%Y-%m-%d %H:%M:%S"

void mdw_report_begin(struct weir_run *run, struct weir_test *tests, int n, int argc,
                      char *const *argv)
{
    struct mdw_test *t = tests[0].state;
    const struct mdw_options *o = t->o;
    struct weir_report *r = &run->report;
    int64_t objects =
        ((int64_t)o->steps * o->run.repetitions + o->population) * o->sets * run->world.size;
    double set = (double)run->world.size * o->sets * o->population * o->size / MIB;
    char now[32];

    (void)n;
    t->begin_ns = weir_now_ns();
    weir_banner_words(run, "Args: ", '"', INT_MAX, argc, argv);
    weir_banner_data(run, tests[0].driver, argc, argv);
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

void mdw_report_end(struct weir_run *run, const struct weir_test *tests)
{
    const struct mdw_test *t = tests[0].state;
    char now[32];

    weir_report_str(&run->report, WEIR_FOR_DATA, "Finished", weir_banner_now(now, FORM));
    if (!t->o->quiet)
        weir_report_line(&run->report, "Total runtime: %.0fs time: %s",
                         (double)(weir_now_ns() - t->begin_ns) / WEIR_NS_PER_S, now);
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

void mdw_trace(struct weir_run *run, struct mdw_test *t, const struct weir_phase_rec *rec)
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
