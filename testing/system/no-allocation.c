/* SPDX-License-Identifier: BSD-3-Clause */
/* no-allocation.c - for LD_PRELOAD: a file system without fallocate; with NO_POPULATE a system
 * without MADV_POPULATE, too */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/types.h>

#define POPULATE_READ 22
#define POPULATE_WRITE 23

int fallocate(int fd, int mode, off_t from, off_t len)
{
    (void)fd;
    (void)mode;
    (void)from;
    (void)len;
    errno = EOPNOTSUPP;
    return -1;
}

int madvise(void *start, size_t len, int advice)
{
    int (*real)(void *, size_t, int);

    if (getenv("NO_POPULATE") && (advice == POPULATE_READ || advice == POPULATE_WRITE)) {
        errno = EINVAL;
        return -1;
    }
    *(void **)&real = dlsym(RTLD_NEXT, "madvise");
    return real(start, len, advice);
}
