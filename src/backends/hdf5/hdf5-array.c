/* SPDX-License-Identifier: BSD-3-Clause */
/* hdf5-array.c - arrays are datasets of a file */
#include "backends/hdf5/hdf5-file.h"

#include <errno.h>

#include "backends/shared/arrayscan.h"

struct hdf5_array {
    struct weir_array base;
    struct hdf5_set set;
};

static struct hdf5_container *container_of(const struct weir_array *a)
{
    return &((struct hdf5_arrays *)a->file)->c;
}

static void copy_sizes(hsize_t *out, const uint64_t *in, int rank)
{
    for (int d = 0; d < rank; d++)
        out[d] = in[d];
}

/* ---- groups ---- */

/* Close the group that is open, if there is one. */
static herr_t close_group(struct hdf5_arrays *f)
{
    herr_t rc = f->group > 0 ? H5Gclose(f->group) : 0;

    f->group = 0;
    return rc;
}

static int array_group(struct weir_array_file *base, const char *path, bool makes,
                       struct weir_err *err)
{
    struct hdf5_arrays *f = (struct hdf5_arrays *)base;

    close_group(f);
    errno = 0;
    weir_timed_begin(base->s);
    f->group = makes ? H5Gcreate2(f->c.id, path, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)
                     : H5Gopen2(f->c.id, path, H5P_DEFAULT);
    weir_timed_end(base->s);
    f->c.datasets += makes;
    if (f->group >= 0)
        return 0;
    return makes ? hdf5_container_fail(&f->c, err, "H5Gcreate2") : hdf5_fail(err, "H5Gopen2");
}

/* ---- files ---- */

static int array_check(const struct weir_session *s, const struct weir_array_spec *spec,
                       struct weir_err *err)
{
    const char *filter = ((const struct hdf5_options *)s->opt)->filter;
    uint64_t bytes;

    if (spec->chunk.rank == 0 && filter)
        return weir_refuse(err, WEIR_EUSAGE,
                           "--hdf5.filter needs datasets in chunks; add --usechunked (h5exerciser), or "
                           "leave it out");
    if (spec->chunk.rank == 0)
        return 0;
    if (weir_shape_bytes(&spec->chunk, weir_type_bytes(&spec->type), &bytes, err) < 0 ||
        bytes > CHUNK_BYTES_MAX)
        return weir_refuse(err, WEIR_EUSAGE, "HDF5 allows chunks of at most %u bytes",
                           CHUNK_BYTES_MAX);
    return !filter ? 0
                   : hdf5_filters_check(filter, bytes / weir_type_bytes(&spec->type),
                                        spec->type.count == 0, err);
}

static int array_open(struct weir_array_file *base, unsigned flags, struct weir_err *err)
{
    static const struct weir_extent unknown;
    struct hdf5_arrays *f = (struct hdf5_arrays *)base;

    if (!base->shared && hdf5_state_go_serial(base->s->priv, err) < 0)
        return -1;
    return hdf5_container_open(&f->c, base->s->priv, base->path, flags, &unknown, err);
}

static int array_close(struct weir_array_file *base, struct weir_err *err)
{
    struct hdf5_arrays *f = (struct hdf5_arrays *)base;

    close_group(f);
    return hdf5_container_close(&f->c, err);
}

static int array_sync(struct weir_array_file *base, struct weir_err *err)
{
    return hdf5_container_flush(&((struct hdf5_arrays *)base)->c, err);
}

/* ---- datasets ---- */

static void close_all(struct hdf5_set *set)
{
    hdf5_set_close_spaces(set);
    if (set->type >= 0)
        H5Tclose(set->type);
    set->type = H5I_INVALID_HID;
}

/* Set the members that every open dataset has. set->id is set already; it is closed again after an
 * error, also one that came before (rc). */
static int finish_open(struct hdf5_set *set, const struct weir_type *type, int rc,
                       struct weir_err *err)
{
    if (rc == 0) {
        hdf5_set_use(set, set->id);
        set->type = hdf5_type_make(type, err);
        set->in_file = H5Dget_space(set->id);
        rc = set->type < 0 ? -1 : set->in_file < 0 ? hdf5_fail(err, "H5Dget_space") : 0;
    }
    if (rc < 0) {
        close_all(set);
        H5Dclose(set->id);
    }
    return rc;
}

/* Without fill values: the library would write them in H5Dcreate2, and where that fails on one rank
 * the others wait for ever. */
static hid_t make_list(const struct weir_array_spec *spec, const char *filter)
{
    hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    hsize_t chunk[WEIR_SLAB_RANK];

    copy_sizes(chunk, spec->chunk.len, spec->chunk.rank);
    if (list >= 0 && (H5Pset_fill_time(list, H5D_FILL_TIME_NEVER) < 0 ||
                      (spec->chunk.rank > 0 && H5Pset_chunk(list, spec->chunk.rank, chunk) < 0) ||
                      (filter && hdf5_filters_set(list, filter, NULL) < 0))) {
        H5Pclose(list);
        return H5I_INVALID_HID;
    }
    return list;
}

/* least: elements in each dimension. */
static hid_t make_space(const struct weir_shape *shape, hsize_t least)
{
    hsize_t len[WEIR_SLAB_RANK];

    for (int d = 0; d < shape->rank; d++)
        len[d] = shape->len[d] > least ? shape->len[d] : least;
    return H5Screate_simple(shape->rank, len, NULL);
}

static int array_make(struct weir_array *base, struct weir_err *err)
{
    struct hdf5_set *set = &((struct hdf5_array *)base)->set;
    struct hdf5_container *c = container_of(base);
    hid_t type = hdf5_type_make(&base->spec.type, err);
    hid_t list = make_list(&base->spec, c->st->filter);
    hid_t space = make_space(&base->spec.shape, 0);
    int lost;

    *set = (struct hdf5_set)HDF5_NO_SET;
    hdf5_container_guard(c);
    errno = 0;
    weir_timed_begin(base->file->s);
    set->id = H5Dcreate2(c->id, base->name, type, space, H5P_DEFAULT, list, H5P_DEFAULT);
    weir_timed_end(base->file->s);
    lost = hdf5_container_unguard(c, "H5Dcreate2", err);
    c->datasets++;
    if (set->id < 0 && type >= 0)
        hdf5_container_fail(c, err, "H5Dcreate2");
    if (space >= 0)
        H5Sclose(space);
    if (list >= 0)
        H5Pclose(list);
    if (type >= 0)
        H5Tclose(type);
    return set->id < 0 ? -1 : finish_open(set, &base->spec.type, lost, err);
}

static int read_spec(const struct hdf5_array *a, struct weir_array_spec *have, struct weir_err *err)
{
    hid_t type = H5Dget_type(a->set.id);
    hid_t space = H5Dget_space(a->set.id);
    hsize_t len[H5S_MAX_RANK];
    int rank = space < 0 ? -1 : H5Sget_simple_extent_dims(space, len, NULL);
    int rc = 0;

    if (type < 0 || rank < 0)
        rc = hdf5_fail(err, "type and shape");
    else if (rank < 1)
        rc = weir_refuse(err, WEIR_EIO, "it is a single value, not an array");
    else if (hdf5_elem_of(type) == WEIR_ELEMS)
        rc = weir_refuse(err, WEIR_EIO, "its type is not supported");
    if (rc == 0) {
        have->type = (struct weir_type) { .elem = hdf5_elem_of(type) };
        have->shape.rank = rank;
        for (int d = 0; d < rank; d++)
            have->shape.len[d] = len[d];
    }
    if (space >= 0)
        H5Sclose(space);
    if (type >= 0)
        H5Tclose(type);
    return rc;
}

static int array_find(struct weir_array *base, struct weir_array_spec *have, struct weir_err *err)
{
    struct hdf5_array *a = (struct hdf5_array *)base;

    a->set = (struct hdf5_set)HDF5_NO_SET;
    errno = 0;
    weir_timed_begin(base->file->s);
    a->set.id = H5Dopen2(container_of(base)->id, base->name, H5P_DEFAULT);
    weir_timed_end(base->file->s);
    if (a->set.id < 0)
        return hdf5_fail(err, "H5Dopen2");
    /* transfers are made of what the file has; the core compares it */
    return finish_open(&a->set, &have->type, read_spec(a, have, err), err);
}

static int array_release(struct weir_array *base, struct weir_err *err)
{
    struct hdf5_array *a = (struct hdf5_array *)base;
    struct hdf5_arrays *f = (struct hdf5_arrays *)base->file;
    bool closed, all;
    int rc = 0;

    hdf5_filters_count(&f->c, a->set.id);
    errno = 0;
    weir_timed_begin(base->file->s); /* a program closes all of them together */
    closed = H5Dclose(a->set.id) >= 0;
    if (closed)
        hdf5_set_close_spaces(&a->set);
    all = closed && close_group(f) >= 0;
    weir_timed_end(base->file->s);
    if (!all)
        rc = hdf5_container_fail(&f->c, err, closed ? "H5Gclose" : "H5Dclose");
    close_all(&a->set);
    return rc;
}

/* ---- transfers ---- */

static herr_t select_blocks(hid_t space, const struct weir_slab *s)
{
    hsize_t start[WEIR_SLAB_RANK], stride[WEIR_SLAB_RANK];
    hsize_t count[WEIR_SLAB_RANK], block[WEIR_SLAB_RANK];

    copy_sizes(start, s->start, s->rank);
    copy_sizes(count, s->count, s->rank);
    copy_sizes(block, s->block, s->rank);
    for (int d = 0; d < s->rank; d++) /* of a single block it does not matter, but it is checked */
        stride[d] = s->count[d] > 1 ? s->stride[d] : s->block[d];
    return H5Sselect_hyperslab(space, H5S_SELECT_SET, start, stride, count, block);
}

static int array_select(struct weir_array *base, struct weir_err *err)
{
    struct hdf5_set *set = &((struct hdf5_array *)base)->set;
    herr_t rc;

    if (set->in_memory >= 0)
        H5Sclose(set->in_memory);
    errno = 0;
    set->in_memory = make_space(&base->mem.shape, 1);
    if (set->in_memory < 0)
        return hdf5_fail(err, "memory of %d dimensions", base->mem.shape.rank);
    if (base->elements == 0)
        rc = H5Sselect_none(set->in_file) < 0 ? -1 : H5Sselect_none(set->in_memory);
    else
        rc = select_blocks(set->in_file, &base->slab) < 0
                 ? -1
                 : select_blocks(set->in_memory, &base->mem.slab);
    return rc < 0 ? hdf5_fail(err, "H5Sselect_hyperslab") : 0;
}

/* True when the elements are in one piece in the file, and as they are in memory. */
static bool is_plain(const struct hdf5_set *set)
{
    hid_t type = H5Dget_type(set->id);
    bool same = type >= 0 && H5Tequal(type, set->type) > 0;

    if (type >= 0)
        H5Tclose(type);
    return same && set->where > 0;
}

/* A call that reports success and leaves an errno. The library checks how much an independent write
 * has moved. A collective call moved data of other ranks, which are not looked at here. */
static int doubt(const struct weir_array *base, enum weir_dir dir, const void *buf, int sys,
                 struct weir_err *err)
{
    const struct hdf5_set *set = &((const struct hdf5_array *)base)->set;
    struct hdf5_container *c = container_of(base);

    if (dir == WEIR_DIR_WRITE && !c->st->collective)
        return 0;
    if (c->st->collective || !is_plain(set))
        return weir_mpi_refuse_hidden(err, sys, hdf5_set_call(dir),
                                      "it is not known which data were moved");
    return weir_array_scan(base, &c->doubt, sys, hdf5_set_call(dir), buf, set->where, false, err);
}

static int array_move(struct weir_array *base, enum weir_dir dir, void *buf, struct weir_err *err)
{
    const struct hdf5_set *set = &((const struct hdf5_array *)base)->set;
    struct hdf5_container *c = container_of(base);
    uint64_t end = weir_slab_end(&base->slab, &base->spec.shape) * base->elem;
    int rc, sys;

    if (dir == WEIR_DIR_READ && !c->st->collective)
        weir_array_mark(base, buf);
    weir_timed_begin(base->file->s);
    rc = hdf5_set_move(c, set, dir, buf, &sys, err);
    weir_timed_end(base->file->s);
    if (rc == 0 && weir_mpi_hidden_errno(&c->st->mpi, sys))
        rc = doubt(base, dir, buf, sys, err);
    if (rc < 0) {
        c->failed |= dir == WEIR_DIR_WRITE;
        return -1;
    }
    if (dir == WEIR_DIR_WRITE && set->where > 0 && end > 0 && set->where + end > c->end)
        c->end = set->where + end;
    return 0;
}

static void array_describe(struct weir_array_file *base, struct weir_str *out)
{
    hdf5_container_describe(&((struct hdf5_arrays *)base)->c, out);
}

const struct weir_array_ops hdf5_array_ops = {
    .file_size = sizeof(struct hdf5_arrays),
    .array_size = sizeof(struct hdf5_array),
    .check = array_check,
    .open = array_open,
    .close = array_close,
    .make = array_make,
    .find = array_find,
    .release = array_release,
    .select = array_select,
    .move = array_move,
    .sync = array_sync,
    .describe = array_describe,
    .group = array_group,
    .move_attr = hdf5_move_attr,
};
