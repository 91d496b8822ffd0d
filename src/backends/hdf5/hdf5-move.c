/* SPDX-License-Identifier: BSD-3-Clause */
/* hdf5-move.c - data into and out of a dataset, and the fill values of a new one */
#include "backends/hdf5/hdf5-move.h"
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "backends/hdf5/hdf5-close.h"
#include "par/io/mpifile.h"

#define PIECE ((uint64_t)1 << 21) /* elements of fill values at a time: 16 MiB */

/* A call that reports success and leaves an errno. HDF5 checks how much an independent write has
 * moved, but returns zeros for bytes that a read did not get. */
static int doubt(const struct hdf5_state *st, const struct hdf5_segments *g, enum weir_dir dir,
                 const void *buf, int sys, struct weir_mpi_doubt *d, struct weir_err *err)
{
    const char *call = dir == WEIR_DIR_WRITE ? "H5Dwrite" : "H5Dread";

    if (dir == WEIR_DIR_WRITE && !st->collective)
        return 0;
    if (!d || (dir == WEIR_DIR_READ && g->where == 0))
        return weir_mpi_refuse_hidden(err, sys, call, "it is not known which data were moved");
    if (dir == WEIR_DIR_READ)
        return weir_mpi_doubt_look(d, g->path, sys, call, buf, g->picked * HDF5_ELEMENT,
                                   g->where + g->first * HDF5_ELEMENT, err);
    if (g->picked == 0)
        weir_mpi_doubt_keep(d, sys, call, 0, INT64_MAX);
    else
        weir_mpi_doubt_keep(d, sys, call, g->where, g->where ? g->where + g->bytes : UINT64_MAX);
    return 0;
}

int hdf5_move(const struct hdf5_state *st, const struct hdf5_segments *g, hid_t dset,
              enum weir_dir dir, void *buf, int *sys, struct weir_mpi_doubt *d,
              struct weir_err *err)
{
    const char *call = dir == WEIR_DIR_WRITE ? "H5Dwrite" : "H5Dread";
    int rc;

    if (dir == WEIR_DIR_READ)
        weir_mpi_mark(buf, g->picked * HDF5_ELEMENT);
    errno = 0;
    if (dir == WEIR_DIR_WRITE)
        rc = H5Dwrite(dset, H5T_NATIVE_INT64, g->in_memory, g->in_file, st->transfer, buf);
    else
        rc = H5Dread(dset, H5T_NATIVE_INT64, g->in_memory, g->in_file, st->transfer, buf);
    *sys = errno;
    if (rc >= 0)
        return *sys && weir_mpi_hidden_errno(&st->mpi, *sys) ? doubt(st, g, dir, buf, *sys, d, err)
                                                             : 0;
    hdf5_fail(err, "%s", call);
    weir_mpi_unlock(g->path);
    if (st->collective)
        hdf5_catch_up(st, g->file);
    return weir_mpi_add_reason(err, *sys, st->mpi.comm_errno);
}

/* All of this rank's block, or nothing where there is no memory for zeros: then only the
 * collective calls that the others wait for. */
static int fill_block(const struct hdf5_state *st, struct hdf5_segments *g, hid_t dset,
                      uint64_t piece, void *zeros, struct weir_err *err)
{
    uint64_t block = g->bytes / HDF5_ELEMENT;
    uint64_t word = 0;
    int rank = 0, size = 1;
    int rc = 0;
    int sys;

    MPI_Comm_rank(st->comm, &rank);
    MPI_Comm_size(st->comm, &size);
    block /= (uint64_t)size;
    for (uint64_t at = 0; at < block && (rc == 0 || st->collective); at += piece) {
        uint64_t n = !zeros ? 0 : block - at < piece ? block - at : piece;
        struct weir_err *told = rc < 0 ? NULL : err;

        if (hdf5_segments_select(g, (uint64_t)rank * block + at, n, told) < 0 ||
            hdf5_move(st, g, dset, WEIR_DIR_WRITE, zeros ? zeros : &word, &sys, NULL, told) < 0)
            rc = -1;
    }
    return rc;
}

int hdf5_fill(const struct hdf5_state *st, struct hdf5_segments *g, hid_t dset,
              struct weir_err *err)
{
    uint64_t piece = g->transfer < PIECE ? g->transfer : PIECE;
    void *zeros = calloc(piece, HDF5_ELEMENT);
    int rc = fill_block(st, g, dset, piece, zeros, zeros ? err : NULL);

    if (!zeros) {
        rc = weir_fail(err, WEIR_ESETUP, "fill values of '%s'", g->path);
    } else if (rc < 0) {
        hdf5_explain(g->path, piece * HDF5_ELEMENT, err);
        weir_err_within(err, "fill values of '%s'", g->path);
    }
    free(zeros);
    return rc;
}
