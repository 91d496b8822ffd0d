/* SPDX-License-Identifier: BSD-3-Clause */
/* clock.h - the one clock: CLOCK_MONOTONIC in nanoseconds */
#ifndef WEIR_BASE_CLOCK_H
#define WEIR_BASE_CLOCK_H

#include <errno.h>
#include <stdint.h>
#include <time.h>

#define WEIR_NS_PER_S 1000000000u

/* Nanoseconds since some fixed moment of this host. Local, about 20 ns, never goes back. */
static inline uint64_t weir_now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * WEIR_NS_PER_S + (uint64_t)t.tv_nsec;
}

/* Sleep for the given time, through EINTR. Local. */
static inline void weir_sleep_ns(uint64_t ns)
{
    struct timespec left = {
        .tv_sec = (time_t)(ns / WEIR_NS_PER_S),
        .tv_nsec = (long)(ns % WEIR_NS_PER_S),
    };

    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR) {
        /* a signal: sleep for what is left */
    }
}

#endif
