/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiname.h - names of files for MPI-IO libraries, which may read the name of a driver before a ':' */
#ifndef WEIR_PAR_IO_MPINAME_H
#define WEIR_PAR_IO_MPINAME_H

#include <limits.h>

#include "base/err.h"

#define WEIR_MPI_NAME_TEXT (PATH_MAX + 16)

/* Whether MPI_File_open reads drivers ("ufs:"): asked once, when a name needs it.
 * Zero-initialise. */
enum weir_mpi_drivers { WEIR_DRIVERS_UNKNOWN, WEIR_DRIVERS_READ, WEIR_DRIVERS_NOT_READ };

/* The name that the operating system knows: path without a driver of ROMIO at its beginning
 * ("ufs:", "lustre:" ...). A file whose name begins with one is meant with "./" before it. Local.
 * Points into path. */
const char *weir_mpi_path(const char *path);

/* The name of the file of weir_mpi_path(path) for MPI_File_open and its relatives, so that no
 * library takes a part of it for a driver: ROMIO gets "ufs:" where the name has another ':' and
 * the user chose no driver; OMPIO, which reads none, never gets one. Local; opens a file of its
 * own in memory when *drivers is not known yet. A name without '/' gets "./", and a relative one
 * "/proc/self/cwd/" where the working directory has no name. Returns path, a part of it, or text.
 * NULL and err (WEIR_EUSAGE) when it is too long. */
const char *weir_mpi_name(enum weir_mpi_drivers *drivers, const char *path,
                          char text[WEIR_MPI_NAME_TEXT], struct weir_err *err);

#endif
