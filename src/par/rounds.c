/* SPDX-License-Identifier: BSD-3-Clause */
/* rounds.c - ranks that work in rounds: when they ask each other whether to go on */
#include "config.h"
#include "par/rounds.h"

#define EVERY_NS                                                                                   \
    500000u        /* of work between two votes, about: also rounds that become slow end soon */
#define MOST 1024u /* of rounds that do nothing: the cost of a vote is no part of theirs */

void weir_rounds_begin(struct weir_rounds *r, const struct weir_par *par)
{
    *r = (struct weir_rounds) { .par = par, .period = 1, .left = 1 };
}

uint32_t weir_rounds_period(uint32_t last, uint64_t spent_ns)
{
    uint64_t fit = spent_ns > 0 ? (uint64_t)EVERY_NS * last / spent_ns : MOST;
    uint64_t most = last < MOST / 2 ? 2 * last : MOST;

    if (fit > most)
        fit = most;
    return fit > 0 ? (uint32_t)fit : 1;
}

int weir_rounds_vote(struct weir_rounds *r, int wanted)
{
    int64_t v[2] = { wanted, (int64_t)r->spent_ns };

    if (r->par->size > 1)
        weir_allmax_i64(r->par, v, 2);
    r->period = r->left = weir_rounds_period(r->period, (uint64_t)v[1]);
    r->spent_ns = 0;
    return (int)v[0];
}
