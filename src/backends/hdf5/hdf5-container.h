/* SPDX-License-Identifier: BSD-3-Clause */
/* hdf5-container.h - an open HDF5 file, whatever is in it: opened, flushed and closed in order
 * also when some bytes could not be written */
#ifndef WEIR_BACKENDS_HDF5_HDF5_CONTAINER_H
#define WEIR_BACKENDS_HDF5_HDF5_CONTAINER_H

#include "backends/hdf5/hdf5-lib.h"
#include "par/io/mpidoubt.h"

/* Embedded in an open file of the backend. */
struct hdf5_container {
    struct hdf5_state *st;
    const char *path;
    hid_t id;
    bool torn;   /* something could not be made here; other ranks may have it */
    bool broken; /* it cannot be closed: the library would crash in its end, or wait */
    bool writes;
    bool fresh;    /* it is new */
    bool failed;   /* something could not be written here; the user of the struct sets it, too */
    uint64_t size; /* of a file that is only read, when it was opened */
    uint64_t end; /* one past the last byte of the file that this rank wrote, where that is known */
    uint64_t piece; /* bytes of a transfer */
    struct weir_mpi_doubt doubt;
    uint64_t datasets; /* made since it was opened */
};

/* Open st's file 'path'; flags as for open in struct weir_backend. extent: zeros where the
 * geometry is not known. Collective over st->comm, and the result is agreed on: 0, or -1 and err. */
int hdf5_container_open(struct hdf5_container *c, struct hdf5_state *st, const char *path,
                        unsigned flags, const struct weir_extent *extent, struct weir_err *err);

/* Close a file that was just opened and cannot be used, without an error. Collective over
 * st->comm. */
void hdf5_container_drop(struct hdf5_container *c);

/* Record that a call which makes something in the file failed: as hdf5_fail, and where errno says
 * that data could not be written, c->failed is set. Local. Returns -1. */
int hdf5_container_fail(struct hdf5_container *c, struct weir_err *err, const char *call);

/* Write all to stable storage. Collective over st->comm, but a rank may fail alone. */
int hdf5_container_flush(struct hdf5_container *c, struct weir_err *err);

/* Close the file and free what c holds, also after a failure. The caller has closed the objects in
 * the file. Collective over st->comm, but a rank may fail alone. */
int hdf5_container_close(struct hdf5_container *c, struct weir_err *err);

/* Append the text of showHints, where that is asked for. Local. */
void hdf5_container_describe(const struct hdf5_container *c, struct weir_str *out);

#endif
