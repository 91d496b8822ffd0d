/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks.h - what single ranks did in a phase */
#ifndef WEIR_ENGINE_OBSERVE_RANKS_H
#define WEIR_ENGINE_OBSERVE_RANKS_H

#include "engine/driver.h"

/* What saveRankPerformanceDetails, savePerOpDataCSV, tables of calls and the threshold of outliers
 * ask for. begin makes the files, so that one that cannot be written is found before the first
 * test; report appends a row for each rank and the operations of the phase, and warns of ranks
 * whose times are far from the mean. begin is collective over run->world, report over run->par. */
int weir_ranks_begin(struct weir_run *run, struct weir_test *tests, int n, struct weir_err *err);
int weir_ranks_report(struct weir_run *run, const struct weir_phase_rec *rec, struct weir_err *err);

#endif
