/* SPDX-License-Identifier: BSD-3-Clause */
/* mdw-report.c - what is shown (mdtest.md 5.4) */
#include "config.h"
#include "drivers/md-workbench/mdw.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/opt.h"
#include "engine/provenance.h"

#define MIB 1048576.0
#define NODEMAP_MOST 4096

const char *const mdw_phase_names[MDW_PHASES] = {
    [MDW_PRECREATE] = "precreate",
    [MDW_BENCHMARK] = "benchmark",
    [MDW_CLEANUP] = "cleanup",
};

const char *const mdw_op_names[MDW_OPS] = {
    [MDW_READ] = "read",
    [MDW_STAT] = "stat",
    [MDW_CREATE] = "create",
    [MDW_DELETE] = "delete",
};

/* ---- numbers ---- */

static uint64_t errors_of(const struct mdw_measure *m)
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

static double throughput(const struct mdw_test *t, const struct mdw_measure *m)
{
    return (double)(m->done[MDW_CREATE] + m->done[MDW_READ]) * t->o->size / m->seconds / MIB;
}

static double iops_of(const struct mdw_test *t, const struct mdw_measure *m)
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

static uint64_t objects_of(const struct mdw_measure *m)
{
    static const enum mdw_op of[MDW_PHASES] = { MDW_CREATE, MDW_READ, MDW_DELETE };

    return m->done[of[m->phase]];
}

/* ---- the line of a phase ---- */

static void add_body(struct weir_str *s, const struct mdw_test *t, const struct mdw_measure *m)
{
    double iops = iops_of(t, m), tp = throughput(t, m), op_max = longest_s(m);
    uint64_t objects = objects_of(m);
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
    static const double share[] = { 0.25, 0.5, 0.75, 0.9, 0.99 };

    for (int op = 0; op < MDW_OPS; op++) {
        const struct weir_hist *h = &m->lat[op];

        if (h->max_ns <= 1)
            continue;
        weir_str_addf(s, " %s(%.4es", mdw_op_names[op], (double)h->min_ns / WEIR_NS_PER_S);
        for (size_t i = 0; i < sizeof(share) / sizeof(*share); i++)
            weir_str_addf(s, ", %.4es", (double)weir_hist_quantile(h, share[i]) / WEIR_NS_PER_S);
        weir_str_addf(s, ", %.4es)", (double)h->max_ns / WEIR_NS_PER_S);
    }
}

static void add_tail(struct weir_str *s, const struct mdw_test *t, const struct mdw_measure *m)
{
    uint64_t errors = errors_of(m);

    if (errors > 0)
        weir_str_addf(s, " (%" PRIu64 " errs!!!)", errors);
    else if (!t->o->quiet)
        weir_str_addf(s, " (0 errs)");
    if (m->stopped > 0 && !t->o->quiet)
        weir_str_addf(s, " stonewall-iter:%" PRIu64, m->stopped);
    add_latencies(s, m);
}

/* Sets made and removed; objects made, read, stat'ed and removed. */
static const int detailed_order[MDW_COUNTS] = { MDW_SET_CREATE, MDW_SET_DELETE, MDW_CREATE,
                                                MDW_READ,       MDW_STAT,       MDW_DELETE };

static void add_detailed(struct weir_str *s, const struct mdw_test *t, const struct mdw_measure *m)
{
    weir_str_addf(s, "%s ", mdw_phase_names[m->phase]);
    for (int c = 0; c < MDW_COUNTS; c++)
        weir_str_addf(s, "\t%" PRIu64, m->done[detailed_order[c]]);
    weir_str_addf(s, "\t%.3fs\t%.3fs\t%.2f MiB/s %.4e", m->span_s, m->seconds, throughput(t, m),
                  longest_s(m));
    if (errors_of(m) == 0)
        return;
    weir_str_addf(s, "\n%s err", mdw_phase_names[m->phase]);
    for (int c = 0; c < MDW_COUNTS; c++)
        weir_str_addf(s, "\t%" PRIu64, m->failed[detailed_order[c]]);
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
    weir_str_addf(s, "%s process max:%.2fs ", mdw_phase_names[m->phase], m->seconds);
    if (rank < 0)
        weir_str_addf(s, "min:%.2fs mean: %.2fs balance:%.1f stddev:%.1f ", m->min_s, m->mean_s,
                      100.0 * m->min_s / m->seconds, m->sd_s);
    add_body(s, t, m);
    add_tail(s, t, m);
}

/* ---- for programs ---- */

struct record {
    const char *phase;
    int64_t iteration, objects, sets, errors, stopped;
    double wait, seconds, min_s, iops, rate, tp, op_max;
    double quantile[MDW_OPS][7];
};

#define CELL(f) .offset = offsetof(struct record, f)
#define INT(k, f, h)                                                                               \
    {                                                                                              \
        .key = (k), .type = WEIR_COL_INT, CELL(f), .help = (h)                                     \
    }
#define REAL(k, f, h)                                                                              \
    {                                                                                              \
        .key = (k), .type = WEIR_COL_REAL, CELL(f), .help = (h)                                    \
    }
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
    { .key = "phase", .type = WEIR_COL_STR, CELL(phase), .help = "Phase" },
    INT("iteration", iteration, "Iteration, from 0"),
    REAL("waitingFactor", wait, "Waiting time over the time of each operation"),
    REAL("seconds", seconds, "Time of the slowest task, seconds"),
    REAL("fastestSeconds", min_s, "Time of the fastest task, seconds"),
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

static const struct weir_table table = { .key = "results", .cols = cols, .readers = WEIR_FOR_DATA };

static void fill_quantiles(double out[7], const struct weir_hist *h)
{
    static const double share[5] = { 0.25, 0.5, 0.75, 0.9, 0.99 };

    out[0] = h->n ? (double)h->min_ns / WEIR_NS_PER_S : NAN;
    for (int i = 0; i < 5; i++)
        out[i + 1] = h->n ? (double)weir_hist_quantile(h, share[i]) / WEIR_NS_PER_S : NAN;
    out[6] = h->n ? (double)h->max_ns / WEIR_NS_PER_S : NAN;
}

static void report_record(struct weir_run *run, const struct mdw_test *t,
                          const struct mdw_measure *m)
{
    struct record r = {
        .phase = mdw_phase_names[m->phase],
        .iteration = m->iteration,
        .wait = m->wait,
        .seconds = m->seconds,
        .min_s = m->min_s,
        .objects = (int64_t)objects_of(m),
        .sets = (int64_t)(m->done[MDW_SET_CREATE] + m->done[MDW_SET_DELETE]),
        .errors = (int64_t)errors_of(m),
        .stopped = (int64_t)m->stopped,
        .iops = iops_of(t, m),
        .rate = (double)objects_of(m) / m->seconds,
        .tp = throughput(t, m),
        .op_max = longest_s(m),
    };

    for (int op = 0; op < MDW_OPS; op++)
        fill_quantiles(r.quantile[op], &m->lat[op]);
    weir_report_row(&run->report, &table, &r);
}

void mdw_report_phase(struct weir_run *run, struct mdw_test *t, const struct mdw_measure *m)
{
    struct weir_str s = { 0 };

    if (run->par.rank > 0)
        return;
    if (t->o->detailed && !t->o->quiet && !t->headed)
        weir_report_line(&run->report, "phase\t\td name\tcreate\tdelete\tob na"
                                       "m\tcreate\t"
                                       "read\tstat\tdelete\tt_inc_b\tt_no_bar\tthp"
                                       "\tmax_t");
    t->headed = true;
    mdw_report_text(&s, t, m, -1);
    weir_report_line(&run->report, "%s", weir_str_text(&s));
    weir_str_free(&s);
    report_record(run, t, m);
}

/* ---- -v -v ---- */

static int outcome(const struct mdw_test *t, uint64_t i, enum mdw_op op)
{
    return t->outcome[i] & (1u << op) ? -1 : 0;
}

static void trace_precreate(struct weir_run *run, struct mdw_test *t,
                            const struct weir_phase_rec *rec)
{
    uint64_t sets = (uint64_t)t->o->sets;

    for (uint64_t i = sets; i < rec->steps; i++) {
        const struct mdw_name *last =
            &t->set[sets - 1].own; /* as ever, the last set stands in front */
        const char *path = mdw_name_object(&t->set[i % sets].own, t->first + i / sets - 1);

        weir_report_line(&run->report, "0: write %.*s:%s (%d) pretend: 0", (int)last->dir,
                         last->text, path, outcome(t, i, MDW_CREATE));
    }
}

static void trace_benchmark(struct weir_run *run, struct mdw_test *t,
                            const struct weir_phase_rec *rec)
{
    struct weir_report *r = &run->report;
    uint64_t sets = (uint64_t)t->o->sets;

    for (uint64_t i = 0; i < rec->steps * sets; i++) {
        struct mdw_set *s = &t->set[i % sets];
        uint64_t object = t->pos + i / sets;
        const char *path = mdw_name_object(&s->from, object);

        weir_report_line(r, "0: stat %s (%d)", path, outcome(t, i, MDW_STAT));
        if (outcome(t, i, MDW_STAT) < 0)
            continue;
        weir_report_line(r, "0: read %s pretend: %d", path, s->from_rank);
        if (t->o->read_only)
            continue;
        weir_report_line(r, "0: delete %s", path);
        weir_report_line(r, "0: write %s (%d) pretend: %d",
                         mdw_name_object(&s->to, object + (uint64_t)t->o->population),
                         outcome(t, i, MDW_CREATE), s->to_rank);
    }
}

static void trace_cleanup(struct weir_run *run, struct mdw_test *t)
{
    for (uint64_t d = 0; d < (uint64_t)t->o->sets && d <= t->at_set; d++) {
        struct mdw_set *s = &t->set[d];
        uint64_t end = d == t->at_set ? t->at_object : s->high;

        for (uint64_t i = s->low; i < end; i++)
            weir_report_line(&run->report, "0: delete %s", mdw_name_object(&s->own, i));
        if (d < t->at_set)
            weir_report_line(&run->report, "0: delete dset %s", mdw_name_dir(&s->own));
    }
}

void mdw_report_trace(struct weir_run *run, struct mdw_test *t, const struct weir_phase_rec *rec)
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

/* ---- above and below ---- */

static const char *now_text(char out[32])
{
    time_t now = time(NULL);
    struct tm tm;

    if (!localtime_r(&now, &tm) || strftime(out, 32, "%Y-%m-%d %H:%M:%S", &tm) == 0)
        out[0] = '\0';
    return out;
}

static void report_command(struct weir_run *run, int argc, char *const *argv)
{
    struct weir_str line = { 0 }, plain = { 0 };

    weir_str_addf(&line, "Args: %s", argv[0]);
    weir_str_addf(&plain, "%s", argv[0]);
    for (int i = 1; i < argc; i++) {
        weir_str_addf(&line, " \"%s\"", argv[i]);
        weir_str_addf(&plain, " %s", argv[i]);
    }
    weir_report_line(&run->report, "%s", weir_str_text(&line));
    weir_report_str(&run->report, WEIR_FOR_DATA, "Command line", weir_str_text(&plain));
    weir_str_free(&line);
    weir_str_free(&plain);
}

/* Which tasks share the node of task 0. */
static void report_nodemap(struct weir_run *run)
{
    char mine = run->world.node == 0 ? '1' : '0';
    char *all = run->world.rank == 0 ? calloc(1, (size_t)run->world.size + 1) : NULL;
    int same = 0;

    weir_gather(&run->world, &mine, 1, all);
    if (!all)
        return;
    for (int i = 0; i < run->world.size; i++)
        same += all[i] == '1';
    if (run->world.size > NODEMAP_MOST)
        weir_report_line(&run->report, "Nodemap: %d of %d tasks on the node of task 0", same,
                         run->world.size);
    else
        weir_report_line(&run->report, "Nodemap: %s", all);
    free(all);
}

static void report_parameters(struct weir_run *run, const struct mdw_test *t)
{
    struct weir_str text = { 0 };

    weir_report_enter(&run->report, "Parameters", false);
    for (const struct weir_opt *row = mdw_option_rows; row->name || row->letter || row->key;
         row++) {
        if (!row->name)
            continue;
        weir_str_clear(&text);
        weir_opt_show(row, t->o, &text);
        if (row->type == WEIR_OPT_STR)
            weir_report_str(&run->report, WEIR_FOR_DATA, row->name, weir_str_text(&text));
        else
            weir_report_int(&run->report, WEIR_FOR_DATA, row->name,
                            strtoll(weir_str_text(&text), NULL, 10));
    }
    weir_report_leave(&run->report);
    weir_str_free(&text);
}

void mdw_report_begin(struct weir_run *run, const struct mdw_test *t, int argc, char *const *argv)
{
    const struct mdw_options *o = t->o;
    struct weir_report *r = &run->report;
    int64_t objects =
        ((int64_t)o->steps * o->iterations + o->population) * o->sets * run->world.size;
    double set = (double)run->world.size * o->sets * o->population * o->size / MIB;
    char now[32];

    weir_report_str(r, WEIR_FOR_DATA, "Version", "4.1.0+weir-" PACKAGE_VERSION);
    weir_report_int(r, WEIR_FOR_DATA, "schema_version", WEIR_SCHEMA_VERSION);
    weir_report_str(r, WEIR_FOR_DATA, "program", "md-workbench");
    report_command(run, argc, argv);
    if (run->details)
        weir_provenance_run(run);
    report_nodemap(run);
    weir_report_str(r, WEIR_FOR_DATA, "Began", now_text(now));
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
    weir_report_int(r, WEIR_FOR_DATA, "tasks", run->world.size);
    report_parameters(run, t);
    weir_report_flush(r);
}

void mdw_report_end(struct weir_run *run, const struct mdw_test *t, uint64_t begin_ns,
                    enum weir_code code, const struct weir_err *err)
{
    char now[32];

    weir_report_int(&run->report, WEIR_FOR_DATA, "status", code);
    weir_report_str(&run->report, WEIR_FOR_DATA, "error", err->text);
    weir_report_str(&run->report, WEIR_FOR_DATA, "Finished", now_text(now));
    if (!t->o->quiet)
        weir_report_line(&run->report, "Total runtime: %.0fs time: %s",
                         (double)(weir_now_ns() - begin_ns) / WEIR_NS_PER_S, now);
}
