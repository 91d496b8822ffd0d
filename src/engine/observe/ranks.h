/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks.h - what single ranks did in a phase */
#ifndef WEIR_ENGINE_OBSERVE_RANKS_H
#define WEIR_ENGINE_OBSERVE_RANKS_H

#include "base/stats.h"
#include "engine/files.h"
#include "engine/test.h"

/* The 'mine' of 'size' bytes of every rank, in rank order in *all on rank 0, which frees it; NULL
 * on the others. Collective over run->par. Returns 0, or -1 and err on every rank (WEIR_ESETUP). */
int weir_ranks_gather(struct weir_run *run, const void *mine, size_t size, void **all,
                      struct weir_err *err);

/* *out gets on rank 0 the statistics of 'mine' over the ranks where it is not NaN, and is empty on
 * the other ranks. Collective over run->par. Returns 0, or -1 and err on every rank
 * (WEIR_ESETUP). */
int weir_ranks_stats(struct weir_run *run, double mine, struct weir_stats *out,
                     struct weir_err *err);

/* Show the lines of every rank, each ended by a newline, in rank order in the results for people.
 * Collective over run->par. */
void weir_ranks_lines(struct weir_run *run, const struct weir_str *mine);

/* Append to the file of the ranks what 'add' makes on rank 0 of the 'mine' of 'size' bytes of every
 * rank; nothing without such a file. Collective over run->par. Returns 0, or -1 and err on every
 * rank. */
int weir_ranks_rows(struct weir_run *run, const void *mine, size_t size,
                    void (*add)(const struct weir_run *run, const void *arg, const void *all,
                                struct weir_str *lines),
                    const void *arg, struct weir_err *err);

/* What saveRankPerformanceDetails, savePerOpDataCSV, tables of calls and the threshold of outliers
 * ask for. begin makes the files, so that one that cannot be written is found before the first
 * test; report appends a row for each rank and the operations of the phase, and warns of ranks
 * whose times are far from the mean. begin is collective over run->world, report over run->par. */
int weir_ranks_begin(struct weir_run *run, struct weir_test *tests, int n, struct weir_err *err);
int weir_ranks_report(struct weir_run *run, const struct weir_phase_rec *rec, struct weir_err *err);

#endif
