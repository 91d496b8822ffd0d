/* SPDX-License-Identifier: BSD-3-Clause */
/* rankcsv.h - files about single ranks: lines for the one file of all ranks, and the file of each
 * rank's operations */
#ifndef WEIR_ENGINE_RANKCSV_H
#define WEIR_ENGINE_RANKCSV_H

#include "base/str.h"
#include "engine/phase.h"

/* Put lines into the file of the ranks: in place of what is there when 'fresh', else behind it.
 * Local. -1 and err (WEIR_ESETUP), also when lines have failed. */
int weir_rankcsv_put(const char *path, bool fresh, const struct weir_str *lines,
                     struct weir_err *err);

/* Make the file of this rank's operations, with nothing but the heading. Local. -1 and err
 * (WEIR_ESETUP). */
int weir_rankcsv_begin_operations(const char *path, struct weir_err *err);

/* Add the operations of the phase that has just run (run->oplog) to the file of this rank. Warns
 * when there were more than are kept. Collective over run->par. -1 and err (WEIR_ESETUP; not the
 * same on all ranks). */
int weir_rankcsv_operations(struct weir_run *run, const struct weir_phase_rec *rec, int test,
                            const char *path, struct weir_err *err);

#endif
