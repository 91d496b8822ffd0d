/* SPDX-License-Identifier: BSD-3-Clause */
/* far-readdir.c - for LD_PRELOAD: each name of a directory takes FAR_USEC microseconds, and the type
 * of it is not known, as in a directory that is far away */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct dirent *readdir(DIR *d)
{
    struct dirent *(*real)(DIR *);
    void *at = dlsym(RTLD_NEXT, "readdir");
    struct dirent *e;

    memcpy(&real, &at, sizeof(real));
    usleep((useconds_t)strtoul(getenv("FAR_USEC"), NULL, 10));
    e = real(d);
    if (e)
        e->d_type = DT_UNKNOWN;
    return e;
}
