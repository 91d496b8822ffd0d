/* SPDX-License-Identifier: BSD-3-Clause */
/* ratio.c - random data with a chosen ratio of compression and of equal blocks */
#include "base/data/pattern.h"

#include "base/rng.h"

/* Block k of those that are no repeats has number k * dedupe, rounded up, counted over the small
 * files and the blocks in them. The files of tasks begin at different numbers, so that their
 * fractions add up. */
struct weir_ratio_block weir_ratio_origin(const struct weir_ratio *r, struct weir_ratio_block b)
{
    uint64_t at = b.item + b.number, place = (b.file + at) * WEIR_RATIO_ONE, k, from;

    if (place % r->dedupe < WEIR_RATIO_ONE)
        return b;
    k = weir_rng_below(weir_rng_at(b.file, b.item), b.number,
                       at * WEIR_RATIO_ONE / r->dedupe + 1);
    from = (k * r->dedupe + WEIR_RATIO_ONE - 1) / WEIR_RATIO_ONE;
    if (from < b.number)
        return (struct weir_ratio_block) { .number = from };
    return (struct weir_ratio_block) { .item = from - b.number, .number = b.number };
}
