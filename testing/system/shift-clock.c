/* SPDX-License-Identifier: BSD-3-Clause */
/* shift-clock.c - for LD_PRELOAD: the monotonic clocks of rank SHIFT_RANK go SHIFT_SECONDS ahead, as on
 * another host; only after so many sleeps of a tenth of a second and more as SHIFT_AFTER says, where
 * that is set; and SHIFT_PPM too fast */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static long long number(const char *name)
{
    const char *value = getenv(name);

    return value ? atoll(value) : 0;
}

static int is_meant(void)
{
    static const char *const names[] = { "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK" };
    const char *rank = getenv("SHIFT_RANK");

    for (size_t i = 0; rank && i < sizeof(names) / sizeof(*names); i++)
        if (getenv(names[i]))
            return strcmp(getenv(names[i]), rank) == 0;
    return 0;
}

static int sleeps; /* that are over */

int clock_nanosleep(clockid_t id, int flags, const struct timespec *want, struct timespec *left)
{
    int (*real)(clockid_t, int, const struct timespec *, struct timespec *);
    int rc;

    *(void **)&real = dlsym(RTLD_NEXT, "clock_nanosleep");
    rc = real(id, flags, want, left);
    if (want->tv_sec > 0 || want->tv_nsec >= 100000000)
        __atomic_add_fetch(&sleeps, 1, __ATOMIC_RELEASE);
    return rc;
}

int clock_gettime(clockid_t id, struct timespec *now)
{
    static int (*real)(clockid_t, struct timespec *);
    static long long first, seconds, after, ppm;
    static int meant, known;
    long long ns;
    int rc;

    if (!real)
        real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    if (!known) {
        meant = is_meant();
        seconds = number("SHIFT_SECONDS");
        after = number("SHIFT_AFTER");
        ppm = number("SHIFT_PPM");
        known = 1;
    }
    rc = real(id, now);
    if (rc != 0 || !meant || (id != CLOCK_MONOTONIC && id != CLOCK_MONOTONIC_RAW))
        return rc;
    ns = now->tv_sec * 1000000000ll + now->tv_nsec;
    if (first == 0)
        first = ns;
    if (__atomic_load_n(&sleeps, __ATOMIC_ACQUIRE) >= after)
        now->tv_sec += seconds;
    ns = now->tv_nsec + (ns - first) / 1000000 * ppm;
    now->tv_sec += ns / 1000000000;
    now->tv_nsec = ns % 1000000000;
    return rc;
}
