/* SPDX-License-Identifier: BSD-3-Clause */
/* fetch.c - one number from another rank */
#include "config.h"
#include "par/fetch.h"

uint64_t weir_fetch_u64(const struct weir_par *par, uint64_t mine, int whom)
{
    uint64_t got = mine;
    MPI_Win win;

    if (par->size == 1)
        return mine;
    MPI_Win_create(&mine, sizeof(mine), sizeof(mine), MPI_INFO_NULL, par->comm, &win);
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    MPI_Get(&got, 1, MPI_UINT64_T, whom, 0, 1, MPI_UINT64_T, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Win_free(&win);
    return got;
}
