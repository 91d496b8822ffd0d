/* SPDX-License-Identifier: BSD-3-Clause */
/* latency.h - how long the operations of a program take, and the calls in each of them */
#ifndef WEIR_ENGINE_OBSERVE_LATENCY_H
#define WEIR_ENGINE_OBSERVE_LATENCY_H

#include "engine/program.h"

/* Latency of one operation over all ranks, ns. NaN where the operation did not happen. */
struct weir_latency {
    int64_t n;
    double mean, p50, p90, p99, p999, max;
};

/* Everything measured about one phase: a row of "phases" for programs. Bytes, ns, counts. */
struct weir_metrics {
    const char *operation;
    int64_t test, iter, tasks;
    int64_t bytes, steps, steps_min, steps_max, operations, wrong;
    double open_ns, work_ns, close_ns, total_ns;
    double fill_ns, verify_ns;     /* mean over the ranks */
    double fastest_ns, slowest_ns; /* time between first and last step of a rank */
    double stop_ns;                /* from the end of that of one rank to that of another, the most */
    int64_t fastest_rank, slowest_rank;
    double clock_error_ns;
    double cache_looked, cache_resident, cache_dirty; /* NaN: not known */
    int64_t interrupted;
    const char *ended;
    int64_t by[WEIR_ENDS]; /* tasks */
    struct weir_latency op[WEIR_OPS];
    /* for a program that runs this one */
    int64_t operations_min, operations_max; /* of a task */
    struct weir_latency whole; /* operations of the program, where it measures them as a whole */
    struct weir_stonewall stonewall;
    double rate; /* of the phase, in this unit */
    const char *unit;
    /* at a rate, else NaN */
    double rate_asked, rate_reached, late, late_ns;
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

#endif
