/* SPDX-License-Identifier: BSD-3-Clause */
/* clock.c - the time-stamp counter as a clock: when it is trusted, its rate, and when it is left */
#include "base/clock.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif

#define READINGS 5    /* of which the quickest counts */
#define KNOWN 5e-6    /* the error of a rate that is good enough */
#define DISAGREE 1e-5 /* of the time since the last comparison */
#define WINDOW_S 64 /* the kernel changes its rate, too: older readings do not count */
#define BEFORE (1u << 20) /* ticks that a line begins before its comparison */
#define LINES 16 /* before one is written again */
#define SYSTEM "/sys/devices/system/clocksource/clocksource0/current_clocksource"

/* Both clocks at one moment, to within error_ns. */
struct pair {
    uint64_t ticks, ns, error_ns;
};

struct weir_clock_source weir_clock_source;

/* State of the process, as the clock itself. Another thread may still read a line that was
 * replaced, so it stays for some comparisons more. */
static struct {
    struct pair first, last;
    double rate, error; /* nanoseconds a tick, and the part of it by which it may be wrong */
    uint64_t ahead_ns;  /* of the counter, at the last comparison */
    struct weir_clock_line line[LINES];
    int used;
} counter;

static struct pair read_both(void)
{
    struct pair best = { .error_ns = UINT64_MAX };

    for (int i = 0; i < READINGS; i++) {
        uint64_t before = WEIR_TICKS(), now_ns = weir_kernel_ns(), took = WEIR_TICKS() - before;

        if (took < best.error_ns) /* a tick is about as long as a nanosecond, or shorter */
            best = (struct pair) { before + took / 2, now_ns, took };
    }
    return best;
}

/* A library before the C library may tell another time: that is the one which was asked for. */
static bool is_of_c_library(void)
{
    Dl_info clock, other;

    return dladdr((void *)(uintptr_t)&clock_gettime, &clock) &&
           dladdr((void *)(uintptr_t)&getenv, &other) && clock.dli_fbase == other.dli_fbase;
}

static bool is_kernels_own(void)
{
    char name[4] = "";
    int fd = open(SYSTEM, O_RDONLY | O_CLOEXEC);
    bool is_own = fd >= 0 && read(fd, name, 4) == 4 && memcmp(name, "tsc\n", 4) == 0;

    if (fd >= 0)
        close(fd);
    return is_own;
}

/* Bit 8 of this leaf: the rate is always the same. */
static bool is_trusted(void)
{
#ifdef __x86_64__
    unsigned a, b, c, d = 0;

    return is_of_c_library() && is_kernels_own() && __get_cpuid(0x80000007, &a, &b, &c, &d) &&
           (d & 1u << 8);
#else
    return false;
#endif
}

static void begin(void)
{
    weir_clock_source.trusted = true;
    counter.error = 1;
    counter.first = counter.last = read_both();
}

bool weir_clock_begin(void)
{
    if (is_trusted())
        begin();
    return weir_clock_source.trusted;
}

/* The longer the time from the first reading, the better the rate. */
static void find_rate(const struct pair *now)
{
    double ns = (double)(now->ns - counter.first.ns),
           ticks = (double)(now->ticks - counter.first.ticks);
    double error = (double)(counter.first.error_ns + now->error_ns) / 2;

    if (ns > 0 && ticks > 0 && (error / ns < counter.error || ns > WEIR_NS_PER_S)) {
        counter.rate = ns / ticks;
        counter.error = error / ns;
    }
    if (ns > WINDOW_S * (double)WEIR_NS_PER_S)
        counter.first = *now;
}

/* A clock and its copies go on with another line, or without one. */
static void publish(const struct weir_clock_line *line, uint64_t ahead_ns)
{
    for (struct weir_clock_source *s = &weir_clock_source; s; s = s->next) {
        s->ahead_ns = ahead_ns;
        __atomic_store_n(&s->line, line, __ATOMIC_RELEASE);
    }
}

void weir_clock_share(struct weir_clock_source *copy)
{
    for (const struct weir_clock_source *s = &weir_clock_source; s; s = s->next)
        if (s == copy)
            return;
    copy->next = weir_clock_source.next;
    weir_clock_source.next = copy;
    publish(weir_clock_source.line, weir_clock_source.ahead_ns);
}

/* A line through a time at this moment: rather too slow than too fast, so that the next one need not
 * wait for the kernel's clock. It begins earlier, for the counters of two processors may differ by
 * some ticks. */
static void use_line(const struct pair *now, uint64_t ns)
{
    struct weir_clock_line *line = &counter.line[counter.used = (counter.used + 1) % LINES];

    line->rate = (uint64_t)(counter.rate * (1 - counter.error) * 4294967296.0);
    line->ticks = now->ticks - BEFORE;
    line->ns = ns - (BEFORE * line->rate >> 32);
    publish(line, 0);
}

bool weir_clock_compare(uint64_t *apart_ns)
{
    const struct weir_clock_line *line = weir_clock_source.line;
    struct pair now;
    uint64_t shown_ns, allowed_ns;
    int64_t ahead;

    *apart_ns = 0;
    if (!weir_clock_source.trusted)
        return true;
    now = read_both();
    shown_ns = line ? weir_line_ns(line, now.ticks) : now.ns;
    ahead = (int64_t)(shown_ns - now.ns);
    *apart_ns = (uint64_t)llabs(ahead);
    allowed_ns = now.error_ns + counter.last.error_ns +
                 (uint64_t)((double)(now.ns - counter.last.ns) * DISAGREE);
    if ((uint64_t)llabs(ahead - (int64_t)counter.ahead_ns) > allowed_ns)
        return false;
    counter.ahead_ns = ahead > 0 ? (uint64_t)ahead : 0;
    counter.last = now;
    find_rate(&now);
    if (counter.error <= KNOWN)
        use_line(&now, now.ns + counter.ahead_ns);
    return true;
}

void weir_clock_leave(void)
{
    uint64_t shown_ns = weir_now_ns(), now_ns = weir_kernel_ns();

    weir_clock_source.trusted = false;
    if (weir_clock_source.line)
        publish(NULL, shown_ns > now_ns ? shown_ns - now_ns : 0);
}
