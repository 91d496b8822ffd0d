/* SPDX-License-Identifier: BSD-3-Clause */
/* mdtest.h - mdtest as a function, for the IO500 program on libweir (contrib/io500)
 *
 * Names, types and meanings are those that IO500 expects; the text is weir's own. Members that
 * IO500 does not use are left out. */
#ifndef WEIR_IO500_MDTEST_H
#define WEIR_IO500_MDTEST_H

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>

#include "aiori.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    MDTEST_DIR_CREATE_NUM,
    MDTEST_DIR_STAT_NUM,
    MDTEST_DIR_READ_NUM,
    MDTEST_DIR_RENAME_NUM,
    MDTEST_DIR_REMOVE_NUM,
    MDTEST_FILE_CREATE_NUM,
    MDTEST_FILE_STAT_NUM,
    MDTEST_FILE_READ_NUM,
    MDTEST_FILE_REMOVE_NUM,
    MDTEST_TREE_CREATE_NUM,
    MDTEST_TREE_REMOVE_NUM,
    MDTEST_LAST_NUM
} mdtest_test_num_t;

/* Results by mdtest_test_num_t. All 0 where there was nothing; in a run with errors both times
 * are above 0: a rate is 0, not NaN. */
typedef struct {
    double rate[MDTEST_LAST_NUM];                 /* items a second, of all tasks */
    double time[MDTEST_LAST_NUM];                 /* seconds */
    uint64_t items[MDTEST_LAST_NUM];              /* of all tasks */
    double stonewall_time[MDTEST_LAST_NUM];       /* seconds until the deadline ended the work, or until its end */
    uint64_t stonewall_item_sum[MDTEST_LAST_NUM]; /* items of all tasks until then */
    uint64_t stonewall_item_min[MDTEST_LAST_NUM]; /* of the slowest task */
    int total_errors;                             /* of the run and of its data; 0: all was well */
} mdtest_results_t;

/* Run mdtest with the arguments of a command line (argv[0] is ignored). Collective over comm; every rank returns the same, as many
 * as there are iterations (-i), at least one, which the caller gives to free(). Text and messages go to out of rank 0, which may be
 * NULL; errors to standard error, too. NULL: no memory. */
mdtest_results_t *mdtest_run(int argc, char **argv, MPI_Comm comm, FILE *out);

#ifdef __cplusplus
}
#endif

#endif
