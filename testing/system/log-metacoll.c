/* SPDX-License-Identifier: BSD-3-Clause */
/* log-metacoll.c - preloaded: appends to the file METACOLL_LOG a line for each file that HDF5 makes or
 * opens: "create WRITE READ" or "open WRITE READ", 1 where metadata are written or read collectively */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "real-hdf5.h"

typedef int64_t hid;

static void note(const char *call, hid access)
{
    int (*get_write)(hid, bool *) = real("H5Pget_coll_metadata_write");
    int (*get_read)(hid, bool *) = real("H5Pget_all_coll_metadata_ops");
    const char *path = getenv("METACOLL_LOG");
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND, 0666) : -1;
    bool writes = false, reads = false;

    if (fd < 0 || !get_write || !get_read)
        abort();
    get_write(access, &writes);
    get_read(access, &reads);
    dprintf(fd, "%s %d %d\n", call, writes, reads);
    close(fd);
}

hid H5Fcreate(const char *path, unsigned flags, hid create, hid access)
{
    hid (*call)(const char *, unsigned, hid, hid) = real("H5Fcreate");

    note("create", access);
    return call(path, flags, create, access);
}

hid H5Fopen(const char *path, unsigned flags, hid access)
{
    hid (*call)(const char *, unsigned, hid) = real("H5Fopen");

    note("open", access);
    return call(path, flags, access);
}
