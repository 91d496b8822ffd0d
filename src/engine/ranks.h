/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks.h - what single ranks did in a phase */
#ifndef WEIR_ENGINE_RANKS_H
#define WEIR_ENGINE_RANKS_H

#include "engine/phase.h"

/* Make the file of the ranks with nothing but its heading. Local. -1 and err (WEIR_ESETUP). */
int weir_ranks_begin_file(const char *path, struct weir_err *err);

/* After a phase: append a row for each rank (times, rates, bytes, steps) to the file at path, and
 * warn of ranks whose times are further than outlier_s seconds from the mean. path NULL: no file;
 * outlier_s 0: no warnings. Collective over run->par. Returns 0, or -1 and err on every rank. */
int weir_ranks_phase(struct weir_run *run, const struct weir_phase_rec *rec, int test,
                     const char *path, double outlier_s, struct weir_err *err);

#endif
