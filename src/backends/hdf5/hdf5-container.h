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

/* The hints in effect, or MPI_INFO_NULL. The caller frees them. Local. */
MPI_Info hdf5_container_hints(const struct hdf5_container *c);

/* An open dataset, and what is selected of it. */
struct hdf5_set {
    hid_t id;        /* negative: none is open */
    hid_t type;      /* of an element in memory */
    hid_t in_file;   /* its dataspace with what is selected */
    hid_t in_memory; /* that of the buffer */
    uint64_t where;  /* its place in the file, 0: unknown or in pieces */
};

/* No dataset: what a set begins with. */
#define HDF5_NO_SET                                                                                \
    {                                                                                              \
        .id = H5I_INVALID_HID, .type = H5I_INVALID_HID, .in_file = H5I_INVALID_HID,                \
        .in_memory = H5I_INVALID_HID                                                               \
    }

/* This dataset from now on, which may be none. Local. */
void hdf5_set_use(struct hdf5_set *set, hid_t id);

/* Write or read what is selected. Where the transfer is collective a rank that fails still meets
 * the others. *sys gets the errno that the call has left, also with success. Collective over the
 * file when transfers are. Returns 0, or -1 and err. */
int hdf5_set_move(const struct hdf5_container *c, const struct hdf5_set *set, enum weir_dir dir,
                  void *buf, int *sys, struct weir_err *err);

/* The name of the library's call, for messages. */
const char *hdf5_set_call(enum weir_dir dir);

/* Close the dataspaces that are open. Local. */
void hdf5_set_close_spaces(struct hdf5_set *set);

#endif
