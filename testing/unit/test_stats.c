/* SPDX-License-Identifier: BSD-3-Clause */
/* test_stats.c - mergeable moments */
#include "base/stats.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const double series[] = { 2, 4, 4, 4, 5, 5, 7, 9 }; /* mean 5, population deviation 2 */

static void expect_near(double got, double want)
{
    if (!(fabs(got - want) <= 1e-12 * (1 + fabs(want))))
        fail_msg("%.17g instead of %.17g", got, want);
}

static void an_empty_series_has_no_deviation(void **state)
{
    struct weir_stats s = { .n = 0 };

    (void)state;
    expect_near(weir_stats_sd(&s, WEIR_DEVIATION_POPULATION), 0);
}

static void one_value_is_everything(void **state)
{
    struct weir_stats s = { .n = 0 };

    (void)state;
    weir_stats_add(&s, -3.5);
    assert_int_equal(s.n, 1);
    expect_near(s.min, -3.5);
    expect_near(s.max, -3.5);
    expect_near(s.mean, -3.5);
    expect_near(weir_stats_sd(&s, WEIR_DEVIATION_POPULATION), 0);
}

static void the_deviation_is_of_the_population(void **state)
{
    struct weir_stats s = { .n = 0 };

    (void)state;
    for (int i = 0; i < 8; i++)
        weir_stats_add(&s, series[i]);
    assert_int_equal(s.n, 8);
    expect_near(s.min, 2);
    expect_near(s.max, 9);
    expect_near(s.mean, 5);
    expect_near(weir_stats_sd(&s, WEIR_DEVIATION_POPULATION), 2);
}

static void parts_of_a_series_merge_to_the_whole(void **state)
{
    (void)state;
    for (int cut = 0; cut <= 8; cut++) { /* also where one part is empty */
        struct weir_stats s = { .n = 0 }, more = { .n = 0 };

        for (int i = 0; i < 8; i++)
            weir_stats_add(i < cut ? &s : &more, series[i]);
        weir_stats_merge(&s, &more);
        assert_int_equal(s.n, 8);
        expect_near(s.min, 2);
        expect_near(s.max, 9);
        expect_near(s.mean, 5);
        expect_near(weir_stats_sd(&s, WEIR_DEVIATION_POPULATION), 2);
    }
}

static void a_small_spread_on_a_large_mean_survives(void **state)
{
    struct weir_stats s = { .n = 0 };

    (void)state;
    for (int i = 0; i < 1000; i++)
        weir_stats_add(&s, 1e9 + (i % 2));
    if (fabs(weir_stats_sd(&s, WEIR_DEVIATION_POPULATION) - 0.5) > 1e-6)
        fail_msg("deviation %.17g", weir_stats_sd(&s, WEIR_DEVIATION_POPULATION));
}

static void equal_values_have_no_deviation(void **state)
{
    struct weir_stats s = { .n = 0 };

    (void)state;
    for (int i = 0; i < 100; i++)
        weir_stats_add(&s, 0.1);
    assert_true(weir_stats_sd(&s, WEIR_DEVIATION_POPULATION) < 1e-15);
}

static void the_median_is_in_the_middle(void **state)
{
    double even[] = { 10, 1, 2, 3, 4, 5, 6, 7, 8, 9 }, odd[] = { 3, -1, 2 }, one[] = { 7 };

    (void)state;
    expect_near(weir_median(even, 10), 5.5);
    expect_near(weir_median(odd, 3), 2);
    expect_near(weir_median(one, 1), 7);
    assert_true(isnan(weir_median(one, 0)));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_series_has_no_deviation),
        cmocka_unit_test(one_value_is_everything),
        cmocka_unit_test(the_deviation_is_of_the_population),
        cmocka_unit_test(parts_of_a_series_merge_to_the_whole),
        cmocka_unit_test(a_small_spread_on_a_large_mean_survives),
        cmocka_unit_test(equal_values_have_no_deviation),
        cmocka_unit_test(the_median_is_in_the_middle),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
