/* SPDX-License-Identifier: BSD-3-Clause */
/* hdf5-close.h - the MPI file that HDF5 uses for an open file: its size and hints, and what is
 * needed to continue and to close after bytes could not be written */
#ifndef WEIR_BACKENDS_HDF5_HDF5_CLOSE_H
#define WEIR_BACKENDS_HDF5_HDF5_CLOSE_H

#include "backends/hdf5/hdf5-lib.h"

/* After a collective transfer that failed on this rank: make the collective calls that the library
 * skips after the failure. The other ranks, whose transfer succeeded, wait in them. Collective
 * with those ranks. */
void hdf5_resync(const struct hdf5_state *st, hid_t file);

/* Is the file long enough for what all ranks wrote? end: one past the last byte that a rank wrote,
 * and all have written. Only for collective writes, whose return codes cannot be trusted. Local.
 * Returns 0, or -1 and err (WEIR_EIO). */
int hdf5_check_size(const struct hdf5_state *st, hid_t file, const char *path, uint64_t end,
                    struct weir_err *err);

/* The hints in effect of an open file, or MPI_INFO_NULL. The caller frees it. Local. */
MPI_Info hdf5_hints(const struct hdf5_state *st, hid_t file);

/* The size of an open file, 0 where the library does not report it. Local. */
uint64_t hdf5_size(const struct hdf5_state *st, hid_t file);

/* Is a file that was read still 'size' bytes long, as it was when it was opened? HDF5 returns
 * zeros for bytes that the file no longer has. Local. Returns 0, or -1 and err (WEIR_EIO). */
int hdf5_check_kept(const struct hdf5_state *st, hid_t file, const char *path, uint64_t size,
                    struct weir_err *err);

/* Has the file system room for what the library writes at close, the metadata of that many
 * datasets? Local. Returns 0 (also when it is not known), or -1 and err (WEIR_EIO). */
int hdf5_check_room(const char *path, uint64_t datasets, struct weir_err *err);

/* After a write of 'need' bytes that failed: where the library gives no reason and so little room
 * is left, say that the file system is full. Local. */
void hdf5_explain(const char *path, uint64_t need, struct weir_err *err);

/* Does the limit on file sizes of this process (RLIMIT_FSIZE) allow a file of the length that the
 * test needs? Where it does not, hdf5_abandon could not make its file in memory, either. Local.
 * Returns 0, or -1 and err (WEIR_ESETUP). */
int hdf5_check_limit(const struct weir_extent *x, struct weir_err *err);

/* Redirect what the library still has to write to the file into memory that is then freed, so that
 * H5Fclose succeeds on a file system that accepts no more data. The file itself is not a valid
 * HDF5 file afterwards. Collective over st->comm. Errors are ignored. */
void hdf5_abandon(const struct hdf5_state *st, hid_t file);

#endif
