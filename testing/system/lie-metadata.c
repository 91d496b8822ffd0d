/* SPDX-License-Identifier: BSD-3-Clause */
/* lie-metadata.c - for LD_PRELOAD: calls on items of mdtest that return what was not set, or set nothing
 *
 * LIE   getxattr, readlink: the first byte is another one; chmod: nothing is done, and it claims success */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>

static bool lies(const char *call, const char *path)
{
    const char *lie = getenv("LIE");

    return lie && strcmp(lie, call) == 0 && strstr(path, ".mdtest.");
}

ssize_t getxattr(const char *path, const char *name, void *value, size_t size)
{
    ssize_t (*real)(const char *, const char *, void *, size_t) = dlsym(RTLD_NEXT, "getxattr");
    ssize_t n = real(path, name, value, size);

    if (n > 0 && size > 0 && lies("getxattr", path))
        *(char *)value ^= 1;
    return n;
}

ssize_t readlink(const char *path, char *text, size_t size)
{
    ssize_t (*real)(const char *, char *, size_t) = dlsym(RTLD_NEXT, "readlink");
    ssize_t n = real(path, text, size);

    if (n > 0 && lies("readlink", path))
        *text ^= 1;
    return n;
}

int chmod(const char *path, mode_t mode)
{
    int (*real)(const char *, mode_t) = dlsym(RTLD_NEXT, "chmod");

    return lies("chmod", path) ? 0 : real(path, mode);
}
