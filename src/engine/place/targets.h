/* SPDX-License-Identifier: BSD-3-Clause */
/* targets.h - the files that a test will make, and are there before it */
#pragma once

#include "base/text/set.h"
#include "engine/run.h"

/* The files of a test that exist before it. */
struct weir_targets {
    uint64_t bytes;   /* that they occupy */
    uint64_t foreign; /* files that this run did not make, */
    uint64_t lost;    /* and bytes of them that it overwrites or removes */
};

/* Look at the files that this rank will make, and add them to 'there'. made has the names of earlier tests
 * of the run, and gets these. Refused with --existing=fail (WEIR_ESETUP): one that is there and that this run
 * did not make. Objects of a service are asked for through the first session of the test, and only where
 * something depends on them. Local. 0, or -1 and err. */
int weir_targets_check(struct weir_run *run, struct weir_set *made, struct weir_targets *there,
                       struct weir_err *err);

/* Note on rank 0 how many existing files the test replaces, where the program does not. there: of all ranks. */
void weir_targets_note(struct weir_run *run, const struct weir_targets *there);
