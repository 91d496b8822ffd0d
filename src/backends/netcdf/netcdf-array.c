/* SPDX-License-Identifier: BSD-3-Clause */
/* netcdf-array.c - arrays are variables of a file */
#include "backends/netcdf/netcdf-array.h"
#include "config.h"

#include <errno.h>
#include <netcdf_par.h>

#include "backends/netcdf/netcdf-descriptor.h"
#include "backends/shared/mpishow.h"
#include "par/io/mpifile.h"

#define CHUNK_BYTES_MAX 4294967295u /* of HDF5 */

static struct netcdf_file *file_of(struct weir_array_file *base)
{
    return &((struct netcdf_arrays *)base)->f;
}

static int array_check(const struct weir_session *s, const struct weir_array_spec *spec,
                       struct weir_err *err)
{
    uint64_t bytes;

    (void)s;
    if (spec->type.elem == WEIR_ELEM_COMPOUND)
        return weir_refuse(err, WEIR_EUSAGE, "NETCDF cannot keep elements of a compound type");
    if (spec->chunk.rank > 0 &&
        (weir_shape_bytes(&spec->chunk, weir_type_bytes(&spec->type), &bytes, err) < 0 ||
         bytes > CHUNK_BYTES_MAX))
        return weir_refuse(err, WEIR_EUSAGE, "netCDF-4 allows chunks of at most %u bytes",
                           CHUNK_BYTES_MAX);
    return 0;
}

/* ---- files ---- */

static int array_open(struct weir_array_file *base, unsigned flags, struct weir_err *err)
{
    return netcdf_file_open(file_of(base), base->s->priv, base->path, flags, 0, !base->shared, err);
}

static int array_close(struct weir_array_file *base, struct weir_err *err)
{
    int rc = netcdf_file_close(file_of(base), err);

    base->s->broken |= file_of(base)->broken;
    return rc;
}

static int array_sync(struct weir_array_file *base, struct weir_err *err)
{
    return netcdf_file_flush(file_of(base), err);
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

static const struct weir_nc_calls calls = { .prefix = "nc_",
                                            .inq_varid = nc_inq_varid,
                                            .inq_varndims = nc_inq_varndims,
                                            .inq_var = nc_inq_var,
                                            .inq_dimlen = inq_dimlen,
                                            .inq_dimid = nc_inq_dimid,
                                            .def_dim = def_dim,
                                            .fastest_first = true,
                                            .inq_att = inq_att,
                                            .get_att = nc_get_att,
                                            .fail = netcdf_fail };

/* ---- arrays ---- */

static int set_access(struct netcdf_file *f, int id, struct weir_err *err)
{
    int rc;

    if (f->serial)
        return 0;
    errno = 0;
    rc = nc_var_par_access(f->nc, id, f->st->collective ? NC_COLLECTIVE : NC_INDEPENDENT);
    return rc != NC_NOERR ? netcdf_fail(err, rc, "nc_var_par_access") : 0;
}

/* The library knows how a new variable is accessed only when it is in the file. */
static int array_commit(struct weir_array_file *base, struct weir_err *err)
{
    struct netcdf_file *f = file_of(base);
    int rc = netcdf_file_defined(f, err);

    if (weir_mpi_agree(f->st->comm, rc < 0 || f->failed ? -1 : 0) < 0)
        return rc;
    for (const struct weir_array *a = base->first; a && rc == 0; a = a->next)
        if (a->is_open)
            rc = set_access(f, ((const struct netcdf_array *)a)->id, err);
    return rc;
}

static int define_var(struct netcdf_array *a, struct netcdf_file *f, const int *dim)
{
    const struct weir_array_spec *spec = &a->base.spec;
    size_t chunk[WEIR_SLAB_RANK];
    int rc = nc_def_var(f->nc, a->base.name, weir_nc_type_of(spec->type.elem), spec->shape.rank,
                        dim, &a->id);

    for (int d = 0; d < spec->chunk.rank; d++)
        chunk[d] = (size_t)spec->chunk.len[d];
    if (rc == NC_NOERR && spec->chunk.rank > 0)
        rc = nc_def_var_chunking(f->nc, a->id, NC_CHUNKED, chunk);
    else if (rc == NC_NOERR)
        rc = nc_def_var_chunking(f->nc, a->id, NC_CONTIGUOUS, NULL);
    if (rc == NC_NOERR) /* fill values are written later, by all ranks */
        rc = nc_def_var_fill(f->nc, a->id, NC_NOFILL, NULL);
    return rc;
}

static int array_make(struct weir_array *base, struct weir_err *err)
{
    struct netcdf_file *f = file_of(base->file);
    int dim[WEIR_RANK_MAX], rc;

    errno = 0;
    if (netcdf_file_define(f, err) < 0 ||
        weir_nc_make_dims(&calls, f->nc, &base->spec, dim, err) < 0)
        return -1;
    weir_timed_begin(base->file->s);
    rc = define_var((struct netcdf_array *)base, f, dim);
    weir_timed_end(base->file->s);
    f->vars++;
    return rc != NC_NOERR ? netcdf_fail(err, rc, "nc_def_var") : 0;
}

static int array_find(struct weir_array *base, struct weir_array_spec *have, struct weir_err *err)
{
    struct netcdf_array *a = (struct netcdf_array *)base;
    struct netcdf_file *f = file_of(base->file);
    int rc;

    errno = 0;
    weir_timed_begin(base->file->s);
    rc = nc_inq_varid(f->nc, base->name, &a->id);
    weir_timed_end(base->file->s);
    if (rc != NC_NOERR)
        return netcdf_fail(err, rc, "nc_inq_varid");
    if (weir_nc_read_spec(&calls, f->nc, a->id, have, err) < 0)
        return -1;
    return set_access(f, a->id, err);
}

static int array_release(struct weir_array *base, struct weir_err *err)
{
    (void)err;
    netcdf_slab_free((struct netcdf_array *)base);
    return 0;
}

/* ---- attributes of the file and of variables ---- */

static int put_attr(struct weir_array_file *base, const char *object, const struct weir_attr *attr,
                    struct weir_err *err)
{
    struct netcdf_file *f = file_of(base);
    int rc, id;

    if (weir_nc_find_object(&calls, f->nc, object, &id, err) < 0 ||
        netcdf_file_define(f, err) < 0)
        return -1;
    rc = nc_put_att(f->nc, id, attr->name, weir_nc_type_of(attr->elem), (size_t)attr->count,
                    attr->data);
    return rc != NC_NOERR ? netcdf_fail(err, rc, "nc_put_att") : 0;
}

static int get_attr(struct weir_array_file *base, const char *object, const struct weir_attr *attr,
                    struct weir_err *err)
{
    return weir_nc_get_attr(&calls, file_of(base)->nc, object, attr, err);
}

static void array_describe(struct weir_array_file *base, struct weir_str *out)
{
    if (!file_of(base)->serial)
        weir_mpi_show_hints(base->s, weir_mpi_info_of(file_of(base)->handle), out);
}

const struct weir_array_ops netcdf_array_ops = {
    .file_size = sizeof(struct netcdf_arrays),
    .array_size = sizeof(struct netcdf_array),
    .check = array_check,
    .open = array_open,
    .close = array_close,
    .make = array_make,
    .find = array_find,
    .release = array_release,
    .commit = array_commit,
    .select = netcdf_slab_select,
    .move = netcdf_slab_move,
    .sync = array_sync,
    .describe = array_describe,
    .put_attr = put_attr,
    .get_attr = get_attr,
};
