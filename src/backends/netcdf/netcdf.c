/* SPDX-License-Identifier: BSD-3-Clause */
/* netcdf.c - NETCDF: netCDF-4 files through parallel netCDF-C; an ordinary file is one variable of
 * bytes */
#include "backends/netcdf/netcdf-file.h"
#include "config.h"

#include <errno.h>

#include "backends/shared/mpins.h"
#include "backends/shared/mpishow.h"
#include "par/agree.h"
#include "par/io/mpidoubt.h"
#include "par/io/mpifile.h"

#define NAME "data"
#define DIM "byte"
#define PIECE ((size_t)1 << 30) /* HDF5 1.10 refuses independent calls beyond 2^31 bytes */

struct netcdf_bytes {
    struct weir_file base;
    struct netcdf_file f;
    int id;
    size_t len; /* of the variable */
};

static const char *version(void)
{
    return nc_inq_libvers();
}

static int check(struct weir_session *s, const struct weir_extent *extent, struct weir_err *err)
{
    (void)extent;
    if (s->access.random)
        return weir_refuse(err, WEIR_EUSAGE,
                           "random offset not available with NETCDF; leave -z out");
    return 0;
}

static int end(struct weir_session *s, struct weir_err *err)
{
    (void)err;
    weir_mpi_session_end(s->priv);
    return 0;
}

static int begin(struct weir_session *s, struct weir_err *err)
{
    const struct netcdf_options *o = s->opt;
    struct netcdf_state *st = s->priv;
    int rc = 0;

    st->s = s;
    st->comm = s->access.file_per_task ? MPI_COMM_SELF : s->par->comm;
    st->collective = s->access.collective && !s->access.file_per_task;
    if (H5open() < 0)
        rc = weir_refuse(err, WEIR_ESETUP, "the HDF5 library cannot be started");
    if (weir_agree(s->par, rc, err) < 0)
        return -1;
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    return weir_mpi_session_begin(&st->mpi, s->par, s->log, o->mpi.hints_file, true, err);
}

/* ---- open and close ---- */

static int define(struct netcdf_bytes *b, struct weir_err *err)
{
    int dim, rc;

    b->len = (size_t)b->base.extent.file_bytes;
    rc = nc_def_dim(b->f.nc, DIM, b->len, &dim);
    if (rc == NC_NOERR)
        rc = nc_def_var(b->f.nc, NAME, NC_BYTE, 1, &dim, &b->id);
    if (rc == NC_NOERR)
        rc = nc_def_var_fill(b->f.nc, b->id, NC_NOFILL, NULL);
    b->f.vars++;
    if (rc != NC_NOERR)
        return netcdf_fail(err, rc, "define '%s' in '%s'", NAME, b->base.path);
    if (netcdf_file_defined(&b->f, err) < 0)
        return weir_err_within(err, "define '%s' in '%s'", NAME, b->base.path);
    return 0;
}

static int find(struct netcdf_bytes *b, struct weir_err *err)
{
    uint64_t want = b->base.extent.file_bytes;
    int dims = 0, dim = 0;
    nc_type type = NC_NAT;
    int rc = nc_inq_varid(b->f.nc, NAME, &b->id);

    if (rc == NC_NOERR)
        rc = nc_inq_varndims(b->f.nc, b->id, &dims);
    if (rc == NC_NOERR && dims == 1)
        rc = nc_inq_var(b->f.nc, b->id, NULL, &type, NULL, &dim, NULL);
    if (rc == NC_NOERR && type == NC_BYTE)
        rc = nc_inq_dimlen(b->f.nc, dim, &b->len);
    if (rc != NC_NOERR)
        return netcdf_fail(err, rc, "variable '%s' in '%s'", NAME, b->base.path);
    if (type != NC_BYTE)
        return weir_refuse(err, WEIR_EIO, "variable '%s' in '%s' is not a row of bytes", NAME,
                           b->base.path);
    if (b->f.writes && b->len < want)
        return weir_refuse(err, WEIR_EIO,
                           "variable '%s' in '%s' has %zu bytes, this test writes %llu", NAME,
                           b->base.path, b->len, (unsigned long long)want);
    return 0;
}

static int prepare(struct netcdf_bytes *b, struct weir_err *err)
{
    int rc = b->f.fresh ? define(b, err) : find(b, err);

    if (weir_mpi_agree(b->f.st->comm, rc) < 0)
        return rc;
    rc = netcdf_file_access(&b->f, b->id, err);
    return rc < 0 ? weir_err_within(err, "'%s'", b->base.path) : 0;
}

static int open_file(struct weir_session *s, const char *path, unsigned flags,
                     struct weir_file *file, struct weir_err *err)
{
    struct netcdf_bytes *b = (struct netcdf_bytes *)file;
    int rc;

    if (file->extent.transfer == 0) /* on all ranks */
        return weir_refuse(err, WEIR_EUSAGE, "NETCDF needs to know the geometry of '%s'", path);
    if (netcdf_file_open(&b->f, s->priv, path, flags, file->extent.file_bytes, false, err) < 0)
        return -1;
    rc = weir_agree_open(s->par, b->f.st->comm, prepare(b, err), err);
    if (rc < 0)
        netcdf_file_drop(&b->f);
    return rc;
}

static int close_file(struct weir_file *file, struct weir_err *err)
{
    return netcdf_file_close(&((struct netcdf_bytes *)file)->f, err);
}

/* ---- transfers ---- */

static ssize_t xfer(struct weir_file *file, const struct weir_io *io, struct weir_err *err)
{
    struct netcdf_bytes *b = (struct netcdf_bytes *)file;
    bool writes = io->dir == WEIR_DIR_WRITE;
    bool over = io->off + io->len > b->len;
    size_t start = over ? 0 : (size_t)io->off, count = over ? 0 : io->len;
    char word = 0;
    void *buf = io->buf ? io->buf : &word;
    int rc;

    if (count > PIECE && !b->f.st->collective)
        count = PIECE;
    errno = 0;
    rc = writes ? nc_put_vara(b->f.nc, b->id, &start, &count, buf)
                : nc_get_vara(b->f.nc, b->id, &start, &count, buf);
    if (netcdf_judge(&b->f, rc, writes, writes ? "nc_put_vara" : "nc_get_vara", err) < 0)
        return -1;
    if (over && writes)
        return weir_refuse(err, WEIR_EBUG, "not within the variable of '%s'", b->base.path);
    return (ssize_t)count;
}

static int sync_file(struct weir_file *file, struct weir_err *err)
{
    struct netcdf_file *f = &((struct netcdf_bytes *)file)->f;

    if (!f->st->collective) /* nc_sync would wait for the other ranks */
        return weir_mpi_sync_file(file->path, err);
    return netcdf_file_flush(f, err);
}

static void describe(struct weir_file *file, struct weir_str *out)
{
    weir_mpi_show_hints(file->s, weir_mpi_info_of(((struct netcdf_bytes *)file)->f.handle), out);
}

static void list_hints(struct weir_file *file, struct weir_str *out)
{
    weir_mpi_list_hints(weir_mpi_info_of(((struct netcdf_bytes *)file)->f.handle), out);
}

const struct weir_backend weir_plugin = {
    NETCDF_DESCRIPTOR,
    .flags = WEIR_BE_NEEDS_MPI | WEIR_BE_COLLECTIVE_OPEN | WEIR_BE_COLLECTIVE_XFER |
             WEIR_BE_NO_RANDOM | WEIR_BE_CONTAINER,
    .priv_size = sizeof(struct netcdf_state),
    .file_size = sizeof(struct netcdf_bytes),
    .version = version,
    .check = check,
    .begin = begin,
    .end = end,
    .open = open_file,
    .close = close_file,
    .xfer = xfer,
    .sync = sync_file,
    .ns = &weir_mpi_ns,
    .array = &netcdf_array_ops,
    .describe = describe,
    .hints = list_hints,
};
