/* SPDX-License-Identifier: BSD-3-Clause */
/* machine.c - what this node is, from /proc and /sys */
#include "base/node/machine.h"

#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>

#include "base/clock.h"
#include "base/node/sysfile.h"
#include "base/size.h"

/* The number after a word at the beginning of a line; NaN when there is none. */
static double read_number(const char *path, const char *word)
{
    double value;
    char line[256];

    weir_sysfile_line(word, line, sizeof(line), "%s", path);
    return weir_real_scan(line, &value) == line ? NAN : value;
}

double weir_machine_memory(void)
{
    return fmin(1024 * read_number("/proc/meminfo", "MemTotal:"), weir_cgroup_limit(WEIR_CGROUP_MEMORY));
}

double weir_machine_copy(void)
{
    enum { SIZE = 1 << 20, TIMES = 4 };
    char *a = malloc(SIZE), *b = malloc(SIZE);
    uint64_t best = UINT64_MAX, begin, ns;

    if (a && b) {
        memset(a, 1, SIZE);
        for (int i = 0; i < TIMES; i++) {
            begin = weir_now_ns();
            memcpy(b, a, SIZE);
            __asm__ volatile("" : : "r"(b) : "memory"); /* the copy is wanted */
            ns = weir_now_ns() - begin;
            best = ns > 0 && ns < best ? ns : best;
        }
    }
    free(a);
    free(b);
    return best < UINT64_MAX ? SIZE * (double)WEIR_NS_PER_S / (double)best : NAN;
}

double weir_machine_clock_step(void)
{
    uint64_t least = UINT64_MAX, last = weir_now_ns(), now;

    for (int i = 0; i < 100; i++) {
        now = weir_now_ns();
        if (now > last && now - last < least)
            least = now - last;
        last = now;
    }
    return least < UINT64_MAX ? (double)least / WEIR_NS_PER_S : NAN;
}

void weir_machine_cores(uint64_t mask[WEIR_MACHINE_CORE_WORDS])
{
    cpu_set_t set;

    memset(mask, 0, sizeof(*mask) * WEIR_MACHINE_CORE_WORDS);
    if (sched_getaffinity(0, sizeof(set), &set) < 0)
        return;
    for (int i = 0; i < 64 * WEIR_MACHINE_CORE_WORDS && i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &set))
            mask[i / 64] |= UINT64_C(1) << (i % 64);
}

void weir_machine_use(struct weir_machine_use *u, bool with_io)
{
    struct rusage r;
    double in = NAN, out = NAN;

    memset(u, 0, sizeof(*u));
    if (getrusage(RUSAGE_SELF, &r) == 0)
        u->user_ns =
            (uint64_t)r.ru_utime.tv_sec * WEIR_NS_PER_S + (uint64_t)r.ru_utime.tv_usec * 1000;
    if (with_io) {
        in = read_number("/proc/self/io", "read_bytes:");
        out = read_number("/proc/self/io", "write_bytes:");
    }
    u->io_known = !isnan(in) && !isnan(out);
    u->read = u->io_known ? (uint64_t)in : 0;
    u->written = u->io_known ? (uint64_t)out : 0;
}

bool weir_machine_name(struct weir_str *out)
{
    struct utsname u;
    size_t len;

    if (uname(&u) < 0)
        return false;
    len = strlen(u.nodename);
    while (len > 0 && u.nodename[len - 1] >= '0' && u.nodename[len - 1] <= '9')
        len--;
    weir_str_add(out, u.nodename, len);
    weir_str_addf(out, "(%s)", u.sysname);
    return true;
}

int weir_machine_numa_node(void)
{
    unsigned cpu = 0, node = 0;

    return getcpu(&cpu, &node) == 0 ? (int)node : 0;
}

int weir_machine_numa_distance(const char *sys, int from, int to)
{
    char line[4096], *at = line;
    long distance = -1;

    weir_sysfile_line("", line, sizeof(line), "%s/devices/system/node/node%d/distance", sys, from);
    for (int i = 0; i <= to; i++)
        distance = strtol(at, &at, 10);
    return distance > 0 ? (int)distance : -1;
}
