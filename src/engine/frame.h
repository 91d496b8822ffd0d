/* SPDX-License-Identifier: BSD-3-Clause */
/* frame.h - what stands above and below the results of every program, and how a run ends */
#ifndef WEIR_ENGINE_FRAME_H
#define WEIR_ENGINE_FRAME_H

#include "base/opt.h"
#include "engine/run.h"

/* The time now in strftime's form, in out; empty where it cannot be told. Local. */
const char *weir_frame_now(char out[32], const char *form);

/* Open the sinks of --report=LIST, or with list NULL text on standard output. Collective over
 * run->world. -1 and err. */
int weir_frame_open(struct weir_run *run, const char *list, struct weir_err *err);

/* What IOR_FAKE_NODES and IOR_FAKE_TASK_PER_NODES put in place of what was found. Rank 0. */
void weir_frame_fakes(struct weir_run *run);

/* For data readers: program, version of its results, and the command line. Rank 0; no-ops
 * elsewhere. */
void weir_frame_program(struct weir_run *run, const char *program);
void weir_frame_command(struct weir_run *run, int argc, char *const *argv);

/* System and host of rank 0, with more of it from -v -v on. Rank 0. */
void weir_frame_machine(struct weir_run *run, unsigned readers);

/* The line "Nodemap: 110..": which tasks share the node of task 0. Collective over run->world. */
void weir_frame_nodemap(struct weir_run *run);

/* The object "Parameters": every option with a long name and its value, for data readers. Rank
 * 0. */
void weir_frame_parameters(struct weir_run *run, const struct weir_opt *rows, const void *values);

/* How it ended: programs that read a document need not know the exit status to tell a failed run
 * from a good one. Rank 0. */
void weir_frame_status(struct weir_run *run, enum weir_code code, const struct weir_err *err);

/* Say what has gone wrong, once for all ranks. Returns the code of err. */
enum weir_code weir_frame_refuse(struct weir_run *run, const struct weir_err *err);

/* Write what is left of the report. Returns code, or what went wrong with the report when nothing
 * else did, the same on all ranks. Collective over run->world. */
enum weir_code weir_frame_close(struct weir_run *run, enum weir_code code, struct weir_err *err);

#endif
