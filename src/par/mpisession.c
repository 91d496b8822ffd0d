/* SPDX-License-Identifier: BSD-3-Clause */
/* mpisession.c - what a session keeps of the MPI-IO library below its backend */
#include "config.h"
#include "par/mpisession.h"

#include "par/mpifile.h"
#include "par/mpihints.h"

int weir_mpi_session_begin(struct weir_mpi_session *m, const struct weir_par *par,
                           const struct weir_log *log, const char *hints_file, bool messages,
                           struct weir_err *err)
{
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN); /* what MPI_File_open obeys */
    if (weir_mpihints_read(par, log, hints_file, &m->info, err) < 0)
        return -1;
    m->has_info = true;
    m->comm_errno = messages ? weir_mpi_comm_errno(par->comm) : 0;
    return 0;
}

void weir_mpi_session_end(struct weir_mpi_session *m)
{
    if (m->has_info)
        MPI_Info_free(&m->info);
    m->has_info = false;
}

int weir_mpi_delete(struct weir_mpi_session *m, const char *path, struct weir_err *err)
{
    char text[WEIR_MPI_NAME_TEXT];
    const char *name = weir_mpi_name(&m->drivers, path, text, err);
    int rc;

    if (!name)
        return -1;
    rc = MPI_File_delete(name, MPI_INFO_NULL);
    if (rc != MPI_SUCCESS)
        return weir_mpi_fail(err, WEIR_EIO, rc, "MPI_File_delete '%s'", path);
    return 0;
}
