/* SPDX-License-Identifier: BSD-3-Clause */
/* hdf5-attr.c - attributes of files, groups and datasets */
#include "backends/hdf5/hdf5-file.h"

#include <errno.h>

/* The library forgets why a call has failed in the next one. */
static int fail_write(struct hdf5_container *c, hid_t space, hid_t id, bool wrote,
                      struct weir_err *err)
{
    hdf5_container_fail(c, err, id < 0 ? "H5Acreate2" : wrote ? "H5Aclose" : "H5Awrite");
    if (id >= 0 && !wrote)
        H5Aclose(id);
    if (space >= 0)
        H5Sclose(space);
    return -1;
}

/* The time of making an attribute counts, that of its space included. */
static int write_attr(struct hdf5_arrays *f, hid_t object, const struct weir_attr *attr, hid_t type,
                      struct weir_err *err)
{
    const hsize_t count = attr->count;
    bool wrote, closed;
    hid_t space, id;

    weir_timed_begin(f->base.s);
    space = H5Screate_simple(1, &count, NULL);
    id = space < 0 ? space : H5Acreate2(object, attr->name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    wrote = id >= 0 && H5Awrite(id, type, attr->data) >= 0;
    closed = wrote && H5Aclose(id) >= 0 && H5Sclose(space) >= 0;
    weir_timed_end(f->base.s);
    return closed ? 0 : fail_write(&f->c, space, id, wrote, err);
}

static bool is_like(hid_t id, const struct weir_attr *attr)
{
    hid_t type = H5Aget_type(id);
    hid_t space = H5Aget_space(id);
    bool same = type >= 0 && space >= 0 && hdf5_elem_of(type) == attr->elem &&
                (uint64_t)H5Sget_simple_extent_npoints(space) == attr->count;

    if (space >= 0)
        H5Sclose(space);
    if (type >= 0)
        H5Tclose(type);
    return same;
}

static int read_attr(struct hdf5_arrays *f, hid_t object, const struct weir_attr *attr, hid_t type,
                     struct weir_err *err)
{
    hid_t id;
    bool ok;
    int rc = 0;

    weir_timed_begin(f->base.s);
    id = H5Aopen(object, attr->name, H5P_DEFAULT);
    weir_timed_end(f->base.s);
    if (id < 0)
        return hdf5_fail(err, "H5Aopen");
    if (is_like(id, attr)) {
        weir_timed_begin(f->base.s);
        ok = H5Aread(id, type, attr->data) >= 0;
        weir_timed_end(f->base.s);
        rc = ok ? 0 : hdf5_fail(err, "H5Aread");
    } else {
        rc = weir_refuse(err, WEIR_EIO, "it does not have %llu elements of type %s",
                         (unsigned long long)attr->count, weir_elem_name(attr->elem));
    }
    H5Aclose(id);
    return rc;
}

int hdf5_move_attr(struct weir_array_file *base, enum weir_dir dir, const char *object,
                   const struct weir_attr *attr, struct weir_err *err)
{
    struct hdf5_arrays *f = (struct hdf5_arrays *)base;
    const struct weir_type kind = { .elem = attr->elem };
    hid_t type = hdf5_type_make(&kind, err);
    hid_t id;
    int rc = -1;

    if (type < 0)
        return -1;
    errno = 0;
    id = H5Oopen(f->c.id, object, H5P_DEFAULT);
    if (id < 0)
        hdf5_fail(err, "H5Oopen");
    else
        rc = dir == WEIR_DIR_WRITE ? write_attr(f, id, attr, type, err)
                                   : read_attr(f, id, attr, type, err);
    if (id >= 0)
        H5Oclose(id);
    H5Tclose(type);
    return rc;
}
