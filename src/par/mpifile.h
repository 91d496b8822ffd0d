/* SPDX-License-Identifier: BSD-3-Clause */
/* mpifile.h - what the backends whose files go through MPI-IO share */
#ifndef WEIR_PAR_MPIFILE_H
#define WEIR_PAR_MPIFILE_H

#include <mpi.h>

#include "base/err.h"

/* Record the failure mpi_rc of an MPI call: the formatted words, ": " and MPI_Error_string. err->sys gets the errno that comes
 * closest, 0 when there is none. Local. err may be NULL. Returns -1. */
int weir_mpi_fail(struct weir_err *err, enum weir_code code, int mpi_rc, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* The lowest rc over the ranks of comm, so that all know whether to go on. One reduction, none when comm is a single
 * rank. Collective over comm. */
int weir_mpi_settle(MPI_Comm comm, int rc);

/* The name that the operating system knows: path without a driver prefix of ROMIO ("ufs:", "lustre:" ...), unless a
 * file of the whole name exists. Local. Points into path. */
const char *weir_mpi_path(const char *path);

/* MPI_File_delete. Local. Returns 0, or -1 and err (WEIR_EIO). */
int weir_mpi_delete(const char *path, struct weir_err *err);

#endif
