/* SPDX-License-Identifier: BSD-3-Clause */
/* ior-elsewhere.h - who reads whose data, so that no node sees the same data twice */
#ifndef WEIR_PROGRAMS_IOR_IOR_ELSEWHERE_H
#define WEIR_PROGRAMS_IOR_IOR_ELSEWHERE_H

#include "base/err.h"

/* Is there such an order for 'rounds' times of reading? node[r] is the node of task r, any number.
 * A node with m of n tasks touches m tasks' data when it writes and in each round, never the same:
 * (rounds + 1) * m must not be more than n, and that is enough. tasks >= 1, rounds >= 1. Memory
 * grows with tasks. Local. 0, or -1 and err: the reason (WEIR_EUSAGE), no memory (WEIR_ESETUP). */
int weir_elsewhere_check(const int *node, int tasks, int rounds, struct weir_err *err);

/* The task whose data 'rank' reads in a round (0 to rounds - 1) of an order that was checked: a
 * permutation of the tasks in each round, so every byte is read exactly once and each task reads
 * as much as it wrote; no task reads what its node wrote or read in an earlier round. O(tasks log
 * tasks) time. Local. -1 and err (WEIR_ESETUP). */
int weir_elsewhere_owner(const int *node, int tasks, int rank, int round, struct weir_err *err);

#endif
