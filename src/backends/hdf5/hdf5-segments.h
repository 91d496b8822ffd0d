/* SPDX-License-Identifier: BSD-3-Clause */
/* hdf5-segments.h - the datasets of a file: one for each segment */
#ifndef WEIR_BACKENDS_HDF5_HDF5_SEGMENTS_H
#define WEIR_BACKENDS_HDF5_HDF5_SEGMENTS_H

#include "backends/hdf5/hdf5-container.h"

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

/* Know the geometry of an open file; c must outlive g. Of a file that is written make the datasets
 * that it does not have, and refuse those it has in another shape; with collective metadata open all
 * of them. Collective over the file, but a rank may fail alone. Returns 0, or -1 and err; call
 * hdf5_segments_end in both cases. */
int hdf5_segments_open(struct hdf5_segments *g, struct hdf5_container *c,
                       const struct weir_file *file, struct weir_err *err);

/* As xfer of struct weir_backend. */
ssize_t hdf5_segments_xfer(struct hdf5_segments *g, const struct weir_io *io, struct weir_err *err);

/* Close and free everything but the file. Local; collective where opening was. */
void hdf5_segments_end(struct hdf5_segments *g);

#endif
