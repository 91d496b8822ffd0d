/* SPDX-License-Identifier: BSD-3-Clause */
/* md-workbench.h - md-workbench as a function, for the IO500 program on libweir (contrib/io500)
 *
 * Names, types and meanings are those that IO500 expects; the text is weir's own. Members that
 * IO500 does not use are left out. */
#ifndef WEIR_IO500_MD_WORKBENCH_H
#define WEIR_IO500_MD_WORKBENCH_H

#include <mpi.h>
#include <stdio.h>

#include "aiori.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One phase that was run. */
typedef struct {
    double rate;       /* operations a second, of all tasks */
    double max_op_time; /* seconds of the longest operation on an object */
} mdworkbench_result_t;

typedef struct {
    int count;  /* phases that were run */
    int errors; /* of the run and of its operations; 0: all was well */
    mdworkbench_result_t result[]; /* after those that were run two more, all 0, for a caller that expects them */
} mdworkbench_results_t;

/* Run md-workbench with the arguments of a command line (argv[0] is ignored). Collective over
 * comm; every rank returns the same, which the caller gives to free(). Text and messages go to
 * out of rank 0, which may be NULL; errors to standard error, too. NULL: no memory. */
mdworkbench_results_t *md_workbench_run(int argc, char **argv, MPI_Comm comm, FILE *out);

#ifdef __cplusplus
}
#endif

#endif
