/* SPDX-License-Identifier: BSD-3-Clause */
/* clock.h - the one clock, in nanoseconds: CLOCK_MONOTONIC, or the time-stamp counter */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define WEIR_NS_PER_S 1000000000u

#if defined(__x86_64__) && !defined(WEIR_TICKS) /* a test has a counter of its own */
#define WEIR_TICKS() __builtin_ia32_rdtsc()
#elif !defined(WEIR_TICKS)
#define WEIR_TICKS() ((uint64_t)0) /* never trusted */
#endif

/* The time at a tick of the counter: ns + (tick - line.ticks) * rate / 2^32. */
struct weir_clock_line {
    uint64_t ticks, ns;
    uint64_t rate; /* nanoseconds a tick, times 2^32 */
};

/* The clock of this process. A plugin has its own copy. */
struct weir_clock_source {
    struct weir_clock_source *next; /* the copy of a plugin */
    const struct weir_clock_line *line; /* NULL: the kernel's clock */
    bool trusted; /* the counter tells the time as soon as its rate is known */
    uint64_t ahead_ns; /* added to the kernel's clock: the time does not go back with the line */
};

/* A plugin shows its copy to the program (weir_clock_share). */
extern struct weir_clock_source weir_clock_source __attribute__((visibility("default")));

/* The kernel's clock, ns. Local, about 25 ns. */
static inline uint64_t weir_kernel_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * WEIR_NS_PER_S + (uint64_t)t.tv_nsec;
}

/* The time at this tick, ns; before the begin of the line that of the begin. Local. */
static inline uint64_t weir_line_ns(const struct weir_clock_line *line, uint64_t ticks)
{
    int64_t passed = (int64_t)(ticks - line->ticks);

    return line->ns +
           (uint64_t)(((unsigned __int128)(uint64_t)(passed > 0 ? passed : 0) * line->rate) >> 32);
}

/* Nanoseconds since some fixed moment of this host. Never goes back. The counter is read without a
 * fence: the last 0.1 us of loads and stores may end after it. Local, 10 ns by the counter, else
 * 25 ns. */
static inline uint64_t weir_now_ns(void)
{
    const struct weir_clock_line *line = __atomic_load_n(&weir_clock_source.line, __ATOMIC_ACQUIRE);

    return line ? weir_line_ns(line, WEIR_TICKS()) : weir_kernel_ns() + weir_clock_source.ahead_ns;
}

/* Read both clocks for the first time. The counter is trusted where it is the kernel's own
 * clock, runs at one rate in all states of the processor, and clock_gettime is that of the C
 * library. False: it is not trusted. Once in a process, local. */
bool weir_clock_begin(void);

/* Compare the two clocks, outside of what is timed; *apart_ns gets their difference. The counter
 * gives the time from the first comparison on that knows its rate to 5e-6; later ones correct the
 * rate. False: since the last comparison they have moved against each other by more than 1e-5.
 * Local, about 1 us; does nothing unless weir_clock_begin returned true. */
bool weir_clock_compare(uint64_t *apart_ns);

/* From now on the kernel's clock tells the time. Local. */
void weir_clock_leave(void);

/* Keep the copy of a plugin, which stays loaded, as this one; once is enough. Local. */
void weir_clock_share(struct weir_clock_source *copy);

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
