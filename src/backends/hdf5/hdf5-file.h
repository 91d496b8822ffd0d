/* SPDX-License-Identifier: BSD-3-Clause */
/* hdf5-file.h - the backend HDF5 inside: a session, an open file, and the datasets, types and
 * arrays in it */
#pragma once

#include <hdf5.h>

#include "backends/array.h"
#include "backends/hdf5/hdf5-descriptor.h"
#include "backends/shared/h5guard.h"
#include "par/io/mpidoubt.h"
#include "par/io/mpisession.h"

#define HDF5_TEXT_OF(x) #x
#define HDF5_TEXT(x) HDF5_TEXT_OF(x)
#define HDF5_VERSION                                                                               \
    HDF5_TEXT(H5_VERS_MAJOR) "." HDF5_TEXT(H5_VERS_MINOR) "." HDF5_TEXT(H5_VERS_RELEASE)
#define CHUNK_BYTES_MAX 4294967295u /* of the file format */

/* ---- the state of a session (hdf5-lib.c) ---- */

/* The state of a session: made once, used by every file. */
struct hdf5_state {
    struct weir_mpi_session mpi;
    struct weir_session *s; /* whose it is */
    MPI_Comm comm;   /* of a file */
    bool collective; /* transfers are */
    bool collective_meta; /* and calls about metadata */
    bool serial;     /* files are this rank's alone, and opened without MPI-IO */
    bool fill;       /* new datasets get fill values */
    hid_t access;    /* file access */
    hid_t make;      /* file creation */
    const char *filter; /* of datasets, NULL: none */
    hid_t create;    /* dataset creation */
    hid_t transfer;  /* dataset transfer */
    struct h5guard *guard;
    bool placed, misplaced; /* a dataset has a place that is known; one is not aligned as asked */
};

/* Record what the innermost entry of the error stack says after the formatted words, and the
 * reason in errno when it is an I/O errno: begin with errno 0. Local. err may be NULL. Returns
 * -1. */
int hdf5_fail(struct weir_err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* True when an entry of the error stack has this minor number (H5E_WRITEERROR ...). Local. */
bool hdf5_failed_with(hid_t minor);

/* Turn off the messages of the library, read the hints and make the property lists. Collective
 * over s->par->comm. Returns 0, or -1 and err; call hdf5_state_end in both cases. */
int hdf5_state_begin(struct weir_session *s, struct weir_err *err);

/* Make opens and transfers from now on those of programs without MPI, for a rank that has its files
 * alone. Local. Returns 0, or -1 and err. */
int hdf5_state_go_serial(struct hdf5_state *st, struct weir_err *err);

/* Close everything that is open. */
void hdf5_state_end(struct hdf5_state *st);

/* ---- an open file: opened, flushed and closed in order (hdf5-container.c) ---- */

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

/* Guard a call of the library in which ranks that have written wait for each other: a write that
 * fails does not leave the others waiting (h5guard.h). Local. unguard returns 0, or -1 and err, and
 * then c->failed is set: a write in the call has failed on this rank. */
void hdf5_container_guard(struct hdf5_container *c);
int hdf5_container_unguard(struct hdf5_container *c, const char *call, struct weir_err *err);

/* Write all to stable storage. Collective over st->comm, but a rank may fail alone. */
int hdf5_container_flush(struct hdf5_container *c, struct weir_err *err);

/* Close the file and free what c holds, also after a failure. The caller has closed the objects in
 * the file. Collective over st->comm, but a rank may fail alone. */
int hdf5_container_close(struct hdf5_container *c, struct weir_err *err);

/* Append the text of showHints, where that is asked for. Local. */
void hdf5_container_describe(const struct hdf5_container *c, struct weir_str *out);

/* The hints in effect, or MPI_INFO_NULL. The caller frees them. Local. */
MPI_Info hdf5_container_hints(const struct hdf5_container *c);

/* Add filters to a list for new datasets. Local. Returns 0, or -1 and err (WEIR_EUSAGE): the library
 * does not have one, and err names those that it has; or a value is wrong. */
int hdf5_filters_set(hid_t list, const char *text, struct weir_err *err);

/* Check filters for datasets in chunks of this number of elements (0: not known), which are numbers or
 * records. Local. Returns 0, or -1 and err (WEIR_EUSAGE): as hdf5_filters_set, or szip cannot take
 * them. */
int hdf5_filters_check(const char *text, uint64_t elements, bool numbers, struct weir_err *err);

/* Add the stored bytes of a dataset with filters to the statistics, on one rank. Local. */
void hdf5_filters_count(const struct hdf5_container *c, hid_t dset);

/* An open dataset, and what is selected of it. */
struct hdf5_set {
    hid_t id;        /* negative: none is open */
    hid_t type;      /* of an element in memory */
    hid_t in_file;   /* its dataspace with what is selected */
    hid_t in_memory; /* that of the buffer */
    uint64_t where;  /* its place in the file, 0: unknown or in pieces */
};

/* Initial value of a set: no dataset. */
#define HDF5_NO_SET                                                                                \
    {                                                                                              \
        .id = H5I_INVALID_HID, .type = H5I_INVALID_HID, .in_file = H5I_INVALID_HID,                \
        .in_memory = H5I_INVALID_HID                                                               \
    }

/* Use this dataset from now on, which may be none. Local. */
void hdf5_set_use(struct hdf5_set *set, hid_t id);

/* Write or read what is selected. A rank that fails still meets the others in a collective
 * transfer. Collective over the file when transfers are. Returns 0, or -1 and err. */
int hdf5_set_move(struct hdf5_container *c, const struct hdf5_set *set, enum weir_dir dir,
                  void *buf, int *sys, struct weir_err *err);

/* The name of the library's call, for messages. */
const char *hdf5_set_call(enum weir_dir dir);

/* Close the dataspaces that are open. Local. */
void hdf5_set_close_spaces(struct hdf5_set *set);

/* ---- the datasets of a file of bytes, one for each segment (hdf5-segments.c) ---- */

#define HDF5_ELEMENT 8u /* bytes: datasets are made of 64-bit integers */

/* The datasets of an open file and the selections of a transfer. Embedded in the file. */
struct hdf5_segments {
    struct hdf5_container *c;
    struct hdf5_set set; /* the dataset of segment 'at', when there is one; the spaces are of all */
    hid_t *all;    /* the first ones stay open: those just made, all when opening is collective */
    uint64_t kept; /* of these */
    uint64_t at;
    uint64_t count;
    uint64_t bytes;    /* of one segment */
    uint64_t first;    /* element selected in the file */
    uint64_t picked;   /* elements selected in memory */
    uint64_t transfer; /* elements of a whole transfer */
    uint64_t word;     /* an address for a transfer of 0 bytes */
};

/* Find the geometry of an open file; c must outlive g. Where the file is written, make the
 * datasets that it does not have, and refuse those it has in another shape. With collective
 * metadata open all of them. Collective over the file, but a rank may fail alone. Returns 0, or
 * -1 and err; call hdf5_segments_end in both cases. */
int hdf5_segments_open(struct hdf5_segments *g, struct hdf5_container *c,
                       const struct weir_file *file, struct weir_err *err);

/* Implements xfer of struct weir_backend. */
ssize_t hdf5_segments_xfer(struct hdf5_segments *g, const struct weir_io *io, struct weir_err *err);

/* Add the stored bytes of the datasets to the statistics, and close and free all but the file.
 * Local; collective where opening was. */
void hdf5_segments_end(struct hdf5_segments *g);

/* ---- types of elements as the library has them (hdf5-type.c) ---- */

/* The type in memory, and that of new objects in a file. The caller closes it. Local. Negative and
 * err when it cannot be made. */
hid_t hdf5_type_make(const struct weir_type *type, struct weir_err *err);

/* The simple type that a type in a file stands for; WEIR_ELEMS: none. Local. */
enum weir_elem hdf5_elem_of(hid_t type);

/* ---- arrays are datasets of a file (hdf5-array.c, hdf5-attr.c) ---- */

/* An open file of arrays. */
struct hdf5_arrays {
    struct weir_array_file base;
    struct hdf5_container c;
    hid_t group; /* that was made or opened last; 0 or negative: none is open */
};

/* Implements move_attr of struct weir_array_ops. */
int hdf5_move_attr(struct weir_array_file *base, enum weir_dir dir, const char *object,
                   const struct weir_attr *attr, struct weir_err *err);

extern const struct weir_array_ops hdf5_array_ops;
