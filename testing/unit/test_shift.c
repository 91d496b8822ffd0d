/* SPDX-License-Identifier: BSD-3-Clause */
/* test_shift.c - whose data a task reads (vectors of the original) */
#include "programs/ior/ior.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/shape/shift.h"

enum { TASKS = 8, PER_NODE = 2, NODES = 4 };

static void expect_fixed(long long shift, const int want[TASKS])
{
    for (int r = 0; r < TASKS; r++)
        assert_int_equal(weir_shift_fixed(r, TASKS, shift), want[r]);
}

static void expect_random(int distance, unsigned seed, const int want[TASKS])
{
    for (int r = 0; r < TASKS; r++)
        assert_int_equal(ior_shift_random(r, TASKS, PER_NODE, NODES, distance, seed, NULL),
                         want[r]);
}

static void expect_permuted(unsigned seed, const int want[TASKS])
{
    for (int r = 0; r < TASKS; r++)
        assert_int_equal(ior_shift_permuted(r, TASKS, seed, NULL), want[r]);
}

static void a_fixed_shift_matches_the_vectors(void **state)
{
    static const int one[TASKS] = { 2, 3, 4, 5, 6, 7, 0, 1 };
    static const int three[TASKS] = { 6, 7, 0, 1, 2, 3, 4, 5 };

    (void)state;
    expect_fixed(PER_NODE, one);
    expect_fixed(3 * PER_NODE, three);
}

static void a_fixed_shift_wraps_for_any_sign(void **state)
{
    (void)state;
    assert_int_equal(weir_shift_fixed(0, 4, -1), 3);
    assert_int_equal(weir_shift_fixed(3, 4, 1), 0);
    assert_int_equal(weir_shift_fixed(1, 4, -4), 1);
    assert_int_equal(weir_shift_fixed(0, 1, 17), 0);
    assert_int_equal(weir_shift_fixed(INT_MAX - 1, INT_MAX, LLONG_MAX), LLONG_MAX % INT_MAX - 1);
    assert_true(weir_shift_fixed(5, 7, LLONG_MIN) >= 0);
    assert_true(weir_shift_fixed(5, 7, LLONG_MIN) < 7);
}

static void random_shifts_match_the_vectors(void **state)
{
    static const int x0[TASKS] = { 7, 0, 4, 5, 1, 0, 3, 4 };
    static const int x5[TASKS] = { 3, 6, 7, 5, 7, 4, 5, 1 };
    static const int x5_rep1[TASKS] = { 5, 6, 4, 6, 3, 4, 0, 1 };
    static const int x5_far[TASKS] = { 5, 6, 7, 0, 1, 4, 5, 6 };

    (void)state;
    expect_random(1, ior_shift_seed(0, 3), x0);
    expect_random(1, ior_shift_seed(5, 0), x5);
    expect_random(1, ior_shift_seed(5, 1), x5);
    expect_random(1, ior_shift_seed(-5, 0), x5);
    expect_random(1, ior_shift_seed(-5, 1), x5_rep1);
    expect_random(2, ior_shift_seed(5, 0), x5_far);
}

static void permutations_match_the_vectors(void **state)
{
    static const int x0[TASKS] = { 7, 5, 1, 3, 2, 6, 4, 0 };
    static const int x13[TASKS] = { 2, 7, 5, 4, 3, 6, 0, 1 };
    static const int x13_rep1[TASKS] = { 3, 1, 5, 2, 0, 7, 4, 6 };

    (void)state;
    expect_permuted(ior_shift_seed(0, 0), x0);
    expect_permuted(ior_shift_seed(13, 4), x13);
    expect_permuted(ior_shift_seed(-13, 0), x13);
    expect_permuted(ior_shift_seed(-13, 1), x13_rep1);
}

static void a_permutation_meets_every_task_once(void **state)
{
    enum { MANY = 501 };
    unsigned char seen[MANY] = { 0 };

    (void)state;
    for (int r = 0; r < MANY; r++) {
        int p = ior_shift_permuted(r, MANY, 99, NULL);

        assert_true(p >= 0 && p < MANY);
        assert_int_equal(seen[p]++, 0);
    }
    assert_int_equal(ior_shift_permuted(0, 1, 5, NULL), 0);
}

static void the_distance_is_limited_by_the_nodes(void **state)
{
    (void)state;
    for (int r = 0; r < TASKS; r++) {
        int p = ior_shift_random(r, TASKS, PER_NODE, NODES, 1000000, 1, NULL);

        assert_true((p - r + TASKS) % TASKS >= (NODES - 1) * PER_NODE);
        assert_int_equal(p, ior_shift_random(r, TASKS, PER_NODE, NODES, NODES - 1, 1, NULL));
    }
}

static void a_distance_nobody_has_is_refused(void **state)
{
    struct weir_err err = WEIR_ERR_INIT;

    (void)state;
    assert_int_equal(ior_shift_random(1, 4, 4, 2, 1, 0, &err), -1);
    assert_int_equal(err.code, WEIR_EUSAGE);
    assert_non_null(strstr(err.text, "4 tasks away"));
    assert_int_equal(ior_shift_random(0, 4, INT_MAX, INT_MAX, INT_MAX, 0, NULL), -1);
    assert_true(ior_shift_random(1, 5, 4, 2, 1, 0, NULL) >= 0);
}

static void one_node_allows_any_task(void **state)
{
    (void)state;
    assert_int_equal(ior_shift_random(0, 1, 1, 1, 1, 7, NULL), 0);
    for (unsigned seed = 0; seed < 50; seed++)
        assert_in_range(ior_shift_random(2, 3, 3, 1, 5, seed, NULL), 0, 2);
}

static void a_negative_seed_moves_with_the_repetition(void **state)
{
    (void)state;
    assert_int_equal(ior_shift_seed(7, 3), 7);
    assert_int_equal(ior_shift_seed(0, 3), 0);
    assert_int_equal(ior_shift_seed(-7, 3), 10);
    assert_int_equal(ior_shift_seed(INT_MIN, 1), 2147483649u);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fixed_shift_matches_the_vectors),
        cmocka_unit_test(a_fixed_shift_wraps_for_any_sign),
        cmocka_unit_test(random_shifts_match_the_vectors),
        cmocka_unit_test(permutations_match_the_vectors),
        cmocka_unit_test(a_permutation_meets_every_task_once),
        cmocka_unit_test(the_distance_is_limited_by_the_nodes),
        cmocka_unit_test(a_distance_nobody_has_is_refused),
        cmocka_unit_test(one_node_allows_any_task),
        cmocka_unit_test(a_negative_seed_moves_with_the_repetition),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
