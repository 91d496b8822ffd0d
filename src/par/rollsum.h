/* SPDX-License-Identifier: BSD-3-Clause */
/* rollsum.h - rolling sums over all ranks that do not block: each rank contributes when it can, and all
 * receive the same sequence */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "par/comm.h"

/* Zero: none. mine: numbers of this rank, set before weir_rollsum_start; sum: those of all ranks. */
struct weir_rollsum {
    const struct weir_par *par;
    MPI_Comm comm;
    MPI_Request request;
    uint64_t *mine, *sum;
    int n;
    int64_t started; /* sums that this rank has begun */
    bool pending;    /* one is on its way: mine and sum belong to it */
};

/* Sums of n numbers each; par must live as long. Collective over par->comm. Returns 0, or -1 and err on every rank.
 * weir_rollsum_free is collective, too, where begin was called. */
int weir_rollsum_begin(struct weir_rollsum *t, const struct weir_par *par, int n,
                       struct weir_err *err);
void weir_rollsum_free(struct weir_rollsum *t);

/* Begin the next sum with the numbers in 'mine'; none may be pending. Local, does not block. */
void weir_rollsum_start(struct weir_rollsum *t);

/* True once when the pending sum is complete and in 'sum'. Local, does not block. Call it
 * repeatedly, because MPI may make progress only in such calls. */
bool weir_rollsum_poll(struct weir_rollsum *t);

/* End the sums. No rank begins another one: those that have not begun the last one take part
 * with zeros, and all wait for it. True: one that this rank has not received yet is in 'sum'
 * now; then all have received the same sums. Collective over par->comm. */
bool weir_rollsum_finish(struct weir_rollsum *t);
