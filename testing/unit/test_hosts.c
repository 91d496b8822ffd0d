/* SPDX-License-Identifier: BSD-3-Clause */
/* test_hosts.c - ranks of a host as ranges */
#include "par/hosts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define RANKS(...) (const uint64_t[]) { __VA_ARGS__ }, sizeof((const uint64_t[]) { __VA_ARGS__ }) / sizeof(uint64_t)

static void check(const uint64_t *rank, size_t n, const char *expected)
{
    struct weir_str out = { 0 };

    weir_hosts_ranks(&out, rank, n);
    assert_string_equal(weir_str_text(&out), expected);
    weir_str_free(&out);
}

static void neighbours_are_a_range(void **state)
{
    (void)state;
    check(RANKS(0), "0");
    check(RANKS(7, 8), "7-8");
    check(RANKS(0, 1, 2, 3), "0-3");
    check(RANKS(0, 1, 5, 7, 8), "0-1,5,7-8");
    check(RANKS(UINT64_C(4294967296), UINT64_C(4294967297)), "4294967296-4294967297");
}

static void ranks_in_turn_are_a_range_with_a_step(void **state)
{
    (void)state;
    check(RANKS(1, 3), "1,3");
    check(RANKS(1, 3, 5), "1-5:2");
    check(RANKS(0, 1000, 2000, 3000, 3001), "0-3000:1000,3001");
    check(RANKS(0, 2, 3, 4, 5), "0,2-5");
    check(RANKS(0, 1, 8, 9, 16, 17), "0-1,8-9,16-17");
}

static void nothing_has_no_ranges(void **state)
{
    (void)state;
    check(NULL, 0, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbours_are_a_range),
        cmocka_unit_test(ranks_in_turn_are_a_range_with_a_step),
        cmocka_unit_test(nothing_has_no_ranges),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
