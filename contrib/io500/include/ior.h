/* SPDX-License-Identifier: BSD-3-Clause */
/* ior.h - ior as a function, for the IO500 program on libweir (contrib/io500)
 *
 * Names, types and meanings are those that IO500 expects; the text is weir's own. Members that
 * IO500 does not use are left out. */
#ifndef WEIR_IO500_IOR_H
#define WEIR_IO500_IOR_H

#include <mpi.h>
#include <stddef.h>
#include <stdio.h>

#include "aiori.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Writing or reading of all tasks. All 0 where there was none; in a run with errors both times are above 0: a rate is 0, not NaN. */
typedef struct {
    double time;                        /* seconds, first open begun to last close done */
    double stonewall_time;              /* seconds until the deadline ended the work, or until its end */
    size_t pairs_accessed;              /* transfers of the fastest task */
    double stonewall_avg_data_accessed; /* bytes until then, a task */
    IOR_offset_t aggFileSizeForBW;      /* bytes moved by all tasks */
} IOR_point_t;

typedef struct {
    int errors; /* of the run and of its data; 0: all was well */
    IOR_point_t write, read;
} IOR_results_t;

/* One piece of memory, with its results, which the caller may give to free(). */
typedef struct IOR_test_t {
    IOR_results_t *results; /* as many as there are repetitions (-i), at least one */
} IOR_test_t;

/* Run ior with the arguments of a command line (argv[0] is ignored). Collective over comm; every rank returns the same. Text and
 * messages go to out of rank 0, which may be NULL; errors to standard error, too. NULL: no memory. */
IOR_test_t *ior_run(int argc, char **argv, MPI_Comm comm, FILE *out);

/* ---- what ior shares with its caller ---- */

double GetTimeStamp(void);   /* seconds, as MPI_Wtime */
extern int rank;             /* in MPI_COMM_WORLD, from the first call on */

#ifdef __cplusplus
}
#endif

#endif
