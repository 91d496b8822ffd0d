/* SPDX-License-Identifier: BSD-3-Clause */
/* test_histpack.c - many histograms in little memory are what single ones are */
#include "base/intervals.c" /* NOLINT: its histograms have no other user */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ROWS 8
#define VALUES 5000

/* Times over many powers of two, some very long. */
static void fill(struct weir_hist *h, uint64_t *exact, uint64_t seed)
{
    uint64_t x = seed;

    for (int i = 0; i < VALUES; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        exact[i] = (x >> 33) >> (x >> 59);
        weir_hist_add(h, exact[i]);
    }
}

static struct weir_histpack take(size_t pieces)
{
    struct weir_histpack p;

    assert_int_equal(init_pack(&p, ROWS, pieces * sizeof(struct weir_histpack_piece), NULL), 0);
    return p;
}

static void is_same(const struct weir_histpack *p, size_t row, const struct weir_hist *wanted)
{
    struct weir_hist got = { .n = 0 };

    weir_histpack_get(p, row, &got);
    assert_int_equal(got.n, wanted->n);
    assert_int_equal(got.max_ns, wanted->max_ns);
    assert_memory_equal(got.bin, wanted->bin, sizeof(got.bin));
}

static int is_more(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static void a_quantile_is_3_2_per_cent_too_much_at_most(void **state)
{
    static const double shares[] = { 0.01, 0.5, 0.9, 0.99, 0.999, 1 };
    struct weir_histpack p = take(1000);
    struct weir_hist h = { .n = 0 }, got = { .n = 0 };
    uint64_t exact[VALUES];

    (void)state;
    fill(&h, exact, 1);
    assert_true(add_to_pack(&p, 3, &h));
    weir_histpack_get(&p, 3, &got);
    qsort(exact, VALUES, sizeof(*exact), is_more);
    for (size_t i = 0; i < sizeof(shares) / sizeof(*shares); i++) {
        uint64_t real = exact[(size_t)(shares[i] * VALUES + 0.5) - 1];
        uint64_t said = weir_hist_quantile(&got, shares[i]);

        assert_in_range(said, real, real + real / 31);
    }
    free_pack(&p);
}

static void what_is_added_and_moved_is_the_sum(void **state)
{
    struct weir_histpack p = take(4000);
    struct weir_hist part[ROWS], all = { .n = 0 }, none = { .n = 0 };
    uint64_t exact[VALUES];

    (void)state;
    memset(part, 0, sizeof(part));
    for (size_t r = 0; r < ROWS; r++) {
        fill(&part[r], exact, r + 7);
        weir_hist_merge(&all, &part[r]);
        assert_true(add_to_pack(&p, r, &part[r]));
        assert_true(add_to_pack(&p, r, &none));
        is_same(&p, r, &part[r]);
    }
    for (size_t r = 1; r < ROWS; r++) {
        move_in_pack(&p, 0, r);
        is_same(&p, r, &none);
    }
    is_same(&p, 0, &all);
    assert_true(add_to_pack(&p, 0, &all)); /* twice */
    weir_hist_merge(&all, &all);
    is_same(&p, 0, &all);
    clear_pack(&p);
    is_same(&p, 0, &none);
    free_pack(&p);
}

static void what_has_no_room_is_refused_until_there_is_some(void **state)
{
    struct weir_histpack p = take(WEIR_HIST_BINS / WEIR_HISTPACK_BINS + 1); /* one, and the piece that is none */
    struct weir_hist wide = { .n = 0 }, none = { .n = 0 };

    (void)state;
    for (int shift = 0; shift < 64; shift++)
        for (uint64_t low = 0; low < 32; low++)
            weir_hist_add(&wide, (32 + low) << 58 >> shift);
    assert_true(add_to_pack(&p, 0, &wide));
    is_same(&p, 0, &wide);
    assert_false(add_to_pack(&p, 1, &wide));
    is_same(&p, 1, &none);
    move_in_pack(&p, 1, 0);
    is_same(&p, 1, &wide);
    clear_pack(&p);
    assert_true(add_to_pack(&p, 2, &wide));
    free_pack(&p);
}

static void the_range_has_all_that_is_there(void **state)
{
    struct weir_histpack p = take(1000);
    struct weir_hist h = { .n = 0 };
    unsigned first, last;

    (void)state;
    assert_false(weir_histpack_range(&p, 0, ROWS, &first, &last));
    weir_hist_add(&h, 1000);
    assert_true(add_to_pack(&p, 2, &h));
    weir_hist_add(&h, 5000000);
    assert_true(add_to_pack(&p, 5, &h));
    assert_true(weir_histpack_range(&p, 0, 5, &first, &last));
    assert_true(first <= weir_hist_bin(1000) && weir_hist_bin(1000) <= last && last < weir_hist_bin(5000000));
    assert_true(weir_histpack_range(&p, 0, ROWS, &first, &last));
    assert_true(first <= weir_hist_bin(1000) && weir_hist_bin(5000000) <= last && last < WEIR_HIST_BINS);
    free_pack(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_quantile_is_3_2_per_cent_too_much_at_most),
        cmocka_unit_test(what_is_added_and_moved_is_the_sum),
        cmocka_unit_test(what_has_no_room_is_refused_until_there_is_some),
        cmocka_unit_test(the_range_has_all_that_is_there),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
