/* SPDX-License-Identifier: BSD-3-Clause */
/* items.c - what stands in the small files of the metadata benchmarks */
#include "base/data/items.h"
#include "config.h"

#include <endian.h>
#include <string.h>

#include "base/rng.h"

#define WORD 8
#define STAMP_WORDS 512 /* one stamp in each 4 KiB */
#define RANDOM_FACTOR 0x9e37fffffffc0001u

bool weir_itemdata_varies(const struct weir_itemdata *d, size_t len)
{
    return d->packet != WEIR_PACKET_TIMESTAMP && len >= WORD;
}

static uint64_t rank_part(int rank)
{
    return (uint64_t)(uint32_t)rank << 32;
}

/* The bytes after the last whole word are their own offsets. */
void weir_itemdata_base(const struct weir_itemdata *d, int rank, void *buf, size_t len)
{
    uint64_t *w = buf;
    size_t words = len / WORD;

    for (size_t j = 0; j < words; j++)
        w[j] = htole64(rank_part(rank) | ((uint64_t)d->seed + j));
    for (size_t i = words * WORD; i < len; i++)
        ((unsigned char *)buf)[i] = (unsigned char)i;
}

static void stamp_offsets(int rank, uint64_t item, uint64_t *w, size_t words)
{
    uint64_t k = 1;

    for (size_t j = 0; j < words; j += STAMP_WORDS)
        w[j] = htole64(rank_part(rank) | (uint32_t)(item * k++));
}

static void fill_random(const struct weir_itemdata *d, int rank, uint64_t item, uint64_t *w,
                        size_t words)
{
    uint32_t seed = (uint32_t)((uint64_t)d->seed + (uint64_t)rank + item);
    uint64_t x = (uint64_t)weir_glibc_rand_r(&seed);

    for (size_t j = 0; j < words; j++) {
        x = (x * RANDOM_FACTOR) >> 3;
        w[j] = htole64(x);
    }
}

/* Different in every word, file and task, unlike the original's, which repeats one word. */
static void fill_incompressible(const struct weir_itemdata *d, int rank, uint64_t item, uint64_t *w,
                                size_t words)
{
    uint64_t key = weir_rng_at(weir_rng_at((uint64_t)d->seed, (uint64_t)rank), item);

    for (size_t j = 0; j < words; j++)
        w[j] = htole64(weir_rng_at(key, j));
}

void weir_itemdata_file(const struct weir_itemdata *d, int rank, uint64_t item, void *buf,
                        size_t len)
{
    size_t words = len / WORD;

    if (d->packet == WEIR_PACKET_OFFSET)
        stamp_offsets(rank, item, buf, words);
    else if (d->packet == WEIR_PACKET_INCOMPRESSIBLE)
        fill_incompressible(d, rank, item, buf, words);
    else if (d->packet == WEIR_PACKET_RANDOM)
        fill_random(d, rank, item, buf, words);
}

/* ---- backwards ---- */

/* A seed has 32 bits and a sign. */
static int keep_seed(uint64_t seed, int64_t *seeds)
{
    *seeds = (int32_t)seed;
    return 1;
}

/* Three bits of the first number are lost. */
static int find_random(int rank, uint64_t item, uint64_t word, int64_t *seeds)
{
    const uint64_t back = weir_rng_inverse(RANDOM_FACTOR);
    uint32_t sums[WEIR_ITEMDATA_SEEDS];
    int n = 0, found;

    for (uint64_t lost = 0; lost < 8 && word >> 61 == 0; lost++) {
        uint64_t x = (word << 3 | lost) * back;

        if (x > INT32_MAX)
            continue;
        found = weir_glibc_rand_r_seeds((int32_t)x, sums, WEIR_ITEMDATA_SEEDS - n);
        for (int i = 0; i < found; i++)
            n += keep_seed(sums[i] - (uint64_t)rank - item, seeds + n);
    }
    return n;
}

int weir_itemdata_seeds(const struct weir_itemdata *d, int rank, uint64_t item, const void *buf,
                        size_t len, int64_t seeds[WEIR_ITEMDATA_SEEDS])
{
    size_t at = d->packet == WEIR_PACKET_OFFSET; /* the first word is a stamp there */
    uint64_t word;

    if (len < (at + 1) * WORD)
        return 0;
    word = le64toh(((const uint64_t *)buf)[at]);
    if (d->packet == WEIR_PACKET_RANDOM)
        return find_random(rank, item, word, seeds);
    if (d->packet == WEIR_PACKET_INCOMPRESSIBLE)
        word = weir_rng_key_of(weir_rng_key_of(weir_rng_key_of(word, 0), item), (uint64_t)rank);
    return keep_seed(word - at, seeds);
}

size_t weir_itemdata_compare(const void *want, const void *got, size_t len)
{
    const unsigned char *a = want, *b = got;
    size_t at = 0;

    if (memcmp(want, got, len) == 0)
        return len;
    while (a[at] == b[at])
        at++;
    return at;
}
