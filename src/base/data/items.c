/* SPDX-License-Identifier: BSD-3-Clause */
/* items.c - the seeds that may have made a small file of the metadata benchmarks */
#include "base/data/items.h"
#include "config.h"

#include "base/rng.h"

#define WORD 8
#define SEED_BITS 27 /* of a seed of rand_r: the others do not matter */

/* The x with odd * x = 1, modulo 2^64. */
static uint64_t invert(uint64_t odd)
{
    uint64_t x = odd; /* right in three bits; each round doubles them */

    for (int i = 0; i < 5; i++)
        x *= 2 - odd * x;
    return x;
}

/* The key of the stream whose n-th number is z: the inverse of weir_rng_at. */
static uint64_t key_of(uint64_t z, uint64_t n)
{
    z = (z ^ z >> 31 ^ z >> 62) * invert(0x94d049bb133111ebu);
    z = (z ^ z >> 27 ^ z >> 54) * invert(0xbf58476d1ce4e5b9u);
    return (z ^ z >> 30 ^ z >> 60) - (n + 1) * 0x9e3779b97f4a7c15u;
}

/* The seeds from which weir_glibc_rand_r returns 'value' first, at most 'most', rarely more than
 * one. Takes less than a millisecond. */
static int find_seeds(int32_t value, uint32_t *seeds, int most)
{
    const uint32_t known = (uint32_t)value >> 20 << 16; /* 11 bits of the state after one step */
    const uint32_t back = (uint32_t)invert(1103515245u);
    int n = 0;

    for (uint32_t low = 0; low < 1u << 16 && n < most; low++) {
        uint32_t before = ((known | low) - 12345u) * back, seed;

        before &= (1u << SEED_BITS) - 1;
        seed = before;
        if (weir_glibc_rand_r(&seed) == value)
            seeds[n++] = before;
    }
    return n;
}

/* A seed has 32 bits and a sign. */
static int keep_seed(uint64_t seed, int64_t *seeds)
{
    *seeds = (int32_t)seed;
    return 1;
}

/* Three bits of the first number are lost. */
static int find_random(int rank, uint64_t item, uint64_t word, int64_t *seeds)
{
    const uint64_t back = invert(WEIR_LANE_FACTOR);
    uint32_t sums[WEIR_ITEMS_SEEDS];
    int n = 0, found;

    for (uint64_t lost = 0; lost < 8 && word >> 61 == 0; lost++) {
        uint64_t x = (word << 3 | lost) * back;

        if (x > INT32_MAX)
            continue;
        found = find_seeds((int32_t)x, sums, WEIR_ITEMS_SEEDS - n);
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
        word = key_of(key_of(key_of(word, 0), item), (uint64_t)rank);
    return keep_seed(word - at, seeds);
}
