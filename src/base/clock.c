/* SPDX-License-Identifier: BSD-3-Clause */
/* clock.c - sleeping on the one clock */
#include "config.h"
#include "base/clock.h"

#include <errno.h>

void weir_sleep_ns(uint64_t ns)
{
    struct timespec left = {
        .tv_sec = (time_t)(ns / WEIR_NS_PER_S),
        .tv_nsec = (long)(ns % WEIR_NS_PER_S),
    };

    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR) {
        /* a signal: sleep for what is left */
    }
}
