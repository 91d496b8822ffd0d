/* SPDX-License-Identifier: BSD-3-Clause */
/* shift-clock.c - for LD_PRELOAD: the monotonic clocks of rank SHIFT_RANK go SHIFT_SECONDS ahead,
 * as on another host */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int shift(void)
{
    static const char *const names[] = { "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK" };
    const char *rank = getenv("SHIFT_RANK"), *seconds = getenv("SHIFT_SECONDS");

    for (size_t i = 0; rank && seconds && i < sizeof(names) / sizeof(*names); i++)
        if (getenv(names[i]))
            return strcmp(getenv(names[i]), rank) == 0 ? atoi(seconds) : 0;
    return 0;
}

int clock_gettime(clockid_t id, struct timespec *now)
{
    static int (*real)(clockid_t, struct timespec *);
    static int by, known;
    int rc;

    if (!real)
        real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    if (!known) {
        by = shift();
        known = 1;
    }
    rc = real(id, now);
    if (rc == 0 && (id == CLOCK_MONOTONIC || id == CLOCK_MONOTONIC_RAW))
        now->tv_sec += by;
    return rc;
}
