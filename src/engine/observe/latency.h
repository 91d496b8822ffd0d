/* SPDX-License-Identifier: BSD-3-Clause */
/* latency.h - how long the operations of a program take, and the calls in each of them */
#pragma once

#include "engine/program.h"

/* Divisor of times in ns that people read in ms. */
#define WEIR_MS 1e6

/* Latency of one operation over all ranks, ns. NaN where the operation did not happen. */
struct weir_latency {
    int64_t n;
    double mean, p50, p90, p99, p999, max;
};

/* The columns of such a member F of the record S but for 'n', in seconds, in JSON and CSV. Their
 * keys begin with 'key'. of: what they are. */
#define WEIR_LATENCY_COL(S, F, key, what)                                                          \
    COL_REAL(S, F, key, what ", seconds", .csv = key, .unit = WEIR_NS_PER_S)
#define WEIR_LATENCY_COLS(S, F, key, of)                                                           \
    WEIR_LATENCY_COL(S, F.mean, key "Mean", "Mean of " of),                                        \
        WEIR_LATENCY_COL(S, F.p50, key "P50", "p50 of " of),                                      \
        WEIR_LATENCY_COL(S, F.p90, key "P90", "p90 of " of),                                      \
        WEIR_LATENCY_COL(S, F.p99, key "P99", "p99 of " of),                                      \
        WEIR_LATENCY_COL(S, F.p999, key "P999", "p99.9 of " of),                                  \
        WEIR_LATENCY_COL(S, F.max, key "Max", "Longest of " of)

/* Columns of such a member for people, in ms. */
#define WEIR_LATENCY_MS(S, f, h)                                                                   \
    COL_REAL(S, f, NULL, NULL, .head = (h), .unit = WEIR_MS, .width = 10, .digits = 5, .gap = 1,   \
             .none = "-")
#define WEIR_LATENCY_SHOWN(S, F)                                                                   \
    WEIR_LATENCY_MS(S, F.mean, "mean"), WEIR_LATENCY_MS(S, F.p50, "50%"),                          \
        WEIR_LATENCY_MS(S, F.p90, "90%"), WEIR_LATENCY_MS(S, F.p99, "99%"),                        \
        WEIR_LATENCY_MS(S, F.p999, "99.9%"), WEIR_LATENCY_MS(S, F.max, "max ms")

/* Everything measured about one phase: a row of "phases" for programs. Bytes, ns, counts. */
struct weir_metrics {
    const char *operation;
    int64_t test, iter, tasks;
    struct weir_phase_rec rec; /* of a mixed phase with the work of one operation */
    int64_t wrong;
    double open_ns, work_ns, close_ns, total_ns;
    double fill_ns, verify_ns;     /* mean over the ranks */
    double fastest_ns, slowest_ns; /* time between first and last step of a rank */
    double stop_ns;                /* from the end of that of one rank to that of another, the most */
    int64_t fastest_rank, slowest_rank;
    double clock_error_ns;
    struct weir_cached cache;
    int64_t interrupted;
    const char *ended;
    struct weir_latency op[WEIR_OPS];
    /* for a program that runs this one */
    struct weir_latency whole; /* operations of the program, where it measures them as a whole */
    double per_second; /* of an operation of a mixed phase */
    double rate; /* of the phase, in this unit */
    const char *unit;
    struct weir_rate_reached at; /* at a rate, else NaN */
    double late;                 /* and its late_share in percent */
    struct weir_latency response; /* from when they were due, of all operations */
};

/* The key of their table. */
#define WEIR_METRICS_KEY "phases"

/* Sum up a histogram. Local. */
void weir_latency_of(const struct weir_hist *h, struct weir_latency *out);

/* An operation as a whole, then its calls in the order of enum weir_op, and the parts of requests to a service. */
#define WEIR_CALLS (1 + WEIR_OPS + WEIR_PARTS)

/* The names of an operation as a whole and of its transfers in tables. */
struct weir_call_names {
    const char *whole, *transfer;
};

/* On rank 0, sum up the times of all ranks in the phase that has just run. Times are those of its operations, of the
 * calls in a session, of requests to a service. The ranks with the shortest and the longest work are found, too
 * (run->records). One maximum, one sum. Once a phase: a second call does nothing. Collective over run->par. */
void weir_latency_sum(struct weir_run *run, struct weir_session *s, const struct weir_phase_rec *rec);

/* Rows "latency" for data readers: operation 'op' in the phase that has just run, and the calls in
 * a session; first they are summed. On rank 0 they are also added to sum (NULL: not kept):
 * WEIR_CALLS of them for each operation. Collective over run->par. */
void weir_latency_report(struct weir_run *run, struct weir_session *s,
                         const struct weir_phase_rec *rec, int op,
                         const struct weir_call_names *names, struct weir_hist *sum);

/* The table of these sums for people, in microseconds. names: of each operation. Rank 0. */
void weir_latency_table(struct weir_run *run, const struct weir_call_names *names,
                        const struct weir_hist *sum);
