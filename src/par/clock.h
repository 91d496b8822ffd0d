/* SPDX-License-Identifier: BSD-3-Clause */
/* clock.h - the offset of each rank's clock to rank 0's, and how it drifts */
#pragma once

#include "par/comm.h"

/* One estimate: rank 0's clock = local clock - offset_ns, to within error_ns. */
struct weir_clock_point {
    int64_t offset_ns;
    uint64_t error_ns; /* half of the best round trip, summed along the tree; of a clock that is
                          shared with the leader only the leader's */
    uint64_t trip_ns;  /* half of the best round trip that error_ns leaves out, because the clock
                          is taken for the leader's; else 0 */
    uint64_t at_ns;    /* local time of the estimate */
};

/* The last two estimates of a rank; after the first one they are the same. */
struct weir_clock {
    struct weir_clock_point before, now;
    bool reported;   /* the user was warned that it stepped */
    bool is_apart;   /* an estimate has shown that it is not the clock of the leader */
    int64_t root_ns; /* rank 0's time when it began the last estimate, the same on all ranks */
};

/* Make the first estimate, by minimum-round-trip ping-pong (Cristian 1989). The lowest rank of
 * each node exchanges WEIR_PINGS messages with its parent in a tree of base 8
 * (doc/dev/clocks.md). The others share the kernel and so the clock of that rank: their offset
 * to it is exactly 0. Where one ping shows another clock, it is estimated, too. Collective over
 * par->comm. */
#define WEIR_PINGS 12
void weir_clock_estimate(const struct weir_par *par, struct weir_clock *out);

/* The time of day of rank 0 in ns since 1970, on all ranks. Collective over par->comm. */
uint64_t weir_clock_day_ns(const struct weir_par *par);

/* The time of day minus rank 0's clock, ns. Collective over par->comm. */
int64_t weir_clock_to_day_ns(const struct weir_par *par);

/* Estimate again; what was the last estimate stays as the one before. A clock that is not the
 * leader's now was not before: then the error of the estimate before has its round trip, too.
 * Collective over par->comm. */
void weir_clock_renew(const struct weir_par *par, struct weir_clock *c);

/* The change of the offset between the two estimates beyond errors and a drift of 1000 ppm, in ns.
 * Not 0: a clock was set, or runs at a wrong speed. Local. */
int64_t weir_clock_step(const struct weir_clock *c);

/* True when the last estimate is more than a tenth of a second older than this time on rank 0's
 * clock. Local; the same on all ranks when common_ns is. */
bool weir_clock_is_old(const struct weir_clock *c, int64_t common_ns);

/* A local time on rank 0's clock, as signed ns (may be negative): the offset is interpolated
 * between the two estimates, and outside of them that of the nearer one. Local. */
int64_t weir_clock_common(const struct weir_clock *c, uint64_t local_ns);

/* The other way round, for a time from the last estimate on: what the local clock says then.
 * Local. */
uint64_t weir_clock_local(const struct weir_clock *c, int64_t common_ns);

/* Return the largest error of weir_clock_common, in ns, for local times from the estimate
 * before up to this one. It has three parts: the error of the estimates, the drift after the
 * last one, and a step between the two, whose time is not known. The drift is that between the
 * two, and 200 ppm more on clocks other than rank 0's. Local. */
uint64_t weir_clock_error(const struct weir_clock *c, uint64_t local_ns);

/* Return the largest error between times of two ranks, in ns, where no rank is wrong by more than
 * worst_ns to rank 0. It is twice worst_ns, and worst_ns when there are only two ranks. Local. */
static inline uint64_t weir_clock_between(const struct weir_par *par, uint64_t worst_ns)
{
    return par->size > 2 ? 2 * worst_ns : worst_ns;
}

/* Return the largest such error by those of the last estimate, on all ranks. Collective. */
uint64_t weir_clock_worst(const struct weir_par *par, const struct weir_clock *c);
