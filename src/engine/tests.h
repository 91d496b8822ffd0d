/* SPDX-License-Identifier: BSD-3-Clause */
/* tests.h - the life of a run, from the words of a command line to the exit status */
#ifndef WEIR_ENGINE_TESTS_H
#define WEIR_ENGINE_TESTS_H

#include "engine/command.h"
#include "engine/run.h"

/* Begin a zeroed run: messages go to standard error, and from rank 0 to the readers of the results
 * too. 'rank' is what is known of it now. Local. */
void weir_program_begin(struct weir_run *run, int rank);

/* Tables, defaults and the words of the command line into *c, which belongs to the run. Local. -1
 * and err (WEIR_EUSAGE). */
int weir_program_options(struct weir_run *run, struct weir_command *c, const struct weir_program *p,
                         int argc, char *const *argv, struct weir_err *err);

/* Script and tests, and the program that runs them, on a duplicate of 'comm' (MPI_COMM_NULL: without
 * MPI, in this process). Collective over comm.
 * Returns the exit status, the same on all ranks; what went wrong was said on standard error, and
 * its first words are in err on rank 0. */
enum weir_code weir_program_run(struct weir_run *run, struct weir_command *c, MPI_Comm comm,
                                int argc, char *const *argv, struct weir_err *err);

/* Give everything back. Local. */
void weir_program_end(struct weir_run *run);

#endif
