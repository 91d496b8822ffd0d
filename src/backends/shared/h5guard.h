/* SPDX-License-Identifier: BSD-3-Clause */
/* h5guard.h - a write that fails on one rank inside of a collective call of HDF5. HDF5 would leave
 * the call on that rank, and the others would wait for it there without end. So HDF5 gets success
 * from its driver, and the rank keeps the error until the call has returned on all ranks. */
#pragma once

#include <hdf5.h>
#include <mpi.h>

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "backends/shared/mpishow.h"
#include "base/err.h"
#include "par/io/mpifile.h"

/* From 1.13 on the driver has other functions to write. */
#define H5GUARD_KNOWN (!H5_VERSION_GE(1, 13, 0))

/* The guard of the calls of a session, one at a time. Zeroed memory, which all ranks have or none.
 * It is not freed where H5Fclose has failed, for the library may still use it. */
struct h5guard {
    struct {
        H5FD_class_t cls; /* the functions of the driver, with a write of ours */
        void *of_mpi[3];  /* those that drivers on MPI have after them */
    } ours;
    const H5FD_class_t *theirs;
    H5FD_t *file; /* NULL: nothing is guarded */
    int doubt;    /* errno that a write has left which reports success; 0: none */
    bool failed;  /* since begin; then the first failure: */
    int sys;      /* errno */
    haddr_t at;   /* first byte */
    size_t len;   /* 0: in pieces, at several places */
    const char *path;
    MPI_File *handle;
    MPI_Info info;
    MPI_Comm comm; /* of the file */
};

/* As weir_mpi_resync, with the hints that HDF5 gives in the calls that this rank skips, for ROMIO
 * compares them between the ranks one by one. Tried with 1.14.5, which gives all hints of the file,
 * and with 1.10.8, which gives those that it was given. */
static inline void h5guard_resync(MPI_File *handle, MPI_Info given)
{
    MPI_Info used = H5_VERSION_GE(1, 14, 5) ? weir_mpi_info_of(handle) : MPI_INFO_NULL;

    weir_mpi_resync(handle, used == MPI_INFO_NULL ? given : used);
    if (used != MPI_INFO_NULL)
        MPI_Info_free(&used);
}

/* Replaces write of the driver, which has moved the data when this returns, or has failed. */
static herr_t h5guard_write(H5FD_t *file, H5FD_mem_t type, hid_t list, haddr_t at, size_t len,
                            const void *buf)
{
    struct h5guard *g = (struct h5guard *)(void *)(uintptr_t)file->cls; /* begins with it */
    int sys = errno;

    errno = 0;
    if (g->theirs->write(file, type, list, at, len, buf) < 0) {
        if (!g->failed) {
            g->sys = weir_mpi_is_io_errno(errno) ? errno : EIO;
            g->at = at;
            g->len = at == 0 && len == 1 ? 0 : len; /* one type of MPI */
        }
        g->failed = true;
        weir_mpi_unlock(g->path);
        h5guard_resync(g->handle, g->info);
        errno = sys;
    } else {
        g->doubt = weir_mpi_is_io_errno(errno) ? errno : g->doubt;
        errno = errno == 0 ? sys : errno;
    }
    return 0;
}

/* Replaces flush of the driver. A collective write of OMPIO that fails on a rank reports success,
 * and MPI_File_sync then returns on that rank while the others wait in it without end. */
static herr_t h5guard_flush(H5FD_t *file, hid_t list, hbool_t closing)
{
    struct h5guard *g = (struct h5guard *)(void *)(uintptr_t)file->cls;
    uint64_t failed;

    if (!closing && !g->failed && g->doubt && !weir_mpi_can_sync()) {
        g->failed = true;
        g->sys = g->doubt;
        g->len = 0;
    }
    failed = g->failed;
    if (!closing)
        weir_mpi_max(g->comm, &failed, 1);
    return failed ? 0 : g->theirs->flush(file, list, closing);
}

/* The library's own struct of a file begins with the public part, and the MPI file follows. NULL
 * where that is not so: then the driver does not know this handle as its own. */
static inline H5FD_t *h5guard_file(MPI_File *handle)
{
    H5FD_t *file = handle ? (H5FD_t *)(void *)handle - 1 : NULL;
    void *same = NULL;

    if (!H5GUARD_KNOWN || !file || file->driver_id != H5FD_MPIO ||
        strcmp(file->cls->name, "mpio") != 0)
        return NULL;
    return file->cls->get_handle(file, H5P_DEFAULT, &same) >= 0 && same == handle ? file : NULL;
}

/* From now on writes to the file never fail for the library. path: for messages. handle: the MPI
 * file below it, NULL: nothing is guarded. info: its hints. Local, but all ranks of comm guard the
 * same call: each flush in it then has one MPI_Allreduce. */
static inline void h5guard_begin(struct h5guard *g, const char *path, MPI_File *handle,
                                 MPI_Info info, MPI_Comm comm)
{
    g->path = path;
    g->handle = handle;
    g->info = info;
    g->comm = comm;
    g->failed = false;
    g->doubt = 0;
    g->file = h5guard_file(g->handle);
    if (!g->file)
        return;
    g->theirs = g->file->cls;
    memcpy(&g->ours, g->theirs, sizeof(g->ours));
    g->ours.cls.write = h5guard_write;
    g->ours.cls.flush = h5guard_flush;
    g->file->cls = &g->ours.cls;
}

/* The call has returned. closes: it closes the file, or has tried to. Local. Returns 0, or -1 and
 * err (WEIR_EIO): a write inside of the call has failed. */
static inline int h5guard_end(struct h5guard *g, bool closes, const char *call,
                              struct weir_err *err)
{
    const char *path = g->path;

    if (g->file && !closes)
        g->file->cls = g->theirs;
    if (closes) { /* a library that could not close the file may write to it until MPI_Finalize */
        g->path = "";
        g->handle = NULL;
    }
    g->file = NULL;
    if (!g->failed)
        return 0;
    errno = g->sys;
    if (g->len == 0)
        return weir_fail(err, WEIR_EIO, "%s '%s'", call, path);
    return weir_fail(err, WEIR_EIO, "%s '%s': write %zu bytes at offset %llu", call, path,
                     g->len, (unsigned long long)g->at);
}
