/* SPDX-License-Identifier: BSD-3-Clause */
/* cgroup.h - limits of the control groups of this process, in versions 1 and 2 */
#ifndef WEIR_BASE_CGROUP_H
#define WEIR_BASE_CGROUP_H

#include "base/str.h"

/* Bytes of memory that the control group of this process and those above it allow, the page cache
 * included: the least of their limits; INFINITY where they have none, NaN where there is no such
 * group. Local. */
double weir_cgroup_memory(void);

/* The same, with other files than /proc/self/cgroup and /proc/self/mountinfo. */
double weir_cgroup_memory_in(const char *groups, const char *mounts);

#endif
