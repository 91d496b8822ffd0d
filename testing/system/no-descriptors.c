/* SPDX-License-Identifier: BSD-3-Clause */
/* no-descriptors.c - for LD_PRELOAD: while a plugin of weir is loaded, no file can be opened */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
#include <sys/resource.h>

void *dlopen(const char *name, int flags)
{
    void *(*real)(const char *, int);
    struct rlimit usual, none;
    void *plugin;

    *(void **)&real = dlsym(RTLD_NEXT, "dlopen");
    if (!name || !strstr(name, "weir-"))
        return real(name, flags);
    getrlimit(RLIMIT_NOFILE, &usual);
    none = (struct rlimit) { .rlim_cur = 0, .rlim_max = usual.rlim_max };
    setrlimit(RLIMIT_NOFILE, &none);
    plugin = real(name, flags);
    setrlimit(RLIMIT_NOFILE, &usual);
    return plugin;
}
