/* SPDX-License-Identifier: BSD-3-Clause */
/* bare.c - what the simulator itself takes for one call of each kind: its processor time and the
 * simulated time, without weir and without collectives.c
 *
 *   bare CALL   prints "CALL ranks processor-seconds simulated-seconds" */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double processor_s(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

static void call(const char *name, int rank, int size, char *all)
{
    int *counts, *at, v[2] = { 0 }, got[2] = { 0 }, done = 0;
    MPI_Request r;
    MPI_Comm c;

    if (strcmp(name, "allreduce") == 0)
        MPI_Allreduce(v, got, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    else if (strcmp(name, "iallreduce") == 0)
        for (MPI_Iallreduce(v, got, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &r); !done;)
            MPI_Test(&r, &done, MPI_STATUS_IGNORE);
    else if (strcmp(name, "ibarrier") == 0)
        MPI_Ibarrier(MPI_COMM_WORLD, &r), MPI_Wait(&r, MPI_STATUS_IGNORE);
    else if (strcmp(name, "allgather") == 0)
        MPI_Allgather(v, 2, MPI_INT, all, 2, MPI_INT, MPI_COMM_WORLD);
    else if (strcmp(name, "exscan") == 0)
        MPI_Exscan(v, got, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    else if (strcmp(name, "split") == 0)
        MPI_Comm_split(MPI_COMM_WORLD, rank, rank, &c);
    else if (strcmp(name, "sendrecv") == 0)
        MPI_Sendrecv(v, 1, MPI_INT, (rank + 1) % size, 0, got, 1, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    else if (strcmp(name, "gatherv") == 0) {
        counts = calloc((size_t)size, sizeof(*counts));
        at = calloc((size_t)size, sizeof(*at));
        for (int i = 0; counts && at && i < size; i++) {
            counts[i] = 2;
            at[i] = 2 * i;
        }
        MPI_Gatherv(v, 2, MPI_INT, all, counts, at, MPI_INT, 0, MPI_COMM_WORLD);
        free(counts);
        free(at);
    }
}

int main(int argc, char **argv)
{
    double busy, simulated;
    int rank, size;
    char *all;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    all = malloc(8 * (size_t)size);
    if (!all)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    busy = processor_s();
    simulated = MPI_Wtime();
    call(argv[1], rank, size, all);
    simulated = MPI_Wtime() - simulated;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s %d %.4f %.9f\n", argv[1], size, processor_s() - busy, simulated);
    free(all);
    MPI_Finalize();
    return 0;
}
