/* SPDX-License-Identifier: BSD-3-Clause */
/* clock.c - the offset of each rank's clock to rank 0's */
#include "config.h"
#include "par/clock.h"

#include "base/clock.h"

/* What a parent answers: its present time on rank 0's clock, and how wrong that may be. */
struct answer {
    int64_t common_ns;
    int64_t error_ns;
};

/* Serve the pings of one child. */
static void answer_child(const struct weir_par *par, const struct weir_clock *mine, int child)
{
    struct answer a = { .error_ns = (int64_t)mine->error_ns };
    int i;

    for (i = 0; i < WEIR_PINGS; i++) {
        weir_mpi_must(par, MPI_Recv(NULL, 0, MPI_BYTE, child, 0, par->comm, MPI_STATUS_IGNORE),
                      "MPI_Recv");
        a.common_ns = (int64_t)weir_now_ns() - mine->offset_ns;
        weir_mpi_must(par, MPI_Send(&a, 2, MPI_INT64_T, child, 0, par->comm), "MPI_Send");
    }
}

/* Ask the parent; the quickest answer bounds the error best (Cristian 1989): the parent read
 * its clock at some time between our sending and our receiving, the middle is at most half of
 * that away. */
static void ask_parent(const struct weir_par *par, struct weir_clock *out, int parent)
{
    uint64_t best = UINT64_MAX, sent, trip;
    struct answer a;
    int i;

    for (i = 0; i < WEIR_PINGS; i++) {
        sent = weir_now_ns();
        weir_mpi_must(par, MPI_Send(NULL, 0, MPI_BYTE, parent, 0, par->comm), "MPI_Send");
        weir_mpi_must(par, MPI_Recv(&a, 2, MPI_INT64_T, parent, 0, par->comm, MPI_STATUS_IGNORE),
                      "MPI_Recv");
        trip = weir_now_ns();
        trip = trip > sent ? trip - sent : 0; /* a preloaded clock might step back */
        if (trip >= best)
            continue;
        best = trip;
        out->at_ns = sent + trip / 2;
        out->offset_ns = (int64_t)out->at_ns - a.common_ns;
        out->error_ns = (trip + 1) / 2 + (uint64_t)a.error_ns;
    }
}

void weir_clock_estimate(const struct weir_par *par, struct weir_clock *out)
{
    int64_t bit = 1;

    *out = (struct weir_clock) { .at_ns = weir_now_ns() };
    while (bit <= par->rank) /* the power of two above our rank; our parent lacks our highest bit */
        bit *= 2;
    if (par->rank > 0)
        ask_parent(par, out, par->rank - (int)(bit / 2));
    for (; par->rank + bit < par->size; bit *= 2)
        answer_child(par, out, (int)(par->rank + bit));
}

int64_t weir_clock_common(const struct weir_clock *before, const struct weir_clock *after,
                          uint64_t local_ns)
{
    int64_t offset = before->offset_ns;
    double share;

    if (after && after->at_ns > before->at_ns && local_ns > before->at_ns) {
        share = (double)(local_ns - before->at_ns) / (double)(after->at_ns - before->at_ns);
        if (share > 1) /* two estimates close together must not be extended far */
            share = 1;
        offset += (int64_t)((double)(after->offset_ns - before->offset_ns) * share);
    }
    return (int64_t)local_ns - offset;
}

uint64_t weir_clock_worst(const struct weir_par *par, const struct weir_clock *c)
{
    int64_t worst = (int64_t)c->error_ns;

    weir_allmax_i64(par, &worst, 1);
    return (uint64_t)worst;
}
