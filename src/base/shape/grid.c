/* SPDX-License-Identifier: BSD-3-Clause */
/* grid.c - an n-dimensional array that is divided among tasks, each of which has equal blocks of
 * it */
#include "base/shape/grid.h"
#include "config.h"

void weir_grid_make(struct weir_grid *g, int dims, const uint64_t *ranks, int tasks)
{
    *g = (struct weir_grid) { .dims = dims, .tasks = tasks, .asked = 1 };
    for (int d = 0; d < dims; d++)
        if (__builtin_mul_overflow(g->asked, ranks[d], &g->asked))
            g->asked = UINT64_MAX / 2; /* no number of tasks, whatever it is multiplied with */
    for (int d = 0; d < dims; d++)
        g->ranks[d] = g->asked == (uint64_t)tasks ? ranks[d] : d == 0 ? (uint64_t)tasks : 1;
}

static void make_blocks(struct weir_part *p, int d, uint64_t block, uint64_t stride)
{
    p->odd[d] = block > 0 && p->len[d] % block != 0;
    if (block == 0 || p->odd[d])
        block = stride = p->len[d];
    p->block[d] = block;
    p->stride[d] = stride < block ? block : stride;
    p->count[d] = block ? p->len[d] / block : 0;
}

int weir_part_make(struct weir_part *p, int dims, const uint64_t *len, const uint64_t *block,
                   const uint64_t *stride, struct weir_err *err)
{
    uint64_t whole;

    *p = (struct weir_part) { .dims = dims, .elements = 1 };
    for (int d = 0; d < dims; d++) {
        p->len[d] = len[d];
        make_blocks(p, d, block ? block[d] : 0, stride ? stride[d] : 0);
        if (__builtin_mul_overflow(p->elements, len[d], &p->elements) ||
            __builtin_mul_overflow(p->stride[d], p->count[d], &whole))
            return weir_refuse(err, WEIR_EUSAGE,
                               "dimension %d: the part of one task has more than 2^64 elements",
                               d + 1);
    }
    return 0;
}

int weir_grid_shape(const struct weir_grid *g, const struct weir_part *p, uint64_t elem,
                    struct weir_shape *shape, struct weir_err *err)
{
    uint64_t bytes;

    shape->rank = g->dims;
    for (int d = 0; d < g->dims; d++)
        if (__builtin_mul_overflow(p->stride[d] * p->count[d], g->ranks[d], &shape->len[d]))
            return weir_refuse(err, WEIR_EUSAGE,
                               "dimension %d: the array has more than 2^64 elements", d + 1);
    return weir_shape_bytes(shape, elem, &bytes, err);
}

void weir_grid_slab(const struct weir_grid *g, const struct weir_part *p, uint64_t position,
                    struct weir_slab *out)
{
    uint64_t left = position % (uint64_t)g->tasks;

    out->rank = g->dims;
    for (int d = g->dims - 1; d >= 0; left /= g->ranks[d--]) {
        out->block[d] = p->block[d];
        out->stride[d] = p->stride[d];
        out->count[d] = p->count[d];
        out->start[d] = p->stride[d] * p->count[d] * (left % g->ranks[d]);
    }
}
