/* SPDX-License-Identifier: BSD-3-Clause */
/* mpins.c - the removal of files that MPI-IO opens */
#include "backends/shared/mpins.h"

#include "par/io/mpifile.h"
#include "par/io/mpisession.h"

int weir_mpi_delete(struct weir_session *s, const char *path, struct weir_err *err)
{
    struct weir_mpi_session *m = s->priv; /* its first member */
    char text[WEIR_MPI_NAME_TEXT];
    const char *name = weir_mpi_name(&m->drivers, path, text, err);
    int rc;

    if (!name)
        return -1;
    if (m->remove)
        return m->remove(m, path, err);
    rc = MPI_File_delete(name, MPI_INFO_NULL);
    if (rc != MPI_SUCCESS)
        return weir_mpi_fail(err, WEIR_EIO, rc, "MPI_File_delete '%s'", path);
    return 0;
}
