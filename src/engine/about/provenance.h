/* SPDX-License-Identifier: BSD-3-Clause */
/* provenance.h - where and with what a number was measured */
#pragma once

#include "backends/backend.h"
#include "engine/run.h"

/* Return the name of a placement: "block", "cyclic" or "other". Local. */
const char *weir_placement_name(enum weir_placement placement);

/* Report the object "provenance" of a run: version, MPI library, nodes, tasks, placement, and
 * hosts with their ranks. Its "environment" has the node of rank 0, what tasks may use, and
 * settings of MPI-IO. For data readers. Collective over run->world. */
void weir_provenance_run(struct weir_run *run);

/* Report the object "provenance" of a test: file system, mount point and options, device, layout,
 * backend and library version, clock uncertainty. Collective over run->par. */
void weir_provenance_test(struct weir_run *run, const struct weir_backend *be, const char *path);
