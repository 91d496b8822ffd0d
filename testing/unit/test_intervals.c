/* SPDX-License-Identifier: BSD-3-Clause */
/* test_intervals.c - bytes and operations in intervals of time: nothing is lost */
#include "base/intervals.h"
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct weir_intervals start(uint64_t width, uint64_t origin)
{
    struct weir_intervals s;

    assert_int_equal(weir_intervals_init(&s, width, NULL), 0);
    weir_intervals_begin(&s, origin);
    return s;
}

static void an_operation_inside_an_interval_counts_there(void **state)
{
    struct weir_intervals s = start(100, 1000);

    (void)state;
    weir_intervals_add(&s, 1000, 1100, 7, 1); /* ends exactly at the boundary */
    weir_intervals_add(&s, 1100, 1101, 5, 1);
    weir_intervals_add(&s, 1101, 1101, 3, 1); /* takes no time */
    weir_intervals_add(&s, 900, 950, 2, 1);   /* before the phase: a clock that was wrong */
    assert_int_equal(s.bytes[0], 9);
    assert_int_equal(s.ops[0], 2);
    assert_int_equal(s.bytes[1], 8);
    assert_int_equal(s.ops[1], 2);
    assert_int_equal(s.used, 2);
    weir_intervals_free(&s);
}

static void bytes_are_distributed_by_time_and_none_is_lost(void **state)
{
    struct weir_intervals s = start(100, 0);

    (void)state;
    weir_intervals_add(&s, 50, 350, 10, 1); /* 50, 100, 100, 50 of 300 ns */
    assert_int_equal(s.bytes[0], 1);
    assert_int_equal(s.bytes[1], 4);
    assert_int_equal(s.bytes[2], 3);
    assert_int_equal(s.bytes[3], 2);
    assert_int_equal(s.ops[3], 1);
    assert_int_equal(s.ops[0] + s.ops[1] + s.ops[2], 0);
    weir_intervals_add(&s, 50, 350, 0, 6); /* operations that followed each other */
    assert_int_equal(s.ops[0], 1);
    assert_int_equal(s.ops[1], 2);
    assert_int_equal(s.ops[2], 2);
    assert_int_equal(s.ops[3], 1 + 1);
    weir_intervals_free(&s);
}

static void full_bins_become_twice_as_wide(void **state)
{
    struct weir_intervals s = start(10, 5);
    uint64_t bytes = 0, ops = 0;

    (void)state;
    for (uint64_t i = 0; i < 10 * WEIR_INTERVALS; i++)
        weir_intervals_add(&s, 5 + i * 10, 5 + i * 10 + 13, i, 1);
    assert_int_equal(s.width_ns, 160);
    for (int i = 0; i < WEIR_INTERVALS; i++) {
        bytes += s.bytes[i];
        ops += s.ops[i];
    }
    assert_int_equal(ops, 10 * WEIR_INTERVALS);
    assert_int_equal(bytes, (uint64_t)10 * WEIR_INTERVALS * (10 * WEIR_INTERVALS - 1) / 2);
    weir_intervals_widen(&s, 640);
    assert_int_equal(s.width_ns, 640);
    assert_int_equal(s.used, 641);
    weir_intervals_begin(&s, 0);
    assert_int_equal(s.width_ns, 10);
    assert_int_equal(s.bytes[0], 0);
    weir_intervals_free(&s);
}

static void huge_operations_are_exact(void **state)
{
    struct weir_intervals s = start(1000000000, 0);
    uint64_t sum = 0;

    (void)state;
    weir_intervals_add(&s, 1, 3000000000000, UINT64_MAX - 12345, 1);
    for (int i = 0; i < WEIR_INTERVALS; i++)
        sum += s.bytes[i];
    assert_int_equal(sum, UINT64_MAX - 12345);
    weir_intervals_add(&s, 5, UINT64_MAX / 2, 1, 1);
    assert_int_equal(s.ops[s.used - 1], 1);
    weir_intervals_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_operation_inside_an_interval_counts_there),
        cmocka_unit_test(bytes_are_distributed_by_time_and_none_is_lost),
        cmocka_unit_test(full_bins_become_twice_as_wide),
        cmocka_unit_test(huge_operations_are_exact),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
