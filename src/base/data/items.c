/* SPDX-License-Identifier: BSD-3-Clause */
/* items.c - the seeds that may have made a small file of the metadata benchmarks */
#include "base/data/items.h"
#include "config.h"

#include "base/rng.h"

#define WORD 8

/* A seed has 32 bits and a sign. */
static int keep_seed(uint64_t seed, int64_t *seeds)
{
    *seeds = (int32_t)seed;
    return 1;
}

/* Three bits of the first number are lost. */
static int find_random(int rank, uint64_t item, uint64_t word, int64_t *seeds)
{
    const uint64_t back = weir_rng_inverse(WEIR_LANE_FACTOR);
    uint32_t sums[WEIR_ITEMS_SEEDS];
    int n = 0, found;

    for (uint64_t lost = 0; lost < 8 && word >> 61 == 0; lost++) {
        uint64_t x = (word << 3 | lost) * back;

        if (x > INT32_MAX)
            continue;
        found = weir_glibc_rand_r_seeds((int32_t)x, sums, WEIR_ITEMS_SEEDS - n);
        for (int i = 0; i < found; i++)
            n += keep_seed(sums[i] - (uint64_t)rank - item, seeds + n);
    }
    return n;
}

int weir_items_seeds(enum weir_packet packet, int rank, uint64_t item, const void *buf,
                     size_t len, int64_t seeds[WEIR_ITEMS_SEEDS])
{
    size_t at = packet == WEIR_PACKET_OFFSET; /* its first word is a stamp */
    uint64_t word;

    if (len < (at + 1) * WORD)
        return 0;
    word = ((const uint64_t *)buf)[at];
    if (packet == WEIR_PACKET_RANDOM)
        return find_random(rank, item, word, seeds);
    if (packet == WEIR_PACKET_INDEXED)
        word = weir_rng_key_of(weir_rng_key_of(weir_rng_key_of(word, 0), item), (uint64_t)rank);
    return keep_seed(word - at, seeds);
}
