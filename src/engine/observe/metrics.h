/* SPDX-License-Identifier: BSD-3-Clause */
/* metrics.h - everything measured about one phase, as one record for programs: JSON "phases" and
 * the full CSV table */
#ifndef WEIR_ENGINE_OBSERVE_METRICS_H
#define WEIR_ENGINE_OBSERVE_METRICS_H

#include "engine/observe/latency.h"

/* One phase. Bytes, ns, counts. */
struct weir_metrics {
    const char *operation;
    int64_t test, iter, tasks;
    int64_t bytes, steps, steps_min, steps_max, operations, wrong;
    double open_ns, work_ns, close_ns, total_ns;
    double fill_ns, verify_ns;     /* mean over the ranks */
    double fastest_ns, slowest_ns; /* time between first and last step of a rank */
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
};

extern const struct weir_table weir_metrics_table;

/* Report the metrics of a phase of run->test that has just run, from its record and the latencies
 * of a session (one that is zero adds nothing), which are summed (weir_latency_sum). Nothing is
 * done where nobody reads them. Collective over run->par. */
void weir_metrics_report(struct weir_run *run, struct weir_session *s,
                         const struct weir_phase_rec *rec);

#endif
