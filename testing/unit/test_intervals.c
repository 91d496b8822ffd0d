/* SPDX-License-Identifier: BSD-3-Clause */
/* test_intervals.c - bytes, operations and their times in intervals of time: nothing is lost */
#include "base/intervals.h"

#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define KINDS 2

static struct weir_intervals start(uint64_t width, uint64_t origin)
{
    struct weir_intervals s;

    assert_int_equal(weir_intervals_init(&s, width, KINDS, NULL), 0);
    weir_intervals_begin(&s, origin);
    return s;
}

static void an_operation_inside_an_interval_counts_there(void **state)
{
    struct weir_intervals s = start(100, 1000);

    (void)state;
    weir_intervals_add(&s, 0, 1000, 1000, 1, 0); /* at the origin, takes no time */
    weir_intervals_add(&s, 0, 1000, 1100, 7, 0); /* ends exactly at the boundary */
    weir_intervals_add(&s, 0, 1100, 1101, 5, 0);
    weir_intervals_add(&s, 1, 1101, 1101, 3, 0); /* of another kind */
    weir_intervals_add(&s, 0, 900, 950, 2, 0);   /* before the phase: a clock that was wrong */
    weir_intervals_flush(&s);
    assert_int_equal(s.bytes[0], 10);
    assert_int_equal(s.ops[0], 3);
    assert_int_equal(s.bytes[1], 5);
    assert_int_equal(s.ops[1], 1);
    assert_int_equal(s.bytes[weir_intervals_row(1, 1)], 3);
    assert_int_equal(s.ops[weir_intervals_row(1, 1)], 1);
    assert_int_equal(s.used, 2);
    weir_intervals_free(&s);
}

static void bytes_are_distributed_by_time_and_none_is_lost(void **state)
{
    struct weir_intervals s = start(100, 0);

    (void)state;
    weir_intervals_add(&s, 0, 50, 350, 10, 0); /* 50, 100, 100, 50 of 300 ns */
    weir_intervals_flush(&s);
    assert_int_equal(s.bytes[0], 1);
    assert_int_equal(s.bytes[1], 4);
    assert_int_equal(s.bytes[2], 3);
    assert_int_equal(s.bytes[3], 2);
    assert_int_equal(s.ops[3], 1);
    assert_int_equal(s.ops[0] + s.ops[1] + s.ops[2], 0);
    weir_intervals_free(&s);
}

static uint64_t longest(struct weir_intervals *s, int kind, unsigned bin, uint64_t *n)
{
    struct weir_hist h = { .n = 0 };

    weir_intervals_flush(s);
    weir_histpack_get(&s->times, weir_intervals_row(kind, bin), &h);
    *n = h.n;
    return weir_hist_quantile(&h, 1);
}

static void the_time_of_an_operation_counts_where_it_ends(void **state)
{
    struct weir_intervals s = start(100, 0);
    uint64_t n;

    (void)state;
    weir_intervals_add(&s, 0, 10, 20, 0, 0);
    weir_intervals_add(&s, 0, 20, 320, 0, 0);
    weir_intervals_add(&s, 1, 320, 327, 0, 0);
    weir_intervals_add(&s, 1, 330, 340, 0, 90); /* was due at 240 */
    weir_intervals_add(&s, 0, 60, 65, 0, 0); /* comes late, as the completions of a queue may */
    assert_int_equal(longest(&s, 0, 0, &n), 10);
    assert_int_equal(n, 2);
    assert_int_equal(longest(&s, 0, 1, &n), 0);
    assert_int_equal(n, 0);
    assert_int_equal(longest(&s, 0, 3, &n), 300);
    assert_int_equal(n, 1);
    assert_int_equal(longest(&s, 1, 3, &n), 100);
    assert_int_equal(n, 2);
    weir_intervals_free(&s);
}

static void a_rank_stands_still_where_one_operation_goes_on_and_none_ends(void **state)
{
    struct weir_intervals s = start(100, 0);

    (void)state;
    weir_intervals_add(&s, 0, 0, 50, 0, 0);
    weir_intervals_add(&s, 0, 50, 450, 0, 0);   /* bins 1 to 3 */
    weir_intervals_add(&s, 1, 210, 220, 0, 0);  /* at depth: another one ends in bin 2 */
    weir_intervals_add(&s, 0, 790, 810, 0, 0);  /* nothing goes on in bins 5 and 6: the program thinks */
    weir_intervals_flush(&s);
    for (unsigned i = 0; i < s.used; i++)
        assert_int_equal(weir_intervals_stalled(&s, i), i == 1 || i == 3);
    weir_intervals_widen(&s, 200);
    for (unsigned i = 0; i < s.used; i++)
        assert_false(weir_intervals_stalled(&s, i));
    weir_intervals_add(&s, 0, 800, 1400, 0, 0);
    weir_intervals_widen(&s, 400);
    assert_false(weir_intervals_stalled(&s, 2)); /* an operation ended in its second half */
    assert_false(weir_intervals_stalled(&s, 3));
    weir_intervals_free(&s);
}

static void full_bins_become_twice_as_wide(void **state)
{
    struct weir_intervals s = start(10, 5);
    struct weir_hist h = { .n = 0 };
    uint64_t bytes = 0, ops = 0;

    (void)state;
    for (uint64_t i = 0; i < 10 * WEIR_INTERVALS; i++)
        weir_intervals_add(&s, 0, 5 + i * 10, 5 + i * 10 + 13, i, 0);
    weir_intervals_flush(&s);
    assert_int_equal(s.width_ns, 160);
    for (unsigned i = 0; i < WEIR_INTERVALS; i++) {
        bytes += s.bytes[i];
        ops += s.ops[i];
        weir_histpack_get(&s.times, weir_intervals_row(0, i), &h);
        assert_int_equal(h.n, ops);
    }
    assert_int_equal(ops, 10 * WEIR_INTERVALS);
    assert_int_equal(h.bin[weir_hist_bin(13)], ops);
    weir_intervals_add(&s, 1, s.from_ns, s.from_ns + 7, 0, 0); /* not flushed */
    weir_intervals_until_now(&s, &h);
    assert_int_equal(h.n, ops + 1);
    assert_int_equal(h.bin[7], 1);
    assert_int_equal(bytes, (uint64_t)10 * WEIR_INTERVALS * (10 * WEIR_INTERVALS - 1) / 2);
    weir_intervals_widen(&s, 640);
    assert_int_equal(s.width_ns, 640);
    assert_int_equal(s.used, 641);
    weir_intervals_begin(&s, 0);
    assert_int_equal(s.width_ns, 10);
    assert_int_equal(s.bytes[0], 0);
    assert_int_equal(s.ops[0], 0);
    assert_int_equal(longest(&s, 0, 0, &ops), 0);
    weir_intervals_free(&s);
}

static void huge_operations_are_exact(void **state)
{
    struct weir_intervals s = start(1000000000, 0);
    uint64_t sum = 0;

    (void)state;
    weir_intervals_add(&s, 0, 1, 3000000000000, UINT64_MAX - 12345, 0);
    for (int i = 0; i < WEIR_INTERVALS; i++)
        sum += s.bytes[i];
    assert_int_equal(sum, UINT64_MAX - 12345);
    weir_intervals_add(&s, 0, 5, UINT64_MAX / 2, 1, 0);
    weir_intervals_flush(&s);
    assert_int_equal(s.ops[s.used - 1], 1);
    weir_intervals_free(&s);
}

/* ---- memory ---- */

#define SECOND UINT64_C(1000000000)
#define MOST_BYTES ((size_t)64 << 20)

/* What all heaps have given out; 0 where a sanitizer has its own. */
static size_t taken(void)
{
    struct mallinfo2 m = mallinfo2();

    return m.uordblks + m.hblkhd;
}

/* Numbers without order: xorshift. */
static uint64_t next(uint64_t *x)
{
    *x ^= *x << 13;
    *x ^= *x >> 7;
    *x ^= *x << 17;
    return *x;
}

/* So many operations of each kind in each of 86400 seconds, their times from 2^6 to 2^(6 + octaves) ns. */
static void run_a_day(struct weir_intervals *s, int kinds, int each, int octaves)
{
    uint64_t x = 88172645463325252u;

    for (uint64_t second = 0; second < 86400; second++) {
        uint64_t now = second * SECOND + SECOND / 2;

        for (int i = 0; i < each; i++)
            for (int k = 0; k < kinds; k++) {
                uint64_t ns = next(&x) >> 1;

                weir_intervals_add(s, k, now - (64 + (ns >> (57 - next(&x) % (unsigned)octaves))), now, 8, 0);
            }
    }
    weir_intervals_flush(s);
}

static void check_a_day(int kinds, int each, int octaves, uint64_t width_ns)
{
    size_t before = taken();
    struct weir_intervals s;
    uint64_t ops = 0;

    assert_int_equal(weir_intervals_init(&s, SECOND, kinds, NULL), 0);
    if (taken() > 0)
        assert_in_range(taken() - before, WEIR_INTERVALS_TIMES, MOST_BYTES); /* all there ever is */
    weir_intervals_begin(&s, 0);
    run_a_day(&s, kinds, each, octaves);
    assert_int_equal(s.width_ns, width_ns);
    for (int k = 0; k < kinds; k++) {
        struct weir_hist h = { .n = 0 };

        for (unsigned i = 0; i < s.used; i++) {
            ops += s.ops[weir_intervals_row(k, i)];
            weir_histpack_get(&s.times, weir_intervals_row(k, i), &h);
        }
        assert_int_equal(h.n, (uint64_t)each * 86400);
    }
    assert_int_equal(ops, (uint64_t)kinds * (uint64_t)each * 86400);
    weir_intervals_free(&s);
}

static void a_day_has_room_in_64_mib(void **state)
{
    (void)state;
    check_a_day(1, 8, 10, 32 * SECOND); /* 2700 intervals, each with all its times */
    check_a_day(16, 4, 20, 256 * SECOND); /* of sixteen kinds, without order: wider intervals make room */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_operation_inside_an_interval_counts_there),
        cmocka_unit_test(bytes_are_distributed_by_time_and_none_is_lost),
        cmocka_unit_test(the_time_of_an_operation_counts_where_it_ends),
        cmocka_unit_test(a_rank_stands_still_where_one_operation_goes_on_and_none_ends),
        cmocka_unit_test(full_bins_become_twice_as_wide),
        cmocka_unit_test(huge_operations_are_exact),
        cmocka_unit_test(a_day_has_room_in_64_mib),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
