/* SPDX-License-Identifier: BSD-3-Clause */
/* netcdf-file.h - an open netCDF-4 file, whatever is in it: opened, flushed and closed in order
 * also when some bytes could not be written */
#ifndef WEIR_BACKENDS_NETCDF_NETCDF_FILE_H
#define WEIR_BACKENDS_NETCDF_NETCDF_FILE_H

#include <mpi.h>
#include <hdf5.h>
#include <netcdf.h>

#include "backends/array.h"
#include "backends/netcdf/netcdf-descriptor.h"
#include "par/io/mpisession.h"

/* The state of a session. */
struct netcdf_state {
    struct weir_mpi_session mpi; /* first: mpins.h */
    struct weir_session *s;      /* whose it is */
    MPI_Comm comm;               /* of a file */
    bool collective;             /* transfers are */
};

/* Embedded in an open file of the backend. */
struct netcdf_file {
    struct netcdf_state *st;
    const char *path;
    int nc;
    MPI_File *handle; /* below it, or NULL */
    hid_t h5; /* the HDF5 file below it, or H5I_INVALID_HID, and then sys may say why */
    int sys;
    bool writes, fresh;
    bool serial;   /* one rank's, opened without MPI-IO; handle is NULL */
    bool failed;   /* something could not be written here; the user of the struct sets it, too */
    bool defining; /* what is in the file may be changed; data may not */
    uint64_t size; /* of a file that is only read, when it was opened */
    uint64_t vars; /* made since it was opened */
};

/* Record the failure rc of a call of the library that began with errno 0: the formatted words, ":
 * ", its own words and the reason of the system. Local. err may be NULL. Returns -1. */
int netcdf_fail(struct weir_err *err, int rc, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Judge such a call that transfers or defines by its result and by the errno that it leaves; f has
 * failed where it wrote. Local. Returns 0, or -1 and err (WEIR_EIO). */
int netcdf_judge(struct netcdf_file *f, int rc, bool wrote, const char *call, struct weir_err *err);

/* Open st's file; flags as for open in struct weir_backend; bytes: of its data, 0: not known;
 * serial: it is this rank's alone, and opened as programs without MPI do. A new file is left in
 * define mode. Collective over st->comm, and the result is agreed on: 0, or -1 and err. */
int netcdf_file_open(struct netcdf_file *f, struct netcdf_state *st, const char *path,
                     unsigned flags, uint64_t bytes, bool serial, struct weir_err *err);

/* Close a file that was just opened and cannot be used. Collective over st->comm. */
void netcdf_file_drop(struct netcdf_file *f);

/* Enter define mode, where dimensions, variables and attributes can be made; leave it. Collective
 * over st->comm; a rank may fail alone. */
int netcdf_file_define(struct netcdf_file *f, struct weir_err *err);
int netcdf_file_defined(struct netcdf_file *f, struct weir_err *err);

/* Transfers of variable 'id' are collective, or are not, as those of the session. Collective over
 * st->comm. Returns 0, or -1 and err (WEIR_EIO). */
int netcdf_file_access(struct netcdf_file *f, int id, struct weir_err *err);

/* Write all to stable storage; close, also after a failure. Collective over st->comm, but a rank
 * may fail alone. */
int netcdf_file_flush(struct netcdf_file *f, struct weir_err *err);
int netcdf_file_close(struct netcdf_file *f, struct weir_err *err);

/* Arrays in such files. */
extern const struct weir_array_ops netcdf_array_ops;

#endif
