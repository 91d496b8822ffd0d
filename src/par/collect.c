/* SPDX-License-Identifier: BSD-3-Clause */
/* collect.c - the first few things that ranks have to say */
#include "config.h"
#include "par/collect.h"

#include <stdlib.h>

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
