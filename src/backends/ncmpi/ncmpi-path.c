/* SPDX-License-Identifier: BSD-3-Clause */
/* ncmpi-path.c - checks of a file without the library: its name, its size, and whether all bytes
 * can be in it */
#include "backends/ncmpi/ncmpi-path.h"
#include "config.h"

#include <errno.h>
#include <string.h>

#include "par/io/mpifile.h"

const char *ncmpi_name(struct weir_mpi_session *m, const char *path, char text[WEIR_MPI_NAME_TEXT],
                       struct weir_err *err)
{
    const char *name = weir_mpi_name(&m->drivers, path, text, err);
    const char *colon = name ? strchr(name, ':') : NULL;

    if (!colon || strcmp(colon + 1, weir_mpi_path(path)) == 0)
        return name;
    weir_refuse(err, WEIR_EUSAGE,
                "'%s': PnetCDF takes what stands before ':' for a driver and would use '%s': "
                "choose a name without ':'",
                path, colon + 1);
    return NULL;
}

int ncmpi_check_end(const struct weir_par *par, const char *path, uint64_t *end, uint64_t room,
                    struct weir_err *err)
{
    uint64_t last, size;

    weir_mpi_max(par->comm, end, 1); /* when this returns all have written */
    last = *end;
    size = weir_mpi_size(par->comm, path);
    if (size >= last && (room == 0 || last == 0 || weir_mpi_room(path) >= room))
        return 0;
    if (room == 0)
        return weir_refuse(
            err, WEIR_EIO,
            "'%s' has only %llu bytes, %llu were there to be read: another process cut it short",
            path, (unsigned long long)size, (unsigned long long)last);
    if (size >= last)
        return weir_refuse(err, WEIR_EIO,
                           "the file system of '%s' is full: PnetCDF does not report whether all "
                           "data were written",
                           path);
    return weir_refuse(err, WEIR_EIO, "'%s' has only %llu bytes after writing up to byte %llu (%s)",
                       path, (unsigned long long)size, (unsigned long long)last,
                       weir_mpi_room(path) < room ? strerror(ENOSPC) : "is the file system full?");
}
