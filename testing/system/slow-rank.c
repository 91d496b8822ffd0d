/* SPDX-License-Identifier: BSD-3-Clause */
/* slow-rank.c - for LD_PRELOAD: rank SLOW_RANK sleeps SLOW_TIMES (2) times as long as it is told to, and every rank
 * takes 50 ms more for each pwrite after the first FAST_WRITES */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int is_slow(void)
{
    static const char *const names[] = { "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK" };
    const char *rank = getenv("SLOW_RANK");

    for (size_t i = 0; rank && i < sizeof(names) / sizeof(*names); i++)
        if (getenv(names[i]))
            return strcmp(getenv(names[i]), rank) == 0;
    return 0;
}

int clock_nanosleep(clockid_t id, int flags, const struct timespec *want, struct timespec *left)
{
    int (*real)(clockid_t, int, const struct timespec *, struct timespec *);
    int rc, times = getenv("SLOW_TIMES") ? atoi(getenv("SLOW_TIMES")) : 2;

    *(void **)&real = dlsym(RTLD_NEXT, "clock_nanosleep");
    rc = real(id, flags, want, left);
    for (int i = 1; rc == 0 && flags == 0 && is_slow() && i < times; i++)
        rc = real(id, flags, want, left);
    return rc;
}

static ssize_t write_slowly(int fd, const void *buf, size_t len, off_t off)
{
    static long done;
    const char *fast = getenv("FAST_WRITES");

    if (fast && done++ >= atol(fast))
        usleep(50000);
    return syscall(SYS_pwrite64, fd, buf, len, off);
}

ssize_t pwrite(int fd, const void *buf, size_t len, off_t off)
{
    return write_slowly(fd, buf, len, off);
}

ssize_t pwrite64(int fd, const void *buf, size_t len, off64_t off)
{
    return write_slowly(fd, buf, len, off);
}
