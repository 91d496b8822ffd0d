/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiname.c - names of files for MPI-IO libraries */
#include "config.h"
#include "par/io/mpiname.h"

#include <fcntl.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>

/* The drivers of ROMIO. */
static const char *const prefixes[] = { "daos:", "gpfs:",   "lustre:", "nfs:", "panfs:", "pvfs2:",
                                        "pvfs:", "testfs:", "ufs:",    "xfs:", NULL };

const char *weir_mpi_path(const char *path)
{
    for (const char *const *p = prefixes; *p; p++) {
        size_t len = strlen(*p);

        if (strncasecmp(path, *p, len) == 0 && path[len] != '\0')
            return path + len;
    }
    return path;
}

/* ROMIO opens the file that follows a driver; for OMPIO the driver is a part of the name, and
 * there is no such file. */
static bool reads_drivers(void)
{
    int fd = memfd_create("weir-name", MFD_CLOEXEC);
    char name[64];
    MPI_File file;
    bool yes = false;

    if (fd < 0)
        return false;
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    if (snprintf(name, sizeof(name), "ufs:/proc/self/fd/%d", fd) < (int)sizeof(name))
        yes = MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file) ==
              MPI_SUCCESS;
    if (yes)
        MPI_File_close(&file);
    close(fd);
    return yes;
}

static const char *join(const char *before, const char *path, char text[WEIR_MPI_NAME_TEXT],
                        struct weir_err *err)
{
    if (snprintf(text, WEIR_MPI_NAME_TEXT, "%s%s", before, path) < WEIR_MPI_NAME_TEXT)
        return text;
    weir_refuse(err, WEIR_EUSAGE, "the name '%.64s...' is longer than %d bytes", path, PATH_MAX);
    return NULL;
}

/* Open MPI 4.1 crashes in MPI_File_open where a name needs the working directory and that has no
 * name: it was removed, or is too deep. */
static bool needs_lost_directory(const char *system)
{
    char text[PATH_MAX];

    return system[0] != '\0' && system[0] != '/' && !getcwd(text, sizeof(text));
}

const char *weir_mpi_name(enum weir_mpi_drivers *drivers, const char *path,
                          char text[WEIR_MPI_NAME_TEXT], struct weir_err *err)
{
    const char *system = weir_mpi_path(path);
    bool colon = strchr(path, ':');

    if (colon && *drivers == WEIR_DRIVERS_UNKNOWN)
        *drivers = reads_drivers() ? WEIR_DRIVERS_READ : WEIR_DRIVERS_NOT_READ;
    if (colon && *drivers == WEIR_DRIVERS_READ)
        return system != path ? path : join("ufs:", path, text, err);
    if (needs_lost_directory(system))
        return join("/proc/self/cwd/", system, text, err);
    /* Open MPI 4.1 cannot open a name of one letter, and libraries look for the directory before
     * the last '/'. */
    if (system[0] != '\0' && !strchr(system, '/'))
        return join("./", system, text, err);
    return system;
}
