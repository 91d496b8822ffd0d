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

/* The task whose data a rank reads: distance is -Q, x is -X. */
static int random_owner(struct weir_par par, int distance, int x, int repetition, struct weir_err *err)
{
    const struct ior_options o = { .reorder_random = 1, .node_offset = distance, .seed = x };
    const struct ior_test t = { .o = &o };

    return ior_owner(&t, &par, false, repetition, err);
}

static int permuted_owner(int rank, int tasks, int x, int repetition)
{
    const struct ior_options o = { .reorder_random = 2, .node_offset = 1, .seed = x };
    const struct ior_test t = { .o = &o };
    const struct weir_par par = { .rank = rank, .size = tasks };

    return ior_owner(&t, &par, false, repetition, NULL);
}

static struct weir_par par_of(int rank, int tasks, int per_node, int nodes)
{
    return (struct weir_par) { .rank = rank, .size = tasks, .cache = { .per_node = per_node, .nodes = nodes } };
}

static void expect_random(int distance, int x, int repetition, const int want[TASKS])
{
    for (int r = 0; r < TASKS; r++)
        assert_int_equal(random_owner(par_of(r, TASKS, PER_NODE, NODES), distance, x, repetition, NULL),
                         want[r]);
}

static void expect_permuted(int x, int repetition, const int want[TASKS])
{
    for (int r = 0; r < TASKS; r++)
        assert_int_equal(permuted_owner(r, TASKS, x, repetition), want[r]);
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
    expect_random(1, 0, 3, x0);
    expect_random(1, 5, 0, x5);
    expect_random(1, 5, 1, x5);
    expect_random(1, -5, 0, x5);
    expect_random(1, -5, 1, x5_rep1);
    expect_random(2, 5, 0, x5_far);
}

static void permutations_match_the_vectors(void **state)
{
    static const int x0[TASKS] = { 7, 5, 1, 3, 2, 6, 4, 0 };
    static const int x13[TASKS] = { 2, 7, 5, 4, 3, 6, 0, 1 };
    static const int x13_rep1[TASKS] = { 3, 1, 5, 2, 0, 7, 4, 6 };

    (void)state;
    expect_permuted(0, 0, x0);
    expect_permuted(13, 4, x13);
    expect_permuted(-13, 0, x13);
    expect_permuted(-13, 1, x13_rep1);
}

static void a_permutation_meets_every_task_once(void **state)
{
    enum { MANY = 501 };
    unsigned char seen[MANY] = { 0 };

    (void)state;
    for (int r = 0; r < MANY; r++) {
        int p = permuted_owner(r, MANY, 99, 0);

        assert_true(p >= 0 && p < MANY);
        assert_int_equal(seen[p]++, 0);
    }
    assert_int_equal(permuted_owner(0, 1, 5, 0), 0);
}

static void the_distance_is_limited_by_the_nodes(void **state)
{
    (void)state;
    for (int r = 0; r < TASKS; r++) {
        const struct weir_par par = par_of(r, TASKS, PER_NODE, NODES);
        int p = random_owner(par, 1000000, 1, 0, NULL);

        assert_true((p - r + TASKS) % TASKS >= (NODES - 1) * PER_NODE);
        assert_int_equal(p, random_owner(par, NODES - 1, 1, 0, NULL));
    }
}

static void a_distance_nobody_has_is_refused(void **state)
{
    struct weir_err err = WEIR_ERR_INIT;

    (void)state;
    assert_int_equal(random_owner(par_of(1, 4, 4, 2), 1, 0, 0, &err), -1);
    assert_int_equal(err.code, WEIR_EUSAGE);
    assert_non_null(strstr(err.text, "4 tasks away"));
    assert_int_equal(random_owner(par_of(0, 4, INT_MAX, INT_MAX), INT_MAX, 0, 0, NULL), -1);
    assert_true(random_owner(par_of(1, 5, 4, 2), 1, 0, 0, NULL) >= 0);
}

static void one_node_allows_any_task(void **state)
{
    (void)state;
    assert_int_equal(random_owner(par_of(0, 1, 1, 1), 1, 7, 0, NULL), 0);
    for (int x = 0; x < 50; x++)
        assert_in_range(random_owner(par_of(2, 3, 3, 1), 5, x, 0, NULL), 0, 2);
}

static void a_negative_seed_moves_with_the_repetition(void **state)
{
    enum { MANY = 501 };

    (void)state;
    for (int r = 0; r < MANY; r++) {
        assert_int_equal(permuted_owner(r, MANY, 7, 3), permuted_owner(r, MANY, 7, 0));
        assert_int_equal(permuted_owner(r, MANY, 0, 3), permuted_owner(r, MANY, 0, 0));
        assert_int_equal(permuted_owner(r, MANY, -7, 3), permuted_owner(r, MANY, 10, 0));
        assert_int_equal(permuted_owner(r, MANY, INT_MIN, 0), permuted_owner(r, MANY, -1, INT_MAX));
    }
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
