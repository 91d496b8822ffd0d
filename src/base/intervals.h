/* SPDX-License-Identifier: BSD-3-Clause */
/* intervals.h - bytes and operations of a phase in intervals of time, in constant memory
 *
 * What crosses a boundary is distributed by time, in whole bytes and operations: the sum over all
 * intervals is what was done. An operation by itself counts in the interval in which it ends. When
 * there are more intervals than bins, two become one. */
#ifndef WEIR_BASE_INTERVALS_H
#define WEIR_BASE_INTERVALS_H

#include <stdint.h>

#include "base/err.h"

#define WEIR_INTERVALS 4096 /* bins */

/* Zero: off. Release with weir_intervals_free. */
struct weir_intervals {
    uint64_t *bytes, *ops; /* of each bin; NULL: off */
    uint64_t asked_ns;     /* the width that was asked for */
    uint64_t origin_ns;    /* when the first bin begins */
    uint64_t width_ns;     /* of a bin now */
    uint64_t from_ns, to_ns;
    unsigned bin;  /* the one that was used last, from from_ns to to_ns */
    unsigned used; /* bins up to the last that has something */
};

/* Take memory for intervals of this width, more than 0. Local. Returns 0, or -1 and err. */
int weir_intervals_init(struct weir_intervals *s, uint64_t width_ns, struct weir_err *err);
void weir_intervals_free(struct weir_intervals *s);

/* Begin a phase at this time: everything is empty. Local. */
void weir_intervals_begin(struct weir_intervals *s, uint64_t origin_ns);

/* Make bins twice as wide until they have this width, which is theirs or a power of two more.
 * Local. */
void weir_intervals_widen(struct weir_intervals *s, uint64_t width_ns);

/* Add operations that are not in one bin with those before. Local. */
void weir_intervals_spread(struct weir_intervals *s, uint64_t begin_ns, uint64_t end_ns,
                           uint64_t bytes, uint64_t ops);

/* Add so many operations that followed each other, and all their bytes; times before the origin
 * count as the origin. Local, a few ns. */
static inline void weir_intervals_add(struct weir_intervals *s, uint64_t begin_ns, uint64_t end_ns,
                                      uint64_t bytes, uint64_t ops)
{
    if (begin_ns < s->from_ns || end_ns > s->to_ns) {
        weir_intervals_spread(s, begin_ns, end_ns, bytes, ops);
    } else {
        s->bytes[s->bin] += bytes;
        s->ops[s->bin] += ops;
    }
}

#endif
