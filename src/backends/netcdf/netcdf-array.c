/* SPDX-License-Identifier: BSD-3-Clause */
/* netcdf-array.c - arrays are variables of a file, of which a call moves a box */
#include "backends/netcdf/netcdf-file.h"

#include <errno.h>

#include "backends/shared/mpishow.h"

#define CHUNK_BYTES_MAX 4294967295u /* of HDF5 */

struct netcdf_array {
    struct weir_nc_array nc;
    size_t start[WEIR_SLAB_RANK], count[WEIR_SLAB_RANK]; /* of what is selected */
};

static struct netcdf_file *file_of(struct weir_array_file *base)
{
    return (struct netcdf_file *)base;
}

static int array_check(const struct weir_session *s, const struct weir_array_spec *spec,
                       struct weir_err *err)
{
    uint64_t bytes;

    if (spec->type.elem == WEIR_ELEM_COMPOUND)
        return weir_refuse(err, WEIR_EUSAGE, "NETCDF cannot store elements of a compound type");
    if (spec->chunk.rank > 0 &&
        (weir_shape_bytes(&spec->chunk, weir_type_bytes(&spec->type), &bytes, err) < 0 ||
         bytes > CHUNK_BYTES_MAX))
        return weir_refuse(err, WEIR_EUSAGE, "netCDF-4 allows chunks of at most %u bytes",
                           CHUNK_BYTES_MAX);
    return 0;
}

/* ---- the library's calls about variables ---- */

static int inq_dimlen(int nc, int dim, uint64_t *len)
{
    size_t n = 0;
    int rc = nc_inq_dimlen(nc, dim, &n);

    *len = (uint64_t)n;
    return rc;
}

static int def_dim(int nc, const char *name, uint64_t len, int *id)
{
    return nc_def_dim(nc, name, (size_t)len, id);
}

static int inq_att(int nc, int id, const char *name, int *type, uint64_t *count)
{
    size_t n = 0;
    int rc = nc_inq_att(nc, id, name, type, &n);

    *count = (uint64_t)n;
    return rc;
}

static int number_of(struct weir_array_file *base)
{
    return file_of(base)->nc;
}

static bool can_define(struct weir_array_file *base)
{
    return file_of(base)->defining;
}

static int put_att(int nc, int id, const struct weir_attr *attr)
{
    return nc_put_att(nc, id, attr->name, weir_nc_type_of(attr->elem), (size_t)attr->count,
                      attr->data);
}

/* ---- arrays ---- */

/* The library knows how a new variable is accessed only when it is in the file. */
static int array_commit(struct weir_array_file *base, struct weir_err *err)
{
    struct netcdf_file *f = file_of(base);
    int rc = netcdf_file_defined(f, err);

    if (weir_mpi_agree(f->comm, rc < 0 || f->failed ? -1 : 0) < 0)
        return rc;
    for (const struct weir_array *a = base->first; a && rc == 0; a = a->next)
        if (a->is_open)
            rc = netcdf_file_access(f, ((const struct weir_nc_array *)a)->id, err);
    return rc;
}

static int def_var(struct weir_array *base, const int *dim)
{
    const struct weir_array_spec *spec = &base->spec;
    struct weir_nc_array *a = (struct weir_nc_array *)base;
    struct netcdf_file *f = file_of(base->file);
    size_t chunk[WEIR_SLAB_RANK];
    int rc = nc_def_var(f->nc, base->name, weir_nc_type_of(spec->type.elem), spec->shape.rank, dim,
                        &a->id);

    for (int d = 0; d < spec->chunk.rank; d++)
        chunk[d] = (size_t)spec->chunk.len[d];
    if (rc == NC_NOERR && spec->chunk.rank > 0)
        rc = nc_def_var_chunking(f->nc, a->id, NC_CHUNKED, chunk);
    else if (rc == NC_NOERR)
        rc = nc_def_var_chunking(f->nc, a->id, NC_CONTIGUOUS, NULL);
    if (rc == NC_NOERR)
        rc = nc_def_var_fill(f->nc, a->id, NC_NOFILL, NULL);
    return rc;
}

static int array_find(struct weir_array *base, struct weir_array_spec *have, struct weir_err *err)
{
    if (weir_nc_find(base, have, err) < 0)
        return -1;
    return netcdf_file_access(file_of(base->file), ((struct weir_nc_array *)base)->id, err);
}

/* The library has nothing to close. */
static int array_release(struct weir_array *base, struct weir_err *err)
{
    return 0;
}

static int array_select(struct weir_array *base, struct weir_err *err)
{
    struct netcdf_array *a = (struct netcdf_array *)base;
    const struct weir_slab *s = &base->slab;

    for (int d = 0; d < s->rank; d++) {
        a->start[d] = base->elements > 0 ? (size_t)s->start[d] : 0;
        a->count[d] = base->elements > 0 ? (size_t)(s->count[d] * s->block[d]) : 0;
    }
    return 0;
}

static int array_move(struct weir_array *base, enum weir_dir dir, void *buf, struct weir_err *err)
{
    const struct netcdf_array *a = (const struct netcdf_array *)base;
    struct netcdf_file *f = file_of(base->file);
    bool writes = dir == WEIR_DIR_WRITE;
    int rc;

    errno = 0;
    weir_timed_begin(base->file->s);
    rc = writes ? nc_put_vara(f->nc, a->nc.id, a->start, a->count, buf)
                : nc_get_vara(f->nc, a->nc.id, a->start, a->count, buf);
    weir_timed_end(base->file->s);
    return netcdf_judge(f, rc, writes, writes ? "nc_put_vara" : "nc_get_vara", err);
}

static void array_describe(struct weir_array_file *base, struct weir_str *out)
{
    if (base->shared)
        weir_mpi_show_hints(base->s, weir_mpi_info_of(file_of(base)->handle), out);
}

const struct weir_nc_library netcdf_arrays = {
    .ops = {
        .file_size = sizeof(struct netcdf_file),
        .array_size = sizeof(struct netcdf_array),
        .only_boxes = true,
        .check = array_check,
        .open = netcdf_file_open,
        .close = netcdf_file_close,
        .make = weir_nc_make,
        .find = array_find,
        .release = array_release,
        .commit = array_commit,
        .select = array_select,
        .move = array_move,
        .sync = netcdf_file_sync,
        .describe = array_describe,
        .move_attr = weir_nc_move_attr,
    },
    .prefix = "nc_",
    .number_of = number_of,
    .can_define = can_define,
    .def_var = def_var,
    .put_att = put_att,
    .inq_varid = nc_inq_varid,
    .inq_varndims = nc_inq_varndims,
    .inq_var = nc_inq_var,
    .inq_dimlen = inq_dimlen,
    .inq_dimid = nc_inq_dimid,
    .def_dim = def_dim,
    .fastest_first = true,
    .inq_att = inq_att,
    .get_att = nc_get_att,
    .fail = netcdf_fail,
};
