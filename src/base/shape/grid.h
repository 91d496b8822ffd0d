/* SPDX-License-Identifier: BSD-3-Clause */
/* grid.h - an n-dimensional array that is divided among tasks, each of which has equal blocks of
 * it */
#ifndef WEIR_BASE_SHAPE_GRID_H
#define WEIR_BASE_SHAPE_GRID_H

#include "base/shape/slab.h"

/* Tasks along each dimension; the last dimension varies fastest over the tasks. */
struct weir_grid {
    int dims, tasks;
    uint64_t ranks[WEIR_RANK_MAX];
    uint64_t
        asked; /* the product that was asked for; where it is not 'tasks', dimension 0 is divided */
};

/* Local. */
void weir_grid_make(struct weir_grid *g, int dims, const uint64_t *ranks, int tasks);

/* What every task has in each dimension: 'count' blocks of 'block' elements, each 'stride' after
 * the one before, together 'len' elements without the gaps. */
struct weir_part {
    int dims;
    uint64_t len[WEIR_RANK_MAX], block[WEIR_RANK_MAX], stride[WEIR_RANK_MAX], count[WEIR_RANK_MAX];
    bool odd[WEIR_RANK_MAX]; /* the block that was asked for does not divide the length */
    uint64_t elements;       /* without gaps */
};

/* Block 0, or one that does not divide the length: all in one block. A stride below the block: no
 * gaps. block and stride NULL: all in one block. Local. Returns 0, or -1 and err (WEIR_EUSAGE). */
int weir_part_make(struct weir_part *p, int dims, const uint64_t *len, const uint64_t *block,
                   const uint64_t *stride, struct weir_err *err);

/* The array of all tasks, with its gaps. Local. Returns 0, or -1 and err (WEIR_EUSAGE): it would
 * have more than INT64_MAX bytes, with 'elem' bytes of an element. */
int weir_grid_shape(const struct weir_grid *g, const struct weir_part *p, uint64_t elem,
                    struct weir_shape *shape, struct weir_err *err);

/* What the task at this position has of that array; after the last task comes the first again.
 * Local. */
void weir_grid_slab(const struct weir_grid *g, const struct weir_part *p, uint64_t position,
                    struct weir_slab *out);

#endif
