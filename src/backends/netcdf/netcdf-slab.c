/* SPDX-License-Identifier: BSD-3-Clause */
/* netcdf-slab.c - slabs as the library wants them: start, count and stride, in one call or in
 * several */
#include "backends/netcdf/netcdf-array.h"
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "par/io/mpifile.h"

/* In this dimension the slab is start, count and stride for the library, too. */
static bool is_simple(const struct weir_slab *s, int d)
{
    return s->count[d] <= 1 || s->block[d] == 1 || s->stride[d] == s->block[d];
}

void netcdf_slab_free(struct netcdf_array *a)
{
    free(a->packed);
    free(a->call);
    a->packed = a->call = NULL;
    a->calls = 0;
}

/* ---- selection ---- */

static void select_dimension(struct netcdf_array *a, const struct weir_slab *s, int d)
{
    bool single = is_simple(s, d) && s->count[d] > 1 && s->block[d] == 1;
    bool dense = is_simple(s, d) && !single;

    a->start[d] = (size_t)s->start[d];
    a->stride[d] = single ? (ptrdiff_t)s->stride[d] : 1;
    a->count[d] = (size_t)(single ? s->count[d] : dense ? s->count[d] * s->block[d] : s->block[d]);
    if (!single && !dense)
        a->calls *= s->count[d];
}

static int take_memory(unsigned char **out, uint64_t bytes, struct weir_err *err)
{
    *out = malloc(bytes > 0 ? bytes : 1);
    return *out ? 0
                : weir_fail(err, WEIR_ESETUP, "memory for %llu bytes of a slab",
                            (unsigned long long)bytes);
}

int netcdf_slab_select(struct weir_array *base, struct weir_err *err)
{
    struct netcdf_array *a = (struct netcdf_array *)base;
    uint64_t each = base->elem;

    netcdf_slab_free(a);
    memset(a->start, 0, sizeof(a->start));
    memset(a->count, 0, sizeof(a->count));
    for (int d = 0; d < base->slab.rank; d++)
        a->stride[d] = 1;
    if (base->elements == 0)
        return 0;
    a->calls = 1;
    for (int d = 0; d < base->slab.rank; d++) {
        select_dimension(a, &base->slab, d);
        each *= a->count[d];
    }
    if (!base->mem_whole && take_memory(&a->packed, base->elements * base->elem, err) < 0)
        return -1;
    return a->calls > 1 ? take_memory(&a->call, each, err) : 0;
}

/* ---- copies ---- */

/* Between the elements of a slab in memory and a row of them in one piece. */
static void copy_slab(const struct weir_slab *s, const struct weir_shape *shape, uint64_t elem,
                      unsigned char *memory, unsigned char *row, bool to_row)
{
    struct weir_runs r;
    uint64_t at, n;

    weir_runs_begin(&r, s, shape);
    n = r.run * elem;
    for (; weir_runs_next(&r, &at); row += n) {
        if (to_row)
            memcpy(row, memory + at * elem, n);
        else
            memcpy(memory + at * elem, row, n);
    }
}

/* The elements that call i moves: where in the array, and which of the selected elements. */
static void find_call(const struct netcdf_array *a, uint64_t i, size_t *start,
                      struct weir_slab *part, struct weir_shape *all)
{
    const struct weir_slab *s = &a->base.slab;
    uint64_t from[WEIR_SLAB_RANK], count[WEIR_SLAB_RANK];

    all->rank = s->rank;
    for (int d = s->rank - 1; d >= 0; d--) {
        uint64_t k = 0;

        if (!is_simple(s, d)) {
            k = i % s->count[d];
            i /= s->count[d];
        }
        start[d] = a->start[d] + (size_t)(k * s->stride[d]);
        from[d] = k * s->block[d];
        count[d] = a->count[d];
        all->len[d] = s->count[d] * s->block[d];
    }
    weir_slab_box(part, s->rank, from, count);
}

/* ---- transfers ---- */

static bool has_stride(const struct netcdf_array *a)
{
    for (int d = 0; d < a->base.slab.rank; d++)
        if (a->stride[d] != 1)
            return true;
    return false;
}

static int call_library(struct netcdf_array *a, enum weir_dir dir, const size_t *start,
                        const size_t *count, void *buf, struct weir_err *err)
{
    struct netcdf_file *f = &((struct netcdf_arrays *)a->base.file)->f;
    bool writes = dir == WEIR_DIR_WRITE;
    int rc;

    errno = 0;
    if (has_stride(a))
        rc = writes ? nc_put_vars(f->nc, a->id, start, count, a->stride, buf)
                    : nc_get_vars(f->nc, a->id, start, count, a->stride, buf);
    else
        rc = writes ? nc_put_vara(f->nc, a->id, start, count, buf)
                    : nc_get_vara(f->nc, a->id, start, count, buf);
    return netcdf_judge(f, rc, writes, writes ? "nc_put_vara" : "nc_get_vara", err);
}

static int move_part(struct netcdf_array *a, enum weir_dir dir, uint64_t i, unsigned char *buf,
                     struct weir_err *err)
{
    size_t start[WEIR_SLAB_RANK];
    struct weir_slab part;
    struct weir_shape all;
    int rc;

    if (a->calls == 1)
        return call_library(a, dir, a->start, a->count, buf, err);
    find_call(a, i, start, &part, &all);
    if (dir == WEIR_DIR_WRITE)
        copy_slab(&part, &all, a->base.elem, buf, a->call, true);
    rc = call_library(a, dir, start, a->count, a->call, err);
    if (dir == WEIR_DIR_READ)
        copy_slab(&part, &all, a->base.elem, buf, a->call, false);
    return rc;
}

/* How many calls all ranks make together. */
static uint64_t rounds_of(const struct netcdf_array *a)
{
    uint64_t calls = a->calls;
    const struct netcdf_file *f = &((const struct netcdf_arrays *)a->base.file)->f;

    if (f->st->collective)
        weir_mpi_max(f->st->comm, &calls, 1);
    return calls;
}

int netcdf_slab_move(struct weir_array *base, enum weir_dir dir, void *buf, struct weir_err *err)
{
    static const size_t nothing[WEIR_SLAB_RANK];
    struct netcdf_array *a = (struct netcdf_array *)base;
    const struct weir_memory *m = &base->mem;
    unsigned char *row = a->packed ? a->packed : buf;
    bool writes = dir == WEIR_DIR_WRITE;
    uint64_t rounds = rounds_of(a);
    int rc = 0;

    weir_timed_begin(base->file->s);
    if (a->packed && writes)
        copy_slab(&m->slab, &m->shape, base->elem, buf, row, true);
    for (uint64_t i = 0; i < rounds || i == 0; i++) {
        struct weir_err *told = rc < 0 ? NULL : err;
        bool mine = i < a->calls;
        int one = mine ? move_part(a, dir, i, row, told)
                       : call_library(a, dir, nothing, nothing, row, told);

        rc = one < 0 ? -1 : rc;
    }
    if (a->packed && !writes && rc == 0)
        copy_slab(&m->slab, &m->shape, base->elem, buf, row, false);
    weir_timed_end(base->file->s);
    return rc;
}
