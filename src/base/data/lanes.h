/* SPDX-License-Identifier: BSD-3-Clause */
/* lanes.h - the 64-bit words of RANDOM: each follows from the one before */
#ifndef WEIR_BASE_DATA_LANES_H
#define WEIR_BASE_DATA_LANES_H

#include <stddef.h>
#include <stdint.h>

#define WEIR_LANE_FACTOR 0x9e37fffffffc0001u /* the next word: the product without three bits */
#define WEIR_LANES 8 /* made side by side by weir_lanes_fill */

/* A word of a buffer that others see as bytes or something else. */
typedef uint64_t weir_word __attribute__((may_alias));

/* Fill n words; x is the number before the first one. Returns the last, to go on from. Local. */
uint64_t weir_lane_fill(weir_word *w, size_t n, uint64_t x);

/* The bits in which n words differ from those of weir_lane_fill; 0: they are right. Local. */
uint64_t weir_lane_differ(const weir_word *w, size_t n, uint64_t x);

/* weir_lane_fill of n words in each of WEIR_LANES buffers: a chain is serial, and the processor
 * works on all of them during the latency of one. Buffers may be the same when their x are.
 * Local. */
void weir_lanes_fill(weir_word *const w[WEIR_LANES], size_t n, const uint64_t x[WEIR_LANES]);

#endif
