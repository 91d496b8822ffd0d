/* SPDX-License-Identifier: BSD-3-Clause */
/* log-syncs.c - for LD_PRELOAD: a line "sync" in the file SYNC_LOG for every fsync and fdatasync of a
 * file whose name has SYNC_NAME in it */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is_meant(int fd)
{
    const char *part = getenv("SYNC_NAME");
    char link[64], name[4096];
    ssize_t n;

    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    n = readlink(link, name, sizeof(name) - 1);
    name[n > 0 ? n : 0] = '\0';
    return !part || strstr(name, part);
}

static void note(int file)
{
    const char *log = getenv("SYNC_LOG");
    int fd = log && is_meant(file) ? open(log, O_WRONLY | O_CREAT | O_APPEND, 0666) : -1;

    if (fd < 0)
        return;
    if (write(fd, "sync\n", 5) != 5)
        _exit(99);
    close(fd);
}

#define SYNC(NAME) \
    int NAME(int fd) \
    { \
        int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, #NAME); \
        note(fd); \
        return real(fd); \
    }

SYNC(fsync)
SYNC(fdatasync)
