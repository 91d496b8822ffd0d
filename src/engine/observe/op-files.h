/* SPDX-License-Identifier: BSD-3-Clause */
/* op-files.h - the files of operations (savePerOpDataCSV): names, heading, and the operations of
 * each phase */
#ifndef WEIR_ENGINE_OBSERVE_OP_FILES_H
#define WEIR_ENGINE_OBSERVE_OP_FILES_H

#include "engine/driver.h"

/* Add the files of a test of this program with that many tasks. Local. Returns 0, or -1 and err
 * when memory is out. */
int weir_op_files_add(const struct weir_driver *d, const struct weir_values *v, int tasks,
                      struct weir_files *files, struct weir_err *err);

/* Make the files of this rank with nothing but their heading: before all tests those that are found
 * to be writable only now, before a repetition its own. A file that an earlier test of the run has
 * made is left as it is. Local. Returns 0, or -1 and err (WEIR_ESETUP). */
int weir_op_files_begin(struct weir_run *run, struct weir_test *tests, int n, struct weir_err *err);
int weir_op_files_repetition(struct weir_run *run, struct weir_err *err);

/* Append the operations of the phase that has just run in run->stage. Collective over run->par.
 * Returns 0, or -1 and err on every rank. */
int weir_op_files_phase(struct weir_run *run, const struct weir_phase_rec *rec,
                        struct weir_err *err);

#endif
