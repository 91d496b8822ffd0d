/* SPDX-License-Identifier: BSD-3-Clause */
/* clock.h - the offset of each rank's clock to rank 0's */
#ifndef WEIR_PAR_CLOCK_H
#define WEIR_PAR_CLOCK_H

#include "par/comm.h"

/* rank 0's clock = local clock - offset_ns, to within error_ns (half the best round trip, summed
 * along the tree). */
struct weir_clock {
    int64_t offset_ns;
    uint64_t error_ns;
    uint64_t at_ns; /* local time of the estimate */
};

/* Estimate by minimum-round-trip ping-pong (Cristian 1989) along a binomial tree: log2(ranks)
 * rounds of WEIR_PINGS messages. Collective over par->comm. */
#define WEIR_PINGS 12
void weir_clock_estimate(const struct weir_par *par, struct weir_clock *out);

/* A local time on rank 0's clock, as signed ns (may be negative). With two estimates (before and
 * after) the offset is interpolated; 'after' may be NULL. */
int64_t weir_clock_common(const struct weir_clock *before, const struct weir_clock *after,
                          uint64_t local_ns);

/* The largest error_ns over the ranks, on all ranks. Collective. */
uint64_t weir_clock_worst(const struct weir_par *par, const struct weir_clock *c);

#endif
