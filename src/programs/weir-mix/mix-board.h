/* SPDX-License-Identifier: BSD-3-Clause */
/* mix-board.h - numbers that ranks show each other while each goes its own way: a rolling maximum */
#ifndef WEIR_PROGRAMS_WEIR_MIX_MIX_BOARD_H
#define WEIR_PROGRAMS_WEIR_MIX_MIX_BOARD_H

#include <stdbool.h>
#include <stdint.h>

#include "par/comm.h"

/* One agreement at a time is in flight on par->watch_comm, which is reserved from begin until 'over'. */
struct mix_board {
    const struct weir_par *par;
    MPI_Request request;
    int n;
    int64_t *mine; /* n numbers of this rank, 0 at first: set before a tick */
    int64_t *all;  /* their maxima over the ranks, as of the last round; 0 at first */
    int64_t *sent, *got; /* of the round on its way */
    bool pending;
    bool over; /* in the last round no rank worked, and there is no other */
};

/* Memory for n numbers. Local: nothing is communicated until the first tick. par must live as long.
 * Returns 0, or -1 and err. Free it with mix_board_free, also after an error. */
int mix_board_begin(struct mix_board *w, const struct weir_par *par, int n, struct weir_err *err);
void mix_board_free(struct mix_board *w);

/* Progress: true when one more round has ended, and 'all' is new. Every rank takes part in every round
 * and sees the same ones, so what is decided by a round is decided by all alike. Ranks tick, now and
 * then, until 'over'. Local, non-blocking. */
bool mix_board_tick(struct mix_board *w, bool working);

#endif
