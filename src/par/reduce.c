/* SPDX-License-Identifier: BSD-3-Clause */
/* reduce.c - what all ranks have, brought to where it is needed */
#include "config.h"
#include "par/reduce.h"

#include <stdlib.h>

void weir_hist_sum(const struct weir_par *par, struct weir_hist *h)
{
    int64_t ends[2] = { h->n ? -(int64_t)h->min_ns : INT64_MIN, (int64_t)h->max_ns };
    uint64_t sums[2] = { h->n, h->sum_ns };

    weir_allmax_i64(par, ends, 2);
    weir_sum_u64(par, sums, 2);
    weir_sum_u64(par, h->bin, WEIR_HIST_BINS);
    if (par->rank != 0)
        return;
    h->n = sums[0];
    h->sum_ns = sums[1];
    h->min_ns = h->n ? (uint64_t)-ends[0] : 0;
    h->max_ns = (uint64_t)ends[1];
}

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

int weir_collect(const struct weir_par *par, const void *mine, int n, size_t size, int most,
                 void *out)
{
    int before = 0, send, *counts = NULL, *at = NULL, total = 0;

    MPI_Exscan(&n, &before, 1, MPI_INT, MPI_SUM, par->comm);
    if (par->rank == 0)
        before = 0;
    send = before >= most ? 0 : n < most - before ? n : most - before;
    send *= (int)size;
    if (par->rank == 0) {
        counts = calloc((size_t)par->size, sizeof(*counts));
        at = calloc((size_t)par->size, sizeof(*at));
    }
    MPI_Gather(&send, 1, MPI_INT, counts, 1, MPI_INT, 0, par->comm);
    for (int i = 0; counts && at && i < par->size; i++) {
        at[i] = total;
        total += counts[i];
    }
    MPI_Gatherv(mine, send, MPI_BYTE, out, counts, at, MPI_BYTE, 0, par->comm);
    free(counts);
    free(at);
    return par->rank == 0 ? total / (int)size : 0;
}
