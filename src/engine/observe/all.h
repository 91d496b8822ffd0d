/* SPDX-License-Identifier: BSD-3-Clause */
/* all.h - the rows that watch a run (observer.h): the one place that names them, for observe/all.c
 * and the files that have one */
#pragma once

#include "engine/observer.h"

/* The order is that of every hook. */
#define WEIR_OBSERVERS(ROW)                                                                        \
    ROW(watchdog)     /* --io-timeout; before sessions begin, which note their calls */            \
    ROW(progress)     /* --progress; first after a phase: it wipes its line before others print */ \
    ROW(about)        /* banner, configuration, --anonymous */                                     \
    ROW(preflight)    /* --existing; before the timeline: it may refuse a test */                  \
    ROW(interval)     /* --interval; before the checks, which judge by its bins */                 \
    ROW(timeline)     /* --timeline; it sorts the records for those after it */                    \
    ROW(load)         /* --rate, --burst; before the checks and the metrics, which show it */      \
    ROW(until)        /* --until; before the checks, whose table shows the rates */                \
    ROW(steady_state) /* --until=steady; before the checks, which have a rule for it */            \
    ROW(sweep)        /* --sweep */                                                                \
    ROW(dropcache)    /* --drop-cache; before the checks look at the page cache */                 \
    ROW(checks)       /* findings and verdict of a test */                                         \
    ROW(op_files)     /* a file of the operations of each task */                                  \
    ROW(ranks)        /* the file of the ranks, and outliers */                                    \
    ROW(queue_use)    /* how full the queue of transfers was */                                    \
    ROW(gpu_use)      /* GPUs, and copies between them and the host */                             \
    ROW(requests)     /* what a service was asked for */                                           \
    ROW(metrics)      /* after the checks: it sums in place the histograms that they read */

#define WEIR_OBSERVER_DECLARE(name) extern const struct weir_observer weir_##name;
WEIR_OBSERVERS(WEIR_OBSERVER_DECLARE)
