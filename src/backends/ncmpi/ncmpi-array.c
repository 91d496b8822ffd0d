/* SPDX-License-Identifier: BSD-3-Clause */
/* ncmpi-array.c - arrays are variables of a file */
#include "backends/ncmpi/ncmpi-file.h"

#include <sys/stat.h>
#include <unistd.h>

#include "backends/shared/mpishow.h"
#include "par/agree.h"

static struct ncmpi_file *file_of(struct weir_array_file *base)
{
    return &((struct ncmpi_arrays *)base)->f;
}

static int array_check(const struct weir_session *s, const struct weir_array_spec *spec,
                       struct weir_err *err)
{
    if (spec->type.elem == WEIR_ELEM_COMPOUND)
        return weir_refuse(err, WEIR_EUSAGE, "NCMPI cannot store elements of a compound type: the "
                                             "formats of PnetCDF have no compound types");
    if (spec->chunk.rank > 0)
        return weir_refuse(err, WEIR_EUSAGE, "NCMPI cannot store arrays in chunks: the formats of "
                                             "PnetCDF have no chunks");
    return 0;
}

/* ---- files ---- */

static int array_open(struct weir_array_file *base, unsigned flags, struct weir_err *err)
{
    struct ncmpi_file *f = file_of(base);
    int rc;

    if (ncmpi_file_open(f, base->s, base->path, flags, err) < 0)
        return -1;
    rc = weir_agree_call(base->s->par, ncmpi_file_ready(f, err), err);
    if (rc < 0)
        ncmpi_file_drop(f);
    return rc;
}

/* Sets where a variable begins. */
static int learn_place(struct weir_array *a, struct weir_err *err)
{
    MPI_Offset at = 0;
    int rc = ncmpi_inq_varoffset(file_of(a->file)->nc, ((struct weir_nc_array *)a)->id, &at);

    a->at = (uint64_t)at;
    return rc != NC_NOERR ? ncmpi_fail(err, rc, "place of '%s'", a->name) : 0;
}

static int array_commit(struct weir_array_file *base, struct weir_err *err)
{
    int rc = ncmpi_file_defined(file_of(base), err);

    if (weir_mpi_agree(base->s->par->comm, rc) < 0) /* rank 0 writes the header and may fail alone */
        return rc;
    for (struct weir_array *a = base->first; a; a = a->next)
        if (a->is_open && learn_place(a, err) < 0)
            return -1;
    return ncmpi_file_transfers(file_of(base), err);
}

/* One past the last byte of the arrays. */
static uint64_t end_of_arrays(const struct weir_array_file *f)
{
    uint64_t end = 0, bytes = 0;

    for (const struct weir_array *a = f->first; a; a = a->next)
        if (a->at > 0 && weir_shape_bytes(&a->spec.shape, a->elem, &bytes, NULL) == 0 &&
            a->at + bytes > end)
            end = a->at + bytes;
    return end;
}

/* Extend the file to the end of its last array, which may be unwritten, because readers need that. */
static int reach_end(const struct weir_array_file *f, uint64_t end, struct weir_err *err)
{
    const char *path = weir_mpi_path(f->path);
    struct stat st;

    if (!f->writes || f->s->par->rank > 0)
        return 0;
    if (stat(path, &st) < 0 || ((uint64_t)st.st_size < end && truncate(path, (off_t)end) < 0))
        return weir_fail(err, WEIR_EIO, "set the size of '%s' to %llu bytes", f->path,
                         (unsigned long long)end);
    return 0;
}

static int array_close(struct weir_array_file *base, struct weir_err *err)
{
    struct ncmpi_file *f = file_of(base);
    int rc = ncmpi_file_close(f, 1, err);

    if (weir_mpi_agree(base->s->par->comm, f->failed ? -1 : rc) < 0)
        return rc;
    return reach_end(base, end_of_arrays(base), err);
}

static int array_sync(struct weir_array_file *base, struct weir_err *err)
{
    return ncmpi_file_sync(file_of(base), err);
}

/* ---- the library's calls about variables ---- */

static int inq_dimlen(int nc, int dim, uint64_t *len)
{
    MPI_Offset n = 0;
    int rc = ncmpi_inq_dimlen(nc, dim, &n);

    *len = (uint64_t)n;
    return rc;
}

static int def_dim(int nc, const char *name, uint64_t len, int *id)
{
    return ncmpi_def_dim(nc, name, (MPI_Offset)len, id);
}

static int inq_att(int nc, int id, const char *name, int *type, uint64_t *count)
{
    MPI_Offset n = 0;
    int rc = ncmpi_inq_att(nc, id, name, type, &n);

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

static int def_var(struct weir_array *base, const int *dim)
{
    const struct weir_array_spec *spec = &base->spec;

    return ncmpi_def_var(number_of(base->file), base->name, weir_nc_type_of(spec->type.elem),
                         spec->shape.rank, dim, &((struct weir_nc_array *)base)->id);
}

static int put_att(int nc, int id, const struct weir_attr *attr)
{
    return ncmpi_put_att(nc, id, attr->name, weir_nc_type_of(attr->elem), (MPI_Offset)attr->count,
                         attr->data);
}

/* ---- arrays ---- */

static int array_find(struct weir_array *base, struct weir_array_spec *have, struct weir_err *err)
{
    return weir_nc_find(base, have, err) < 0 ? -1 : learn_place(base, err);
}

static void array_describe(struct weir_array_file *base, struct weir_str *out)
{
    weir_mpi_show_hints(base->s, ncmpi_file_hints(file_of(base)), out);
}

const struct weir_nc_library ncmpi_arrays = {
    .ops = {
        .file_size = sizeof(struct ncmpi_arrays),
        .array_size = sizeof(struct ncmpi_array),
        .check = array_check,
        .open = array_open,
        .close = array_close,
        .make = weir_nc_make,
        .find = array_find,
        .release = ncmpi_slab_release,
        .commit = array_commit,
        .select = ncmpi_slab_select,
        .move = ncmpi_slab_move,
        .sync = array_sync,
        .describe = array_describe,
        .move_attr = weir_nc_move_attr,
    },
    .prefix = "ncmpi_",
    .number_of = number_of,
    .can_define = can_define,
    .def_var = def_var,
    .put_att = put_att,
    .inq_varid = ncmpi_inq_varid,
    .inq_varndims = ncmpi_inq_varndims,
    .inq_var = ncmpi_inq_var,
    .inq_dimlen = inq_dimlen,
    .inq_dimid = ncmpi_inq_dimid,
    .def_dim = def_dim,
    .inq_att = inq_att,
    .get_att = ncmpi_get_att,
    .fail = ncmpi_fail,
};
