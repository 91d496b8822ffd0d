/* SPDX-License-Identifier: BSD-3-Clause */
/* mpisession.h - what a session keeps of the MPI-IO library below its backend, and names of files
 * for libraries that read the name of a driver before a ':' */
#ifndef WEIR_PAR_IO_MPISESSION_H
#define WEIR_PAR_IO_MPISESSION_H

#include <limits.h>
#include <mpi.h>
#include <stdbool.h>

#include "base/err.h"
#include "base/log.h"
#include "par/comm.h"

/* ---- names ---- */

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

/* ---- a session ---- */

/* First member of the private state of a backend on MPI-IO: namespace operations rely on it. */
struct weir_mpi_session {
    MPI_Info info; /* the hints given; valid when has_info */
    bool has_info;
    bool limited;   /* a rank may make files of a certain length only (RLIMIT_FSIZE) */
    bool warned;    /* of an errno that hid nothing */
    int comm_errno; /* weir_mpi_comm_errno; 0 where nobody needs it */
    enum weir_mpi_drivers drivers;
};

/* Read the hints of the environment and of hints_file (NULL: none); with 'messages' also find out
 * which errno messages leave. Errors of MPI_File_open are returned from now on. Collective over
 * par->comm. Returns 0, or -1 and err on every rank; call weir_mpi_session_end in both cases. */
int weir_mpi_session_begin(struct weir_mpi_session *m, const struct weir_par *par,
                           const struct weir_log *log, const char *hints_file, bool messages,
                           struct weir_err *err);

void weir_mpi_session_end(struct weir_mpi_session *m);

/* MPI_File_delete. Local. Returns 0, or -1 and err (WEIR_EIO). */
int weir_mpi_delete(struct weir_mpi_session *m, const char *path, struct weir_err *err);

#endif
