/* SPDX-License-Identifier: BSD-3-Clause */
/* nodes.c - what the ranks of a node have together */
#include "config.h"
#include "par/nodes.h"

#include <string.h>

#define NODES_TAG 6 /* the leader listens to any rank: see par/clock.c */
#define EACH_TAG 7

static void tell_leader(const struct weir_par *par, const uint64_t *v, int n, int tag)
{
    weir_mpi_must(par, MPI_Send(v, n, MPI_UINT64_T, par->leader, tag, par->comm), "MPI_Send");
}

static void hear_any(const struct weir_par *par, uint64_t *v, int n, int tag)
{
    weir_mpi_must(par,
                  MPI_Recv(v, n, MPI_UINT64_T, MPI_ANY_SOURCE, tag, par->comm, MPI_STATUS_IGNORE),
                  "MPI_Recv");
}

void weir_nodes_or(const struct weir_par *par, uint64_t *v, int n)
{
    uint64_t more[WEIR_NODES_WORDS];

    if (par->rank != par->leader) {
        tell_leader(par, v, n, NODES_TAG);
        return;
    }
    for (int i = 0; i < par->followers; i++) {
        hear_any(par, more, n, NODES_TAG);
        for (int k = 0; k < n; k++)
            v[k] |= more[k];
    }
}

void weir_nodes_gather(const struct weir_par *par, const uint64_t *mine, int n, uint64_t *all)
{
    uint64_t more[WEIR_NODES_WORDS];

    if (par->rank != par->leader) {
        tell_leader(par, mine, n, EACH_TAG);
        return;
    }
    if (all)
        memcpy(all, mine, (size_t)n * sizeof(*all));
    for (int i = 1; i <= par->followers; i++)
        hear_any(par, all ? all + (size_t)i * (size_t)n : more, n, EACH_TAG);
}
