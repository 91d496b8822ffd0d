/* SPDX-License-Identifier: BSD-3-Clause */
/* neighbour.c - for LD_PRELOAD: /proc/stat and the counters of block devices are those of a machine
 * on which nothing runs but the tasks, what started them, and a neighbour, who uses the share NEIGHBOUR_CPU
 * of all processors and writes NEIGHBOUR_DISK bytes for each of the tasks; with NEIGHBOUR_GOES until the
 * first wait before a phase, which are sleeps of 50 ms */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double begin, gone; /* 0: the neighbour is there */
static unsigned long long written; /* by the tasks, when it went */

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

__attribute__((constructor)) static void note_begin(void)
{
    begin = now();
}

static double setting(const char *name, double otherwise)
{
    return getenv(name) ? atof(getenv(name)) : otherwise;
}

/* Seconds of the neighbour until now. */
static double lived(void)
{
    return (gone > 0 ? gone : now()) - begin;
}

static FILE *real_open(const char *path, const char *mode)
{
    FILE *(*real)(const char *, const char *);

    *(void **)&real = dlsym(RTLD_NEXT, "fopen");
    return real(path, mode);
}

/* The parent of a process, and its ticks. */
static int look(const char *pid, long *parent, unsigned long long ticks[2])
{
    char path[300], line[1024], *rest = NULL;
    FILE *f;

    snprintf(path, sizeof(path), "/proc/%s/stat", pid);
    if (!(f = real_open(path, "r")))
        return 0;
    if (fgets(line, sizeof(line), f))
        rest = strrchr(line, ')');
    fclose(f);
    return rest && sscanf(rest + 1, " %*c %ld %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", parent, &ticks[0], &ticks[1]) == 3;
}

/* The value of a line of /proc/PID/io. */
static unsigned long long moved(const char *pid, const char *word)
{
    unsigned long long n = 0;
    char path[300], line[100];
    FILE *f;

    snprintf(path, sizeof(path), "/proc/%s/io", pid);
    f = real_open(path, "r");
    while (f && fgets(line, sizeof(line), f))
        if (strncmp(line, word, strlen(word)) == 0)
            n = strtoull(line + strlen(word), NULL, 10);
    if (f)
        fclose(f);
    return n;
}

struct ours {
    unsigned long long ticks[2], read, written;
};

/* The tasks are what our parent has started; and what is above it. */
static struct ours add_ours(void)
{
    struct ours all = { .read = 0 };
    unsigned long long ticks[2];
    struct dirent *e;
    char pid[32];
    long parent;
    DIR *d = opendir("/proc");

    while (d && (e = readdir(d)))
        if (e->d_name[0] >= '1' && e->d_name[0] <= '9' && look(e->d_name, &parent, ticks) && parent == getppid()) {
            all.ticks[0] += ticks[0];
            all.ticks[1] += ticks[1];
            all.read += moved(e->d_name, "read_bytes:");
            all.written += moved(e->d_name, "write_bytes:");
        }
    if (d)
        closedir(d);
    for (long p = getppid(); p > 1; p = parent) {
        snprintf(pid, sizeof(pid), "%ld", p);
        if (!look(pid, &parent, ticks))
            break;
        all.ticks[0] += ticks[0];
        all.ticks[1] += ticks[1];
    }
    return all;
}

int clock_nanosleep(clockid_t id, int flags, const struct timespec *want, struct timespec *left)
{
    int (*real)(clockid_t, int, const struct timespec *, struct timespec *);

    if (want->tv_nsec == 50000000 && gone == 0 && getenv("NEIGHBOUR_GOES")) {
        written = add_ours().written;
        gone = now();
    }
    *(void **)&real = dlsym(RTLD_NEXT, "clock_nanosleep");
    return real(id, flags, want, left);
}

static FILE *text_of(const char *text)
{
    FILE *f = fmemopen(NULL, strlen(text) + 1, "w+");

    if (f) {
        fputs(text, f);
        rewind(f);
    }
    return f;
}

/* All of it on the first processor that we may use: only the sum is read. */
static FILE *processors(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    struct ours all = add_ours();
    double others = setting("NEIGHBOUR_CPU", 0) * lived() * (double)n * (double)sysconf(_SC_CLK_TCK);
    char text[8192] = "";
    size_t len = 0;

    len += (size_t)snprintf(text, sizeof(text), "cpu 1 2 3 4 5 6 7 8 0 0\n");
    for (long i = 0; i < n && len + 200 < sizeof(text); i++)
        len += (size_t)snprintf(text + len, sizeof(text) - len, "cpu%ld %llu 0 %llu 0 0 9 9 0 0 0\n", i,
                                i ? 0 : all.ticks[0] + (unsigned long long)others, i ? 0 : all.ticks[1]);
    return text_of(text);
}

/* Not 0: a device that never moved anything does not count. */
static FILE *device(void)
{
    struct ours all = add_ours();
    char text[200];

    snprintf(text, sizeof(text), "1 0 %llu 0 1 0 %llu 0 0 0 0\n", 1000 + all.read / 512,
             (all.written + (unsigned long long)(setting("NEIGHBOUR_DISK", 0) * (double)(gone > 0 ? written : all.written))) / 512);
    return text_of(text);
}

FILE *fopen(const char *path, const char *mode)
{
    size_t len = strlen(path);

    if (strcmp(path, "/proc/stat") == 0)
        return processors();
    if (strncmp(path, "/sys/class/block/", 17) == 0 && strcmp(path + len - 5, "/stat") == 0)
        return device();
    return real_open(path, mode);
}

FILE *fopen64(const char *path, const char *mode)
{
    return fopen(path, mode);
}
