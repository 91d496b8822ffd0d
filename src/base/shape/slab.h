/* SPDX-License-Identifier: BSD-3-Clause */
/* slab.h - parts of n-dimensional arrays: bounds, sizes, and the runs of elements that lie
 * together */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

#define WEIR_RANK_MAX 32                   /* dimensions of an array */
#define WEIR_SLAB_RANK (WEIR_RANK_MAX + 1) /* of memory: one more, for elements of records */

/* Some elements of an array whose last dimension varies fastest. In each dimension 'count' blocks
 * of 'block' elements; the first begins at 'start', each other one 'stride' elements after the one
 * before. A count of 0 in any dimension: no element. The order of the elements is that of the
 * array. */
struct weir_slab {
    int rank;
    uint64_t start[WEIR_SLAB_RANK], count[WEIR_SLAB_RANK];
    uint64_t stride[WEIR_SLAB_RANK], block[WEIR_SLAB_RANK];
};

/* An array, or memory that is addressed like one. */
struct weir_shape {
    int rank;
    uint64_t len[WEIR_SLAB_RANK]; /* elements in each dimension */
};

/* The box of count[d] elements from start[d] on; start NULL: from the first. Local. */
void weir_slab_box(struct weir_slab *out, int rank, const uint64_t *start, const uint64_t *count);

/* All elements of an array. Local. */
void weir_slab_all(struct weir_slab *out, const struct weir_shape *shape);

/* Set *out to no element of an array with 'rank' dimensions. Local. */
void weir_slab_none(struct weir_slab *out, int rank);

/* True when both have the same elements in the same way. Local. */
bool weir_slab_same(const struct weir_slab *a, const struct weir_slab *b);

/* The bytes of an array of elements of 'elem' bytes. At least one dimension; a length of 0 is an
 * array without elements. Local. Returns 0, or -1 and err (WEIR_EUSAGE): too many dimensions, or
 * more than INT64_MAX bytes. */
int weir_shape_bytes(const struct weir_shape *shape, uint64_t elem, uint64_t *bytes,
                     struct weir_err *err);

/* Check that the slab is within the array, and that its blocks do not overlap. *elements gets
 * their number; it is right only for a shape that weir_shape_bytes accepts. Local. Returns 0,
 * or -1 and err (WEIR_EUSAGE) that names the dimension. */
int weir_slab_check(const struct weir_slab *s, const struct weir_shape *shape, uint64_t *elements,
                    struct weir_err *err);

/* Elements from the first of the array to one past the last of the slab; 0 for an empty slab. For
 * checked slabs. Local. */
uint64_t weir_slab_end(const struct weir_slab *s, const struct weir_shape *shape);

/* The words "start 0,4 count 2,8" (and stride and block where there are any) for messages; cut
 * where it does not fit. Local. Returns text. */
const char *weir_slab_text(const struct weir_slab *s, char *text, int len);

/* A slab as nested loops around runs of elements that lie together: dimensions and blocks without a
 * gap are merged. Loop 0 is the innermost. Positions and pitches count elements. */
struct weir_runs {
    int loops;
    uint64_t n[2 * WEIR_SLAB_RANK], pitch[2 * WEIR_SLAB_RANK], at[2 * WEIR_SLAB_RANK];
    uint64_t run;   /* elements of each run; 0: the slab is empty */
    uint64_t first; /* where the first run begins */
    uint64_t next;  /* where the coming run begins */
    bool over;
};

/* Start at the first run of a checked slab. Local. */
void weir_runs_begin(struct weir_runs *r, const struct weir_slab *s,
                     const struct weir_shape *shape);

/* The coming run, which has r->run elements, begins at *at. False after the last one. Local. */
bool weir_runs_next(struct weir_runs *r, uint64_t *at);

/* Two slabs of as many elements side by side: pieces that lie together in both. */
struct weir_pieces {
    struct weir_runs a, b;
    uint64_t at_a, at_b, left_a, left_b;
};

/* Start at the first element of both. Local. */
void weir_pieces_begin(struct weir_pieces *p, const struct weir_runs *a, const struct weir_runs *b);

/* The coming piece of n elements begins at *at_a and *at_b. False after the last one. Local. */
bool weir_pieces_next(struct weir_pieces *p, uint64_t *at_a, uint64_t *at_b, uint64_t *n);
