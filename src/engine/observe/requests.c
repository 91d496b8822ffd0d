/* SPDX-License-Identifier: BSD-3-Clause */
/* requests.c - what a phase has asked of a service: requests, connections, repetitions and parts of
 * their times; of each endpoint, also the operations of a mixed phase */

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "engine/observe/all.h"
#include "engine/observe/latency.h"
#include "engine/phase.h"
#include "par/agree.h"
#include "par/reduce.h"

struct requests_row {
    const char *operation;
    int64_t test, iter, count[WEIR_SENT_COUNTS];
    struct weir_latency part[WEIR_PARTS];
};

#define R struct requests_row
#define COUNT(f, k, h) COL_INT(R, f, k, h)
#define PART(p, k, h)                                                                              \
    COUNT(part[p].n, k "Count", "Requests that had " h),                                           \
        WEIR_LATENCY_COLS(R, part[p], k, "the times of " h)

static const struct weir_col cols[] = {
    COUNT(test, "test", "Number of the test, from 0"),
    COUNT(iter, "iter", "Repetition, from 0"),
    COL_STR(R, operation, "operation", "Phase"),
    COUNT(count[WEIR_SENT], "requests", "Requests of all tasks, those that were sent again, too"),
    COUNT(count[WEIR_SENT_CONNECTIONS], "connections", "Connections that were made"),
    COUNT(count[WEIR_SENT_REFUSED], "refused", "Requests sent again because the service asked for it"),
    COUNT(count[WEIR_SENT_LOST], "lost",
          "Requests sent again because a connection was lost or no answer came in time"),
    COUNT(count[WEIR_SENT_MOVED], "moved", "Requests that the service sent to another endpoint or region"),
    PART(WEIR_PART_CONNECT, "connect", "the begin of a connection"),
    PART(WEIR_PART_TLS, "tls", "the handshake of TLS"),
    PART(WEIR_PART_FIRST, "firstByte", "the time from the connection to the first byte of the answer"),
    PART(WEIR_PART_LAST, "lastByte", "the time from the first byte to the last one"),
    WEIR_COL_END
};

static const struct weir_table table = { .key = "requests", .cols = cols, .readers = WEIR_FOR_DATA };

static void report(struct weir_run *run, const struct weir_service_stats *sum, const struct weir_phase_rec *rec)
{
    struct requests_row row = {
        .operation = rec->phase->key,
        .test = run->test->id,
        .iter = rec->repetition,
    };

    for (int i = 0; i < WEIR_SENT_COUNTS; i++)
        row.count[i] = (int64_t)sum->count[i];
    for (int i = 0; i < WEIR_PARTS; i++)
        weir_latency_of(&sum->part[i], &row.part[i]);
    weir_report_row(&run->report, &table, &row);
    if (run->log.verbose < 1)
        return;
    weir_report_line(&run->report,
                     "requests of %s: %" PRId64 " over %" PRId64 " new connections, sent again: %" PRId64
                     " (refused) and %" PRId64
                     " (lost); mean time to the first byte: %.6f s, from there to the last: %.6f s",
                     row.operation, row.count[WEIR_SENT], row.count[WEIR_SENT_CONNECTIONS],
                     row.count[WEIR_SENT_REFUSED], row.count[WEIR_SENT_LOST],
                     row.part[WEIR_PART_FIRST].mean / WEIR_NS_PER_S, row.part[WEIR_PART_LAST].mean / WEIR_NS_PER_S);
}

/* As on all ranks, also those that have no session. */
static bool asks_service(const struct weir_test *t)
{
    for (int i = 0; i < t->n_used; i++)
        if (t->used[i].be->flags & WEIR_BE_OBJECTS)
            return true;
    return false;
}

static void measured(struct weir_run *run, void *state, struct weir_session *s, const struct weir_phase_rec *rec)
{
    if (!rec || !asks_service(run->test) || !(run->report.details || run->log.verbose >= 1))
        return;
    weir_latency_sum(run, s, rec);
    if (run->par.rank == 0 && s->service && s->service->count[WEIR_SENT] > 0)
        report(run, s->service, rec);
}

/* ---- of each endpoint ---- */

/* Sums over the tasks of an endpoint, in the order of enum weir_sent and then: */
enum { TASKS = WEIR_SENT_COUNTS, BYTES, ANSWERS, NS, SUMS };

struct state {
    uint64_t *sum; /* SUMS of each endpoint */
    int64_t n;     /* endpoints; 0: the test asks no service */
    const struct weir_service_stats *stats;
    struct weir_str endpoints, operations; /* tables for people */
};

struct endpoint_row {
    const char *operation, *endpoint;
    int64_t test, iter, number, tasks, count[WEIR_SENT_COUNTS], bytes, again;
    double rate, bw, mean;
    struct weir_latency whole; /* of an operation of a mixed phase */
};

#define E struct endpoint_row
#define INT(f, k, t, h) COL_INT(E, f, k, h, .head = (t), .width = 10, .gap = 1)
#define REAL(f, k, u, t, h)                                                                        \
    COL_REAL(E, f, k, h, .unit = (u), .head = (t), .width = 10, .digits = 5, .gap = 1, .none = "-")

#define BYTES_COL                                                                                  \
    COL_INT(E, bytes, "bytes", "Bytes moved by these tasks", .head = "Bytes", .width = 14, .gap = 1)
#define FIRST_COLS(what)                                                                           \
    COL_INT(E, test, "test", "Number of the test, from 0"),                                        \
        COL_INT(E, iter, "iter", "Repetition, from 0", .head = "iter", .width = 4, .gap = 1),      \
        COL_STR(E, operation, "operation", what, .head = what, .width = -12, .gap = 1),            \
        COL_INT(E, number, "number", "Number of the endpoint in the list, from 0"),                \
        COL_STR(E, endpoint, "endpoint", "Its URL")

static const struct weir_col endpoint_cols[] = {
    FIRST_COLS("Phase"),
    INT(tasks, "tasks", "Tasks", "Tasks that use it"),
    INT(count[WEIR_SENT], "requests", "Requests", "Their requests, also those sent again"),
    REAL(rate, "requestsPerSecond", 1, "req/s", "Requests over the time of the phase"),
    BYTES_COL,
    REAL(bw, "bwMiB", WEIR_MIB, "MiB/s", "Bytes over the time of the phase, MiB/s"),
    COL_REAL(E, mean, "requestMean", "Mean time of a request, seconds", .unit = WEIR_NS_PER_S),
    REAL(mean, NULL, WEIR_MS, "mean ms", NULL),
    INT(again, NULL, "Sent again", NULL),
    COL_STR(E, endpoint, NULL, NULL, .head = "Endpoint"), /* the last one: it has any length */
    COL_INT(E, count[WEIR_SENT_CONNECTIONS], "connections", "Connections that were made"),
    COL_INT(E, count[WEIR_SENT_REFUSED], "refused", "Requests sent again as the service asked"),
    COL_INT(E, count[WEIR_SENT_LOST], "lost", "Requests sent again: no answer, or no connection"),
    COL_INT(E, count[WEIR_SENT_MOVED], "moved", "Requests that it sent to another endpoint"),
    WEIR_COL_END
};

/* An operation of a mixed phase is one request, unless it was sent again. */
static const struct weir_col operation_cols[] = {
    FIRST_COLS("Operation"),
    INT(whole.n, "operations", "Operations", "Operations of the tasks that use it"),
    REAL(rate, "operationsPerSecond", 1, "ops/s", "Operations over the time of the transfers"),
    BYTES_COL,
    WEIR_LATENCY_COLS(E, whole, "operation", "the times of these operations"),
    WEIR_LATENCY_SHOWN(E, whole),
    COL_STR(E, endpoint, NULL, NULL, .head = "Endpoint"),
    WEIR_COL_END
};
#undef E
#undef INT
#undef REAL

static const struct weir_table endpoints = { .key = "endpoints",
                                             .cols = endpoint_cols,
                                             .readers = WEIR_FOR_DATA };
static const struct weir_table operations = { .key = "endpointOperations",
                                              .cols = operation_cols,
                                              .readers = WEIR_FOR_DATA };

/* Finds how many endpoints all tasks have; rank 0 names them. Collective. */
static int find_endpoints(struct weir_run *run, void *state, struct weir_err *err)
{
    struct state *s = state;

    *s = (struct state) { .n = 0 };
    if (!asks_service(run->test))
        return 0;
    for (int i = 0; i < run->test->sessions; i++)
        if (run->test->session[i]->service)
            s->stats = run->test->session[i]->service;
    s->n = s->stats ? s->stats->endpoints : 0;
    weir_allmax_i64(&run->par, &s->n, 1);
    s->sum = weir_arena_alloc(&run->test->arena, (size_t)s->n * SUMS * sizeof(*s->sum), err);
    return weir_agree(&run->par, s->sum ? 0 : -1, err);
}

/* This task, with all of its sessions. */
static void add_own(const struct weir_run *run, struct state *s)
{
    uint64_t *sum = s->stats ? &s->sum[s->stats->own * SUMS] : NULL;

    for (int i = 0; i < run->test->sessions; i++) {
        const struct weir_service_stats *own = run->test->session[i]->service;

        if (!own)
            continue;
        for (int k = 0; k < WEIR_SENT_COUNTS; k++)
            sum[k] += own->count[k];
        for (int k = 0; k < WEIR_PARTS; k++)
            sum[NS] += own->part[k].sum_ns;
        sum[ANSWERS] += own->part[WEIR_PART_LAST].n;
        sum[TASKS] = 1;
        sum[BYTES] = run->counters.bytes;
    }
}

static struct endpoint_row report_endpoint(struct weir_run *run, const struct weir_phase_rec *rec,
                                           struct state *s, int64_t i)
{
    const uint64_t *sum = &s->sum[i * SUMS];
    double seconds = weir_phase_span(rec, WEIR_MARK_OPEN, WEIR_MARK_CLOSED);
    bool known = s->stats && i < s->stats->endpoints;
    struct endpoint_row row = {
        .operation = rec->phase->key,
        .endpoint = known ? s->stats->endpoint[i] : "not in the list of rank 0",
        .test = run->test->id,
        .iter = rec->repetition,
        .number = i,
        .tasks = (int64_t)sum[TASKS],
        .bytes = (int64_t)sum[BYTES],
        .rate = (double)sum[WEIR_SENT] / seconds,
        .bw = (double)sum[BYTES] / seconds,
        .mean = sum[ANSWERS] ? (double)sum[NS] / (double)sum[ANSWERS] : NAN,
    };

    for (int k = 0; k < WEIR_SENT_COUNTS; k++) {
        row.count[k] = (int64_t)sum[k];
        row.again += k >= WEIR_SENT_REFUSED ? row.count[k] : 0;
    }
    weir_report_row(&run->report, &endpoints, &row);
    if (s->n > 1)
        weir_col_keep(&s->endpoints, "Endpoints (open and close are in their times)", endpoint_cols,
                      &row);
    return row;
}

/* Report the operations of a mixed phase at endpoint i. row: of the endpoint. Collective. */
static void report_operations(struct weir_run *run, const struct weir_phase_rec *rec,
                              struct state *s, int64_t i, struct endpoint_row row)
{
    bool own = s->stats && s->stats->own == i;
    struct weir_hist *sum = &run->records.hist[weir_operations_count(run->program) + 1];
    uint64_t bytes[WEIR_DIRS] = { 0 };
    int64_t ends[2 * WEIR_DIRS];

    memset(sum, 0, WEIR_DIRS * sizeof(*sum));
    for (int dir = 0; dir < WEIR_DIRS && own; dir++) {
        sum[dir] = run->records.hist[rec->phase->mixed + dir];
        bytes[dir] = run->counters.by_dir[dir].bytes;
    }
    weir_sum_u64(&run->par, bytes, WEIR_DIRS);
    weir_merge_hists(&run->par, sum, WEIR_DIRS, ends);
    for (int dir = 0; dir < WEIR_DIRS && run->par.rank == 0; dir++) {
        if (sum[dir].n == 0)
            continue;
        row.operation = run->program->operations[rec->phase->mixed + dir].key;
        row.bytes = (int64_t)bytes[dir];
        row.rate = (double)sum[dir].n / weir_phase_span(rec, WEIR_MARK_WORK, WEIR_MARK_WORKED);
        weir_latency_of(&sum[dir], &row.whole);
        weir_report_row(&run->report, &operations, &row);
        if (s->n > 1)
            weir_col_keep(&s->operations, "Operations by endpoint (times in ms)", operation_cols,
                          &row);
    }
}

/* Collective, before histograms and counts are summed in place. */
static int after(struct weir_run *run, void *state, struct weir_phase_rec *rec,
                 struct weir_err *err)
{
    struct state *s = state;

    if (rec->failed || !rec->stage || s->n == 0)
        return 0;
    memset(s->sum, 0, (size_t)s->n * SUMS * sizeof(*s->sum));
    add_own(run, s);
    weir_sum_u64(&run->par, s->sum, (size_t)s->n * SUMS);
    for (int64_t i = 0; i < s->n; i++) {
        struct endpoint_row row = { .number = i };

        if (run->par.rank == 0)
            row = report_endpoint(run, rec, s, i);
        if (rec->phase->mixed)
            report_operations(run, rec, s, i, row);
    }
    return 0;
}

const struct weir_observer weir_requests = {
    .name = "requests",
    .state_size = sizeof(struct state),
    .test_start = find_endpoints,
    .after = after,
    .measured = measured,
    .text = offsetof(struct state, endpoints),
    .texts = 2,
};
