/* SPDX-License-Identifier: BSD-3-Clause */
/* mpifile.h - what the backends whose files go through MPI-IO share */
#pragma once

#include <limits.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "par/agree.h"

/* ---- names, which libraries may read with the name of a driver before a ':' ---- */

#define WEIR_MPI_NAME_TEXT (PATH_MAX + 16)

/* State: whether MPI_File_open reads drivers ("ufs:"). Found out once, when a name needs it.
 * Zero-initialise. */
enum weir_mpi_drivers { WEIR_DRIVERS_UNKNOWN, WEIR_DRIVERS_READ, WEIR_DRIVERS_NOT_READ };

/* The name that the operating system knows: path without a driver of ROMIO at its beginning
 * ("ufs:", "lustre:" ...). A file whose name begins with one is meant with "./" before it. Local.
 * Points into path. */
const char *weir_mpi_path(const char *path);

/* True when the library is ROMIO, which reads drivers. Local; opens a file of its own in memory
 * when *drivers is not known yet. */
bool weir_mpi_is_romio(enum weir_mpi_drivers *drivers);

/* The name of the file of weir_mpi_path(path) for MPI_File_open and its relatives, so that no
 * library takes a part of it for a driver: ROMIO gets "ufs:" where the name has another ':' and
 * the user chose no driver; OMPIO, which reads none, never gets one. Local; opens a file of its
 * own in memory when *drivers is not known yet. A name without '/' gets "./", and a relative one
 * "/proc/self/cwd/" where the working directory has no name. Returns path, a part of it, or text.
 * NULL and err (WEIR_EUSAGE) when it is too long. */
const char *weir_mpi_name(enum weir_mpi_drivers *drivers, const char *path,
                          char text[WEIR_MPI_NAME_TEXT], struct weir_err *err);

/* ---- errors, and the file itself ---- */

/* Record the failure mpi_rc of an MPI call: the formatted words, ": " and MPI_Error_string.
 * err->sys gets the errno that comes closest, 0 when there is none. Local. err may be NULL.
 * Returns -1. */
int weir_mpi_fail(struct weir_err *err, enum weir_code code, int mpi_rc, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* True when sys is an errno that only a failed operation on a file leaves. Local. */
bool weir_mpi_is_io_errno(int sys);

/* After a call has failed (err is filled): append the reason of the system, sys, unless err has
 * it already, or sys is comm_errno (of the session). Local. Returns -1. */
int weir_mpi_add_reason(struct weir_err *err, int sys, int comm_errno);

/* Open the file for weir_fsync. Local. Returns a descriptor, which the caller closes, or -1 and
 * err (WEIR_EIO). */
int weir_mpi_open_to_sync(const char *path, struct weir_err *err);

/* Open the file and sync it for ourselves: after a library that does not sync, or whose sync was
 * interrupted on this rank, of which the others may know nothing. Local. Returns 0, or -1 and err
 * (WEIR_EIO). */
int weir_mpi_sync_file(const char *path, struct weir_err *err);

/* Sync a file with MPI_File_sync, or where a signal interrupted it weir_mpi_sync_file. comm_errno:
 * of the session. Collective as the handle is. Returns 0, or -1 and err (WEIR_EIO). */
int weir_mpi_sync(MPI_File file, const char *path, int comm_errno, struct weir_err *err);

/* Give up this process's locks on the file: ROMIO keeps the one of a write that failed, and other
 * ranks wait for it without end. Local. */
void weir_mpi_unlock(const char *path);

/* After a collective transfer of HDF5 that failed on this rank: make the collective calls that the
 * library skips after the failure. The other ranks, whose transfer succeeded, wait in them.
 * handle: the MPI file of the HDF5 file (NULL: does nothing). Collective with those ranks. */
void weir_mpi_resync(MPI_File *handle, MPI_Info info);

/* Check that the limit on file sizes of this process (RLIMIT_FSIZE) allows 'need' bytes.
 * format: for the message. Local. Returns 0, or -1 and err (WEIR_ESETUP). */
int weir_mpi_check_limit(const char *format, uint64_t need, struct weir_err *err);

/* True on rank 0 of comm, which asks the file system for all. Local. */
bool weir_mpi_is_first(MPI_Comm comm);

/* The size of the file as rank 0 sees it, 0 when there is none. Collective over comm. */
uint64_t weir_mpi_size(MPI_Comm comm, const char *path);

/* Bytes that are free on the file system of path, UINT64_MAX where that is not known. Local. */
uint64_t weir_mpi_space(const char *path);

/* Check that 'need' bytes are free there, for the metadata that a library still has to write to
 * the file. Local. Returns 0, also where that is not known, or -1 and err (WEIR_EIO). */
int weir_mpi_check_space(const char *path, uint64_t need, struct weir_err *err);

/* Check that the file is long enough for what all ranks of comm wrote. *end: one past the last
 * byte that this rank wrote; 0: it wrote nothing; UINT64_MAX: it has failed and reports why, so
 * nothing is judged. On return it is the maximum over the ranks. For collective writes, whose
 * return codes and counts can look like success on a full disk. Collective over comm. Returns
 * 0, or -1 and err (WEIR_EIO). */
int weir_mpi_check_end(MPI_Comm comm, MPI_File file, const char *path, uint64_t *end,
                       struct weir_err *err);

/* The second half of it, where 'end' is the maximum already and all have written. Local. */
int weir_mpi_check_size(MPI_File file, const char *path, uint64_t end, struct weir_err *err);

/* The errors of a file that is too short: path, its size and the needed size (%llu), a reason. */
#define WEIR_MPI_TRUNCATED                                                                         \
    "'%s' has only %llu bytes, but %llu are expected: another process truncated the file"
#define WEIR_MPI_SHORT "'%s' has only %llu bytes after writing up to byte %llu (%s)"

/* Check that a file that was read still has the 'need' bytes that it was read up to. Where it
 * was cut short since, a library may hand out what happens to be in memory, or zeros. file
 * NULL: it was opened without MPI-IO. Local. Returns 0, or -1 and err (WEIR_EIO). */
int weir_mpi_check_kept(const MPI_File *file, const char *path, uint64_t need,
                        struct weir_err *err);

/* Redirect what a library still has to write to a file into memory that is then freed. The
 * library would crash after an error without this. *handle, the library's own handle, becomes
 * another file. Nothing happens when handle is NULL on some rank. Collective over comm. Other
 * errors are ignored.
 *
 * Returns 0, or -1 on all ranks when MPI_File_sync fails on one of them, for any file. A failed
 * collective write of OMPIO leaves a request that never completes; then no file can be synced.
 * A library that syncs in its close would leave the other ranks waiting there. */
int weir_mpi_sink(MPI_Comm comm, MPI_File *handle);

/* False when MPI_File_sync fails on this rank for any file, as weir_mpi_sink finds out. Local. */
bool weir_mpi_can_sync(void);
