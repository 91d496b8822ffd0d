/* SPDX-License-Identifier: BSD-3-Clause */
/* log-metacoll.c - preloaded: appends to the file METACOLL_LOG a line for each file that HDF5 makes or
 * opens: "create WRITE READ" or "open WRITE READ", 1 where metadata are written or read collectively */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int64_t hid;

static int find(struct dl_phdr_info *info, size_t size, void *out)
{
    (void)size;
    if (!strstr(info->dlpi_name, "libhdf5") || strstr(info->dlpi_name, "_hl"))
        return 0;
    *(const char **)out = info->dlpi_name;
    return 1;
}

/* The library came with a plugin, so that RTLD_NEXT does not find it. */
static void *real(const char *name)
{
    const char *path = NULL;
    void *library;

    dl_iterate_phdr(find, &path);
    library = path ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    return library ? dlsym(library, name) : NULL;
}

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
