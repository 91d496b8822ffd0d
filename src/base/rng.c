/* SPDX-License-Identifier: BSD-3-Clause */
/* rng.c - keyed permutation and glibc's generators */
#include "base/rng.h"

enum { ROUNDS = 4, WORDS = 31, LAG = 3, WARM_UP = 310 };

void weir_perm_init(struct weir_perm *p, uint64_t size, uint64_t key)
{
    unsigned bits = size > 1 ? 64u - (unsigned)__builtin_clzll(size - 1) : 1;

    p->size = size;
    p->half_bits = (bits + 1) / 2;
    for (unsigned i = 0; i < ROUNDS; i++)
        p->key[i] = weir_rng_at(key, i);
}

/* One half of a Feistel round: any function of the half and the key will do. The top bits
 * of a product depend on all bits of its factors, and a multiplication costs three
 * cycles. */
static inline uint64_t mix_half(uint64_t half, uint64_t key, unsigned down)
{
    return ((half ^ key) * 0x9e3779b97f4a7c15u) >> down;
}

uint64_t weir_perm_at(const struct weir_perm *p, uint64_t i)
{
    unsigned bits = p->half_bits, down = 64 - bits;
    uint64_t mask = ((uint64_t)1 << bits) - 1;

    /* The network permutes the next power of four. Walking its cycle from i comes back
     * into the domain, at the latest at i itself; four steps on average in the worst
     * case. */
    do {
        uint64_t left = i >> bits, right = i & mask;

        left ^= mix_half(right, p->key[0], down);
        right ^= mix_half(left, p->key[1], down);
        left ^= mix_half(right, p->key[2], down);
        right ^= mix_half(left, p->key[3], down);
        i = left << bits | right;
    } while (i >= p->size);
    return i;
}

static uint32_t step(uint32_t *seed)
{
    *seed = *seed * 1103515245u + 12345u;
    return *seed >> 16;
}

int32_t weir_glibc_rand_r(uint32_t *seed)
{
    uint32_t value = step(seed) % 2048;

    value = value << 10 ^ step(seed) % 1024;
    value = value << 10 ^ step(seed) % 1024;
    return (int32_t)value;
}

void weir_glibc_srandom(struct weir_glibc_random *g, uint32_t seed)
{
    int64_t r = (int32_t)(seed ? seed : 1);

    g->word[0] = (uint32_t)r;
    for (int i = 1; i < WORDS; i++) {
        /* Schrage's form of 16807 * r mod (2^31 - 1), as glibc has it: it matters for
         * negative seeds. */
        r = 16807 * (r % 127773) - 2836 * (r / 127773);
        if (r < 0)
            r += 2147483647;
        g->word[i] = (uint32_t)r;
    }
    g->front = LAG;
    g->back = 0;
    for (int i = 0; i < WARM_UP; i++)
        weir_glibc_random(g);
}

int32_t weir_glibc_random(struct weir_glibc_random *g)
{
    uint32_t value = g->word[g->front] += g->word[g->back];

    g->front = g->front + 1 < WORDS ? g->front + 1 : 0;
    g->back = g->back + 1 < WORDS ? g->back + 1 : 0;
    return (int32_t)(value >> 1);
}
