/* SPDX-License-Identifier: BSD-3-Clause */
/* test_sampled.c - some operations of a phase: a sample, the slowest, and the memory for them */
#include "engine/records.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define MANY 1000000u
#define SLOWEST 100u

/* The time of operation n of a phase, in ns: many are equal. */
static uint64_t time_of(uint64_t n)
{
    return 1 + weir_rng_below(5, n, 30000);
}

/* 'n' operations one after the other; the one with the number 'bad' fails. */
static void run(struct weir_sampled *p, uint64_t n, uint64_t bad)
{
    uint64_t at = 1000;

    assert_int_equal(weir_sampled_reserve(p, n, NULL), 0);
    for (uint64_t i = 0; i < n; i++) {
        struct weir_record r = { at, at + time_of(i), i, 0, 0, i == bad ? 5 : 0 };

        weir_sampled_put(p, &r);
        at = r.end_ns;
    }
    weir_sampled_finish(p);
}

static int descending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? 1 : x > y ? -1 : 0;
}

static void a_sample_follows_from_key_and_number(void **state)
{
    struct weir_sampled p = { .here = true, .one_of = 100, .limit = MANY, .key = 7 };
    size_t k = 0;

    (void)state;
    for (int turn = 0; turn < 2; turn++, k = 0) {
        run(&p, MANY, UINT64_MAX);
        assert_in_range(p.n, 9500, 10500);
        for (uint64_t i = 0; i < MANY; i++)
            if (weir_rng_at(7, i) <= UINT64_MAX / 100) {
                assert_int_equal(p.ops[k].number, i);
                assert_int_equal(p.ops[k].op.off, i);
                assert_int_equal(p.ops[k++].why, WEIR_SAMPLED_RANDOM);
            }
        assert_int_equal(k, p.n);
        assert_int_equal(p.dropped, 0);
        assert_int_equal(p.seen, MANY);
    }
    weir_sampled_free(&p);
}

/* 60 KB, whatever the number of operations. */
static void the_slowest_are_there_with_their_neighbours(void **state)
{
    struct weir_sampled p = { .here = true, .slowest = SLOWEST, .limit = MANY };
    uint64_t *sorted = malloc(MANY * sizeof(*sorted)), slow = 0;

    (void)state;
    assert_non_null(sorted);
    for (uint64_t i = 0; i < MANY; i++)
        sorted[i] = time_of(i);
    qsort(sorted, MANY, sizeof(*sorted), descending);
    run(&p, MANY, UINT64_MAX);
    assert_true(p.taken * sizeof(*p.ops) + SLOWEST * sizeof(*p.heap) < 60000);
    for (size_t i = 0; i < p.n; i++) {
        const struct weir_sampled_op *one = &p.ops[i];

        assert_true(i == 0 || one[-1].number < one->number);
        assert_int_equal(one->op.off, one->number);
        if (!(one->why & WEIR_SAMPLED_SLOWEST))
            continue;
        slow++;
        assert_true(time_of(one->number) >= sorted[SLOWEST - 1]);
        assert_true(one->number == 0 || one[-1].number == one->number - 1);
        assert_true(one->number == MANY - 1 || one[1].number == one->number + 1);
    }
    assert_int_equal(slow, SLOWEST);
    assert_in_range(p.n, SLOWEST + 1, 3 * SLOWEST);
    assert_int_equal(p.dropped, 0);
    weir_sampled_free(&p);
    free(sorted);
}

static void one_that_is_there_for_several_reasons_is_there_once(void **state)
{
    struct weir_sampled p = { .here = true, .one_of = 1, .slowest = 2, .limit = MANY };
    unsigned why[5];

    (void)state;
    for (uint64_t n = 0; n < 5; n++) {
        run(&p, n, 1);
        assert_int_equal(p.n, n);
        for (uint64_t i = 0; i < n; i++)
            assert_int_equal(p.ops[i].number, i);
    }
    run(&p, 5, 3);
    for (int i = 0; i < 5; i++)
        why[i] = p.ops[i].why;
    for (int i = 0; i < 5; i++)
        assert_true(why[i] & WEIR_SAMPLED_RANDOM);
    assert_true(why[3] & WEIR_SAMPLED_FAILED);
    assert_int_equal(p.slow_cap, 2);
    weir_sampled_free(&p);
}

static void what_has_no_room_is_counted_and_failures_are_always_there(void **state)
{
    struct weir_sampled p = { .here = true, .one_of = 2, .limit = 10 };

    (void)state;
    run(&p, 1000, UINT64_MAX);
    assert_int_equal(p.n, 10);
    assert_in_range(p.dropped, 400, 580);
    p.one_of = 0;
    run(&p, 1000, 77);
    assert_int_equal(p.n, 1);
    assert_int_equal(p.ops[0].number, 77);
    assert_int_equal(p.ops[0].why, WEIR_SAMPLED_FAILED);
    p.here = false;
    p.one_of = p.slowest = 1;
    run(&p, 1000, 77);
    assert_int_equal(p.n, 0);
    assert_int_equal(p.seen, 1000);
    assert_int_equal(p.dropped, 0);
    weir_sampled_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sample_follows_from_key_and_number),
        cmocka_unit_test(the_slowest_are_there_with_their_neighbours),
        cmocka_unit_test(one_that_is_there_for_several_reasons_is_there_once),
        cmocka_unit_test(what_has_no_room_is_counted_and_failures_are_always_there),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
