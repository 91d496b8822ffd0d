/* SPDX-License-Identifier: BSD-3-Clause */
/* test_bar.c - the stars of a bar */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "programs/mib/mib.h"

static void the_nearer_limit_counts(void **state)
{
    const struct weir_bar b = { .width = 50, .steps = 1000, .seconds = 10 };

    (void)state;
    assert_int_equal(weir_bar_stars(&b, 0, 0), 0);
    assert_int_equal(weir_bar_stars(&b, 19, 0.1), 0);
    assert_int_equal(weir_bar_stars(&b, 20, 0.1), 1);
    assert_int_equal(weir_bar_stars(&b, 20, 5), 25);
    assert_int_equal(weir_bar_stars(&b, 600, 5), 30);
}

static void the_end_is_not_shown(void **state)
{
    const struct weir_bar b = { .width = 50, .steps = 1000, .seconds = 10 };
    const struct weir_bar coarse = { .width = 50, .steps = 8 };

    (void)state;
    assert_int_equal(weir_bar_stars(&b, 1000, 1), 48);
    assert_int_equal(weir_bar_stars(&b, 1, 10), 48);
    assert_int_equal(weir_bar_stars(&b, 1, 1e9), 48);
    assert_int_equal(weir_bar_stars(&coarse, 8, 1e9), 43);
    assert_int_equal(weir_bar_stars(&coarse, 1, 0), 6);
}

static void without_a_limit_there_is_no_star(void **state)
{
    const struct weir_bar b = { .width = 50 };
    const struct weir_bar one = { .width = 50, .steps = 1, .seconds = 4 };
    const struct weir_bar most = { .width = 50, .steps = INT32_MAX };

    (void)state;
    assert_int_equal(weir_bar_stars(&b, 1000, 1000), 0);
    assert_int_equal(weir_bar_stars(&one, 1, 0), 0);
    assert_int_equal(weir_bar_stars(&most, INT32_MAX, 0), 48);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_nearer_limit_counts),
        cmocka_unit_test(the_end_is_not_shown),
        cmocka_unit_test(without_a_limit_there_is_no_star),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
