/* SPDX-License-Identifier: BSD-3-Clause */
/* cgroup.h - limits of the control groups of this process, in versions 1 and 2 */
#ifndef WEIR_BASE_NODE_CGROUP_H
#define WEIR_BASE_NODE_CGROUP_H

#include "base/str.h"

/* Bytes of memory, the page cache included; processors, also parts of one. */
enum weir_cgroup_resource { WEIR_CGROUP_MEMORY, WEIR_CGROUP_PROCESSORS };

/* The least limit of the control group of this process and of those above it;
 * INFINITY where they have none, NaN where there is no such group. Local. */
double weir_cgroup_limit(enum weir_cgroup_resource what);

/* As weir_cgroup_limit, with other files than /proc/self/cgroup and /proc/self/mountinfo. */
double weir_cgroup_limit_in(enum weir_cgroup_resource what, const char *groups,
                            const char *mounts);

#endif
