/* SPDX-License-Identifier: BSD-3-Clause */
/* lanes.c - the 64-bit words of RANDOM: each follows from the one before */
#include "base/data/pattern.h"

#include <string.h>

#ifdef __x86_64__
#include <immintrin.h>
#endif

#define CHAIN(x) (((x)*WEIR_LANE_FACTOR) >> 3)

uint64_t weir_lane_fill(weir_word *w, size_t n, uint64_t x)
{
    for (size_t i = 0; i < n; i++)
        w[i] = x = CHAIN(x);
    return x;
}

uint64_t weir_lane_differ(const weir_word *w, size_t n, uint64_t x)
{
    uint64_t diff = 0;

    for (size_t i = 0; i < n; i++) {
        x = CHAIN(x);
        diff |= w[i] ^ x;
    }
    return diff;
}

/* Words first..n of all chains, one multiplication a word. */
static void fill_rest(weir_word *const w[WEIR_LANES], size_t first, size_t n,
                      const uint64_t x[WEIR_LANES])
{
    uint64_t a = x[0], b = x[1], c = x[2], d = x[3], e = x[4], f = x[5], g = x[6], h = x[7];

    for (size_t i = first; i < n; i++) {
        w[0][i] = a = CHAIN(a);
        w[1][i] = b = CHAIN(b);
        w[2][i] = c = CHAIN(c);
        w[3][i] = d = CHAIN(d);
        w[4][i] = e = CHAIN(e);
        w[5][i] = f = CHAIN(f);
        w[6][i] = g = CHAIN(g);
        w[7][i] = h = CHAIN(h);
    }
}

#ifdef __x86_64__
/* The factor is 0x9e38 * 2^48 - 2^18 + 1. So the product is y = m + x - (x << 18), where m = 0x9e38
 * * (x mod 2^16) << 48. That is shifts, sums, and one product of 16 bits. As 0x9e38 is a multiple
 * of 8, m has no bits below bit 51 and needs only the lowest 13 bits of x. The number after the
 * next one has bits 6 to 18 of y there. (A step moves all bits by 3 and changes none below bit 18.)
 * So each product is begun two steps before it is needed, and its latency costs nothing. */
#define FACTOR_TOP 0x9e38000000000000
#define UNROLL _Pragma("GCC unroll 8")
#define WIDE __attribute__((target("avx2")))
#define WIDE_INLINE WIDE static inline __attribute__((always_inline))

/* Four chains: their numbers, and what the products add in this step and in the next one. */
struct four {
    __m256i x, m, m_next;
};

WIDE_INLINE __m256i product_of_top(__m256i x)
{
    return _mm256_mullo_epi16(x, _mm256_set1_epi64x((int64_t)FACTOR_TOP));
}

WIDE_INLINE void begin_four(struct four *c, const uint64_t x[4])
{
    c->x = _mm256_loadu_si256((const __m256i *)x);
    c->m = product_of_top(_mm256_slli_epi64(c->x, 48));
    c->m_next = product_of_top(_mm256_slli_epi64(c->x, 45));
}

WIDE_INLINE void step_four(struct four *c)
{
    __m256i y = _mm256_sub_epi64(_mm256_add_epi64(c->x, c->m), _mm256_slli_epi64(c->x, 18));

    c->m = c->m_next;
    c->m_next = product_of_top(_mm256_slli_epi64(y, 42));
    c->x = _mm256_srli_epi64(y, 3);
}

/* Row j has word j of four chains; store them as four words of each chain. */
WIDE_INLINE void store_four(const __m256i row[4], weir_word *const w[4], size_t i)
{
    __m256i a = _mm256_unpacklo_epi64(row[0], row[1]), b = _mm256_unpackhi_epi64(row[0], row[1]);
    __m256i c = _mm256_unpacklo_epi64(row[2], row[3]), d = _mm256_unpackhi_epi64(row[2], row[3]);

    _mm256_storeu_si256((__m256i *)(w[0] + i), _mm256_permute2x128_si256(a, c, 0x20));
    _mm256_storeu_si256((__m256i *)(w[1] + i), _mm256_permute2x128_si256(b, d, 0x20));
    _mm256_storeu_si256((__m256i *)(w[2] + i), _mm256_permute2x128_si256(a, c, 0x31));
    _mm256_storeu_si256((__m256i *)(w[3] + i), _mm256_permute2x128_si256(b, d, 0x31));
}

/* All chains, as far as four words go. Returns how many words were filled; x: the last ones. */
WIDE static size_t fill_wide(weir_word *const w[WEIR_LANES], size_t n, uint64_t x[WEIR_LANES])
{
    struct four low, high;
    __m256i row[8];
    size_t i = 0;

    begin_four(&low, x);
    begin_four(&high, x + 4);
    for (; i + 4 <= n; i += 4) {
        UNROLL
        for (int j = 0; j < 4; j++) {
            step_four(&low);
            step_four(&high);
            row[j] = low.x;
            row[4 + j] = high.x;
        }
        store_four(row, w, i);
        store_four(row + 4, w + 4, i);
    }
    _mm256_storeu_si256((__m256i *)x, low.x);
    _mm256_storeu_si256((__m256i *)(x + 4), high.x);
    return i;
}
#endif

void weir_lanes_fill(weir_word *const w[WEIR_LANES], size_t n, const uint64_t x[WEIR_LANES])
{
    uint64_t last[WEIR_LANES];
    size_t done = 0;

    memcpy(last, x, sizeof(last));
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2"))
        done = fill_wide(w, n, last);
#endif
    fill_rest(w, done, n, last);
}
