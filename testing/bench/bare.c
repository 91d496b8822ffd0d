/* SPDX-License-Identifier: BSD-3-Clause */
/* bare.c - the least that moves the same bytes: a loop of pread or pwrite, or of copies from or to a
 * mapping of the file; prints the seconds of its fastest repetition */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Two loops, so that the direction is not asked for inside. */
static int write_all(int fd, const char *buf, size_t len, long count)
{
    for (long i = 0; i < count; i++)
        if (pwrite(fd, buf, len, (off_t)i * (off_t)len) != (ssize_t)len)
            return -1;
    return 0;
}

static int read_all(int fd, char *buf, size_t len, long count)
{
    for (long i = 0; i < count; i++)
        if (pread(fd, buf, len, (off_t)i * (off_t)len) != (ssize_t)len)
            return -1;
    return 0;
}

static void copy_in(char *map, const char *buf, size_t len, long count)
{
    for (long i = 0; i < count; i++)
        memcpy(map + (size_t)i * len, buf, len);
}

static void copy_out(const char *map, char *buf, size_t len, long count)
{
    for (long i = 0; i < count; i++) {
        memcpy(buf, map + (size_t)i * len, len);
        __asm__ volatile("" : : "r"(buf) : "memory"); /* every copy is made */
    }
}

/* Once through a file that is there. Its seconds, or -1. */
static double run_mapped(const char *path, int writes, void *buf, size_t len, long count)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    char *map = fd < 0 ? MAP_FAILED
                       : mmap(NULL, len * (size_t)count,
                              writes ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd, 0);
    double begin, end;

    if (map == MAP_FAILED)
        return -1;
    begin = now();
    if (writes)
        copy_in(map, buf, len, count);
    else
        copy_out(map, buf, len, count);
    end = now();
    munmap(map, len * (size_t)count);
    close(fd);
    return end - begin;
}

/* The file is new when it is written, as ior's is. */
static int open_file(const char *path, int writes)
{
    if (!writes)
        return open(path, O_RDONLY | O_CLOEXEC);
    unlink(path);
    return open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0664);
}

/* Once through the file. Its seconds, or -1. */
static double run_once(const char *path, int writes, void *buf, size_t len, long count)
{
    double begin, end;
    int fd = open_file(path, writes);
    int rc;

    if (fd < 0)
        return -1;
    MPI_Barrier(MPI_COMM_WORLD);
    begin = now();
    rc = writes ? write_all(fd, buf, len, count) : read_all(fd, buf, len, count);
    end = now();
    close(fd);
    if (writes)
        unlink(path);
    return rc < 0 ? -1 : end - begin;
}

static int measure(const char *path, const char *access, size_t len, long count, long repeats)
{
    int mapped = strncmp(access, "mapped-", 7) == 0;
    int writes = access[mapped ? 7 : 0] == 'w';
    double best = -1;
    void *buf;

    if (posix_memalign(&buf, 4096, len) != 0)
        return 1;
    memset(buf, 7, len);
    for (; repeats > 0; repeats--) {
        double seconds = mapped ? run_mapped(path, writes, buf, len, count)
                                : run_once(path, writes, buf, len, count);

        if (seconds < 0) {
            perror(path);
            break;
        }
        if (best < 0 || seconds < best)
            best = seconds;
    }
    free(buf);
    printf("%.9f\n", best);
    return repeats > 0 || best < 0;
}

int main(int argc, char **argv)
{
    int rc = 1;

    MPI_Init(&argc, &argv);
    if (argc == 6)
        rc = measure(argv[2], argv[1], strtoul(argv[3], NULL, 10), strtol(argv[4], NULL, 10),
                     strtol(argv[5], NULL, 10));
    else
        fprintf(stderr, "usage: bare [mapped-]write|read PATH BYTES COUNT REPETITIONS\n");
    MPI_Finalize();
    return rc;
}
