/* SPDX-License-Identifier: BSD-3-Clause */
/* mdtest-results.h - what the phases measured, and the numbers of single ranks */
#ifndef WEIR_PROGRAMS_MDTEST_MDTEST_RESULTS_H
#define WEIR_PROGRAMS_MDTEST_MDTEST_RESULTS_H

#include "base/hist.h"
#include "base/stats.h"
#include "engine/files.h"
#include "engine/observe/latency.h"
#include "programs/mdtest/mdtest-pass.h"

#define MDTEST_DEVIATION WEIR_DEVIATION_SAMPLE

struct mdtest_test;

/* One task's part of one phase, up to the end of its own work. */
struct mdtest_mine {
    double rate, seconds;
};

/* What the iterations of one operation measured. */
struct mdtest_series {
    struct weir_stats rate;      /* operations a second, all tasks */
    struct weir_stats ms;        /* an operation for the task that does it, ms */
    struct weir_stats time;      /* the phase, seconds */
    struct weir_stats rank_rate; /* of single tasks: extremes, and the mean of means */
    struct weir_stats rank_ms;
    double items, seconds; /* of the last iteration */
};

/* What a phase measured, on all ranks. */
struct mdtest_measure {
    enum mdtest_op op;
    uint64_t items;
    double seconds, rate, ms;
    struct weir_stats rank_rate, rank_ms; /* of the ranks that had something to do; on rank 0 */
};

/* What the calls of an operation are called. */
extern const struct weir_call_names mdtest_calls[MDTEST_OPS];

/* Of all iterations. */
struct mdtest_results {
    struct mdtest_series series[MDTEST_OPS];
    struct mdtest_mine *mine;  /* [iteration * MDTEST_OPS + op]; --print-all-procs keeps all
                                * iterations */
    size_t rooms;              /* iterations that 'mine' has room for */
    int iterations;            /* that were begun */
    struct weir_hist *sum;     /* [op * WEIR_CALLS + call], rank 0, with --latency */
    double wall_items, wall_s; /* files of all tasks when the stonewall came, 0: it did not */
};

/* mdtest-measure.c: numbers of a phase. Collective over run->par. */
int mdtest_measure(struct weir_run *run, struct mdtest_test *t, const struct weir_phase_rec *rec,
                   double extra_s, struct mdtest_measure *m, struct weir_err *err);
void mdtest_latency(struct weir_run *run, struct mdtest_test *t, const struct weir_phase_rec *rec);
/* Make room for the numbers of the iteration that begins. Local. -1 and err (WEIR_ESETUP). */
int mdtest_take_iteration(const struct weir_run *run, struct mdtest_test *t, struct weir_err *err);
/* Those of this rank in this iteration: MDTEST_OPS of them. */
struct mdtest_mine *mdtest_mine_of(const struct weir_run *run, const struct mdtest_test *t);

/* mdtest-measure.c: what single ranks did: functions of struct weir_driver; a row for each rank
 * after an iteration (a stage), and the numbers of all iterations for people, both collective over
 * run->par. */
bool mdtest_records(const void *state, int op, uint64_t *size);
void mdtest_rank_head(struct weir_str *out);
weir_stage_fn mdtest_ranks_iteration;
void mdtest_ranks_print(struct weir_run *run, const struct mdtest_test *t, bool times);

#endif
