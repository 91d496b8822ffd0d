/* SPDX-License-Identifier: BSD-3-Clause */
/* test_elsewhere.c - no node sees the same data twice: all placements of few tasks, and many at random */
#include "par/group.h"
#include "programs/ior/ior.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define FEW 8

/* The most tasks of a node, and the tasks in a circle, those of a node side by side: the slow way. free() it. */
static int *stand(const int *node, int n, int nodes, int *most)
{
    int *circle = malloc(sizeof(*circle) * (size_t)n), at = 0;

    assert_non_null(circle);
    *most = 0;
    for (int k = 0; k < nodes; k++) {
        int begin = at;

        for (int r = 0; r < n; r++)
            if (node[r] == k)
                circle[at++] = r;
        *most = at - begin > *most ? at - begin : *most;
    }
    assert_int_equal(at, n);
    return circle;
}

/* Whose data the task at a place of the circle reads: as weir_circle_ranks with the step 'most'. */
static int owner_at(const int *circle, int n, int most, int at, int round)
{
    return circle[(at + (round + 1LL) * most) % n];
}

/* Is there any order at all? Tries all: round by round, reader by reader. seen[d]: nodes that have
 * touched the data of d. */
static bool exists(const int *node, int n, int rounds, int reader, unsigned taken, unsigned *seen)
{
    if (reader == n)
        return rounds == 1 || exists(node, n, rounds - 1, 0, 0, seen);
    for (int d = 0; d < n; d++) {
        unsigned me = 1u << node[reader];

        if ((taken >> d & 1) || (seen[d] & me))
            continue;
        seen[d] |= me;
        if (exists(node, n, rounds, reader + 1, taken | 1u << d, seen))
            return true;
        seen[d] &= ~me;
    }
    return false;
}

static bool can_be(const int *node, int n, int rounds)
{
    unsigned seen[FEW];

    for (int d = 0; d < n; d++)
        seen[d] = 1u << node[d];
    return exists(node, n, rounds, 0, 0, seen);
}

/* Each round is a permutation, and no node touches the data of a task twice. */
static void check_order(const int *node, const int *circle, int most, int n, int rounds)
{
    unsigned seen[FEW];

    for (int d = 0; d < n; d++)
        seen[d] = 1u << node[d];
    for (int k = 0; k < rounds; k++) {
        unsigned taken = 0;

        for (int at = 0; at < n; at++) {
            int d = owner_at(circle, n, most, at, k), r = circle[at];

            assert_false(taken >> d & 1);
            assert_false(seen[d] & 1u << node[r]);
            taken |= 1u << d;
            seen[d] |= 1u << node[r];
        }
    }
}

/* Placements are the same when nodes only have other numbers: node[i] is at most one more than
 * those before. */
static void try_all(int *node, int n, int at, int nodes)
{
    int *circle, most;

    if (at < n) {
        for (node[at] = 0; node[at] <= nodes; node[at]++)
            try_all(node, n, at + 1, node[at] == nodes ? nodes + 1 : nodes);
        return;
    }
    circle = stand(node, n, nodes, &most);
    for (int rounds = 1; rounds <= 3; rounds++) {
        bool can = weir_elsewhere_check(most, n, rounds, NULL) == 0;

        if (rounds == 1 || n <= 6)
            assert_int_equal(can, can_be(node, n, rounds));
        if (can)
            check_order(node, circle, most, n, rounds);
    }
    free(circle);
}

static void test_all_placements_of_few_tasks(void **state)
{
    int node[FEW];

    (void)state;
    for (int n = 1; n <= FEW; n++)
        try_all(node, n, 0, 0);
}

static uint64_t draw(uint64_t *x)
{
    *x ^= *x << 13;
    *x ^= *x >> 7;
    *x ^= *x << 17;
    return *x;
}

/* A sample of the readers: that they differ is checked by the permutation of the small cases, that it
 * is one by going around here, too. */
static void try_many(int n, int nodes, uint64_t *x)
{
    int *node = malloc(sizeof(*node) * (size_t)n), rounds = 1 + (int)(draw(x) % 3), *circle, most;

    assert_non_null(node);
    for (int i = 0; i < n; i++)
        node[i] = (int)(draw(x) % (uint64_t)nodes);
    circle = stand(node, n, nodes, &most);
    if (weir_elsewhere_check(most, n, rounds, NULL) == 0)
        for (int i = 0; i < 40; i++) {
            int at = (int)(draw(x) % (uint64_t)n), owner[3];

            for (int k = 0; k < rounds; k++) {
                owner[k] = owner_at(circle, n, most, at, k);
                assert_int_not_equal(node[owner[k]], node[circle[at]]);
                for (int j = 0; j < k; j++)
                    assert_int_not_equal(owner[k], owner[j]);
            }
        }
    free(circle);
    free(node);
}

static void test_many_tasks_at_random(void **state)
{
    static const int sizes[] = { 9, 17, 100, 1000, 9999, 100000 };
    uint64_t x = 88172645463325252u;

    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
        for (int j = 0; j < (sizes[i] < 1000 ? 50 : 1); j++)
            try_many(sizes[i], 2 + (int)(draw(&x) % 30), &x);
}

static void says(int most, int n, int rounds, const char *words)
{
    struct weir_err err = WEIR_ERR_INIT;

    assert_int_equal(weir_elsewhere_check(most, n, rounds, &err), -1);
    assert_int_equal(err.code, WEIR_EUSAGE);
    assert_non_null(strstr(err.text, words));
}

static void test_the_reason_is_said(void **state)
{
    (void)state;
    says(3, 3, 1, "all tasks are on one node; at least two nodes are needed");
    says(2, 3, 1, "one node has 2 of the 3 tasks; a node can have half of the tasks at most");
    says(2, 4, 2, "read 2 times");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_placements_of_few_tasks),
        cmocka_unit_test(test_many_tasks_at_random),
        cmocka_unit_test(test_the_reason_is_said),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
