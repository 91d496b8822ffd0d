/* SPDX-License-Identifier: BSD-3-Clause */
/* machine.h - what this node is: memory, processors, links, limits of control groups */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* All of this is local. Unknown is NaN. */

/* ---- cgroup.c: limits of the control groups of this process, in versions 1 and 2 ---- */

/* Bytes of memory, the page cache included; processors, also parts of one. */
enum weir_cgroup_resource { WEIR_CGROUP_MEMORY, WEIR_CGROUP_PROCESSORS };

/* The least limit of the control group of this process and of those above it;
 * INFINITY where they have none, NaN where there is no such group. */
double weir_cgroup_limit(enum weir_cgroup_resource what);

/* As weir_cgroup_limit, with other files than /proc/self/cgroup and /proc/self/mountinfo. */
double weir_cgroup_limit_in(enum weir_cgroup_resource what, const char *groups,
                            const char *mounts);

/* ---- links.c ---- */

/* Return the bytes a second of all hardware links that are up, each once. Links are ports of
 * InfiniBand and the like, and network interfaces. Left out are interfaces that are such a
 * port, part of another one (SR-IOV), or made of others (bond, bridge, VLAN). sys: "/sys".
 * NaN: there is none, or one does not report its speed. */
double weir_links_rate(const char *sys);

/* ---- machine.c ---- */

/* Append a name for the whole machine, not for this node: the name of the host without the digits
 * at its end, and in parentheses that of the operating system. False, and nothing is appended: not
 * known. */
bool weir_machine_name(struct weir_str *out);

/* Bytes of memory, or what the control group of this process allows when that is less. */
double weir_machine_memory(void);

/* Bytes a second that a processor copies in memory, measured for about a millisecond. */
double weir_machine_copy(void);

/* The smallest step of the clock, in seconds. */
double weir_machine_clock_step(void);

/* The processors that this process may use, a bit each. */
#define WEIR_MACHINE_CORE_WORDS 16
void weir_machine_cores(uint64_t mask[WEIR_MACHINE_CORE_WORDS]);

/* Traffic of this process: bytes from and to block devices (/proc/self/io; io_known: they
 * could be read), and its time in user mode in ns. */
struct weir_machine_use {
    uint64_t read, written, user_ns;
    bool io_known;
};

/* Ask for struct weir_machine_use. with_io: with the bytes, which takes about 20 microseconds. */
void weir_machine_use(struct weir_machine_use *u, bool with_io);

/* The NUMA node on which this task runs now; 0 where the kernel has none. */
int weir_machine_numa_node(void);

/* The distance of two NUMA nodes, as the kernel counts (10: the same one); -1: not known, as where
 * one of the nodes is. sys: "/sys". */
int weir_machine_numa_distance(const char *sys, int from, int to);
