/* SPDX-License-Identifier: BSD-3-Clause */
/* hdf5-close.h - the MPI file below an open file: to go on with it and to close it when some bytes
 * could not be written, to ask for its size and hints */
#ifndef WEIR_BACKENDS_HDF5_CLOSE_H
#define WEIR_BACKENDS_HDF5_CLOSE_H

#include "backends/hdf5/hdf5-lib.h"

/* After a collective transfer that failed on this rank: take part in what the library leaves out then
 * and the other ranks, where it went well, wait for. Collective with those. */
void hdf5_catch_up(const struct hdf5_state *st, hid_t file);

/* Does the file reach as far as the furthest rank wrote (*end of this rank, 0: nothing; then of all)? Only
 * for collective writes, whose return codes cannot be trusted. Collective over st->comm. Returns
 * 0, or -1 and err (WEIR_EIO) on every rank. */
int hdf5_check_end(const struct hdf5_state *st, hid_t file, const char *path, uint64_t *end,
                   struct weir_err *err);

/* The hints in effect of an open file, or MPI_INFO_NULL. The caller frees it. Local. */
MPI_Info hdf5_hints(const struct hdf5_state *st, hid_t file);

/* The size of an open file, 0 where the library does not report it. Local. */
uint64_t hdf5_size(const struct hdf5_state *st, hid_t file);

/* Is a file that was read still 'size' bytes long, as it was when it was opened? HDF5 takes for zeros
 * what is not there. Local. Returns 0, or -1 and err (WEIR_EIO). */
int hdf5_check_kept(const struct hdf5_state *st, hid_t file, const char *path, uint64_t size,
                    struct weir_err *err);

/* Has the file system room for what the library writes last, the metadata of that many datasets?
 * Local. Returns 0 (also when it is not known), or -1 and err (WEIR_EIO). */
int hdf5_check_room(const char *path, uint64_t datasets, struct weir_err *err);

/* After a write of 'need' bytes that failed: where the library gives no reason and so little room is
 * left, say that the file system is full. Local. */
void hdf5_explain(const char *path, uint64_t need, struct weir_err *err);

/* May a file of this process be as long as the test's? Where it may not, no sink for hdf5_abandon can
 * be, either. Local. Returns 0, or -1 and err (WEIR_ESETUP). */
int hdf5_check_limit(const struct weir_extent *x, struct weir_err *err);

/* Let the library write what it still has for the file into memory that is thrown away, so that
 * H5Fclose succeeds on a file system that takes nothing. The file itself is no HDF5 file
 * afterwards. Collective over st->comm. Does what it can. */
void hdf5_abandon(const struct hdf5_state *st, hid_t file);

#endif
