/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks.h - what single ranks did in a phase */
#ifndef WEIR_ENGINE_RANKS_H
#define WEIR_ENGINE_RANKS_H

#include "engine/files.h"
#include "engine/test.h"

/* Make the file of the ranks with nothing but its heading. Local. -1 and err (WEIR_ESETUP). */
int weir_ranks_begin_file(const char *path, struct weir_err *err);

/* After a phase: append a row for each rank (times, rates, bytes, steps) to the file at path, and
 * warn of ranks whose times are further than outlier_s seconds from the mean. path NULL: no file;
 * outlier_s 0: no warnings. Collective over run->par. Returns 0, or -1 and err on every rank. */
int weir_ranks_phase(struct weir_run *run, const struct weir_phase_rec *rec, int test,
                     const char *path, double outlier_s, struct weir_err *err);

/* For programs of one test, as functions of struct weir_driver and after each phase: what
 * saveRankPerformanceDetails and savePerOpDataCSV ask for. The operations of a task go to
 * PREFIX-<task>.csv. begin is collective over run->world, report over run->par, files is local. */
int weir_ranks_begin(struct weir_run *run, struct weir_test *tests, int n, struct weir_err *err);
int weir_ranks_report(struct weir_run *run, const struct weir_phase_rec *rec, struct weir_err *err);
int weir_ranks_files(const void *opt, int tasks, struct weir_files *files, struct weir_err *err);

#endif
