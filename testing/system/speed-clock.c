/* SPDX-License-Identifier: BSD-3-Clause */
/* speed-clock.c - for LD_PRELOAD: the monotonic clock of rank CLOCK_RANK (of all without it) runs
 * CLOCK_FACTOR times as fast, with 0.01 so slowly that nothing becomes old; and the time of day jumps CLOCK_JUMP seconds with every look at it */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int is_meant(void)
{
    static const char *const names[] = { "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK" };
    const char *rank = getenv("CLOCK_RANK");

    for (size_t i = 0; rank && i < sizeof(names) / sizeof(*names); i++)
        if (getenv(names[i]))
            return strcmp(getenv(names[i]), rank) == 0;
    return !rank;
}

static double number(const char *name)
{
    const char *value = is_meant() ? getenv(name) : NULL;

    return value ? atof(value) : 0;
}

static void hasten(struct timespec *now, double factor)
{
    static long long origin;
    long long ns = now->tv_sec * 1000000000ll + now->tv_nsec;

    if (origin == 0)
        origin = ns;
    ns = origin + (long long)((double)(ns - origin) * factor);
    now->tv_sec = ns / 1000000000;
    now->tv_nsec = ns % 1000000000;
}

int clock_gettime(clockid_t id, struct timespec *now)
{
    static int (*real)(clockid_t, struct timespec *);
    static double factor;
    static int jump, jumped;
    int rc;

    if (!real) {
        factor = number("CLOCK_FACTOR");
        jump = (int)number("CLOCK_JUMP");
        real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    }
    rc = real(id, now);
    if (rc == 0 && factor > 0 && (id == CLOCK_MONOTONIC || id == CLOCK_MONOTONIC_RAW))
        hasten(now, factor);
    if (rc == 0 && jump && id == CLOCK_REALTIME)
        now->tv_sec += jumped += jump;
    return rc;
}
