/* SPDX-License-Identifier: BSD-3-Clause */
/* items.h - the seeds that may have made a small file of the metadata benchmarks */
#ifndef WEIR_BASE_DATA_ITEMS_H
#define WEIR_BASE_DATA_ITEMS_H

#include "base/data/pattern.h"

#define WEIR_ITEMS_SEEDS 8

/* Seeds that may have made the first len bytes (8-byte aligned) of file 'item' of a task; the
 * caller compares all of the content. With RANDOM some of them may differ in other files: only the
 * 27 low bits of a seed count. Returns how many; 0 also when the content depends on no seed.
 * Local. */
int weir_items_seeds(enum weir_packet packet, int rank, uint64_t item, const void *buf,
                     size_t len, int64_t seeds[WEIR_ITEMS_SEEDS]);

#endif
