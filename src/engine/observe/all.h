/* SPDX-License-Identifier: BSD-3-Clause */
/* all.h - the rows that watch a run (observer.h), for observe/all.c and the files that have one */
#ifndef WEIR_ENGINE_OBSERVE_ALL_H
#define WEIR_ENGINE_OBSERVE_ALL_H

#include "engine/observer.h"

extern const struct weir_observer weir_watchdog; /* --io-timeout */
extern const struct weir_observer weir_preflight; /* the directory of a test: --existing */
extern const struct weir_observer weir_about;    /* banner, configuration, --anonymous */
extern const struct weir_observer weir_progress; /* --progress */
extern const struct weir_observer weir_interval; /* --interval */
extern const struct weir_observer weir_timeline; /* --timeline */
extern const struct weir_observer weir_load;     /* --rate, --burst */
extern const struct weir_observer weir_until;    /* --until, and the rates of repetitions */
extern const struct weir_observer weir_steady_state; /* --until=steady */
extern const struct weir_observer weir_sweep;    /* --sweep */
extern const struct weir_observer weir_op_files; /* a file of the operations of each task */
extern const struct weir_observer weir_ranks;    /* the file of the ranks, and outliers */
extern const struct weir_observer weir_dropcache; /* --drop-cache */
extern const struct weir_observer weir_checks;   /* findings and verdict of a test */
extern const struct weir_observer weir_queue_use; /* how full the queue of transfers was */
extern const struct weir_observer weir_gpu_use;  /* GPUs, and copies between them and the host */
extern const struct weir_observer weir_requests; /* what a service was asked for */
extern const struct weir_observer weir_metrics;  /* everything measured about a phase */

#endif
