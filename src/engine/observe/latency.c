/* SPDX-License-Identifier: BSD-3-Clause */
/* latency.c - how long the operations of a program take, and the calls in each of them */
#include "engine/observe/latency.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "base/text/columns.h"

#define US 1e3 /* ns in one */

/* ---- of a phase ---- */

void weir_latency_of(const struct weir_hist *h, struct weir_latency *out)
{
    if (h->n == 0) {
        *out = (struct weir_latency) { 0, NAN, NAN, NAN, NAN, NAN, NAN };
        return;
    }
    *out = (struct weir_latency) {
        .n = (int64_t)h->n,
        .mean = (double)h->sum_ns / (double)h->n,
        .p50 = (double)weir_hist_quantile(h, 0.50),
        .p90 = (double)weir_hist_quantile(h, 0.90),
        .p99 = (double)weir_hist_quantile(h, 0.99),
        .p999 = (double)weir_hist_quantile(h, 0.999),
        .max = (double)h->max_ns,
    };
}

/* Histogram i of the phase: of the operations, then of the calls in a session, then of requests to a service. A session
 * that this rank takes no part in, and one without a service, has the spare one, which is empty. */
static struct weir_hist *hist_of(const struct weir_run *run, const struct weir_session *s, int i)
{
    int kinds = weir_operations_count(run->program);

    if (i < kinds)
        return &run->records.hist[i];
    if (i - kinds < WEIR_HISTS)
        return s->stats ? &s->stats->hist[i - kinds] : &run->records.hist[kinds];
    return s->service ? &s->service->part[i - kinds - WEIR_HISTS] : &run->records.hist[kinds];
}

/* The extremes of n histograms over all ranks, and after them a rank with the shortest and one with the longest work, and
 * whether any has asked a service. */
static void merge_ends(const struct weir_run *run, const struct weir_session *s,
                       const struct weir_phase_rec *rec, int n, int64_t *ends)
{
    uint64_t ns = rec->mark[WEIR_MARK_WORKED] - rec->mark[WEIR_MARK_WORK];

    ends[2 * n] = ns == rec->min.work_ns ? run->par.rank : -1;
    ends[2 * n + 1] = ns == rec->max.work_ns ? run->par.rank : -1;
    ends[2 * n + 2] = s->service && s->service->count[WEIR_SENT] > 0;
    for (int i = 0; i < n; i++)
        weir_hist_ends(hist_of(run, s, i), &ends[2 * i]);
    weir_allmax_i64(&run->par, ends, 2 * n + 3);
}

/* Counts of a service are at the end of the sums. */
static void move_counts(struct weir_session *s, uint64_t *sums, bool back)
{
    size_t len = sizeof(s->service->count);

    if (!s->service)
        memset(sums, 0, len);
    else
        memcpy(back ? s->service->count : sums, back ? sums : s->service->count, len);
}

/* Histograms with times on any rank travel as one array. The sums of their extremes mean nothing. */
void weir_latency_sum(struct weir_run *run, struct weir_session *s, const struct weir_phase_rec *rec)
{
    const int kinds = weir_operations_count(run->program), n = kinds + WEIR_ALL_HISTS;
    struct weir_hist *spare = &run->records.hist[kinds], *scratch = spare + 1;
    int64_t *ends = (int64_t *)(void *)&scratch[n + 1];
    size_t counts;
    int used = 0;

    if (run->records.summed)
        return;
    run->records.summed = true;
    memset(spare, 0, sizeof(*spare));
    merge_ends(run, s, rec, n, ends);
    run->records.fastest = ends[2 * n];
    run->records.slowest = ends[2 * n + 1];
    for (int i = 0; i < n; i++)
        if (ends[2 * i] != INT64_MIN)
            scratch[used++] = *hist_of(run, s, i);
    counts = ends[2 * n + 2] > 0 ? WEIR_SENT_COUNTS : 0;
    if (counts > 0)
        move_counts(s, (uint64_t *)(void *)&scratch[used], false);
    weir_sum_u64(&run->par, (uint64_t *)(void *)scratch, (size_t)used * sizeof(*scratch) / sizeof(uint64_t) + counts);
    if (counts > 0 && run->par.rank == 0)
        move_counts(s, (uint64_t *)(void *)&scratch[used], true);
    for (int i = n - 1; i >= 0 && run->par.rank == 0; i--)
        if (ends[2 * i] != INT64_MIN) {
            struct weir_hist *h = hist_of(run, s, i);

            *h = scratch[--used];
            weir_hist_set_ends(h, &ends[2 * i]);
        }
}

/* ---- tables: for data readers in seconds, for people in microseconds ---- */

struct latency_row {
    int64_t test, iter;
    const char *margin, *operation, *call;
    struct weir_latency lat;
};

#define L struct latency_row
#define SECONDS(k, h) COL_REAL(L, lat.k, #k, h, .unit = WEIR_NS_PER_S)
#define MICROSECONDS(f, h, r, ...)                                                                 \
    COL_REAL(L, lat.f, NULL, NULL, .head = (h), .rule = (r), .unit = US, .width = 12, .prec = 3,   \
             __VA_ARGS__)

static const struct weir_col cols[] = {
    COL_INT(L, test, "test", "Number of the test, from 0"),
    COL_INT(L, iter, "iter", "Iteration, from 0"),
    COL_STR(L, margin, NULL, NULL, .head = "", .width = 3),
    COL_STR(L, operation, "operation", "Phase", .head = "Operation", .rule = "---------",
            .width = -21, .gap = 1),
    COL_STR(L, call, "call", "Call, or part of it", .head = "Call", .rule = "----", .width = -10,
            .gap = 1),
    COL_INT(L, lat.n, "count", "Calls of all tasks", .head = "Count", .rule = "-----", .width = 12,
            .gap = 1),
    SECONDS(mean, "Mean, seconds"),
    SECONDS(p50, "p50 of the times of the calls, seconds"),
    SECONDS(p90, "p90 of the times of the calls, seconds"),
    SECONDS(p99, "p99 of the times of the calls, seconds"),
    SECONDS(p999, "p99.9 of the times of the calls, seconds"),
    SECONDS(max, "Longest, seconds"),
    MICROSECONDS(mean, "Mean", "----", .gap = 1),
    MICROSECONDS(p50, "50%", "---", .gap = 1),
    MICROSECONDS(p90, "90%", "---", .gap = 1),
    MICROSECONDS(p99, "99%", "---", .gap = 1),
    MICROSECONDS(p999, "99.9%", "-----", .gap = 1),
    MICROSECONDS(max, "Max", "---"),
    WEIR_COL_END
};

static const struct weir_table latency_table = { .key = "latency",
                                                 .cols = cols,
                                                 .readers = WEIR_FOR_DATA };

static const struct weir_table shown_table = {
    .key = "latencies", .cols = cols, .headed = true, .readers = WEIR_FOR_TEXT
};

static const char *call_name(const struct weir_call_names *names, int call)
{
    static const char *const calls[WEIR_OPS + WEIR_PARTS] = {
        [WEIR_OP_OPEN] = "open",
        [WEIR_OP_SYNC] = "fsync",
        [WEIR_OP_CLOSE] = "close",
        [WEIR_OPS + WEIR_PART_CONNECT] = "connect",
        [WEIR_OPS + WEIR_PART_TLS] = "TLS",
        [WEIR_OPS + WEIR_PART_FIRST] = "first byte",
        [WEIR_OPS + WEIR_PART_LAST] = "last byte",
    };

    if (call == 0)
        return names->whole;
    return call - 1 == WEIR_OP_XFER ? names->transfer : calls[call - 1];
}

/* On rank 0, after weir_latency_sum. */
static const struct weir_hist *call_hist(const struct weir_run *run, const struct weir_session *s, int op, int call)
{
    int part = call - 1 < WEIR_OPS ? call - 1 : call - 1 - WEIR_OPS + WEIR_HISTS;

    return hist_of(run, s, call == 0 ? op : weir_operations_count(run->program) + part);
}

void weir_latency_report(struct weir_run *run, struct weir_session *s,
                         const struct weir_phase_rec *rec, int op,
                         const struct weir_call_names *names, struct weir_hist *sum)
{
    weir_latency_sum(run, s, rec);
    for (int c = 0; c < WEIR_CALLS && run->par.rank == 0; c++) {
        const struct weir_hist *h = call_hist(run, s, op, c);
        struct latency_row row = {
            .test = run->test->id,
            .iter = run->repetition,
            .operation = run->test->program->operations[op].title,
            .call = call_name(names, c),
        };

        if (h->n == 0)
            continue;
        weir_latency_of(h, &row.lat);
        weir_report_row(&run->report, &latency_table, &row);
        if (sum)
            weir_hist_merge(&sum[op * WEIR_CALLS + c], h);
    }
}

void weir_latency_table(struct weir_run *run, const struct weir_call_names *names,
                        const struct weir_hist *sum)
{
    const struct weir_program *p = run->test->program;

    weir_report_line(&run->report, "\nLATENCY (in us): (of %d iterations)",
                     run->test->done);
    weir_report_head(&run->report, &shown_table);
    for (int i = 0; i < weir_operations_count(p) * WEIR_CALLS; i++) {
        int op = i / WEIR_CALLS;
        struct latency_row row = {
            .margin = "",
            .operation = p->operations[op].title,
            .call = call_name(&names[op], i % WEIR_CALLS),
        };

        if (sum[i].n == 0)
            continue;
        weir_latency_of(&sum[i], &row.lat);
        weir_report_row(&run->report, &shown_table, &row);
    }
}
