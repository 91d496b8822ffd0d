/* SPDX-License-Identifier: BSD-3-Clause */
/* histpack.h - many latency histograms in fixed memory: a histogram takes room only for the times
 * that it has, in pieces of some bins */
#ifndef WEIR_BASE_HISTPACK_H
#define WEIR_BASE_HISTPACK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/hist.h"

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

/* Zero: none. Release with weir_histpack_free. */
struct weir_histpack {
    struct weir_histpack_row *row;
    struct weir_histpack_piece *piece; /* number 0 is none */
    size_t rows;
    uint32_t pieces, used; /* that there are, that were ever taken */
    uint32_t spare, spares; /* the first of those that were given back, and how many */
};

/* Allocate 'rows' empty histograms, and 'bytes' bytes for their times, at least those of the
 * bins of one. Memory that no histogram has used is not touched. Local. Returns 0, or -1 and
 * err (WEIR_ESETUP). */
int weir_histpack_init(struct weir_histpack *p, size_t rows, size_t bytes, struct weir_err *err);
void weir_histpack_free(struct weir_histpack *p);

/* Add what is in h. Local. False: there is no room, and nothing was added. */
bool weir_histpack_add(struct weir_histpack *p, size_t row, const struct weir_hist *h);

/* Make 'into' the sum of both, and 'from' empty; they differ. Local, takes no room. */
void weir_histpack_move(struct weir_histpack *p, size_t into, size_t from);

/* Make all of them empty. Local. */
void weir_histpack_clear(struct weir_histpack *p);

/* Add one of them to *out: the counts and the longest time; the sum and the shortest time are not known.
 * Local. */
void weir_histpack_get(const struct weir_histpack *p, size_t row, struct weir_hist *out);

/* The first and the last bin that n of them have, in whole pieces; false: they are empty. Local. */
bool weir_histpack_range(const struct weir_histpack *p, size_t row, size_t n, unsigned *first,
                         unsigned *last);

#endif
