/* SPDX-License-Identifier: BSD-3-Clause */
/* items.h - the content of the small files of the metadata benchmarks. All functions are
 * local */
#ifndef WEIR_BASE_DATA_ITEMS_H
#define WEIR_BASE_DATA_ITEMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/data/pattern.h"

struct weir_itemdata {
    enum weir_packet packet;
    int64_t seed; /* -G, sign extended */
};

/* Is the content of each file of a task different? */
bool weir_itemdata_varies(const struct weir_itemdata *d, size_t len);

/* The content of every file of a task that does not vary; the part of the others that does not.
 * buf is 8-byte aligned. */
void weir_itemdata_base(const struct weir_itemdata *d, int rank, void *buf, size_t len);

/* The rest of the content of one file, on a buffer with the base of that task. */
void weir_itemdata_file(const struct weir_itemdata *d, int rank, uint64_t item, void *buf,
                        size_t len);

#define WEIR_ITEMDATA_SEEDS 8

/* Seeds (of d only the packet counts) that may have made the first len bytes of a file; whoever
 * takes one compares all of the content. With RANDOM there may be some that differ in other files,
 * and the 27 low bits of a seed are all that matters. Returns how many; 0 also where the content does not depend on a seed. */
int weir_itemdata_seeds(const struct weir_itemdata *d, int rank, uint64_t item, const void *buf,
                        size_t len, int64_t seeds[WEIR_ITEMDATA_SEEDS]);

/* Where two contents first differ; len when they do not. */
size_t weir_itemdata_compare(const void *want, const void *got, size_t len);

#endif
