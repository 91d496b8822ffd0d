/* SPDX-License-Identifier: BSD-3-Clause */
/* count-messages.c - for LD_PRELOAD: rank 0 writes into the file "messages" how many messages it has waited for, but those of
 * the clocks (tag 1), whose number depends on how long they take */
#include <stdio.h>
#include <stdlib.h>

#define CLOCKS 1

static int messages;

int PMPI_Recv(void *buf, int n, void *type, int from, int tag, void *comm, void *status);
int PMPI_Finalize(void);

/* Open MPI's types are pointers, MPICH's are numbers; both fit. */
int MPI_Recv(void *buf, int n, void *type, int from, int tag, void *comm, void *status)
{
    messages += tag != CLOCKS;
    return PMPI_Recv(buf, n, type, from, tag, comm, status);
}

int MPI_Finalize(void)
{
    const char *names[] = { "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK" };
    FILE *f = NULL;

    for (int i = 0; i < 3 && !f; i++)
        if (getenv(names[i]) && atoi(getenv(names[i])) == 0)
            f = fopen("messages", "w");
    if (f) {
        fprintf(f, "%d\n", messages);
        fclose(f);
    }
    return PMPI_Finalize();
}
