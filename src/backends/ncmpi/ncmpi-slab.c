/* SPDX-License-Identifier: BSD-3-Clause */
/* ncmpi-slab.c - slabs as the library wants them: start, count and stride, or a list of boxes */
#include "backends/ncmpi/ncmpi-file.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "backends/shared/arrayscan.h"
#include "par/io/mpifile.h"
#include "par/io/mpisession.h"
#include "par/io/slabtype.h"

/* In this dimension blocks lie side by side, or there is one. */
static bool is_dense(const struct weir_slab *s, int d)
{
    return s->count[d] <= 1 || s->stride[d] == s->block[d];
}

int ncmpi_slab_release(struct weir_array *base, struct weir_err *err)
{
    struct ncmpi_array *a = (struct ncmpi_array *)base;

    if (a->has_type && a->in_memory != MPI_DATATYPE_NULL)
        MPI_Type_free(&a->in_memory);
    a->has_type = false;
    free(a->box);
    a->box = NULL;
    a->boxes = 0;
    a->in_boxes = false;
    return 0;
}

/* ---- a slab of the library: blocks are of one element, or have no gaps ---- */

static void select_slab(struct ncmpi_array *a, const struct weir_slab *s)
{
    for (int d = 0; d < s->rank; d++) {
        bool dense = is_dense(s, d);

        a->start[d] = (MPI_Offset)s->start[d];
        a->count[d] = (MPI_Offset)(dense ? s->count[d] * s->block[d] : s->count[d]);
        a->stride[d] = (MPI_Offset)(dense ? 1 : s->stride[d]);
    }
}

static void select_nothing(struct ncmpi_array *a, int rank)
{
    for (int d = 0; d < rank; d++) {
        a->start[d] = a->count[d] = 0;
        a->stride[d] = 1;
    }
}

/* ---- a list of boxes ---- */

/* The last dimension with gaps: a box is whole in those after it, a block in it, one index before
 * it. So the elements of box after box are in the order of the array. */
static int last_gap(const struct weir_slab *s)
{
    int d = s->rank - 1;

    while (d > 0 && is_dense(s, d))
        d--;
    return d;
}

static void make_box(const struct weir_slab *s, int gap, uint64_t i, MPI_Offset *start,
                     MPI_Offset *count)
{
    for (int d = s->rank - 1; d > gap; d--) {
        start[d] = (MPI_Offset)s->start[d];
        count[d] = (MPI_Offset)(s->count[d] * s->block[d]);
    }
    start[gap] = (MPI_Offset)(s->start[gap] + i % s->count[gap] * s->stride[gap]);
    count[gap] = (MPI_Offset)s->block[gap];
    i /= s->count[gap];
    for (int d = gap - 1; d >= 0; d--) {
        uint64_t n = s->count[d] * s->block[d], k = i % n, block = s->block[d];

        start[d] = (MPI_Offset)(s->start[d] + k / block * s->stride[d] + k % block);
        count[d] = 1;
        i /= n;
    }
}

static int select_boxes(struct ncmpi_array *a, const struct weir_slab *s, struct weir_err *err)
{
    int gap = last_gap(s);
    uint64_t n = s->count[gap], rank = (uint64_t)s->rank;
    MPI_Offset *numbers;

    for (int d = 0; d < gap; d++)
        n *= s->count[d] * s->block[d];
    if (n > INT_MAX)
        return weir_refuse(err, WEIR_EUSAGE, "more than 2^31 - 1 blocks for PnetCDF");
    a->box = calloc(n, 2 * sizeof(*a->box) + 2 * rank * sizeof(*numbers));
    if (!a->box)
        return weir_fail(err, WEIR_ESETUP, "memory for %llu blocks", (unsigned long long)n);
    numbers = (MPI_Offset *)(a->box + 2 * n);
    for (uint64_t i = 0; i < n; i++) {
        a->box[i] = numbers + 2 * i * rank;
        a->box[n + i] = a->box[i] + rank;
        make_box(s, gap, i, a->box[i], a->box[n + i]);
    }
    a->boxes = n;
    return 0;
}

/* ---- selection ---- */

static MPI_Datatype basic_of(enum weir_elem elem)
{
    switch (elem) {
    case WEIR_ELEM_BYTE:
        return MPI_SIGNED_CHAR;
    case WEIR_ELEM_INT32:
        return MPI_INT;
    case WEIR_ELEM_INT64:
        return MPI_LONG_LONG;
    case WEIR_ELEM_FLOAT32:
        return MPI_FLOAT;
    case WEIR_ELEM_FLOAT64:
        return MPI_DOUBLE;
    default:
        return MPI_CHAR;
    }
}

static int select_memory(struct ncmpi_array *a, struct weir_err *err)
{
    struct weir_array *base = &a->nc.base;
    struct weir_runs r;

    a->basic = basic_of(base->spec.type.elem);
    weir_runs_begin(&r, &base->mem.slab, &base->mem.shape);
    a->first = r.first * base->elem;
    a->in_memory = MPI_DATATYPE_NULL;
    a->has_type = r.loops > 0;
    return r.loops > 0 ? weir_mpi_slab_type(&r, base->elem, a->basic, &a->in_memory, err) : 0;
}

int ncmpi_slab_select(struct weir_array *base, struct weir_err *err)
{
    struct ncmpi_array *a = (struct ncmpi_array *)base;
    const struct weir_slab *s = &base->slab;
    uint64_t end = weir_slab_end(s, &base->spec.shape) * base->elem;

    ncmpi_slab_release(base, NULL);
    a->end = base->at > 0 && end > 0 ? base->at + end : 0;
    if (select_memory(a, err) < 0)
        return -1;
    if (base->elements == 0) {
        select_nothing(a, s->rank);
        return 0;
    }
    for (int d = 0; d < s->rank; d++)
        a->in_boxes |= !is_dense(s, d) && s->block[d] > 1;
    if (a->in_boxes)
        return select_boxes(a, s, err);
    select_slab(a, s);
    return 0;
}

/* ---- transfers ---- */

static int move_slab(const struct ncmpi_file *f, const struct ncmpi_array *a, enum weir_dir dir,
                     void *buf, MPI_Offset n, MPI_Datatype type)
{
    bool all = f->collective;
    int id = a->nc.id;

    if (dir == WEIR_DIR_WRITE)
        return all ? ncmpi_put_vars_all(f->nc, id, a->start, a->count, a->stride, buf, n, type)
                   : ncmpi_put_vars(f->nc, id, a->start, a->count, a->stride, buf, n, type);
    return all ? ncmpi_get_vars_all(f->nc, id, a->start, a->count, a->stride, buf, n, type)
               : ncmpi_get_vars(f->nc, id, a->start, a->count, a->stride, buf, n, type);
}

static int call_varn(const struct ncmpi_file *f, int id, enum weir_dir dir, int boxes,
                     MPI_Offset *const *start, MPI_Offset *const *count, void *buf, MPI_Offset n,
                     MPI_Datatype type)
{
    bool all = f->collective;

    if (dir == WEIR_DIR_WRITE)
        return all ? ncmpi_put_varn_all(f->nc, id, boxes, start, count, buf, n, type)
                   : ncmpi_put_varn(f->nc, id, boxes, start, count, buf, n, type);
    return all ? ncmpi_get_varn_all(f->nc, id, boxes, start, count, buf, n, type)
               : ncmpi_get_varn(f->nc, id, boxes, start, count, buf, n, type);
}

/* The boxes of this rank; one or none where it has a slab without blocks. */
static int move_boxes(struct ncmpi_file *f, struct ncmpi_array *a, enum weir_dir dir, bool skips,
                      void *buf, MPI_Offset n, MPI_Datatype type, struct weir_err *err)
{
    int rc, made = 0;

    if (!a->in_boxes && a->nc.base.elements > 0 && !skips)
        made = select_boxes(a, &a->nc.base.slab, err);
    if (made < 0 || skips)
        rc = call_varn(f, a->nc.id, dir, 0, NULL, NULL, buf, 0, a->basic);
    else
        rc = call_varn(f, a->nc.id, dir, (int)a->boxes, a->box, a->box + a->boxes, buf, n, type);
    return made < 0 ? NC_ENOMEM : rc;
}

static int transfer(struct ncmpi_file *f, struct ncmpi_array *a, enum weir_dir dir, char *buf,
                    bool skips, struct weir_err *err)
{
    const struct weir_mpi_session *m = f->s->priv;
    const char *call = dir == WEIR_DIR_WRITE ? "ncmpi_put_var" : "ncmpi_get_var";
    bool whole = a->in_memory == MPI_DATATYPE_NULL;
    MPI_Datatype type = whole ? a->basic : a->in_memory;
    MPI_Offset n = whole ? (MPI_Offset)a->nc.base.elements : 1;
    uint64_t boxes = a->in_boxes;
    int rc, sys;

    if (f->collective) /* the functions for a slab and for boxes do not go together */
        weir_mpi_max(f->s->par->comm, &boxes, 1);
    if (skips) {
        select_nothing(a, a->nc.base.slab.rank);
        a->nc.base.is_selected = false;
        type = a->basic;
        n = 0;
    }
    if (dir == WEIR_DIR_READ && !f->collective)
        weir_array_mark(&a->nc.base, buf);
    errno = 0;
    weir_timed_begin(f->s);
    rc = boxes ? move_boxes(f, a, dir, skips, buf + a->first, n, type, err)
               : move_slab(f, a, dir, buf + a->first, n, type);
    weir_timed_end(f->s);
    sys = errno;
    if (rc != NC_NOERR) {
        ncmpi_fail(err, rc, "%s", call);
        weir_mpi_unlock(f->path);
        return weir_mpi_add_reason(err, sys, m->comm_errno);
    }
    if (f->collective) /* it moved data of other ranks, too */
        return weir_mpi_judge_hidden(m, sys, call, err);
    if (weir_mpi_hidden_errno(m, sys) == 0)
        return 0;
    return weir_array_scan(&a->nc.base, &f->doubt, sys, call, buf, a->nc.base.at, true, err);
}

/* The library returns whatever is in its memory when the file is too short: so the size of the file
 * decides. */
int ncmpi_slab_move(struct weir_array *base, enum weir_dir dir, void *buf, struct weir_err *err)
{
    struct ncmpi_array *a = (struct ncmpi_array *)base;
    struct ncmpi_file *f = &((struct ncmpi_arrays *)base->file)->f;
    bool is_over = dir == WEIR_DIR_READ && a->end > f->size;
    int rc = 0;

    if (!is_over || base->file->collective)
        rc = transfer(f, a, dir, buf, base->elements == 0 || is_over, err);
    if (rc == 0 && is_over)
        rc = weir_refuse(err, WEIR_EIO, "end of file: it has %llu bytes",
                         (unsigned long long)f->size);
    if (rc == 0 && a->end > f->end)
        f->end = a->end;
    f->failed |= rc < 0 && dir == WEIR_DIR_WRITE;
    return rc;
}
