/* SPDX-License-Identifier: BSD-3-Clause */
/* count.h - what the two halves of the preloaded library share: calls.c and heap.c */
#pragma once

#include <stdbool.h>
#include <stdio.h>

/* Is the address after a call in the program or in one of its plugins? Everything else is a library: what MPI, HDF5 or the C
 * library call inside of themselves is not ours. */
bool is_ours(const void *caller);

/* The phase that begins now: the peak of the heap in it begins anew. A row for the one that ends is kept. */
void heap_phase(const char *name);
void heap_write(FILE *out);
