/* SPDX-License-Identifier: BSD-3-Clause */
/* mdtest-measure.c - from the record of a phase to rates, times and latencies */
#include "config.h"
#include "drivers/mdtest/mdtest.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "base/col.h"
#include "par/reduce.h"

#define MS 1e3    /* in a second */
#define US 1e3    /* ns in one */
#define MILLI 1e3 /* rates and times are summed over ranks in thousandths */
#define NANO 1e6  /* ns in a ms */

#define ITEMS(op, k, t, moves)                                                                     \
    [op] = { .key = (k), .title = (t), .unit = "items", .moves_bytes = (moves) }

const struct weir_operation mdtest_operations[MDTEST_OPS + 1] = {
    ITEMS(MDTEST_DIR_CREATE, "directory create", "Directory creation", false),
    ITEMS(MDTEST_DIR_STAT, "directory stat", "Directory stat", false),
    ITEMS(MDTEST_DIR_READ, "directory read", "Directory read", false),
    ITEMS(MDTEST_DIR_RENAME, "directory rename", "Directory rename", false),
    ITEMS(MDTEST_DIR_REMOVE, "directory remove", "Directory removal", false),
    ITEMS(MDTEST_FILE_CREATE, "file create", "File creation", true),
    ITEMS(MDTEST_FILE_STAT, "file stat", "File stat", false),
    ITEMS(MDTEST_FILE_READ, "file read", "File read", true),
    ITEMS(MDTEST_FILE_REMOVE, "file remove", "File removal", false),
    ITEMS(MDTEST_TREE_CREATE, "tree create", "Tree creation", false),
    ITEMS(MDTEST_TREE_REMOVE, "tree remove", "Tree removal", false),
};

#undef ITEMS

/* ---- rates and times ---- */

/* How many things one step is: with -c rank 0 takes the same step for every task. */
static uint64_t things_of_step(const struct weir_run *run, const struct mdtest_test *t,
                               enum mdtest_op op)
{
    bool tree = op == MDTEST_TREE_CREATE || op == MDTEST_TREE_REMOVE;
    bool alone = tree || op == MDTEST_DIR_CREATE || op == MDTEST_DIR_REMOVE ||
                 op == MDTEST_FILE_CREATE || op == MDTEST_FILE_REMOVE;

    if (!t->o->collective || !alone || (tree && !t->o->unique))
        return 1;
    return (uint64_t)run->par.size;
}

/* This rank's own part, up to the end of its work: without the wait for others, the sync and the
 * command after it. */
static struct mdtest_mine measure_mine(const struct mdtest_test *t,
                                       const struct weir_phase_rec *rec, uint64_t things)
{
    uint64_t end = t->worked_ns ? t->worked_ns : rec->mark[WEIR_MARK_WORKED];
    int64_t ns = (int64_t)(end - rec->mark[WEIR_MARK_WORK]);
    struct mdtest_mine m = { 0 };

    if (rec->steps == 0)
        return m;
    m.seconds = (double)(ns > 0 ? ns : 1) / WEIR_NS_PER_S;
    m.rate = (double)(rec->steps * things) / m.seconds;
    return m;
}

/* Extremes and means over the ranks that had something to do. Positive doubles compare like their
 * bits. */
static void measure_ranks(struct weir_run *run, struct mdtest_measure *m,
                          const struct mdtest_mine *mine)
{
    bool works = mine->rate > 0;
    double ms = works ? mine->seconds * MS / (mine->rate * mine->seconds) : 0;
    int64_t bits[2], v[4];
    uint64_t sum[3] = { works, (uint64_t)llround(mine->rate * MILLI),
                        (uint64_t)llround(ms * NANO) };
    double back[4];

    memcpy(&bits[0], &mine->rate, sizeof(bits[0]));
    memcpy(&bits[1], &ms, sizeof(bits[1]));
    v[0] = works ? bits[0] : 0;
    v[1] = works ? -bits[0] : INT64_MIN;
    v[2] = works ? bits[1] : 0;
    v[3] = works ? -bits[1] : INT64_MIN;
    weir_allmax_i64(&run->par, v, 4);
    weir_allsum_u64(&run->par, sum, 3);
    if (sum[0] == 0)
        return;
    v[1] = -v[1];
    v[3] = -v[3];
    memcpy(back, v, sizeof(back));
    m->rate_max = back[0];
    m->rate_min = back[1];
    m->ms_max = back[2];
    m->ms_min = back[3];
    m->rate_mean = (double)sum[1] / MILLI / (double)sum[0];
    m->ms_mean = (double)sum[2] / NANO / (double)sum[0];
    m->ms = m->seconds * MS * (double)sum[0] / (double)m->items;
}

static void keep_series(struct mdtest_series *s, const struct mdtest_measure *m)
{
    weir_stats_add(&s->rate, m->rate);
    weir_stats_add(&s->ms, m->ms);
    s->items = (double)m->items;
    s->seconds = m->seconds;
    if (m->items == 0)
        return;
    /* The mean of means; the extremes are those of single tasks. */
    weir_stats_add(&s->rank_rate, m->rate_mean);
    weir_stats_add(&s->rank_ms, m->ms_mean);
    s->rank_rate.min = fmin(s->rank_rate.min, m->rate_min);
    s->rank_rate.max = fmax(s->rank_rate.max, m->rate_max);
    s->rank_ms.min = fmin(s->rank_ms.min, m->ms_min);
    s->rank_ms.max = fmax(s->rank_ms.max, m->ms_max);
}

void mdtest_measure(struct weir_run *run, struct mdtest_test *t, const struct weir_phase_rec *rec,
                    double extra_s, struct mdtest_measure *m)
{
    uint64_t things = things_of_step(run, t, t->op);
    struct mdtest_mine *mine =
        &t->mine[(t->o->all_procs ? run->repetition * MDTEST_OPS : 0) + (int)t->op];

    *m = (struct mdtest_measure) { .op = t->op, .items = rec->steps_sum * things };
    m->seconds = weir_phase_span(rec, WEIR_MARK_WORK, WEIR_MARK_WORKED) + extra_s;
    m->rate = (double)m->items / m->seconds;
    *mine = measure_mine(t, rec, things);
    measure_ranks(run, m, mine);
    keep_series(&t->series[t->op], m);
}

/* ---- latencies ---- */

struct latency_row {
    int64_t test, iter;
    const char *operation, *call;
    struct weir_latency lat;
};

#define L struct latency_row
#define SECONDS(k, h) COL_REAL(L, lat.k, #k, h, .unit = WEIR_NS_PER_S)

static const struct weir_col latency_cols[] = {
    COL_INT(L, test, "test", "Number of the test, from 0"),
    COL_INT(L, iter, "iter", "Iteration, from 0"),
    COL_STR(L, operation, "operation", "Phase"),
    COL_STR(L, call, "call", "Call, or part of it"),
    COL_INT(L, lat.n, "count", "Calls of all tasks"),
    SECONDS(mean, "Mean, seconds"),
    SECONDS(p50, "Half of the calls took less, seconds"),
    SECONDS(p90, "90 % of the calls took less, seconds"),
    SECONDS(p99, "99 % of the calls took less, seconds"),
    SECONDS(p999, "99.9 % of the calls took less, seconds"),
    SECONDS(max, "Longest, seconds"),
    WEIR_COL_END
};

static const struct weir_table latency_table = { .key = "latency",
                                                 .cols = latency_cols,
                                                 .readers = WEIR_FOR_DATA };

/* What the calls of each phase are called. */
static const char *const whole_call[MDTEST_OPS] = {
    [MDTEST_DIR_CREATE] = "mkdir",  [MDTEST_DIR_STAT] = "stat",      [MDTEST_DIR_RENAME] = "rename",
    [MDTEST_DIR_REMOVE] = "rmdir",  [MDTEST_FILE_CREATE] = "create", [MDTEST_FILE_STAT] = "stat",
    [MDTEST_FILE_READ] = "read",    [MDTEST_FILE_REMOVE] = "remove", [MDTEST_TREE_CREATE] = "mkdir",
    [MDTEST_TREE_REMOVE] = "rmdir",
};

static const char *call_name(enum mdtest_op op, enum mdtest_call call)
{
    static const char *const parts[MDTEST_CALLS] = {
        [MDTEST_CALL_OPEN] = "open",
        [MDTEST_CALL_SYNC] = "fsync",
        [MDTEST_CALL_CLOSE] = "close",
    };

    if (call == MDTEST_CALL_WHOLE)
        return whole_call[op];
    if (call == MDTEST_CALL_WRITE)
        return op == MDTEST_FILE_READ ? "read data" : "write";
    return parts[call];
}

static void tell_latency(struct weir_run *run, const struct mdtest_test *t, enum mdtest_call call,
                         const struct weir_hist *h)
{
    struct latency_row row = {
        .test = t->id,
        .iter = run->repetition,
        .operation = mdtest_operations[t->op].title,
        .call = call_name(t->op, call),
    };

    weir_latency_of(h, &row.lat);
    weir_report_row(&run->report, &latency_table, &row);
}

void mdtest_latency(struct weir_run *run, struct mdtest_test *t, const struct weir_phase_rec *rec)
{
    struct weir_session_stats *st = t->session.stats;
    struct weir_hist *const part[MDTEST_CALLS] = { &t->lat, &st->hist[WEIR_OP_OPEN],
                                                   &st->hist[WEIR_OP_XFER], &st->hist[WEIR_OP_SYNC],
                                                   &st->hist[WEIR_OP_CLOSE] };

    if (!run->details && !t->o->latency)
        return;
    weir_metrics_report(run, &t->session, rec); /* adds up all but the first on rank 0 */
    for (int c = 0; c < MDTEST_CALLS; c++) {
        if (c == MDTEST_CALL_WHOLE || !run->details)
            weir_hist_sum(&run->par, part[c]);
        if (run->par.rank > 0 || part[c]->n == 0)
            continue;
        tell_latency(run, t, (enum mdtest_call)c, part[c]);
        if (t->sum)
            weir_hist_merge(&t->sum[t->op * MDTEST_CALLS + c], part[c]);
    }
}

/* A row of the table for people, in microseconds. */
struct shown_latency {
    const char *margin, *operation, *call;
    struct weir_latency lat;
};

#define T struct shown_latency
#define MICROSECONDS(f, h, r, ...)                                                                 \
    COL_REAL(T, lat.f, NULL, NULL, .head = (h), .rule = (r), .unit = US, .width = 12, .prec = 3,   \
             __VA_ARGS__)

static const struct weir_col shown_cols[] = {
    COL_STR(T, margin, NULL, NULL, .head = "", .width = 3),
    COL_STR(T, operation, NULL, NULL, .head = "Operation", .rule = "---------", .width = -18,
            .gap = 1),
    COL_STR(T, call, NULL, NULL, .head = "Call", .rule = "----", .width = -9, .gap = 1),
    COL_INT(T, lat.n, NULL, NULL, .head = "Count", .rule = "-----", .width = 12, .gap = 1),
    MICROSECONDS(mean, "Mean", "----", .gap = 1),
    MICROSECONDS(p50, "50%", "---", .gap = 1),
    MICROSECONDS(p90, "90%", "---", .gap = 1),
    MICROSECONDS(p99, "99%", "---", .gap = 1),
    MICROSECONDS(p999, "99.9%", "-----", .gap = 1),
    MICROSECONDS(max, "Max", "---"),
    WEIR_COL_END
};

static const struct weir_table shown_table = {
    .key = "latencies", .cols = shown_cols, .headed = true, .readers = WEIR_FOR_TEXT
};

void mdtest_latency_table(struct weir_run *run, const struct mdtest_test *t)
{
    struct weir_report *r = &run->report;

    if (!t->sum)
        return;
    weir_report_line(r, "\nLATENCY (in us): (of %d iterations)", t->o->run.repetitions);
    weir_report_head(r, &shown_table);
    for (int i = 0; i < MDTEST_OPS * MDTEST_CALLS; i++) {
        enum mdtest_op op = (enum mdtest_op)(i / MDTEST_CALLS);
        struct shown_latency row = {
            .margin = "",
            .operation = mdtest_operations[op].title,
            .call = call_name(op, (enum mdtest_call)(i % MDTEST_CALLS)),
        };

        if (t->sum[i].n == 0)
            continue;
        weir_latency_of(&t->sum[i], &row.lat);
        weir_report_row(r, &shown_table, &row);
    }
}
