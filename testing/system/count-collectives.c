/* SPDX-License-Identifier: BSD-3-Clause */
/* count-collectives.c - for LD_PRELOAD: each rank writes into the file "collectives" how many calls of MPI it made in
 * which all ranks of a communicator wait for each other */
#include <stdio.h>

static int calls;

/* Open MPI's types are pointers, MPICH's are numbers; both fit. */
#define COUNTED(name, types, args)                                                                 \
    int PMPI_##name types;                                                                         \
    int MPI_##name types                                                                           \
    {                                                                                              \
        calls++;                                                                                   \
        return PMPI_##name args;                                                                   \
    }

COUNTED(Barrier, (void *a), (a))
COUNTED(Comm_dup, (void *a, void *b), (a, b))
COUNTED(Comm_split, (void *a, void *b, void *c, void *d), (a, b, c, d))
COUNTED(Bcast, (void *a, void *b, void *c, void *d, void *e), (a, b, c, d, e))
COUNTED(Comm_split_type, (void *a, void *b, void *c, void *d, void *e), (a, b, c, d, e))
COUNTED(Allreduce, (void *a, void *b, void *c, void *d, void *e, void *f), (a, b, c, d, e, f))
COUNTED(Exscan, (void *a, void *b, void *c, void *d, void *e, void *f), (a, b, c, d, e, f))
COUNTED(Reduce, (void *a, void *b, void *c, void *d, void *e, void *f, void *g), (a, b, c, d, e, f, g))
COUNTED(Allgather, (void *a, void *b, void *c, void *d, void *e, void *f, void *g), (a, b, c, d, e, f, g))
COUNTED(Gather, (void *a, void *b, void *c, void *d, void *e, void *f, void *g, void *h), (a, b, c, d, e, f, g, h))

int PMPI_Finalize(void);

int MPI_Finalize(void)
{
    FILE *f = fopen("collectives", "w");

    if (f) {
        fprintf(f, "%d\n", calls);
        fclose(f);
    }
    return PMPI_Finalize();
}
