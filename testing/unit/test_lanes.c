/* SPDX-License-Identifier: BSD-3-Clause */
/* test_lanes.c - the words of RANDOM */
#include "base/data/pattern.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define MOST 1100u /* words */

/* As the reference says it, one word at a time. */
static uint64_t next(uint64_t x)
{
    return (x * 0x9e37fffffffc0001u) >> 3;
}

static void a_chain_follows_the_formula_and_can_go_on(void **state)
{
    static const uint64_t seeds[] = { 0, 1, 0x7fffffff, UINT64_MAX };
    uint64_t w[64], x, last;

    (void)state;
    for (size_t s = 0; s < sizeof(seeds) / sizeof(*seeds); s++) {
        last = weir_lane_fill(w, 40, seeds[s]);
        weir_lane_fill(w + 40, 24, last);
        x = seeds[s];
        for (int i = 0; i < 64; i++)
            assert_int_equal(w[i], (x = next(x)));
        assert_int_equal(weir_lane_differ(w, 64, seeds[s]), 0);
        w[63] ^= 8;
        assert_int_equal(weir_lane_differ(w, 64, seeds[s]), 8);
    }
}

/* Every length takes another mix of the wide loop and the rest; what is after it stays. */
static void chains_side_by_side_are_those_made_one_by_one(void **state)
{
    static uint64_t many[WEIR_LANES][MOST + 1], one[MOST];
    weir_word *w[WEIR_LANES];
    uint64_t x[WEIR_LANES];

    (void)state;
    for (int k = 0; k < WEIR_LANES; k++) {
        w[k] = many[k];
        x[k] = k % 2 ? UINT64_MAX / (uint64_t)k : 0x1234567u * (uint64_t)(k + 1);
    }
    for (size_t n = 0; n <= MOST; n = n < 40 ? n + 1 : n + 353) {
        for (int k = 0; k < WEIR_LANES; k++)
            many[k][n] = 0xabcd;
        weir_lanes_fill(w, n, x);
        for (int k = 0; k < WEIR_LANES; k++) {
            weir_lane_fill(one, n, x[k]);
            assert_memory_equal(many[k], one, n * sizeof(*one));
            assert_int_equal(many[k][n], 0xabcd);
        }
    }
}

static void unaligned_buffers_are_filled_too(void **state)
{
    static unsigned char bytes[WEIR_LANES][8 * 32 + 8];
    weir_word *w[WEIR_LANES];
    uint64_t x[WEIR_LANES] = { 1, 2, 3, 4, 5, 6, 7, 8 }, one[32];

    (void)state;
    for (int k = 0; k < WEIR_LANES; k++)
        w[k] = (weir_word *)(bytes[k] + 8);
    weir_lanes_fill(w, 31, x);
    for (int k = 0; k < WEIR_LANES; k++) {
        weir_lane_fill(one, 31, x[k]);
        assert_memory_equal(bytes[k] + 8, one, 31 * sizeof(*one));
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_follows_the_formula_and_can_go_on),
        cmocka_unit_test(chains_side_by_side_are_those_made_one_by_one),
        cmocka_unit_test(unaligned_buffers_are_filled_too),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
