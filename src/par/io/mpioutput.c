/* SPDX-License-Identifier: BSD-3-Clause */
/* mpioutput.c - a file of results that all ranks write together */
#include "par/io/mpioutput.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "par/agree.h"
#include "par/io/mpifile.h"

static int try_open(const char *path, struct weir_err *err)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);

    if (fd < 0)
        return weir_fail(err, WEIR_ESETUP, "open '%s'", path);
    close(fd);
    return 0;
}

static int open_file(struct weir_mpi_output *out, const char *name, struct weir_err *err)
{
    int rc;

    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN); /* what MPI_File_open obeys */
    rc = MPI_File_open(out->par->comm, name, MPI_MODE_WRONLY, MPI_INFO_NULL, &out->file);
    if (rc != MPI_SUCCESS)
        return weir_mpi_fail(err, WEIR_ESETUP, rc, "MPI_File_open '%s'", out->path);
    MPI_File_set_errhandler(out->file, MPI_ERRORS_RETURN);
    out->open = true;
    return 0;
}

int weir_mpi_output_open(struct weir_mpi_output *out, const struct weir_par *par, const char *path,
                         struct weir_err *err)
{
    enum weir_mpi_drivers drivers = WEIR_DRIVERS_UNKNOWN;
    char text[WEIR_MPI_NAME_TEXT];
    const char *name = weir_mpi_name(&drivers, path, text, err);

    *out = (struct weir_mpi_output) { .par = par, .path = path };
    if (weir_agree(par, name && try_open(path, err) == 0 ? 0 : -1, err) < 0)
        return -1;
    if (weir_agree(par, open_file(out, name, err), err) == 0)
        return 0;
    out->open = false; /* a rank that has it could only close it with the others */
    return -1;
}

int weir_mpi_output_write(struct weir_mpi_output *out, uint64_t at, const void *buf, size_t len,
                          struct weir_err *err)
{
    int written = 0, rc, sys;
    MPI_Status status;

    errno = 0;
    rc = MPI_File_write_at(out->file, (MPI_Offset)at, buf, (int)len, MPI_BYTE, &status);
    sys = weir_mpi_is_io_errno(errno) ? errno : 0;
    if (rc != MPI_SUCCESS) {
        weir_mpi_fail(err, WEIR_ESETUP, rc, "write %zu bytes at offset %llu of '%s'", len,
                      (unsigned long long)at, out->path);
        return weir_mpi_add_reason(err, sys, 0);
    }
    /* Some report success and a count that is short. */
    if (MPI_Get_count(&status, MPI_BYTE, &written) == MPI_SUCCESS && (size_t)written == len)
        return 0;
    weir_refuse(err, WEIR_ESETUP, "write %zu bytes at offset %llu of '%s': only %d were written",
                len, (unsigned long long)at, out->path, written < 0 ? 0 : written);
    return weir_mpi_add_reason(err, sys ? sys : weir_mpi_space(out->path) == 0 ? ENOSPC : 0, 0);
}

int weir_mpi_output_close(struct weir_mpi_output *out, bool keep, struct weir_err *err)
{
    int rc = MPI_SUCCESS, closed;

    if (!out->open)
        return 0;
    out->open = false;
    if (keep)
        rc = MPI_File_sync(out->file);
    if (rc != MPI_SUCCESS)
        weir_mpi_fail(err, WEIR_ESETUP, rc, "MPI_File_sync '%s'", out->path);
    closed = MPI_File_close(&out->file);
    if (rc == MPI_SUCCESS && closed != MPI_SUCCESS)
        return weir_mpi_fail(err, WEIR_ESETUP, closed, "MPI_File_close '%s'", out->path);
    return rc == MPI_SUCCESS ? 0 : -1;
}
