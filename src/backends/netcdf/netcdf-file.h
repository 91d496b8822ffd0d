/* SPDX-License-Identifier: BSD-3-Clause */
/* netcdf-file.h - an open netCDF-4 file of arrays: opened, flushed and closed in order also when
 * some bytes could not be written */
#pragma once

#include <mpi.h>
#include <hdf5.h>
#include <netcdf.h>

#include "backends/netcdf/netcdf-descriptor.h"
#include "backends/shared/h5guard.h"
#include "backends/shared/nctable.h"
#include "par/io/mpisession.h"

/* The state of a session. */
struct netcdf_state {
    struct weir_mpi_session mpi;
    struct h5guard *guard;
};

/* An open netCDF-4 file. One that is not shared is opened as programs without MPI do. */
struct netcdf_file {
    struct weir_array_file base;
    MPI_Comm comm; /* of its ranks */
    int nc;
    MPI_File *handle; /* below it, or NULL */
    hid_t h5; /* the HDF5 file below it, or H5I_INVALID_HID, and then sys may say why */
    int sys;
    bool failed;   /* something could not be written here; the user of the struct sets it, too */
    bool defining; /* it is new, and in define mode: the header may be changed, data must not */
    uint64_t size; /* of a file that is only read, when it was opened */
};

/* Record the failure rc of a call of the library that began with errno 0: the formatted words, ":
 * ", its own words and the reason of the system. Local. err may be NULL. Returns -1. */
int netcdf_fail(struct weir_err *err, int rc, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Judge such a call that transfers or defines by its result and by the errno that it leaves; f has
 * failed where it wrote. Local. Returns 0, or -1 and err (WEIR_EIO). */
int netcdf_judge(struct netcdf_file *f, int rc, bool wrote, const char *call, struct weir_err *err);

/* As open, close and sync of struct weir_array_ops. A new file is left in define mode. */
int netcdf_file_open(struct weir_array_file *base, unsigned flags, struct weir_err *err);
int netcdf_file_close(struct weir_array_file *base, struct weir_err *err);
int netcdf_file_sync(struct weir_array_file *base, struct weir_err *err);

/* Leave define mode, where dimensions, variables and attributes are made. Collective over the file;
 * a rank may fail alone. */
int netcdf_file_defined(struct netcdf_file *f, struct weir_err *err);

/* Transfers of variable 'id' are collective, or are not, as those of the file. Collective over the
 * file. Returns 0, or -1 and err (WEIR_EIO). */
int netcdf_file_access(struct netcdf_file *f, int id, struct weir_err *err);

/* Arrays in such files. */
extern const struct weir_nc_library netcdf_arrays;
