/* SPDX-License-Identifier: BSD-3-Clause */
/* hdf5-segments.h - the datasets of a file: one for each segment */
#ifndef WEIR_BACKENDS_HDF5_HDF5_SEGMENTS_H
#define WEIR_BACKENDS_HDF5_HDF5_SEGMENTS_H

#include "backends/hdf5/hdf5-container.h"

#define HDF5_ELEMENT 8u /* bytes: datasets are made of 64-bit integers */

/* The datasets of an open file and the selections of a transfer. Embedded in the file. */
struct hdf5_segments {
    const struct hdf5_container *c;
    struct hdf5_set set; /* the dataset of segment 'at', when there is one; the spaces are of all */
    hid_t *all;    /* the first ones stay open: those just made, all when opening is collective */
    uint64_t kept; /* of these */
    uint64_t at;
    uint64_t count;
    uint64_t bytes;    /* of one segment */
    uint64_t first;    /* element selected in the file */
    uint64_t picked;   /* elements selected in memory */
    uint64_t transfer; /* elements of a whole transfer */
};

/* Set up for the geometry of an open file; c must outlive g. Local. Returns 0, or -1 and err; call
 * hdf5_segments_end in both cases. */
int hdf5_segments_begin(struct hdf5_segments *g, const struct hdf5_container *c,
                        const struct weir_file *file, struct weir_err *err);

/* Make the datasets that the file does not have, with fill values where those are wanted, and
 * refuse those it has in another shape. Collective over the file. Ends early on all ranks when one
 * has failed, in hdf5_segments_begin, too; the others return 0. */
int hdf5_segments_create(struct hdf5_segments *g, struct weir_err *err);

/* Open all datasets now: for files on which opening a dataset is collective (collective metadata).
 * Collective over the file. */
int hdf5_segments_open_all(struct hdf5_segments *g, struct weir_err *err);

/* The dataset of a segment, kept open until another one is asked for. Local. Negative and err
 * when it cannot be opened or is shorter than a segment. */
hid_t hdf5_segments_get(struct hdf5_segments *g, uint64_t segment, struct weir_err *err);

/* Select n elements from element 'first' of a dataset on, and as many in memory; none when n is
 * 0. Local. */
int hdf5_segments_select(struct hdf5_segments *g, uint64_t first, uint64_t n, struct weir_err *err);

/* Write or read what is selected. Where the call succeeds but leaves an errno, the bytes in the file
 * are compared, those of collective writes at close (they are noted in d; NULL: nothing can be
 * compared, so it is an error). *sys gets the errno. Collective over the file when transfers are.
 * Returns 0, or -1 and err. */
int hdf5_segments_move(struct hdf5_segments *g, hid_t dset, enum weir_dir dir, void *buf, int *sys,
                       struct weir_mpi_doubt *d, struct weir_err *err);

/* Close and free everything but the file. Local; collective where opening was. */
void hdf5_segments_end(struct hdf5_segments *g);

#endif
