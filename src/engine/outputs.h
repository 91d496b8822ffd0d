/* SPDX-License-Identifier: BSD-3-Clause */
/* outputs.h - the outputs of a run: opened before it, closed after it */
#ifndef WEIR_ENGINE_OUTPUTS_H
#define WEIR_ENGINE_OUTPUTS_H

#include "engine/run.h"

/* Open the sinks of --report=LIST, or with list NULL one of that form at that path. Collective over
 * run->world. -1 and err. */
int weir_outputs_open(struct weir_run *run, const char *list, const char *format, const char *path,
                      struct weir_err *err);

/* Say what has gone wrong, once for all ranks. Returns the code of err. */
enum weir_code weir_run_refuse(struct weir_run *run, const struct weir_err *err);

/* Close the outputs. The documents come last and say how the run ended, which programs that read
 * them need: 'code', or what went wrong with another output when nothing else did. Returns the
 * status to end with, the same on all ranks. A no-op without outputs. Collective over
 * run->world. */
enum weir_code weir_outputs_close(struct weir_run *run, enum weir_code code);

#endif
