/* SPDX-License-Identifier: BSD-3-Clause */
/* hdf5-lib.h - errors from the library's error stack, and the property lists of a session */
#ifndef WEIR_BACKENDS_HDF5_HDF5_LIB_H
#define WEIR_BACKENDS_HDF5_HDF5_LIB_H

#include <hdf5.h>

#include "backends/hdf5/hdf5-descriptor.h"
#include "par/io/mpisession.h"

/* The state of a session: made once, used by every file. */
struct hdf5_state {
    struct weir_mpi_session mpi;
    struct weir_session *s; /* whose it is */
    MPI_Comm comm;   /* of a file */
    bool collective; /* transfers are */
    bool serial;     /* files are this rank's alone, and opened without MPI-IO */
    bool fill;       /* new datasets get fill values */
    hid_t access;    /* file access */
    hid_t create;    /* dataset creation */
    hid_t transfer;  /* dataset transfer */
    bool placed, misplaced; /* a dataset has a place that is known; one is not aligned as asked */
};

/* Record what the innermost entry of the error stack says after the formatted words, and the
 * reason in errno when it is an I/O errno: begin with errno 0. Local. err may be NULL. Returns
 * -1. */
int hdf5_fail(struct weir_err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Has an entry of the error stack this minor number (H5E_WRITEERROR ...)? Local. */
bool hdf5_failed_with(hid_t minor);

/* Turn off the messages of the library, read the hints and make the property lists. Collective
 * over s->par->comm. Returns 0, or -1 and err; call hdf5_state_end in both cases. */
int hdf5_state_begin(struct weir_session *s, struct weir_err *err);

/* From now on files are opened, and transfers made, as in programs without MPI: for one rank that
 * has them alone. Local. Returns 0, or -1 and err. */
int hdf5_state_go_serial(struct hdf5_state *st, struct weir_err *err);

/* Close what is there. */
void hdf5_state_end(struct hdf5_state *st);

#endif
