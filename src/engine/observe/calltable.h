/* SPDX-License-Identifier: BSD-3-Clause */
/* calltable.h - when the operations of a phase ended, as a table of text */
#ifndef WEIR_ENGINE_OBSERVE_CALLTABLE_H
#define WEIR_ENGINE_OBSERVE_CALLTABLE_H

#include "engine/driver.h"
#include "engine/files.h"
#include "engine/phase.h"

/* A table has a column for each rank, or with plan.calls_by_node for each node, the mean of its
 * ranks. Row 0 is when their steps began, row k when operation k ended, in seconds after the zero
 * of the run, "%f" and a tab each; 0 where a rank has fewer. The program says where those of its
 * operations are (call_table in struct weir_driver); for others nothing is done here. */

/* Does the test with these options write tables? Local. */
bool weir_calltable_wanted(const struct weir_driver *d, const void *opt);

/* Add the files of a test. Local. Returns 0, or -1 and err when memory is out. */
int weir_calltable_files(const struct weir_driver *d, const void *opt, struct weir_files *files,
                         struct weir_err *err);

/* Make the files of all phases that the tests have, so that one that cannot be written is found
 * before the first test. Local; rank 0. Returns 0, or -1 and err (WEIR_ESETUP). */
int weir_calltable_begin(const struct weir_test *tests, int n, struct weir_err *err);

/* Write the table of the phase that has just run; all ranks have run->records.wanted. Collective
 * over run->par. Returns 0, or -1 and err on all ranks (WEIR_ESETUP). */
int weir_calltable_phase(struct weir_run *run, const struct weir_phase_rec *rec,
                         struct weir_err *err);

#endif
