/* SPDX-License-Identifier: BSD-3-Clause */
/* log-mpi-files.c - for LD_PRELOAD: append the name of every file that is opened through MPI-IO to the file MPI_FILES */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Open MPI's types are pointers, MPICH's are numbers; both fit. */
int PMPI_File_open(void *comm, const char *name, int mode, void *info, void *file);

int MPI_File_open(void *comm, const char *name, int mode, void *info, void *file)
{
    int fd = getenv("MPI_FILES") ? open(getenv("MPI_FILES"), O_WRONLY | O_CREAT | O_APPEND, 0666) : -1;

    if (fd >= 0) {
        dprintf(fd, "%s\n", name);
        close(fd);
    }
    return PMPI_File_open(comm, name, mode, info, file);
}
