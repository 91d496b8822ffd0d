/* SPDX-License-Identifier: BSD-3-Clause */
/* chain.c - the words of RANDOM: each follows from the one before */
#include "config.h"
#include "base/chain.h"

#include <stdbool.h>
#include <string.h>

#define CHAIN(x) (((x)*0x9e37fffffffc0001u) >> 3)

uint64_t weir_chain_fill(weir_word *w, size_t n, uint64_t x)
{
    for (size_t i = 0; i < n; i++)
        w[i] = x = CHAIN(x);
    return x;
}

uint64_t weir_chain_differ(const weir_word *w, size_t n, uint64_t x)
{
    uint64_t diff = 0;

    for (size_t i = 0; i < n; i++) {
        x = CHAIN(x);
        diff |= w[i] ^ x;
    }
    return diff;
}

/* Words first..n of all chains, one multiplication a word. */
static void fill_rest(weir_word *const w[WEIR_CHAINS], size_t first, size_t n,
                      const uint64_t x[WEIR_CHAINS])
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

#if defined(__x86_64__) && defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define HAVE_WIDE 1
#endif
#endif

#ifdef HAVE_WIDE
#define UNROLL _Pragma("GCC unroll 8")
#define WIDE __attribute__((target("avx512f,avx512dq")))
#define MIX __builtin_shufflevector

typedef uint64_t wide __attribute__((vector_size(64)));
typedef uint64_t mem_wide __attribute__((vector_size(64), aligned(8), may_alias));

/* Row j has word j of eight chains; store them as eight words of each chain. */
WIDE static inline __attribute__((always_inline)) void
store_chains(const wide row[8], weir_word *const w[WEIR_CHAINS], size_t i)
{
    wide two[8], four[8];

    UNROLL
    for (int j = 0; j < 8; j += 2) {
        two[j] = MIX(row[j], row[j + 1], 0, 8, 2, 10, 4, 12, 6, 14);
        two[j + 1] = MIX(row[j], row[j + 1], 1, 9, 3, 11, 5, 13, 7, 15);
    }
    UNROLL
    for (int j = 0; j < 8; j++) {
        int from = j / 4 * 4 + j % 2; /* rows from and from + 2; the lower or the upper pairs */

        four[j] = j & 2 ? MIX(two[from], two[from + 2], 2, 3, 10, 11, 6, 7, 14, 15)
                        : MIX(two[from], two[from + 2], 0, 1, 8, 9, 4, 5, 12, 13);
    }
    UNROLL
    for (int j = 0; j < 4; j++) {
        *(mem_wide *)(w[j] + i) = MIX(four[j], four[j + 4], 0, 1, 2, 3, 8, 9, 10, 11);
        *(mem_wide *)(w[j + 4] + i) = MIX(four[j], four[j + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    }
}

/* All chains in one vector, as far as eight words go. Returns how many words were filled. */
WIDE static size_t fill_wide(weir_word *const w[WEIR_CHAINS], size_t n, uint64_t x[WEIR_CHAINS])
{
    wide now, row[8];
    size_t i = 0;

    memcpy(&now, x, sizeof(now));
    for (; i + 8 <= n; i += 8) {
        UNROLL
        for (int j = 0; j < 8; j++)
            row[j] = now = CHAIN(now);
        store_chains(row, w, i);
    }
    memcpy(x, &now, sizeof(now));
    return i;
}

/* Has the processor the instructions, and are they fast? Intel's take 15 cycles for the product of
 * vectors, AMD's 3: there eight scalar chains are faster. */
static bool likes_wide(void)
{
    return __builtin_cpu_supports("avx512dq") && __builtin_cpu_is("amd");
}
#endif

void weir_chain_fill_many(weir_word *const w[WEIR_CHAINS], size_t n, const uint64_t x[WEIR_CHAINS])
{
    uint64_t last[WEIR_CHAINS];
    size_t done = 0;

    memcpy(last, x, sizeof(last));
#ifdef HAVE_WIDE
    if (likes_wide())
        done = fill_wide(w, n, last);
#endif
    fill_rest(w, done, n, last);
}
