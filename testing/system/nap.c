/* SPDX-License-Identifier: BSD-3-Clause */
/* nap.c - preloaded: sched_yield sleeps for a millisecond once it was called many times in a row, so that ranks that wait for
 * another one leave the processors to other tests. Open MPI calls it whenever a look for messages has found none. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define CALLS 20
#define SLEEP_NS 1000000
/* Calls that lie further apart are not in a row: something was done between. */
#define ROW_NS 2000000

static int64_t now_ns(void)
{
    struct timespec t = { 0, 0 };

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* By the time of day: tests take a sleep by the steady clock for a delay of the program (is_in_a_delay). */
static void sleep_a_little(void)
{
    struct timespec t = { 0, SLEEP_NS };

    syscall(SYS_clock_nanosleep, CLOCK_REALTIME, 0, &t, NULL);
}

int sched_yield(void)
{
    static __thread int calls;
    static __thread int64_t last_ns;

    if (now_ns() - last_ns > ROW_NS)
        calls = 0;
    if (++calls > CALLS)
        sleep_a_little();
    else
        syscall(SYS_sched_yield);
    last_ns = now_ns();
    return 0;
}
