/* SPDX-License-Identifier: BSD-3-Clause */
/* rng.h - random numbers: a counter generator, a keyed permutation, and glibc's generators for
 * compatible placement */
#pragma once

#include <stdint.h>

/* A bijection of 64 bits, whose values look like random ones (splitmix64's finaliser). */
static inline uint64_t weir_rng_mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* The inverse of weir_rng_mix. */
static inline uint64_t weir_rng_unmix(uint64_t z)
{
    z = (z ^ z >> 31 ^ z >> 62) * 0x319642b2d24d8ec3u;
    z = (z ^ z >> 27 ^ z >> 54) * 0x96de1b173f119089u;
    return z ^ z >> 30 ^ z >> 60;
}

/* The n-th 64-bit number of stream 'key': no state, any n at once (over a Weyl sequence). */
static inline uint64_t weir_rng_at(uint64_t key, uint64_t n)
{
    return weir_rng_mix(key + (n + 1) * 0x9e3779b97f4a7c15u);
}

/* The n-th number of stream 'key' that is below 'limit' (not 0). */
static inline uint64_t weir_rng_below(uint64_t key, uint64_t n, uint64_t limit)
{
    return (uint64_t)((unsigned __int128)weir_rng_at(key, n) * limit >> 64);
}

/* A permutation of 0..size-1 chosen by a key, computed point by point in constant memory: a
 * balanced Feistel network over the next even number of bits, cycle-walked into the domain. */
struct weir_perm {
    uint64_t size, key[4];
    unsigned half_bits;
};

void weir_perm_init(struct weir_perm *p, uint64_t size, uint64_t key);
uint64_t weir_perm_at(const struct weir_perm *p, uint64_t i); /* i < size; constant expected time */

/* glibc's rand_r: advances *seed, returns 31 bits. */
int32_t weir_glibc_rand_r(uint32_t *seed);

/* glibc's srandom/random (= srand/rand), the default 31-word additive feedback generator. */
struct weir_glibc_random {
    uint32_t word[31];
    int front, back;
};
void weir_glibc_srandom(struct weir_glibc_random *g, uint32_t seed);
int32_t weir_glibc_random(struct weir_glibc_random *g);
