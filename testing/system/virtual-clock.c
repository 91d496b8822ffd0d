/* SPDX-License-Identifier: BSD-3-Clause */
/* virtual-clock.c - for LD_PRELOAD, one rank: a sleep takes no time, but the monotonic clock moves on by it, and by some ns with
 * each look. The device that sleeps is SLOWER=R times slower for each second of that clock, up to second SLOWER_UNTIL where
 * that is set; with ONLY_EACH=N that is true of each N-th sleep only */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

#define LOOK_NS 25

static double number(const char *name, double none)
{
    const char *value = getenv(name);

    return value ? atof(value) : none;
}

static long long origin, passed; /* ns */

int clock_gettime(clockid_t id, struct timespec *now)
{
    static int (*real)(clockid_t, struct timespec *);
    long long ns;
    int rc;

    if (!real)
        real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    rc = real(id, now);
    if (rc != 0 || (id != CLOCK_MONOTONIC && id != CLOCK_MONOTONIC_RAW))
        return rc;
    if (origin == 0)
        origin = now->tv_sec * 1000000000ll + now->tv_nsec;
    ns = origin + __atomic_add_fetch(&passed, LOOK_NS, __ATOMIC_RELAXED);
    now->tv_sec = ns / 1000000000;
    now->tv_nsec = ns % 1000000000;
    return rc;
}

int clock_nanosleep(clockid_t id, int flags, const struct timespec *want, struct timespec *left)
{
    static long long sleeps, first;
    double s, factor;

    (void)id;
    (void)flags;
    (void)left;
    if (sleeps++ == 0)
        first = passed;
    s = (double)(passed - first) / 1e9;
    factor = s < number("SLOWER_UNTIL", 1e9) ? s : number("SLOWER_UNTIL", 1e9);
    factor = sleeps % (long long)number("ONLY_EACH", 1) == 0 ? 1 + number("SLOWER", 0) * factor : 1;
    __atomic_add_fetch(&passed, (long long)(factor * ((double)want->tv_sec * 1e9 + (double)want->tv_nsec)), __ATOMIC_RELAXED);
    return 0;
}
