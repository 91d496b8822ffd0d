/* SPDX-License-Identifier: BSD-3-Clause */
/* load.c - operations at a rate (--rate, --burst): what was asked for and reached, and how long
 * operations took from the time at which they were due */

#include <inttypes.h>
#include <math.h>

#include "base/clock.h"
#include "base/text/columns.h"
#include "engine/observe/all.h"
#include "engine/observe/latency.h"
#include "engine/ratelimit.h"
#include "engine/phase.h"
#include "engine/test.h"
#include "par/reduce.h"

struct state {
    struct weir_rate_reached reached; /* of the phase */
    struct weir_load_points points; /* --rate in percent: n > 0 */
    struct weir_load at_points;     /* and what else is said of them */
    double percent;                 /* of the point that runs; 0: the maximum; NaN: none of them */
    struct weir_str text;
};

/* An operation of a phase; those of the phase in all of them. Rates of all tasks. */
struct load_row {
    int64_t test, iter;
    const char *phase, *operation, *unit, *arrivals;
    double percent, asked, reached, late, late_ns, slept_ns, spun_ns;
    struct weir_latency response, service;
};

#define L struct load_row
#define STR(f, k, h, ...) COL_STR(L, f, k, h, .csv = k, __VA_ARGS__)
#define INT(f, k, h) COL_INT(L, f, k, h, .csv = k)
#define REAL(f, k, h, ...) COL_REAL(L, f, k, h, .csv = k, .none = "-", .gap = 1, __VA_ARGS__)
#define SECONDS(f, k, h) REAL(f, k, h, .unit = WEIR_NS_PER_S)

static const struct weir_col cols[] = {
    INT(test, "test", "Number of the test, from 0"),
    INT(iter, "iter", "Repetition, from 0"),
    STR(phase, "phase", "Phase"),
    STR(operation, "operation", "Kind of operation", .head = "Load", .width = -21, .gap = 1),
    REAL(percent, "percent", "Of the maximum that was asked for, percent", .head = "Of max %", .width = 8, .digits = 4),
    REAL(asked, "rateAsked", "Rate of all tasks that was asked for, in the phase; none where the maximum was measured",
         .head = "Asked", .width = 11, .digits = 5),
    REAL(reached, "rateReached", "The rate that was asked for, less what operations lost that began late", .head = "Reached",
         .width = 11, .digits = 5),
    STR(unit, "unit", "Of these rates: bytes/s or ops/s", .head = "Unit", .width = -7, .gap = 1),
    STR(arrivals, "arrivals", "How operations come: even, shifted, poisson"),
    REAL(late, "late", "Operations of the phase that began more than 0.1 ms after they were due, percent",
         .head = "Late %", .width = 7, .prec = 2),
    SECONDS(late_ns, "lateMax", "Longest time from when an operation was due to its begin, seconds"),
    SECONDS(slept_ns, "sleepTime", "Time spent waiting without a processor, mean over the tasks, seconds"),
    SECONDS(spun_ns, "spinTime", "Time spent waiting with a processor, mean over the tasks, seconds"),
    INT(service.n, "count", "Operations of all tasks"),
    WEIR_LATENCY_COLS(L, response, "response", "the response times of operations (due to end)"),
    WEIR_LATENCY_COLS(L, service, "service", "the service times of operations (begin to end)"),
    WEIR_LATENCY_MS(L, response.p50, "resp 50%"),
    WEIR_LATENCY_MS(L, response.p99, "resp 99%"),
    WEIR_LATENCY_MS(L, response.p999, "99.9%"),
    WEIR_LATENCY_MS(L, response.max, "max ms"),
    WEIR_LATENCY_MS(L, service.p50, "serv 50%"),
    WEIR_LATENCY_MS(L, service.p99, "serv 99%"),
    WEIR_LATENCY_MS(L, service.p999, "99.9% ms"),
    WEIR_COL_END
};

static const struct weir_table table = { .key = "load", .cols = cols, .readers = WEIR_FOR_DATA | WEIR_FOR_CSV_LOAD };

/* ---- options ---- */

static bool wanted(const struct weir_test *t)
{
    return weir_ratelimit_wanted(t->plan.options);
}

/* Only some tests have the operations of a mix: its program checks them. */
static bool is_of_mix(const struct weir_program *p, const struct weir_operation *op)
{
    for (const struct weir_stage *s = p->stages; s && s->key; s++)
        if (s->phase && s->phase->mixed && op - p->operations >= s->phase->mixed)
            return true;
    return false;
}

/* An operation without bytes takes no time of a rate in bytes. */
static int check_bytes(const struct weir_program *p, struct weir_err *err)
{
    for (const struct weir_operation *op = p->operations; op->key; op++)
        if (!op->moves_bytes && !is_of_mix(p, op))
            return weir_refuse(err, WEIR_EUSAGE,
                               "option --rate: operation %s of %s moves no bytes; give the rate in "
                               "operations, like 500ops",
                               op->key, p->name);
    return 0;
}

/* Points are phases that are done again. rate_s is 0 where a program has no rates. */
static int check_points(const struct weir_run_options *o, const struct weir_load_points *points,
                        const struct weir_program *p, struct weir_err *err)
{
    if (points->n == 0 && o->rate_s > 0 && o->rate_s != 5)
        return weir_refuse(err, WEIR_EUSAGE, "option --rate-time needs --rate with points, like "
                                             "--rate=10%%..90%%:5");
    if (points->n > 0 && !weir_program_has(p, WEIR_STAGE_EXTRA))
        return weir_refuse(err, WEIR_EUSAGE,
                           "option --rate: %s has no phase that can run at a percentage of its "
                           "maximum rate (ior and mdtest have); give a rate like 500ops", p->name);
    if (points->n > 0 && !(o->rate_s > 0))
        return weir_refuse(err, WEIR_EUSAGE, "option --rate-time must be more than 0 seconds");
    return 0;
}

static int check(const struct weir_run_options *o, struct weir_files *files, struct weir_err *err)
{
    struct weir_load_points points;
    struct weir_load load;

    if (weir_ratelimit_parse(o, 1, &load, &points, err) < 0 ||
        check_points(o, &points, files->program, err) < 0)
        return -1;
    if (o->sweep && weir_ratelimit_wanted(o))
        return weir_refuse(err, WEIR_EUSAGE, "option --sweep: a rate limit (--rate, --burst) hides "
                                             "slow nodes; leave --sweep or the rate limit out");
    return load.bytes ? check_bytes(files->program, err) : 0;
}

static int test_begin(struct weir_run *run, void *state, struct weir_err *err)
{
    struct state *s = state;

    s->percent = NAN;
    return weir_ratelimit_parse(run->test->plan.options, 1, &s->at_points, &s->points, err);
}

/* ---- around a phase ---- */

/* Notes a rate at which nothing seems to happen. */
static int before(struct weir_run *run, void *state, struct weir_phase_rec *rec, struct weir_err *err)
{
    const struct weir_load *load = run->ratelimit ? &run->ratelimit->plan.load : NULL;
    double unit, pause_s;

    if (!load || !rec->stage || run->repetition > 0)
        return 0;
    unit = load->bytes ? (double)rec->timing->op_bytes : 1;
    pause_s = (double)load->pause_ns / WEIR_NS_PER_S;
    if (unit > load->rate && load->rate > 0)
        weir_note(&run->log, "at its rate of %.6g %s a second each task begins an operation of the %s phase every %.6g s", load->rate,
                  load->bytes ? "bytes" : "operations", rec->stage->key, unit / load->rate);
    if (pause_s > 1)
        weir_note(&run->log, "--burst: in the %s phase each task waits %.6g s after each %" PRIu64 " operation%s", rec->stage->key, pause_s,
                  load->burst, load->burst == 1 ? "" : "s");
    return 0;
}

/* Numbers of a rank: for the maximum, and for the sum. */
enum { MOST_LATE, MAXIMA };
enum { OPS, LATE, TASKS, BYTES, PLANNED_NS, TAKEN_NS, SLEPT_NS, SPUN_NS, SUMS };

static void fill_max(struct weir_run *run, void *state, const struct weir_phase_rec *rec,
                     int64_t *max)
{
    if (run->ratelimit)
        max[MOST_LATE] = (int64_t)run->ratelimit->max_late_ns;
}

static void add(struct weir_run *run, void *state, const struct weir_phase_rec *rec, uint64_t *sum)
{
    const struct weir_ratelimit *p = run->ratelimit;
    uint64_t planned;

    if (!p)
        return;
    for (int i = 0; i < weir_operations_count(run->program); i++)
        sum[OPS] += p->service[i].n;
    if (sum[OPS] == 0 || p->plan.load.rate <= 0)
        return;
    planned = weir_schedule_due(&p->plan); /* until the first operation that was not begun */
    sum[LATE] = p->late;
    sum[TASKS] = 1;
    sum[BYTES] = run->counters.bytes;
    sum[PLANNED_NS] = planned;
    sum[TAKEN_NS] = planned + p->last_late_ns;
    sum[SLEPT_NS] = p->slept_ns;
    sum[SPUN_NS] = p->spun_ns;
}

/* As many operations as were begun were to take PLANNED_NS, and took TAKEN_NS. */
static void find_reached(const struct weir_ratelimit *p, const struct weir_phase_rec *rec,
                         struct weir_rate_reached *out)
{
    const uint64_t *sum = rec->sums;

    if (p->plan.load.rate <= 0 || sum[OPS] == 0)
        return;
    out->bytes = p->plan.load.bytes;
    out->asked = weir_load_mean(&p->plan.load, (double)sum[BYTES] / (double)sum[OPS]);
    out->asked *= (double)sum[TASKS];
    out->reached = out->asked;
    if (sum[TAKEN_NS] > 0)
        out->reached *= (double)sum[PLANNED_NS] / (double)sum[TAKEN_NS];
    out->late_share = (double)sum[LATE] / (double)sum[OPS];
    out->late_ns = (double)rec->maxima[MOST_LATE];
}

/* Fill the columns that are the same for all operations of the phase. */
static struct load_row begin_row(const struct weir_run *run, const struct weir_phase_rec *rec,
                                 const struct state *s)
{
    return (struct load_row) {
        .test = run->test->id,
        .iter = rec->repetition,
        .phase = rec->phase->key,
        .percent = s->percent > 0 ? s->percent : NAN,
        .asked = s->reached.asked,
        .reached = s->reached.reached,
        .unit = s->reached.bytes ? "bytes/s" : "ops/s",
        .arrivals = weir_arrivals[run->ratelimit->plan.load.arrivals],
        .late = 100 * s->reached.late_share,
        .late_ns = s->reached.late_ns,
        .slept_ns = (double)rec->sums[SLEPT_NS] / run->par.size,
        .spun_ns = (double)rec->sums[SPUN_NS] / run->par.size,
    };
}

/* A row for each operation that the phase had. The last histograms are those of all of them. */
static void report(struct weir_run *run, const struct weir_phase_rec *rec, struct state *s)
{
    const struct weir_ratelimit *p = run->ratelimit;
    int n = weir_operations_count(run->program);
    struct load_row row = begin_row(run, rec, s);

    for (int i = 0; i < n; i++) {
        if (p->service[i].n == 0)
            continue;
        row.operation = run->program->operations[i].key;
        weir_latency_of(&p->response[s->percent == 0 ? n : i], &row.response); /* none at full speed */
        weir_latency_of(&p->service[i], &row.service);
        weir_report_row(&run->report, &table, &row);
        weir_col_keep(&s->text, "Operations at a rate (response and service times in ms)", cols, &row);
        if (s->percent == 0)
            continue;
        weir_hist_merge(&p->response[n], &p->response[i]);
        weir_hist_merge(&p->service[n], &p->service[i]);
    }
}

static int after(struct weir_run *run, void *state, struct weir_phase_rec *rec, struct weir_err *err)
{
    struct state *s = state;

    if (rec->failed || !run->ratelimit || (s->percent != 0 && run->ratelimit->plan.load.rate <= 0))
        return 0;
    s->reached = (struct weir_rate_reached) { NAN, NAN, NAN, NAN, false };
    rec->rate = &s->reached;
    if (s->percent == 0)
        s->reached.reached = (double)rec->sum.done /
                             weir_phase_span(rec, WEIR_MARK_WORK, WEIR_MARK_WORKED);
    else
        find_reached(run->ratelimit, rec, &s->reached);
    weir_merge_hists(&run->par, run->ratelimit->response, 2 * run->ratelimit->kinds,
                     run->ratelimit->ends);
    if (run->par.rank == 0)
        report(run, rec, s);
    return 0;
}

/* ---- the points of a load curve: after the maximum the shares of it, each for all phases in turn ---- */

#define STAGES 32

struct curve {
    const struct weir_stage *stage[STAGES];
    double max_rate[STAGES]; /* operations a second of a task */
    int n;
};

/* Run a point; point 0 is the maximum. A phase that is too short for a rate has no maximum. */
static int run_point(struct weir_run *run, struct state *s, struct curve *c, int point, struct weir_err *err)
{
    struct weir_load load = s->at_points;
    const struct weir_again again = { .load = &load, .seconds = run->test->plan.options->rate_s };
    struct weir_phase_rec rec;

    s->percent = point > 0 ? weir_load_point(&s->points, point - 1) : 0;
    if (point == 0)
        load = (struct weir_load) { 0 };
    for (int k = 0; k < c->n; k++) {
        if (point > 0)
            load.rate = c->max_rate[k] * s->percent / 100;
        if (weir_stages_again(run, c->stage[k], &again, &rec, err) < 0)
            return -1;
        if (point == 0)
            c->max_rate[k] = (double)rec.sum.done / run->par.size / weir_phase_span(&rec, WEIR_MARK_WORK, WEIR_MARK_WORKED);
    }
    return 0;
}

static int extra(struct weir_run *run, void *state, struct weir_err *err)
{
    const struct weir_run_options *o = run->test->plan.options;
    struct state *s = state;
    struct curve c;
    int rc = 0;

    if (s->points.n == 0)
        return 0;
    c.n = weir_stages_subset(run->test, c.stage, STAGES);
    if (c.n == 0)
        weir_note(&run->log, "--rate: this test has no phase that can run at a percentage of its "
                             "maximum rate");
    else if (o->dry_run)
        weir_note(&run->log, "--rate: %d phase%s at the maximum rate and at %d rate%s, at most "
                             "%.6g s each: %.6g s", c.n,
                  c.n == 1 ? "" : "s", s->points.n, s->points.n == 1 ? "" : "s", o->rate_s, o->rate_s * c.n * (s->points.n + 1));
    for (int i = 0; i <= s->points.n && c.n > 0 && !o->dry_run && rc == 0; i++) {
        if (weir_stages_time_is_up(run)) {
            weir_note(&run->log, "--rate: the time limit of the test (-T) was reached before rate "
                                 "%d of %d", i, s->points.n);
            break;
        }
        rc = run_point(run, s, &c, i, err);
    }
    s->percent = NAN;
    return rc;
}

/* ---- the end ---- */

static void test_free(struct weir_run *run, void *state)
{
    run->ratelimit = NULL;
}

const struct weir_observer weir_load = {
    .name = "load",
    .state_size = sizeof(struct state),
    .maxima = MAXIMA,
    .sums = SUMS,
    .wanted = wanted,
    .check = check,
    .test_begin = test_begin,
    .extra = extra,
    .before = before,
    .max = fill_max,
    .add = add,
    .after = after,
    .text = offsetof(struct state, text),
    .test_free = test_free,
};
