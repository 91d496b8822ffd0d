/* SPDX-License-Identifier: BSD-3-Clause */
/* nodes.c - what the ranks of a node have together */
#include "config.h"
#include "par/nodes.h"

void weir_nodes_or(const struct weir_par *par, uint64_t *v, int n)
{
    MPI_Comm node;

    if (par->size == 1)
        return;
    weir_mpi_must(
        par, MPI_Comm_split_type(par->comm, MPI_COMM_TYPE_SHARED, par->rank, MPI_INFO_NULL, &node),
        "MPI_Comm_split_type");
    weir_mpi_must(par, MPI_Allreduce(MPI_IN_PLACE, v, n, MPI_UINT64_T, MPI_BOR, node),
                  "MPI_Allreduce");
    weir_mpi_must(par, MPI_Comm_free(&node), "MPI_Comm_free");
}
