/* SPDX-License-Identifier: BSD-3-Clause */
/* metrics.c - everything measured about one phase */
#include "engine/observe/all.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "engine/observe/latency.h"
#include "engine/ratelimit.h"
#include "engine/phase.h"

#define M struct weir_metrics
#define COUNT(k, f, h) COL_INT(M, f, k, h, .csv = (k))
#define SECONDS(k, f, h) COL_REAL(M, f, k, h, .csv = (k), .unit = WEIR_NS_PER_S)
#define LATENCY(name, o)                                                                           \
    COUNT(name "Count", op[o].n, "Calls of " name),                                                \
        WEIR_LATENCY_COLS(M, op[o], name, "the times of " name " calls")

/* For CSV alone: JSON has "load". */
#define RATE(f, k, h, ...) COL_REAL(M, f, NULL, h, .csv = (k), __VA_ARGS__)
#define RESPONSE(f, k, h) RATE(response.f, k, h, .unit = WEIR_NS_PER_S)

static const struct weir_col cols[] = {
    COUNT("test", test, "Number of the test, from 0"),
    COUNT("iter", iter, "Repetition, from 0"),
    COL_STR(M, operation, "operation", "Phase", .csv = "operation"),
    COUNT("tasks", tasks, "Tasks"),
    COUNT("bytes", rec.sum.bytes, "Bytes moved by all tasks"),
    COUNT("steps", rec.sum.steps, "Steps of all tasks: transfers, items, calls, rounds"),
    COUNT("stepsMin", rec.min.steps, "Fewest of a task"),
    COUNT("stepsMax", rec.max.steps, "Most of a task"),
    COUNT("operations", rec.sum.done, "Operations of all tasks; a step may have several, or none"),
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
    COL_REAL(M, cache.looked, "cacheLooked",
             "Bytes looked for in the page cache: before a read, after a write phase; samples of "
             "large files",
             .csv = "cacheLooked"),
    COL_REAL(M, cache.resident, "cacheResident",
             "Of these, in the page cache of the node of the task", .csv = "cacheResident"),
    COL_REAL(M, cache.dirty, "cacheDirty", "Of these, dirty or in write-back", .csv = "cacheDirty"),
    COUNT("interrupted", interrupted, "1 when a signal ended the phase early"),
    COL_STR(M, ended, "ended",
            "What ended the steps of all tasks: work, count, time, steady; mixed, signal", .csv = "ended"),
    COUNT("tasksByWork", rec.sum.ended[WEIR_END_WORK], "Tasks that had no more to do"),
    COUNT("tasksByCount", rec.sum.ended[WEIR_END_COUNT],
          "Tasks that did as many steps as are allowed"),
    COUNT("tasksByTime", rec.sum.ended[WEIR_END_TIME], "Tasks whose time was up"),
    COUNT("tasksBySteady", rec.sum.ended[WEIR_END_STEADY], "Tasks that --until=steady ended"),
    LATENCY("open", WEIR_OP_OPEN),
    LATENCY("transfer", WEIR_OP_XFER),
    LATENCY("sync", WEIR_OP_SYNC),
    LATENCY("close", WEIR_OP_CLOSE),
    RATE(at.asked, "rateAsked", "Rate of all tasks that was asked for, bytes/s or ops/s"),
    RATE(at.reached, "rateReached", "The rate that was asked for, less what operations lost that began late, bytes/s or ops/s"),
    RATE(late, "late", "Operations that began more than 0.1 ms after they were due, percent"),
    RATE(at.late_ns, "lateMax", "Longest time from when an operation was due to its begin, seconds",
         .unit = WEIR_NS_PER_S),
    RESPONSE(p50, "responseP50", "p50 of the response times (due to end), seconds"),
    RESPONSE(p99, "responseP99", "p99 of the response times (due to end), seconds"),
    RESPONSE(p999, "responseP999", "p99.9 of the response times (due to end), seconds"),
    RESPONSE(max, "responseMax", "Longest response time (due to end), seconds"),
    RATE(rate, "rate", "Bytes of a phase that moves data, else operations, by totalTime"),
    COL_STR(M, unit, NULL, "Of the rate: bytes/s or ops/s", .csv = "unit"),
    WEIR_COL_END
};

static const struct weir_table phases = {
    .key = WEIR_METRICS_KEY,
    .cols = cols,
    .readers = WEIR_FOR_DATA | WEIR_FOR_CSV_FULL,
};

/* For people: operations of a mixed phase that has others than writes and reads. */
static const struct weir_col mix_cols[] = {
    COL_INT(M, iter, NULL, NULL, .head = "iter", .width = 4, .gap = 1),
    COL_STR(M, operation, NULL, NULL, .head = "Operation", .width = -12, .gap = 1),
    COL_INT(M, rec.sum.done, NULL, NULL, .head = "Operations", .width = 10, .gap = 1),
    COL_REAL(M, per_second, NULL, NULL, .head = "ops/s", .width = 10, .digits = 5, .gap = 1),
    COL_INT(M, rec.sum.bytes, NULL, NULL, .head = "Bytes", .width = 14, .gap = 1),
    WEIR_LATENCY_SHOWN(M, whole),
    WEIR_COL_END
};

struct state {
    bool mixes; /* the phase has such operations */
    struct weir_str text;
};

static double span_ns(const struct weir_phase_rec *rec, enum weir_mark from, enum weir_mark to)
{
    return weir_phase_span(rec, from, to) * WEIR_NS_PER_S;
}

static const char *name_end(const struct weir_phase_rec *rec, uint64_t tasks)
{
    static const char *const names[WEIR_ENDS] = { "work", "count", "time", "steady" };

    for (int i = 0; i < WEIR_ENDS && !rec->interrupted; i++)
        if (rec->sum.ended[i] == tasks)
            return names[i];
    return rec->interrupted ? "signal" : "mixed";
}

/* The work that was done, and its times. */
static void gather(const struct weir_run *run, const struct weir_phase_rec *rec, struct weir_metrics *out)
{
    *out = (struct weir_metrics) {
        .operation = rec->phase->key,
        .test = run->test->id,
        .iter = rec->repetition,
        .tasks = run->par.size,
        .rec = *rec,
        .wrong = (int64_t)weir_phase_wrong(rec),
        .cache = rec->cached ? *rec->cached : (struct weir_cached) { NAN, NAN, NAN },
        .at = rec->rate ? *rec->rate : (struct weir_rate_reached) { NAN, NAN, NAN, NAN, false },
        .interrupted = rec->interrupted,
        .ended = name_end(rec, (uint64_t)run->par.size),
        .open_ns = span_ns(rec, WEIR_MARK_OPEN, WEIR_MARK_OPENED),
        .work_ns = span_ns(rec, WEIR_MARK_WORK, WEIR_MARK_WORKED),
        .close_ns = span_ns(rec, WEIR_MARK_CLOSE, WEIR_MARK_CLOSED),
        .total_ns = span_ns(rec, WEIR_MARK_OPEN, WEIR_MARK_CLOSED),
        .fill_ns = (double)rec->sum.fill_ns / run->par.size,
        .verify_ns = (double)rec->sum.verify_ns / run->par.size,
        .fastest_ns = (double)rec->min.work_ns,
        .slowest_ns = (double)rec->max.work_ns,
        .stop_ns = (double)(rec->last[WEIR_MARK_WORKED] - rec->first[WEIR_MARK_WORKED]),
        .clock_error_ns = (double)rec->clock_error_ns,
    };
    out->late = 100 * out->at.late_share;
}

/* The calls, and the operations of the program of all kinds that the phase had. */
static void add_latencies(struct weir_run *run, struct weir_session *s,
                          const struct weir_phase_rec *rec, struct weir_metrics *out)
{
    int n = weir_operations_count(run->program);
    struct weir_hist *all = &run->records.hist[n]; /* the list has one more entry */

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
    if (!isnan(out->at.asked))
        all = &run->ratelimit->response[n];
    weir_latency_of(all, &out->response);
}

/* One row. The rate is of bytes where the phase moves data, else of operations. */
static void report_row(struct weir_run *run, const struct weir_phase_rec *rec, struct weir_metrics *m)
{
    const unsigned data = WEIR_STAGE_WRITES | WEIR_STAGE_READS | WEIR_STAGE_CHECKS;
    bool moves = m->rec.sum.bytes > 0 && rec->stage && (rec->stage->flags & data);

    m->rate = (double)(moves ? m->rec.sum.bytes : m->rec.sum.done) * WEIR_NS_PER_S / m->total_ns;
    m->unit = moves ? "bytes/s" : "ops/s";
    weir_report_row(&run->report, &phases, m);
}

/* One operation of a mixed phase: its work, and how long each took. The rest is of all of them. */
static void report_dir(struct weir_run *run, struct state *s, const struct weir_phase_rec *rec,
                       enum weir_dir dir, struct weir_metrics m)
{
    const struct weir_dir_work *work = &rec->sum.by_dir[dir];
    int op = rec->phase->mixed + (int)dir;

    m.operation = run->program->operations[op].key;
    m.rec.sum.bytes = work->bytes;
    m.rec.sum.steps = m.rec.sum.done = work->ops;
    m.rec.min.steps = m.rec.min.done = rec->min.by_dir[dir].ops;
    m.rec.max.steps = m.rec.max.done = rec->max.by_dir[dir].ops;
    m.wrong = dir == WEIR_DIR_READ ? m.wrong : 0;
    weir_latency_of(&run->records.hist[op], &m.op[WEIR_OP_XFER]);
    m.whole = m.op[WEIR_OP_XFER];
    if (m.response.n > 0)
        weir_latency_of(&run->ratelimit->response[op], &m.response);
    m.per_second = m.work_ns > 0 ? (double)work->ops * WEIR_NS_PER_S / m.work_ns : NAN;
    report_row(run, rec, &m);
    if (s->mixes && run->par.rank == 0)
        weir_col_keep(&s->text, "Operations of the mix (times in ms)", mix_cols, &m);
}

static void measured(struct weir_run *run, void *state, struct weir_session *s,
                     const struct weir_phase_rec *rec)
{
    struct state *own = state;
    struct weir_metrics m;

    if (!rec)
        weir_report_head(&run->report, &phases);
    own->mixes = rec && rec->sum.by_dir[WEIR_DIR_LIST].ops + rec->sum.by_dir[WEIR_DIR_HEAD].ops +
                                rec->sum.by_dir[WEIR_DIR_DELETE].ops > 0;
    if (!rec || !(run->report.details || own->mixes))
        return;
    gather(run, rec, &m);
    add_latencies(run, s, rec, &m);
    for (int dir = 0; rec->phase->mixed && dir < WEIR_DIRS; dir++)
        if (dir <= WEIR_DIR_READ || rec->sum.by_dir[dir].ops > 0)
            report_dir(run, own, rec, (enum weir_dir)dir, m);
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
    .name = "metrics",
    .state_size = sizeof(struct state),
    .after = after,
    .measured = measured,
    .text = offsetof(struct state, text),
};
