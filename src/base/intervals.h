/* SPDX-License-Identifier: BSD-3-Clause */
/* intervals.h - bytes, operations and their times of a phase in intervals of time, in fixed memory
 *
 * Bytes that cross a boundary are divided by time into whole bytes. So the sum over all intervals is
 * what was moved. An operation counts, with its whole time, in the interval in which it ends. When
 * there are more intervals than bins, or no memory for more times, two intervals become one. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/hist.h"

#define WEIR_INTERVALS 4096 /* bins */
#define WEIR_INTERVALS_TIMES ((size_t)32 << 20) /* bytes for the times of operations, at most */

#define WEIR_HISTPACK_BINS 8 /* of a piece: a quarter of a power of two */

struct weir_histpack_piece {
    uint32_t next; /* of the same histogram, with longer times; 0: none */
    uint32_t at;   /* its first bin, in pieces */
    uint64_t count[WEIR_HISTPACK_BINS];
};

struct weir_histpack_row {
    uint64_t max_ns;
    uint32_t first; /* piece; 0: the histogram is empty */
};

/* Many latency histograms in fixed memory: each takes memory only for the times that it has. */
struct weir_histpack {
    struct weir_histpack_row *row;
    struct weir_histpack_piece *piece; /* number 0 is none */
    size_t rows;
    uint32_t pieces, used; /* that there are, that were ever taken */
    uint32_t spare, spares; /* the first of those that were given back, and how many */
};

/* Zero: off. Release with weir_intervals_free. Arrays have WEIR_INTERVALS bins for each kind of
 * operation: see weir_intervals_row. */
struct weir_intervals {
    uint64_t *bytes;        /* NULL: off */
    uint64_t *ops;          /* that ended in a bin, and of which 'times' has the times */
    struct weir_histpack times;
    struct weir_hist *live; /* of each kind: operations in the present bin that are not in ops and times yet; then
                             * one of all others of the phase */
    uint8_t *spanned;       /* of each bin: one operation went on during all of it */
    int kinds;
    uint64_t asked_ns;  /* the width that was asked for */
    uint64_t origin_ns; /* when the first bin begins */
    uint64_t width_ns;  /* of a bin now */
    uint64_t from_ns, to_ns;
    unsigned bin;  /* the present one: that was used last, from from_ns to to_ns */
    unsigned used; /* bins up to the last that has something */
};

/* Allocate intervals of this width, more than 0, for 'kinds' kinds of operations. Local.
 * Returns 0, or -1 and err. */
int weir_intervals_init(struct weir_intervals *s, uint64_t width_ns, int kinds,
                        struct weir_err *err);
void weir_intervals_free(struct weir_intervals *s);

/* Begin a phase at this time: everything is empty. Local. */
void weir_intervals_begin(struct weir_intervals *s, uint64_t origin_ns);

/* The place of a bin in the arrays. */
static inline size_t weir_intervals_row(int kind, unsigned bin)
{
    return (size_t)kind * WEIR_INTERVALS + bin;
}

/* Add the operations of the present bin to ops and times. Local. */
void weir_intervals_flush(struct weir_intervals *s);

/* Flush, and double the width of bins until it is at least width_ns, which is theirs times a power
 * of two. Local. */
void weir_intervals_widen(struct weir_intervals *s, uint64_t width_ns);

/* The times of all operations of the phase until now. Local. */
void weir_intervals_until_now(const struct weir_intervals *s, struct weir_hist *out);

/* True when a rank stood still in this bin: one operation went on during all of it, and none
 * ended. After a flush. Local. */
bool weir_intervals_stalled(const struct weir_intervals *s, unsigned bin);

/* Count the bytes of an operation that reaches beyond the present bin; the bin in which it ends
 * becomes the present one. Local. */
void weir_intervals_spread(struct weir_intervals *s, int kind, uint64_t begin_ns, uint64_t end_ns,
                           uint64_t bytes);

/* Add an operation that began late_ns after it was due; times before the origin count as the origin. Local,
 * some ns. */
static inline void weir_intervals_add(struct weir_intervals *s, int kind, uint64_t begin_ns,
                                      uint64_t end_ns, uint64_t bytes, uint64_t late_ns)
{
    if (begin_ns < s->from_ns || end_ns > s->to_ns)
        weir_intervals_spread(s, kind, begin_ns, end_ns, bytes);
    else
        s->bytes[weir_intervals_row(kind, s->bin)] += bytes;
    weir_hist_add(&s->live[kind], end_ns - begin_ns + late_ns);
}

/* Add the histogram of a row to *out: the counts and the longest time; the sum and the shortest
 * time are not known. Local. */
void weir_histpack_get(const struct weir_histpack *p, size_t row, struct weir_hist *out);

/* The first and the last bin that n histograms from 'row' have, in whole pieces. Local. False: they
 * are empty. */
bool weir_histpack_range(const struct weir_histpack *p, size_t row, size_t n, unsigned *first,
                         unsigned *last);
