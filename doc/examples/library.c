/* SPDX-License-Identifier: BSD-3-Clause */
/* library.c - two phases of ior and a test of mdtest from a program of your own
 *
 *     mpicc library.c $(pkg-config --cflags --libs weir) -o library
 *     mpirun -np 2 ./library /scratch/directory */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <weir.h>

static int rank;

/* On every rank, before each phase. */
static void announce(void *arg, const char *phase)
{
    (void)arg;
    if (rank == 0)
        printf("begin %s\n", phase);
}

static void set(struct weir_job *job, const char *option, const char *value)
{
    if (weir_job_set(job, option, value) == 0)
        return;
    fprintf(stderr, "%s\n", weir_job_error(job));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void run(struct weir_job *job)
{
    int status = weir_job_run(job);

    if (status != 0 && rank == 0)
        printf("status %d: %s\n", status, weir_job_error(job));
    for (int i = 0; rank == 0 && i < weir_job_results(job); i++) {
        const struct weir_result *r = weir_job_result(job, i);

        printf("%s: %" PRIu64 " bytes, %" PRIu64 " operations in %g s, longest %g s, 99 %% below %g s\n",
               r->operation, r->bytes, r->operations, r->seconds, r->operation_time.max,
               r->operation_time.p99);
        if (r->stonewalled)
            printf("    at the stonewall: %" PRIu64 " bytes in %g s, fastest task %" PRIu64
                   " operations\n",
                   r->stonewall_bytes, r->stonewall_seconds, r->stonewall_operations_max);
    }
    for (int i = 0; rank == 0 && i < weir_job_remarks(job); i++)
        printf("    %s %s\n", weir_job_remark(job, i)->rule, weir_job_remark(job, i)->text);
}

int main(int argc, char **argv)
{
    struct weir_job *ior, *mdtest;
    char file[4096], tree[4096];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(file, sizeof(file), "%s/library-file", argc > 1 ? argv[1] : ".");
    snprintf(tree, sizeof(tree), "%s/library-tree", argc > 1 ? argv[1] : ".");

    /* One phase at a time: write until the time is up and all tasks have done as much as the fastest;
     * then read that */
    ior = weir_job_new("ior", NULL);
    weir_job_before(ior, announce, NULL);
    set(ior, "testFile", file);
    set(ior, "transferSize", "64k");
    set(ior, "blockSize", "1m");
    set(ior, "writeFile", NULL);
    set(ior, "keepFile", NULL);
    set(ior, "deadlineForStonewalling", "1");
    set(ior, "stoneWallingWearOut", NULL);
    run(ior);
    weir_job_unset(ior, "deadlineForStonewalling");
    weir_job_unset(ior, "stoneWallingWearOut");
    weir_job_unset(ior, "writeFile");
    set(ior, "readFile", NULL);
    run(ior);
    weir_job_free(ior);

    /* A whole test */
    mdtest = weir_job_new("mdtest", NULL);
    set(mdtest, "n", "20");
    set(mdtest, "d", tree);
    run(mdtest);
    weir_job_free(mdtest);

    if (rank == 0)
        remove(file);
    MPI_Finalize();
    return 0;
}
