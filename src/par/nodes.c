/* SPDX-License-Identifier: BSD-3-Clause */
/* nodes.c - what the ranks of a node have together */
#include "config.h"
#include "par/nodes.h"

#define NODES_TAG 6 /* the leader listens to any rank: see par/clock.c */

void weir_nodes_or(const struct weir_par *par, uint64_t *v, int n)
{
    uint64_t more[WEIR_NODES_WORDS];

    if (par->rank != par->leader) {
        weir_mpi_must(par, MPI_Send(v, n, MPI_UINT64_T, par->leader, NODES_TAG, par->comm),
                      "MPI_Send");
        return;
    }
    for (int i = 0; i < par->followers; i++) {
        weir_mpi_must(par,
                      MPI_Recv(more, n, MPI_UINT64_T, MPI_ANY_SOURCE, NODES_TAG, par->comm,
                               MPI_STATUS_IGNORE),
                      "MPI_Recv");
        for (int k = 0; k < n; k++)
            v[k] |= more[k];
    }
}
