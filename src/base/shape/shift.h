/* SPDX-License-Identifier: BSD-3-Clause */
/* shift.h - whose data a task reads: -C, -Z and -Z -Z */
#ifndef WEIR_BASE_SHAPE_SHIFT_H
#define WEIR_BASE_SHAPE_SHIFT_H

#include "base/err.h"

/* (rank + shift) mod tasks, for any sign of shift. */
int weir_shift_fixed(int rank, int tasks, long long shift);

/* -Z: every rank draws for itself, at least min(distance, nodes-1) * per_node tasks away. seed:
 * see weir_shift_seed. Returns the task whose data to read, or -1 and err (WEIR_EUSAGE) when no
 * task is that far away. */
int weir_shift_random(int rank, int tasks, int per_node, int nodes, int distance, unsigned seed,
                      struct weir_err *err);

/* -Z -Z: the same permutation on every rank; O(tasks) time and scratch memory. Returns the task,
 * or -1 and err (WEIR_ESETUP: no memory). */
int weir_shift_permuted(int rank, int tasks, unsigned seed, struct weir_err *err);

/* The seed of a repetition: X when X >= 0, else -X + rep. */
unsigned weir_shift_seed(int x, int rep);

#endif
