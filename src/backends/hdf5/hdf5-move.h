/* SPDX-License-Identifier: BSD-3-Clause */
/* hdf5-move.h - data into and out of a dataset, and the fill values of a new one */
#ifndef WEIR_BACKENDS_HDF5_HDF5_MOVE_H
#define WEIR_BACKENDS_HDF5_HDF5_MOVE_H

#include "backends/hdf5/hdf5-segments.h"
#include "par/io/mpidoubt.h"

/* Write or read what is selected in g. Where the call succeeds but leaves an errno, the bytes in
 * the file are compared, those of collective writes at close (they are noted in d; NULL: nothing
 * can be compared, so it is an error). Where the transfer is collective a rank that fails still
 * meets the others. Collective over the file when transfers are. Returns 0, or -1 and err; then
 * *sys is the errno. */
int hdf5_move(const struct hdf5_state *st, const struct hdf5_segments *g, hid_t dset,
              enum weir_dir dir, void *buf, int *sys, struct weir_mpi_doubt *d,
              struct weir_err *err);

/* Write zeros into all of a new dataset, each rank its block. The library would do that for
 * chunked datasets while it makes them, but when it fails there on one rank, the others wait for
 * ever. Collective over the file, but a rank may fail alone. Returns 0, or -1 and err. */
int hdf5_fill(const struct hdf5_state *st, struct hdf5_segments *g, hid_t dset,
              struct weir_err *err);

#endif
