/* SPDX-License-Identifier: BSD-3-Clause */
/* hdf5-set.h - an open dataset, what is selected of it, and the transfer of that */
#ifndef WEIR_BACKENDS_HDF5_HDF5_SET_H
#define WEIR_BACKENDS_HDF5_HDF5_SET_H

#include "backends/hdf5/hdf5-container.h"

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
