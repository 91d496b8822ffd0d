/* SPDX-License-Identifier: BSD-3-Clause */
/* mpins.c - names of files that MPI-IO opens */
#include "backends/shared/mpins.h"

#include "backends/shared/posixns.h"
#include "par/io/mpifile.h"
#include "par/io/mpisession.h"

static int make_dir(struct weir_session *s, const char *path, unsigned mode, struct weir_err *err)
{
    return weir_posix_ns.mkdir(s, weir_mpi_path(path), mode, err);
}

static int remove_dir(struct weir_session *s, const char *path, struct weir_err *err)
{
    return weir_posix_ns.rmdir(s, weir_mpi_path(path), err);
}

static int delete_file(struct weir_session *s, const char *path, struct weir_err *err)
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

static int stat_name(struct weir_session *s, const char *path, struct weir_err *err)
{
    return weir_posix_ns.stat(s, weir_mpi_path(path), err);
}

static int name_exists(struct weir_session *s, const char *path, bool *yes, struct weir_err *err)
{
    return weir_posix_ns.exists(s, weir_mpi_path(path), yes, err);
}

static int file_size(struct weir_session *s, const char *path, uint64_t *bytes,
                     struct weir_err *err)
{
    return weir_posix_ns.size(s, weir_mpi_path(path), bytes, err);
}

static int usage(struct weir_session *s, const char *path, struct weir_fs_usage *u,
                 struct weir_err *err)
{
    return weir_posix_ns.usage(s, weir_mpi_path(path), u, err);
}

static int sync_fs(struct weir_session *s, const char *path, struct weir_err *err)
{
    return weir_posix_ns.syncfs(s, weir_mpi_path(path), err);
}

const char *weir_system_path(const struct weir_backend *be, const char *path)
{
    return be->flags & WEIR_BE_OBJECTS     ? NULL
           : be->flags & WEIR_BE_NEEDS_MPI ? weir_mpi_path(path)
                                           : path;
}

const struct weir_ns weir_mpi_ns = {
    .ordinary = true,
    .mkdir = make_dir,
    .rmdir = remove_dir,
    .unlink = delete_file,
    .stat = stat_name,
    .exists = name_exists,
    .size = file_size,
    .usage = usage,
    .syncfs = sync_fs,
};
