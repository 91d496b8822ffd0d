/* SPDX-License-Identifier: BSD-3-Clause */
/* netcdf.c - NETCDF: arrays in netCDF-4 files through parallel netCDF-C, and no files of bytes */
#include "backends/netcdf/netcdf-file.h"

#include <stdlib.h>

#include "backends/shared/mpins.h"
#include "par/agree.h"

static const char *version(void)
{
    return nc_inq_libvers();
}

static int refuse_bytes(struct weir_err *err)
{
    return weir_refuse(err, WEIR_EUSAGE,
                       "NETCDF stores only arrays (h5exerciser, the programs for checkpoints): for "
                       "a file of bytes use -a HDF5 or -a NCMPI");
}

/* A geometry is that of a file of bytes. */
static int check(struct weir_session *s, const struct weir_extent *extent, struct weir_err *err)
{
    return extent ? refuse_bytes(err) : 0;
}

static int open_file(struct weir_session *s, const char *path, unsigned flags,
                     struct weir_file *file, struct weir_err *err)
{
    return refuse_bytes(err);
}

static int end(struct weir_session *s, struct weir_err *err)
{
    struct netcdf_state *st = s->priv;

    if (!s->broken)
        free(st->guard);
    weir_mpi_session_end(&st->mpi);
    return 0;
}

static int begin(struct weir_session *s, struct weir_err *err)
{
    const struct netcdf_options *o = s->opt;
    struct netcdf_state *st = s->priv;
    int rc = 0;

    if (H5open() < 0)
        rc = weir_refuse(err, WEIR_ESETUP, "the HDF5 library cannot be started");
    else if (!(st->guard = calloc(1, sizeof(*st->guard))))
        rc = weir_refuse(err, WEIR_ESETUP, "no memory for the HDF5 library");
    rc = weir_agree(s->par, rc, err);
    if (rc == 0)
        H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    if (rc == 0)
        rc = weir_mpi_session_begin(&st->mpi, s->par, s->log, o->mpi.hints_file, true, err);
    if (rc < 0)
        free(st->guard);
    return rc;
}

const struct weir_backend weir_plugin = {
    NETCDF_DESCRIPTOR,
    .flags = WEIR_BE_NEEDS_MPI | WEIR_BE_COLLECTIVE_OPEN | WEIR_BE_COLLECTIVE_XFER |
             WEIR_BE_CONTAINER,
    .priv_size = sizeof(struct netcdf_state),
    .file_size = sizeof(struct weir_file),
    .version = version,
    .check = check,
    .begin = begin,
    .end = end,
    .open = open_file,
    .ns = &weir_mpi_ns,
    .array = &netcdf_arrays.ops,
};
