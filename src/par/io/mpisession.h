/* SPDX-License-Identifier: BSD-3-Clause */
/* mpisession.h - what a session keeps of the MPI-IO library below its backend */
#ifndef WEIR_PAR_IO_MPISESSION_H
#define WEIR_PAR_IO_MPISESSION_H

#include <mpi.h>
#include <stdbool.h>

#include "base/err.h"
#include "base/log.h"
#include "par/comm.h"
#include "par/io/mpiname.h"

/* First member of the private state of a backend on MPI-IO: namespace operations rely on it. */
struct weir_mpi_session {
    MPI_Info info; /* the hints given; valid when has_info */
    bool has_info;
    bool limited;   /* a rank may make files of a certain length only (RLIMIT_FSIZE) */
    bool warned;    /* of an errno that hid nothing */
    int comm_errno; /* that messages between ranks leave here when all is well; 0: none, or nobody needs it */
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
