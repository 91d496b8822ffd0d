/* SPDX-License-Identifier: BSD-3-Clause */
/* calltable.h - when the operations of a phase ended, as a table of text */
#ifndef WEIR_ENGINE_CALLTABLE_H
#define WEIR_ENGINE_CALLTABLE_H

#include "engine/phase.h"

/* Write a table of the phase that has just run to the file at path, which is made by rank 0: a
 * column for each rank, or with by_node for each node, the mean of its ranks. Row 0 is when their
 * steps began, row k when operation k ended, in seconds after the zero of the run, "%f" and a tab
 * each; 0 where a rank has fewer. All ranks have run->records.wanted. Collective over run->par. Returns
 * 0, or -1 and err on all ranks (WEIR_ESETUP). */
int weir_calltable_write(struct weir_run *run, const struct weir_phase_rec *rec, const char *path,
                         bool by_node, struct weir_err *err);

#endif
