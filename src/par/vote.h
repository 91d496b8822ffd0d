/* SPDX-License-Identifier: BSD-3-Clause */
/* vote.h - may anybody stop? asked after each step that all ranks take together, answered at the
 * next */
#ifndef WEIR_PAR_VOTE_H
#define WEIR_PAR_VOTE_H

#include <stdbool.h>

#include "par/comm.h"

/* One vote at a time is in flight on watch_comm, overlapped with the step between post and take,
 * so that every rank leaves a collective loop at the same step. Zero-initialise. */
struct weir_vote {
    MPI_Request request;
    int mine, all;
    bool pending;
};

/* Ask to stop or not. Collective over watch_comm, does not block. */
void weir_vote_post(struct weir_vote *v, const struct weir_par *par, bool stop);

/* The answer to the last post: did any rank ask to stop? false when nothing was posted.
 * Collective, blocks. */
bool weir_vote_take(struct weir_vote *v);

#endif
