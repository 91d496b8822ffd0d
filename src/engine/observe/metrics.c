/* SPDX-License-Identifier: BSD-3-Clause */
/* metrics.c - everything measured about one phase */
#include "config.h"
#include "engine/observe/all.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "engine/observe/latency.h"
#include "engine/pace.h"
#include "engine/phase.h"
#include "engine/test.h"

#define M struct weir_metrics
#define COUNT(k, f, h) COL_INT(M, f, k, h, .csv = (k))
#define SECONDS(k, f, h) COL_REAL(M, f, k, h, .csv = (k), .unit = WEIR_NS_PER_S)
#define LATENCY(name, o)                                                                           \
    COUNT(name "Count", op[o].n, "Calls of " name),                                                \
        SECONDS(name "Mean", op[o].mean, "Mean time of a " name ", seconds"),                      \
        SECONDS(name "P50", op[o].p50, "Half of all " name " calls took less, seconds"),           \
        SECONDS(name "P90", op[o].p90, "90 % of all " name " calls took less, seconds"),           \
        SECONDS(name "P99", op[o].p99, "99 % of all " name " calls took less, seconds"),           \
        SECONDS(name "P999", op[o].p999, "99.9 % of all " name " calls took less, seconds"),       \
        SECONDS(name "Max", op[o].max, "Longest " name ", seconds")

/* For CSV alone: JSON has "load". */
#define RATE(f, k, h, ...) COL_REAL(M, f, NULL, h, .csv = (k), __VA_ARGS__)
#define RESPONSE(f, k, h) RATE(response.f, k, h, .unit = WEIR_NS_PER_S)

static const struct weir_col cols[] = {
    COUNT("test", test, "Number of the test, from 0"),
    COUNT("iter", iter, "Repetition, from 0"),
    COL_STR(M, operation, "operation", "Phase", .csv = "operation"),
    COUNT("tasks", tasks, "Tasks"),
    COUNT("bytes", bytes, "Bytes moved by all tasks"),
    COUNT("steps", steps, "Steps of all tasks: transfers, items, calls, rounds"),
    COUNT("stepsMin", steps_min, "Fewest of a task"),
    COUNT("stepsMax", steps_max, "Most of a task"),
    COUNT("operations", operations, "Operations of all tasks; a step may have several, or none"),
    COUNT("wrong", wrong, "Transfers whose data were not right"),
    SECONDS("openTime", open_ns, "First open begun to last open done, seconds"),
    SECONDS("workTime", work_ns, "First transfer begun to last transfer done, seconds"),
    SECONDS("closeTime", close_ns, "First close begun to last close done, seconds"),
    SECONDS("totalTime", total_ns, "First open begun to last close done, seconds"),
    SECONDS("fillTime", fill_ns, "Time to make data inside workTime, mean over the tasks, seconds"),
    SECONDS("verifyTime", verify_ns,
            "Time to check data inside workTime, mean over the tasks, seconds"),
    SECONDS("fastestTime", fastest_ns, "Shortest workTime of a task, seconds"),
    COUNT("fastestRank", fastest_rank, "The task with it"),
    SECONDS("slowestTime", slowest_ns, "Longest workTime of a task, seconds"),
    COUNT("slowestRank", slowest_rank, "The task with it"),
    SECONDS("stopSpread", stop_ns,
            "Last transfer done of the first task to that of the last one, seconds"),
    SECONDS("clockError", clock_error_ns,
            "Uncertainty of the clocks' offsets between tasks, seconds"),
    COL_REAL(M, cache_looked, "cacheLooked",
             "Bytes looked for in the page cache: before a read, after a write phase; samples of "
             "large files",
             .csv = "cacheLooked"),
    COL_REAL(M, cache_resident, "cacheResident",
             "Of these, in the page cache of the node of the task", .csv = "cacheResident"),
    COL_REAL(M, cache_dirty, "cacheDirty", "Of these, dirty or in write-back", .csv = "cacheDirty"),
    COUNT("interrupted", interrupted, "1 when a signal ended the phase early"),
    COL_STR(M, ended, "ended",
            "What ended the steps of all tasks: work, count, time, steady; mixed, signal", .csv = "ended"),
    COUNT("tasksByWork", by[WEIR_END_WORK], "Tasks that had no more to do"),
    COUNT("tasksByCount", by[WEIR_END_COUNT], "Tasks that did as many steps as are allowed"),
    COUNT("tasksByTime", by[WEIR_END_TIME], "Tasks whose time was up"),
    COUNT("tasksBySteady", by[WEIR_END_STEADY], "Tasks that --until=steady ended"),
    LATENCY("open", WEIR_OP_OPEN),
    LATENCY("transfer", WEIR_OP_XFER),
    LATENCY("sync", WEIR_OP_SYNC),
    LATENCY("close", WEIR_OP_CLOSE),
    RATE(rate_asked, "rateAsked", "Rate of all tasks that was asked for, bytes/s or ops/s"),
    RATE(rate_reached, "rateReached", "The rate that was asked for, less what operations lost that began late, bytes/s or ops/s"),
    RATE(late, "late", "Operations that began more than 0.1 ms after they were due, percent"),
    RATE(late_ns, "lateMax", "Longest time from when an operation was due to its begin, seconds",
         .unit = WEIR_NS_PER_S),
    RESPONSE(p50, "responseP50", "Half of the times from due to end are less, seconds"),
    RESPONSE(p99, "responseP99", "99 % of the times from due to end are less, seconds"),
    RESPONSE(p999, "responseP999", "99.9 % of the times from due to end are less, seconds"),
    RESPONSE(max, "responseMax", "Longest time from due to end, seconds"),
    RATE(rate, "rate", "Bytes of a phase that moves data, else operations, by totalTime"),
    COL_STR(M, unit, NULL, "Of the rate: bytes/s or ops/s", .csv = "unit"),
    WEIR_COL_END
};

static const struct weir_table phases = {
    .key = WEIR_METRICS_KEY,
    .cols = cols,
    .readers = WEIR_FOR_DATA | WEIR_FOR_CSV_FULL,
};

static double span_ns(const struct weir_phase_rec *rec, enum weir_mark from, enum weir_mark to)
{
    return weir_phase_span(rec, from, to) * WEIR_NS_PER_S;
}

static const char *name_end(const struct weir_phase_rec *rec, uint64_t tasks)
{
    static const char *const names[WEIR_ENDS] = { "work", "count", "time", "steady" };

    for (int i = 0; i < WEIR_ENDS && !rec->interrupted; i++)
        if (rec->ended[i] == tasks)
            return names[i];
    return rec->interrupted ? "signal" : "mixed";
}

/* The work that was done. */
static void gather(const struct weir_run *run, const struct weir_phase_rec *rec, struct weir_metrics *out)
{
    *out = (struct weir_metrics) {
        .operation = rec->phase->key,
        .test = run->test->id,
        .iter = rec->repetition,
        .tasks = run->par.size,
        .bytes = (int64_t)rec->bytes_sum,
        .steps = (int64_t)rec->steps_sum,
        .steps_min = (int64_t)rec->steps_min,
        .steps_max = (int64_t)rec->steps_max,
        .operations = (int64_t)rec->done_sum,
        .operations_min = (int64_t)rec->done_min,
        .operations_max = (int64_t)rec->done_max,
        .wrong = (int64_t)weir_phase_wrong(rec),
        .cache_looked = rec->cached ? rec->cached->looked : NAN,
        .cache_resident = rec->cached ? rec->cached->resident : NAN,
        .cache_dirty = rec->cached ? rec->cached->dirty : NAN,
        .stonewall = rec->stonewall,
        .interrupted = rec->interrupted,
        .ended = name_end(rec, (uint64_t)run->par.size),
    };
    for (int i = 0; i < WEIR_ENDS; i++)
        out->by[i] = (int64_t)rec->ended[i];
}

static void add_times(const struct weir_phase_rec *rec, struct weir_metrics *out)
{
    out->open_ns = span_ns(rec, WEIR_MARK_OPEN, WEIR_MARK_OPENED);
    out->work_ns = span_ns(rec, WEIR_MARK_WORK, WEIR_MARK_WORKED);
    out->close_ns = span_ns(rec, WEIR_MARK_CLOSE, WEIR_MARK_CLOSED);
    out->total_ns = span_ns(rec, WEIR_MARK_OPEN, WEIR_MARK_CLOSED);
    out->fill_ns = (double)rec->fill_ns_sum / (double)out->tasks;
    out->verify_ns = (double)rec->verify_ns_sum / (double)out->tasks;
    out->fastest_ns = (double)rec->work_ns_min;
    out->slowest_ns = (double)rec->work_ns_max;
    out->stop_ns = (double)(rec->last[WEIR_MARK_WORKED] - rec->first[WEIR_MARK_WORKED]);
    out->clock_error_ns = (double)rec->clock_error_ns;
    out->rate_asked = rec->rate ? rec->rate->asked : NAN;
    out->rate_reached = rec->rate ? rec->rate->reached : NAN;
    out->late = rec->rate ? 100 * rec->rate->late_share : NAN;
    out->late_ns = rec->rate ? rec->rate->late_ns : NAN;
}

/* The calls, and the operations of the program of all kinds that the phase had. */
static void add_latencies(struct weir_run *run, struct weir_session *s,
                          const struct weir_phase_rec *rec, struct weir_metrics *out)
{
    int n = weir_operations_count(run->program);
    struct weir_hist *all = &run->records.hist[n]; /* there is room for one more */

    weir_latency_sum(run, s, rec);
    out->fastest_rank = run->records.fastest;
    out->slowest_rank = run->records.slowest;
    memset(all, 0, sizeof(*all));
    for (int op = 0; op < WEIR_OPS; op++)
        weir_latency_of(s->stats ? &s->stats->hist[op] : all, &out->op[op]);
    for (int op = 0; op < n; op++)
        weir_hist_merge(all, &run->records.hist[op]);
    weir_latency_of(all, &out->whole);
    memset(all, 0, sizeof(*all));
    if (rec->rate && !isnan(rec->rate->asked))
        all = &run->pace->response[n];
    weir_latency_of(all, &out->response);
}

/* One row. The rate is of bytes where the phase moves data, else of operations. */
static void report_row(struct weir_run *run, const struct weir_phase_rec *rec, struct weir_metrics *m)
{
    const unsigned data = WEIR_STAGE_WRITES | WEIR_STAGE_READS | WEIR_STAGE_CHECKS;
    bool moves = m->bytes > 0 && rec->stage && (rec->stage->flags & data);

    m->rate = (double)(moves ? m->bytes : m->operations) * WEIR_NS_PER_S / m->total_ns;
    m->unit = moves ? "bytes/s" : "ops/s";
    weir_report_row(&run->report, &phases, m);
}

/* One operation of a mixed phase: what it moved, how long its transfers took. The rest is of both. */
static void report_half(struct weir_run *run, const struct weir_phase_rec *rec, enum weir_dir dir,
                        struct weir_metrics m)
{
    const struct weir_half *half = &rec->half[dir];
    int op = rec->phase->mixed + (int)dir;

    m.operation = run->program->operations[op].key;
    m.bytes = (int64_t)half->bytes_sum;
    m.steps = m.operations = (int64_t)half->ops_sum;
    m.steps_min = m.operations_min = (int64_t)half->ops_min;
    m.steps_max = m.operations_max = (int64_t)half->ops_max;
    m.wrong = dir == WEIR_DIR_READ ? m.wrong : 0;
    weir_latency_of(&run->records.hist[op], &m.op[WEIR_OP_XFER]);
    m.whole = m.op[WEIR_OP_XFER];
    if (m.response.n > 0)
        weir_latency_of(&run->pace->response[op], &m.response);
    report_row(run, rec, &m);
}

static void measured(struct weir_run *run, void *state, struct weir_session *s,
                     const struct weir_phase_rec *rec)
{
    struct weir_metrics m;

    if (!rec)
        weir_report_head(&run->report, &phases);
    if (!rec || !run->report.details)
        return;
    gather(run, rec, &m);
    add_times(rec, &m);
    add_latencies(run, s, rec, &m);
    for (int dir = 0; rec->phase->mixed && dir < 2; dir++)
        report_half(run, rec, (enum weir_dir)dir, m);
    if (!rec->phase->mixed)
        report_row(run, rec, &m);
}

/* Report stages without a report of their own; programs report the others at their place. */
static int after(struct weir_run *run, void *state, struct weir_phase_rec *rec,
                 struct weir_err *err)
{
    if (!rec->failed && rec->stage && !rec->stage->after && run->test->sessions > 0)
        measured(run, state, run->test->session[0], rec);
    return 0;
}

const struct weir_observer weir_metrics = {
    .name = "metrics", .after = after, .measured = measured
};
