/* SPDX-License-Identifier: BSD-3-Clause */
/* ring.c - the nodes of a run in a ring */
#include "config.h"
#include "par/ring.h"

#define TAG 5

bool weir_ring_pass(const struct weir_par *par, const void *mine, void *next, size_t len)
{
    int n, me;

    if (par->without_mpi || par->leaders == MPI_COMM_NULL)
        return false;
    weir_mpi_must(par, MPI_Comm_size(par->leaders, &n), "MPI_Comm_size");
    weir_mpi_must(par, MPI_Comm_rank(par->leaders, &me), "MPI_Comm_rank");
    weir_mpi_must(par,
                  MPI_Sendrecv(mine, (int)len, MPI_BYTE, (me + n - 1) % n, TAG, next, (int)len,
                               MPI_BYTE, (me + 1) % n, TAG, par->leaders, MPI_STATUS_IGNORE),
                  "MPI_Sendrecv");
    return true;
}
