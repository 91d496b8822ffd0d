/* SPDX-License-Identifier: BSD-3-Clause */
/* requests.c - what a phase has asked of a service: how many requests, connections and repetitions, and the parts of their
 * times */
#include "config.h"

#include <inttypes.h>

#include "base/clock.h"
#include "engine/observe/all.h"
#include "engine/observe/latency.h"
#include "engine/phase.h"
#include "engine/test.h"

struct requests_row {
    const char *operation;
    int64_t test, iter, count[WEIR_SENT_COUNTS];
    struct weir_latency part[WEIR_PARTS];
};

#define R struct requests_row
#define COUNT(f, k, h) COL_INT(R, f, k, h)
#define SECONDS(p, f, k, h) COL_REAL(R, part[p].f, k, h, .unit = WEIR_NS_PER_S)
#define PART(p, k, h)                                                                              \
    COUNT(part[p].n, k "Count", "Requests that had " h),                                           \
        SECONDS(p, mean, k "Mean", "Mean time of " h ", seconds"),                                 \
        SECONDS(p, p50, k "P50", "Half of these times are less, seconds"),                         \
        SECONDS(p, p90, k "P90", "90 % of these times are less, seconds"),                         \
        SECONDS(p, p99, k "P99", "99 % of these times are less, seconds"),                         \
        SECONDS(p, p999, k "P999", "99.9 % of these times are less, seconds"),                     \
        SECONDS(p, max, k "Max", "Longest of them, seconds")

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
                     " (asked for by the service) and %" PRId64
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

const struct weir_observer weir_requests = { .name = "requests", .measured = measured };
