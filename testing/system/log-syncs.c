/* SPDX-License-Identifier: BSD-3-Clause */
/* log-syncs.c - for LD_PRELOAD: a line "sync" in the file SYNC_LOG for every fsync and fdatasync */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static void note(void)
{
    const char *log = getenv("SYNC_LOG");
    int fd = log ? open(log, O_WRONLY | O_CREAT | O_APPEND, 0666) : -1;

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
        note(); \
        return real(fd); \
    }

SYNC(fsync)
SYNC(fdatasync)
