/* SPDX-License-Identifier: BSD-3-Clause */
/* outputs.h - the outputs of a run: opened before it, closed after it */
#ifndef WEIR_ENGINE_OUTPUTS_H
#define WEIR_ENGINE_OUTPUTS_H

#include "engine/run.h"

/* Open the sinks of --report=LIST, or with list NULL text on standard output. Collective over
 * run->world. -1 and err. */
int weir_outputs_open(struct weir_run *run, const char *list, struct weir_err *err);

/* How it ended: programs that read a document need not know the exit status to tell a failed run
 * from a good one. Rank 0. */
void weir_outputs_status(struct weir_run *run, enum weir_code code, const struct weir_err *err);

/* Say what has gone wrong, once for all ranks. Returns the code of err. */
enum weir_code weir_run_refuse(struct weir_run *run, const struct weir_err *err);

/* Write what is left of the report. Returns code, or what went wrong with the report when nothing
 * else did, the same on all ranks. Collective over run->world. */
enum weir_code weir_outputs_close(struct weir_run *run, enum weir_code code, struct weir_err *err);

#endif
