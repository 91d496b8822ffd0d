/* SPDX-License-Identifier: BSD-3-Clause */
/* rounds.h - ranks that work in rounds: when they ask each other whether to go on, and the
 * answer */
#ifndef WEIR_PAR_ROUNDS_H
#define WEIR_PAR_ROUNDS_H

#include <stdbool.h>
#include <stdint.h>

#include "par/comm.h"

/* All ranks take the same number of rounds between two votes, so they leave the work after the same
 * round. That number follows from the time that rounds take: a vote after about half a millisecond of
 * work. */
struct weir_rounds {
    const struct weir_par *par;
    uint32_t period;   /* rounds between two votes, the same on all ranks */
    uint32_t left;     /* of them until the next vote, the same on all ranks */
    uint64_t spent_ns; /* own, in the rounds since the last vote */
};

/* Begin with a vote after the first round. Local; par must live as long. */
void weir_rounds_begin(struct weir_rounds *r, const struct weir_par *par);

/* Count a round that took this rank 'ns'. True: all ranks vote now. Local. */
static inline bool weir_rounds_count(struct weir_rounds *r, uint64_t ns)
{
    r->spent_ns += ns;
    return --r->left == 0;
}

/* Say what this rank wants, 0 for going on; returns the highest number that a rank says. Chooses when
 * to vote again. Collective over par->comm, blocks. */
int weir_rounds_vote(struct weir_rounds *r, int wanted);

/* How many rounds to take until the next vote, after 'last' that took spent_ns on the slowest rank:
 * twice as many at most, and one where rounds are slow. Pure. */
uint32_t weir_rounds_period(uint32_t last, uint64_t spent_ns);

#endif
