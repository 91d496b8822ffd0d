/* SPDX-License-Identifier: BSD-3-Clause */
/* all.c - the rows that watch a run: the one place that names them (observer.h) */
#include "config.h"
#include "engine/observe/all.h"

#include "engine/run.h"

/* The order is that of every hook. */
const struct weir_observer *const weir_observers[] = {
    &weir_watchdog, /* before sessions begin, which note their calls */
    &weir_progress, /* first after a phase: it wipes its line before others print */
    &weir_about,
    &weir_preflight, /* before the timeline: it may refuse a test */
    &weir_interval, /* before the checks, which judge by its bins */
    &weir_timeline, /* it sorts the records: files of operations come sorted after it */
    &weir_load,     /* before the checks and the metrics, which show what it has found */
    &weir_until,    /* before the checks, whose table shows the rates */
    &weir_steady_state, /* before the checks, which have a rule for it */
    &weir_sweep,
    &weir_dropcache, /* before the checks look at the page cache */
    &weir_checks,
    &weir_op_files,
    &weir_ranks,
    &weir_queue_use,
    &weir_gpu_use,
    &weir_requests,
    &weir_metrics, /* it sums histograms in place, which the checks read of each rank */
    NULL,
};
/* One more is that of a program which calls the library. */
_Static_assert(sizeof(weir_observers) / sizeof(*weir_observers) <= WEIR_OBSERVERS_MOST, "run.h");
