/* SPDX-License-Identifier: BSD-3-Clause */
/* slow-disk.c - for LD_PRELOAD: each pwrite and pread takes as many microseconds more as the file /run/disk-us of this host
 * says, or DISK_US on a host without one. Sleeping needs no processor: what the machine does beside it hardly counts. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long delay_us(void)
{
    static long us = -1;
    const char *usual = getenv("DISK_US");
    char text[32] = "";
    int fd;

    if (us >= 0)
        return us;
    us = usual ? atol(usual) : 0;
    fd = open("/run/disk-us", O_RDONLY);
    if (fd >= 0 && read(fd, text, sizeof(text) - 1) > 0)
        us = atol(text);
    if (fd >= 0)
        close(fd);
    return us;
}

static void wait_for_disk(void)
{
    long us = delay_us();
    struct timespec t = { us / 1000000, us % 1000000 * 1000 };

    nanosleep(&t, NULL);
}

ssize_t pwrite(int fd, const void *buf, size_t len, off_t off)
{
    wait_for_disk();
    return syscall(SYS_pwrite64, fd, buf, len, off);
}

ssize_t pwrite64(int fd, const void *buf, size_t len, off64_t off)
{
    wait_for_disk();
    return syscall(SYS_pwrite64, fd, buf, len, off);
}

ssize_t pread(int fd, void *buf, size_t len, off_t off)
{
    wait_for_disk();
    return syscall(SYS_pread64, fd, buf, len, off);
}

ssize_t pread64(int fd, void *buf, size_t len, off64_t off)
{
    wait_for_disk();
    return syscall(SYS_pread64, fd, buf, len, off);
}
