/* SPDX-License-Identifier: BSD-3-Clause */
/* test_hist.c - latency histogram */
#include "base/hist.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void bins_are_in_order_and_inside_the_table(void **state)
{
    unsigned last = 0;

    (void)state;
    assert_int_equal(weir_hist_bin(0), 0);
    assert_int_equal(weir_hist_bin(31), 31);
    assert_int_equal(weir_hist_bin(32), 32);
    assert_int_equal(weir_hist_bin(UINT64_MAX), WEIR_HIST_BINS - 1);
    for (uint64_t ns = 0; ns < 100000; ns++) {
        unsigned bin = weir_hist_bin(ns);

        assert_true(bin == last || bin == last + 1);
        last = bin;
    }
}

static void an_empty_histogram_has_no_quantile(void **state)
{
    struct weir_hist h = { .n = 0 };

    (void)state;
    assert_int_equal(weir_hist_quantile(&h, 0.5), 0);
}

static void small_values_are_exact(void **state)
{
    struct weir_hist h = { .n = 0 };

    (void)state;
    for (uint64_t ns = 1; ns <= 20; ns++)
        weir_hist_add(&h, ns);
    assert_int_equal(h.n, 20);
    assert_int_equal(h.sum_ns, 210);
    assert_int_equal(h.min_ns, 1);
    assert_int_equal(h.max_ns, 20);
    assert_int_equal(weir_hist_quantile(&h, 0), 1);
    assert_int_equal(weir_hist_quantile(&h, 0.05), 1);
    assert_int_equal(weir_hist_quantile(&h, 0.051), 2);
    assert_int_equal(weir_hist_quantile(&h, 0.5), 10);
    assert_int_equal(weir_hist_quantile(&h, 0.95), 19);
    assert_int_equal(weir_hist_quantile(&h, 1), 20);
}

static void a_share_outside_0_to_1_is_clamped(void **state)
{
    struct weir_hist h = { .n = 0 };

    (void)state;
    weir_hist_add(&h, 10);
    weir_hist_add(&h, 20);
    assert_int_equal(weir_hist_quantile(&h, -1), 10);
    assert_int_equal(weir_hist_quantile(&h, 2), 20);
    assert_int_equal(weir_hist_quantile(&h, NAN), 10);
}

static void large_values_are_right_within_a_bin(void **state)
{
    (void)state;
    for (unsigned bit = 5; bit < 64; bit++) {
        for (int d = -1; d <= 1; d++) {
            struct weir_hist h = { .n = 0 };
            uint64_t ns = ((uint64_t)1 << bit) + (uint64_t)d * 3, got;

            weir_hist_add(&h, ns);
            weir_hist_add(&h, UINT64_MAX);
            got = weir_hist_quantile(&h, 0.5);
            assert_true(got >= ns);
            assert_true(got - ns <= ns / 31);
        }
    }
}

static void the_extremes_clamp_the_edge(void **state)
{
    struct weir_hist h = { .n = 0 };

    (void)state;
    weir_hist_add(&h, 1000000);
    assert_int_equal(weir_hist_quantile(&h, 0.5), 1000000);
    weir_hist_add(&h, UINT64_MAX);
    assert_int_equal(weir_hist_quantile(&h, 1), UINT64_MAX);
}

static void merging_equals_adding_all(void **state)
{
    struct weir_hist all = { .n = 0 }, a = { .n = 0 }, b = { .n = 0 }, none = { .n = 0 };

    (void)state;
    for (uint64_t i = 0; i < 1000; i++) {
        uint64_t ns = (i * 7919) % 100003;

        weir_hist_add(&all, ns);
        weir_hist_add(i % 3 ? &a : &b, ns);
    }
    weir_hist_merge(&a, &none);
    weir_hist_merge(&none, &b);
    assert_memory_equal(&none, &b, sizeof(b));
    weir_hist_merge(&a, &b);
    assert_memory_equal(&a, &all, sizeof(all));
}

static void the_maxima_of_the_ends_are_those_of_all_histograms(void **state)
{
    struct weir_hist hist[3] = { { .n = 0 } }, all = { .n = 0 };
    int64_t ends[2], one[2];

    (void)state;
    weir_hist_ends(&all, ends);
    weir_hist_set_ends(&all, ends);
    assert_true(all.min_ns == 0 && all.max_ns == 0);
    weir_hist_add(&hist[1], 700);
    weir_hist_add(&hist[1], 90);
    weir_hist_add(&hist[2], 800); /* hist[0] is empty */
    for (int i = 0; i < 3; i++) {
        weir_hist_ends(&hist[i], one);
        for (int k = 0; k < 2; k++)
            ends[k] = one[k] > ends[k] ? one[k] : ends[k];
    }
    weir_hist_set_ends(&all, ends);
    assert_true(all.min_ns == 90 && all.max_ns == 800);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(bins_are_in_order_and_inside_the_table),
        cmocka_unit_test(an_empty_histogram_has_no_quantile),
        cmocka_unit_test(small_values_are_exact),
        cmocka_unit_test(a_share_outside_0_to_1_is_clamped),
        cmocka_unit_test(large_values_are_right_within_a_bin),
        cmocka_unit_test(the_extremes_clamp_the_edge),
        cmocka_unit_test(merging_equals_adding_all),
        cmocka_unit_test(the_maxima_of_the_ends_are_those_of_all_histograms),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
