/* SPDX-License-Identifier: BSD-3-Clause */
/* h5ex-size.c - ranks to dimensions, sizes to hyperslabs (section 3 and 4 of the program's own
 * documentation), without I/O */
#include "config.h"
#include "drivers/h5exerciser/h5ex.h"

#include <stddef.h>

/* A value for each dimension; a single one serves all. */
static int spread(const struct weir_optlist *list, const char *name, int dims, uint64_t *out,
                  struct weir_err *err)
{
    if (list->n != 1 && list->n != dims)
        return weir_refuse(err, WEIR_EUSAGE,
                           "option --%s has %d values, but --numdims is %d: give one value, or one "
                           "for each dimension",
                           name, list->n, dims);
    for (int d = 0; d < dims; d++)
        out[d] = (uint64_t)list->v[list->n == 1 ? 0 : d];
    return 0;
}

int h5ex_grid_make(const struct h5ex_options *o, int tasks, struct h5ex_grid *g,
                   struct weir_err *err)
{
    *g = (struct h5ex_grid) { .dims = o->dims, .tasks = tasks, .asked = 1 };
    if (o->dims == 0)
        return weir_refuse(err, WEIR_EUSAGE, "option --numdims is missing: from 1 to %d dimensions",
                           WEIR_RANK_MAX);
    if (spread(&o->dimranks, "dimranks", o->dims, g->ranks, err) < 0)
        return -1;
    for (int d = 0; d < o->dims; d++)
        if (__builtin_mul_overflow(g->asked, g->ranks[d], &g->asked))
            g->asked = UINT64_MAX / 2;
    if (g->asked == (uint64_t)tasks)
        return 0;
    for (int d = 0; d < o->dims; d++)
        g->ranks[d] = d == 0 ? (uint64_t)tasks : 1;
    return 0;
}

/* The extents of this size: those of the first, multiplied as often as sizes came before. */
static int make_extents(const struct h5ex_options *o, int index, uint64_t *len,
                        struct weir_err *err)
{
    uint64_t factor[WEIR_RANK_MAX];

    if (spread(&o->minels, "minels", o->dims, len, err) < 0 ||
        spread(&o->bufmult, "bufmult", o->dims, factor, err) < 0)
        return -1;
    for (int d = 0; d < o->dims; d++)
        for (int i = 0; i < index && factor[d] > 1; i++)
            if (__builtin_mul_overflow(len[d], factor[d], &len[d]))
                return weir_refuse(err, WEIR_EUSAGE,
                                   "size %d of --nsizes: --minels times --bufmult is too large in "
                                   "dimension %d",
                                   index + 1, d);
    return 0;
}

/* Blocks in the file. What does not divide the extent is one block. */
static int make_blocks(const struct h5ex_options *o, struct h5ex_size *s, struct weir_err *err)
{
    if (spread(&o->fileblocks, "fileblocks", o->dims, s->block, err) < 0 ||
        spread(&o->filestrides, "filestrides", o->dims, s->stride, err) < 0)
        return -1;
    for (int d = 0; d < o->dims; d++) {
        s->odd[d] = s->block[d] > 0 && s->len[d] % s->block[d] != 0;
        if (s->block[d] == 0 || s->odd[d]) {
            s->block[d] = s->stride[d] = s->len[d];
            s->count[d] = 1;
            continue;
        }
        s->count[d] = s->len[d] / s->block[d];
        if (s->stride[d] < s->block[d])
            s->stride[d] = s->block[d];
    }
    return 0;
}

static int make_memory(const struct h5ex_options *o, struct h5ex_size *s, struct weir_err *err)
{
    uint64_t block = (uint64_t)o->mem_block;

    s->mem_odd = block > 0 && s->elements % block != 0;
    if (block == 0 || s->mem_odd) {
        s->mem_block = s->mem_stride = 1;
        s->mem_count = s->elements;
    } else {
        s->mem_block = block;
        s->mem_stride = (uint64_t)o->mem_stride > block ? (uint64_t)o->mem_stride : block;
        s->mem_count = s->elements / block;
    }
    if (__builtin_mul_overflow(s->mem_stride, s->mem_count, &s->buffer) ||
        s->buffer > INT64_MAX / sizeof(struct h5ex_record))
        return weir_refuse(err, WEIR_EUSAGE, "the buffer of a rank is too large for this machine");
    return 0;
}

/* Lengths of a dataset, in which 'step' elements belong to each rank of a dimension. */
static int make_shape(const struct h5ex_grid *g, const uint64_t *step, struct weir_shape *shape,
                      struct weir_err *err)
{
    uint64_t bytes;

    shape->rank = g->dims;
    for (int d = 0; d < g->dims; d++)
        if (__builtin_mul_overflow(step[d], g->ranks[d], &shape->len[d]))
            return weir_refuse(err, WEIR_EUSAGE, "the dataset is too long in dimension %d", d);
    return weir_shape_bytes(shape, sizeof(struct h5ex_record), &bytes, err);
}

int h5ex_size_make(const struct h5ex_options *o, const struct h5ex_grid *g, int index,
                   struct h5ex_size *s, struct weir_err *err)
{
    uint64_t step[WEIR_RANK_MAX];

    *s = (struct h5ex_size) { .elements = 1 };
    if (make_extents(o, index, s->len, err) < 0 || make_blocks(o, s, err) < 0)
        return -1;
    for (int d = 0; d < o->dims; d++)
        if (__builtin_mul_overflow(s->elements, s->len[d], &s->elements) ||
            __builtin_mul_overflow(s->stride[d], s->count[d], &step[d]))
            return weir_refuse(err, WEIR_EUSAGE, "size %d of --nsizes is too large", index + 1);
    if (make_memory(o, s, err) < 0 || make_shape(g, step, &s->shape, err) < 0 ||
        make_shape(g, s->len, &s->packed, err) < 0)
        return weir_err_within(err, "size %d of --nsizes", index + 1);
    return 0;
}

/* What the rank at this position (after the last comes the first again) has of a dataset, with its
 * gaps or (packed) without. */
static void make_slab(const struct h5ex_size *s, const struct h5ex_grid *g, uint64_t position,
                      bool packed, struct weir_slab *out)
{
    uint64_t left = position % (uint64_t)g->tasks;

    out->rank = g->dims;
    for (int d = g->dims - 1; d >= 0; left /= g->ranks[d--]) {
        out->block[d] = packed ? s->len[d] : s->block[d];
        out->stride[d] = packed ? s->len[d] : s->stride[d];
        out->count[d] = packed ? 1 : s->count[d];
        out->start[d] = out->stride[d] * out->count[d] * (left % g->ranks[d]);
    }
}

/* ---- the compound type ---- */

#define R struct h5ex_record
static const struct weir_member members[] = {
    { "total blocks", WEIR_ELEM_INT32, offsetof(R, blocks) },
    { "time", WEIR_ELEM_FLOAT64, offsetof(R, time) },
    { "timestep", WEIR_ELEM_FLOAT64, offsetof(R, timestep) },
    { "number of steps", WEIR_ELEM_INT32, offsetof(R, steps) },
    { "nxb", WEIR_ELEM_INT32, offsetof(R, nxb) },
    { "nyb", WEIR_ELEM_INT32, offsetof(R, nyb) },
    { "nzb", WEIR_ELEM_INT32, offsetof(R, nzb) },
};

const struct weir_type h5ex_types[H5EX_SETS] = {
    [H5EX_DOUBLES] = { .elem = WEIR_ELEM_FLOAT64 },
    [H5EX_RECORDS] = { .elem = WEIR_ELEM_COMPOUND,
                       .size = sizeof(R),
                       .members = members,
                       .count = sizeof(members) / sizeof(*members) },
};

static void make_record(void *cell, uint64_t at, double value, int repetition)
{
    int32_t number = (int32_t)(at & INT32_MAX);

    *(R *)cell = (R) { .blocks = number,
                       .steps = repetition,
                       .nxb = number ^ 1,
                       .nyb = number ^ 2,
                       .nzb = number ^ 4,
                       .time = value,
                       .timestep = -value };
}

static bool record_differs(const void *cell, uint64_t at, double value, int repetition,
                           double *want, double *got)
{
    const R *have = cell;
    R due;

    make_record(&due, at, value, repetition);
    const double pairs[][2] = { { due.blocks, have->blocks },    { due.steps, have->steps },
                                { due.nxb, have->nxb },          { due.nyb, have->nyb },
                                { due.nzb, have->nzb },          { due.time, have->time },
                                { due.timestep, have->timestep } };

    for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++)
        if (pairs[i][0] != pairs[i][1]) {
            *want = pairs[i][0];
            *got = pairs[i][1];
            return true;
        }
    return false;
}

void h5ex_set_make(const struct h5ex_options *o, const struct h5ex_grid *g,
                   const struct h5ex_size *s, enum h5ex_which which, int rank, struct h5ex_set *d)
{
    bool packed = which == H5EX_RECORDS;
    uint64_t shift = (uint64_t)o->shift, first = (uint64_t)rank + (packed ? 0 : shift);
    struct weir_cells *c = &d->put;

    *d = (struct h5ex_set) { .which = which };
    d->spec.type = h5ex_types[which];
    d->spec.shape = c->array = packed ? s->packed : s->shape;
    d->spec.chunk.rank = o->chunked ? g->dims : 0;
    for (int k = 0; k < d->spec.chunk.rank; k++)
        d->spec.chunk.len[k] = packed ? s->len[k] : s->block[k];
    c->size = weir_type_bytes(&d->spec.type);
    c->make = packed ? make_record : NULL;
    c->differs = packed ? record_differs : NULL;
    c->memory = (struct weir_shape) { .rank = 1, .len = { packed ? s->elements : s->buffer } };
    weir_slab_all(&c->in_memory, &c->memory);
    if (!packed && s->buffer > s->elements) {
        c->in_memory.block[0] = s->mem_block;
        c->in_memory.stride[0] = s->mem_stride;
        c->in_memory.count[0] = s->mem_count;
    }
    d->get = *c;
    d->gaps = (struct weir_memory) { c->memory, c->in_memory };
    make_slab(s, g, first, packed, &d->put.slab);
    make_slab(s, g, first + shift, packed, &d->get.slab);
}
