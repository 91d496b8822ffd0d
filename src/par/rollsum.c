/* SPDX-License-Identifier: BSD-3-Clause */
/* rollsum.c - sums over all ranks that do not block */
#include "par/rollsum.h"

#include <stdlib.h>
#include <string.h>

#include "par/agree.h"

/* A communicator of its own: other collective calls may come between those of a sum. */
int weir_rollsum_begin(struct weir_rollsum *t, const struct weir_par *par, int n, struct weir_err *err)
{
    int rc = 0;

    *t = (struct weir_rollsum) { .par = par, .comm = MPI_COMM_NULL, .request = MPI_REQUEST_NULL, .n = n };
    t->mine = calloc(2 * (size_t)n, sizeof(*t->mine));
    if (!t->mine)
        rc = weir_fail(err, WEIR_ESETUP, "memory for sums of %d numbers", n);
    else
        t->sum = t->mine + n;
    if (weir_agree(par, rc, err) < 0)
        return -1;
    if (par->size > 1)
        weir_mpi_must(par, MPI_Comm_dup(par->comm, &t->comm), "MPI_Comm_dup");
    return 0;
}

void weir_rollsum_free(struct weir_rollsum *t)
{
    if (t->par && t->comm != MPI_COMM_NULL)
        weir_mpi_must(t->par, MPI_Comm_free(&t->comm), "MPI_Comm_free");
    free(t->mine);
    *t = (struct weir_rollsum) { .n = 0 };
}

void weir_rollsum_start(struct weir_rollsum *t)
{
    t->started++;
    t->pending = true;
    if (t->par->size == 1)
        memcpy(t->sum, t->mine, sizeof(*t->sum) * (size_t)t->n);
    else
        weir_mpi_must(t->par,
                      MPI_Iallreduce(t->mine, t->sum, t->n, MPI_UINT64_T, MPI_SUM, t->comm, &t->request),
                      "MPI_Iallreduce");
}

bool weir_rollsum_poll(struct weir_rollsum *t)
{
    int complete = t->pending;

    if (t->pending && t->par->size > 1)
        weir_mpi_must(t->par, MPI_Test(&t->request, &complete, MPI_STATUS_IGNORE), "MPI_Test");
    if (complete)
        t->pending = false;
    return complete;
}

/* A rank begins a sum when the one before is complete, so it is one ahead of another at most. */
bool weir_rollsum_finish(struct weir_rollsum *t)
{
    int64_t most = t->started;
    bool came;

    if (t->par->size > 1)
        weir_allmax_i64(t->par, &most, 1);
    if (t->started < most) {
        memset(t->mine, 0, sizeof(*t->mine) * (size_t)t->n);
        weir_rollsum_start(t);
    }
    came = t->pending;
    if (came && t->par->size > 1)
        weir_mpi_must(t->par, MPI_Wait(&t->request, MPI_STATUS_IGNORE), "MPI_Wait");
    t->pending = false;
    return came;
}
