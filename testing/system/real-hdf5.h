/* SPDX-License-Identifier: BSD-3-Clause */
/* real-hdf5.h - for preloaded libraries: the functions of HDF5, or of another library, themselves. The library came with a plugin,
 * so that RTLD_NEXT does not find it. Define _GNU_SOURCE first. */
#ifndef TESTING_SYSTEM_REAL_HDF5_H
#define TESTING_SYSTEM_REAL_HDF5_H

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <string.h>

struct search {
    const char *word, *path;
};

static int find(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct search *s = arg;

    (void)size;
    if (!strstr(info->dlpi_name, s->word) || strstr(info->dlpi_name, "_hl"))
        return 0;
    s->path = info->dlpi_name;
    return 1;
}

/* Of the library with that word in its name. NULL where it is not loaded. */
static inline void *real_in(const char *word, const char *name)
{
    struct search s = { word, NULL };
    void *library;

    dl_iterate_phdr(find, &s);
    library = s.path ? dlopen(s.path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    return library ? dlsym(library, name) : NULL;
}

static inline void *real(const char *name)
{
    return real_in("libhdf5", name);
}

#endif
