/* SPDX-License-Identifier: BSD-3-Clause */
/* real-hdf5.h - for preloaded libraries: the functions of HDF5 themselves. The library came with a plugin, so that RTLD_NEXT
 * does not find it. Define _GNU_SOURCE first. */
#ifndef TESTING_SYSTEM_REAL_HDF5_H
#define TESTING_SYSTEM_REAL_HDF5_H

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <string.h>

static int find(struct dl_phdr_info *info, size_t size, void *out)
{
    (void)size;
    if (!strstr(info->dlpi_name, "libhdf5") || strstr(info->dlpi_name, "_hl"))
        return 0;
    *(const char **)out = info->dlpi_name;
    return 1;
}

/* NULL where HDF5 is not loaded. */
static void *real(const char *name)
{
    const char *path = NULL;
    void *library;

    dl_iterate_phdr(find, &path);
    library = path ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    return library ? dlsym(library, name) : NULL;
}

#endif
