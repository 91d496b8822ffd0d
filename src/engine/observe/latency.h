/* SPDX-License-Identifier: BSD-3-Clause */
/* latency.h - how long the operations of a program take, and the calls in each of them */
#ifndef WEIR_ENGINE_OBSERVE_LATENCY_H
#define WEIR_ENGINE_OBSERVE_LATENCY_H

#include "engine/run.h"

/* An operation as a whole, then its calls in the order of enum weir_op. */
#define WEIR_CALLS (1 + WEIR_OPS)

/* How tables call an operation as a whole, and its transfers. */
struct weir_call_names {
    const char *whole, *transfer;
};

/* How many operations a program has. Local. */
struct weir_driver;
int weir_operations_count(const struct weir_driver *d);

/* An operation of the phase that runs is over: its time goes into run->op_hist, and the operation
 * into the records. Local, some ns. */
static inline void weir_operation_add(struct weir_run *run, int op, uint64_t begin_ns,
                                      uint64_t end_ns, uint64_t off, uint64_t len)
{
    weir_hist_add(&run->op_hist[op], end_ns - begin_ns);
    weir_records_add(&run->records, op, begin_ns, end_ns, off, len);
}

/* One that has failed as err says. */
static inline void weir_operation_add_failed(struct weir_run *run, int op, uint64_t begin_ns,
                                             uint64_t end_ns, uint64_t off,
                                             const struct weir_err *err)
{
    weir_hist_add(&run->op_hist[op], end_ns - begin_ns);
    weir_records_add_failed(&run->records, op, begin_ns, end_ns, off, err);
}

/* Forget the times of the last phase: run->op_hist, and the calls in the sessions of the test.
 * Local. */
void weir_latency_reset(struct weir_run *run);

/* Make the times of the operations of the phase that has just run, and of the calls in a session,
 * those of all ranks on rank 0. Once a phase: a second call does nothing. Collective over
 * run->par. */
void weir_latency_sum(struct weir_run *run, struct weir_session *s);

/* Rows "latency" for data readers: operation 'op' in the phase that has just run, and the calls in
 * a session; first they are summed. On rank 0 they are also added to sum (NULL: not kept):
 * WEIR_CALLS of them for each operation. Collective over run->par. */
void weir_latency_report(struct weir_run *run, struct weir_session *s, int op,
                         const struct weir_call_names *names, struct weir_hist *sum);

/* The table of these sums for people, in microseconds. names: of each operation. Rank 0. */
void weir_latency_table(struct weir_run *run, const struct weir_call_names *names,
                        const struct weir_hist *sum);

#endif
