/* SPDX-License-Identifier: BSD-3-Clause */
/* vote.c - may anybody stop? */
#include "config.h"
#include "par/vote.h"

void weir_vote_post(struct weir_vote *v, const struct weir_par *par, bool stop)
{
    v->mine = stop;
    v->all = stop;
    v->pending = true;
    if (par->size > 1)
        MPI_Iallreduce(&v->mine, &v->all, 1, MPI_INT, MPI_MAX, par->watch_comm, &v->request);
    else
        v->request = MPI_REQUEST_NULL;
}

bool weir_vote_take(struct weir_vote *v)
{
    if (!v->pending)
        return false;
    MPI_Wait(&v->request, MPI_STATUS_IGNORE);
    v->pending = false;
    return v->all != 0;
}
