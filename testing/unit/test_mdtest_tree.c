/* SPDX-License-Identifier: BSD-3-Clause */
/* test_mdtest_tree.c - the arithmetic of trees, items and names of mdtest */
#include "programs/mdtest/mdtest-tree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct weir_dirtree make_tree(int branch, int depth, int64_t items, int64_t per_dir,
                                    bool leaf_only)
{
    const struct weir_dirtree_shape shape = { items, per_dir, branch, depth, leaf_only };
    struct weir_err err = WEIR_ERR_INIT;
    struct weir_dirtree t;

    assert_int_equal(mdtest_tree_init(&t, &shape, false, &err), 0);
    return t;
}

static void refuse_tree(struct weir_dirtree_shape shape, bool unique, const char *word)
{
    struct weir_err err = WEIR_ERR_INIT;
    struct weir_dirtree t;

    assert_int_equal(mdtest_tree_init(&t, &shape, unique, &err), -1);
    assert_int_equal(err.code, WEIR_EUSAGE);
    assert_non_null(strstr(err.text, word));
}

static void items_are_spread_over_all_directories(void **state)
{
    struct weir_dirtree t = make_tree(2, 1, 10, 0, false);

    (void)state;
    assert_int_equal(t.dirs, 3);
    assert_int_equal(t.per_dir, 3);
    assert_int_equal(t.total, 9);
}

static void fewer_items_than_directories_are_none(void **state)
{
    struct weir_dirtree t = make_tree(3, 2, 2, 0, false);

    (void)state;
    assert_int_equal(t.dirs, 13);
    assert_int_equal(t.total, 0);
}

static void leaves_hold_the_highest_numbers(void **state)
{
    struct weir_dirtree t = make_tree(3, 2, 100, 0, true);

    (void)state;
    assert_int_equal(t.first, 4);
    assert_int_equal(t.per_dir, 11);
    assert_int_equal(t.total, 99);
    assert_int_equal(weir_dirtree_made(&t, 0), 44);
    assert_int_equal(weir_dirtree_made(&t, 98), 142);
    assert_int_equal(weir_dirtree_dir_of(&t, 44), 4);
    assert_int_equal(weir_dirtree_dir_of(&t, 142), 12);
}

static void a_chain_has_one_leaf(void **state)
{
    struct weir_dirtree t = make_tree(1, 3, 7, 0, true);

    (void)state;
    assert_int_equal(t.dirs, 4);
    assert_int_equal(t.per_dir, 7);
    assert_int_equal(weir_dirtree_made(&t, 0), 21);
}

static void items_over_items_per_directory_are_trees(void **state)
{
    struct weir_dirtree t = make_tree(2, 1, 100, 10, false);

    (void)state;
    assert_int_equal(t.loops, 10);
    assert_int_equal(t.per_loop, 30);
    assert_int_equal(t.total, 300);
}

static void preorder_goes_depth_first(void **state)
{
    static const uint64_t order[] = { 0, 1, 4, 5, 6, 2, 7, 8, 9, 3, 10, 11, 12 };
    struct weir_dirtree t = make_tree(3, 2, 0, 1, false);

    (void)state;
    for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++) {
        assert_int_equal(weir_dirtree_preorder(&t, i), order[i]);
        assert_int_equal(weir_dirtree_made(&t, i), order[i]);
    }
}

static void postorder_has_children_before_parents(void **state)
{
    static const uint64_t order[] = { 4, 5, 6, 1, 7, 8, 9, 2, 10, 11, 12, 3, 0 };
    struct weir_dirtree t = make_tree(3, 2, 0, 1, false);

    (void)state;
    for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++)
        assert_int_equal(weir_dirtree_postorder(&t, i), order[i]);
}

static void both_orders_visit_every_directory_once(void **state)
{
    (void)state;
    for (int branch = 1; branch <= 4; branch++) {
        for (int depth = 0; depth <= 4; depth++) {
            struct weir_dirtree t = make_tree(branch, depth, 0, 1, false);
            unsigned char *seen = calloc(t.dirs, 1);

            for (uint64_t i = 0; i < t.dirs; i++) {
                seen[weir_dirtree_preorder(&t, i)] |= 1;
                seen[weir_dirtree_postorder(&t, i)] |= 2;
            }
            for (uint64_t i = 0; i < t.dirs; i++)
                assert_int_equal(seen[i], 3);
            free(seen);
        }
    }
}

static void numbers_beyond_31_bits_are_right(void **state)
{
    struct weir_dirtree t = make_tree(10, 12, 0, 1, false);

    (void)state;
    assert_true(t.dirs == 1111111111111u);
    assert_true(weir_dirtree_preorder(&t, t.dirs - 1) == t.dirs - 1);
    assert_true(weir_dirtree_postorder(&t, t.dirs - 1) == 0);
}

static void impossible_shapes_are_refused(void **state)
{
    (void)state;
    refuse_tree((struct weir_dirtree_shape) { 0, 0, 1, -1, false }, false, "-z");
    refuse_tree((struct weir_dirtree_shape) { 0, 0, 0, 1, false }, false, "-b");
    refuse_tree((struct weir_dirtree_shape) { 1, 0, 2, 100, false }, false, "2^63");
    refuse_tree((struct weir_dirtree_shape) { 0, INT64_MAX, 2, 4, false }, false, "2^63");
    refuse_tree((struct weir_dirtree_shape) { 5, 2, 1, 0, false }, false, "multiple");
    refuse_tree((struct weir_dirtree_shape) { 4, 2, 1, 0, false }, true, "-u");
    refuse_tree((struct weir_dirtree_shape) { -4, 0, 1, 0, false }, false, "negative");
}

static void without_depth_the_branching_factor_does_not_matter(void **state)
{
    struct weir_dirtree t = make_tree(0, 0, 5, 0, true);

    (void)state;
    assert_int_equal(t.dirs, 1);
    assert_int_equal(t.total, 5);
}

static void names_follow_the_tree(void **state)
{
    struct weir_dirtree t = make_tree(2, 2, 0, 1, false);
    struct weir_err err = WEIR_ERR_INIT;
    struct mdtest_names n;

    (void)state;
    assert_int_equal(mdtest_names_init(&n, &t, 1, &err), 0);
    assert_string_equal(mdtest_name_test(&n, "b", 3, 7), "b/test-dir.3-7");
    assert_string_equal(mdtest_name_dir(&n, "b", 0, 0, MDTEST_SHARED_TREE, 0),
                        "b/test-dir.0-0/mdtest_tree.0");
    assert_string_equal(mdtest_name_dir(&n, "b", 0, 0, 5, 4),
                        "b/test-dir.0-0/mdtest_tree.5.0/mdtest_tree.5.1/mdtest_tree.5.4");
    assert_string_equal(mdtest_name_item(&n, "b", 0, 0, MDTEST_SHARED_TREE, 2, MDTEST_FILES, 12, 9),
                        "b/test-dir.0-0/mdtest_tree.0/mdtest_tree.2/file.mdtest.12.9");
    assert_string_equal(mdtest_name_item(&n, "b", 0, 0, MDTEST_SHARED_TREE, 2, MDTEST_FILES, 12, 10),
                        "b/test-dir.0-0/mdtest_tree.0/mdtest_tree.2/file.mdtest.12.10");
    assert_string_equal(
        mdtest_name_item(&n, "b", 0, 0, MDTEST_SHARED_TREE, 0, MDTEST_FILES, MDTEST_SHARED, 1),
        "b/test-dir.0-0/mdtest_tree.0/file.mdtest.shared.1");
    assert_string_equal(mdtest_name_item(&n, "b", 1, 0, 0, 0, MDTEST_DIRS, 0, UINT64_MAX),
                        "b/test-dir.1-0/mdtest_tree.0.0/dir.mdtest.0.18446744073709551615");
    assert_string_equal(mdtest_name_root(&n, 4), "mdtest_tree.4.0");
    mdtest_names_free(&n);
}

static void the_longest_name_fits(void **state)
{
    struct weir_dirtree t = make_tree(1, 200, 0, 1, false);
    struct weir_err err = WEIR_ERR_INIT;
    struct mdtest_names n;
    const char *path;

    (void)state;
    assert_int_equal(mdtest_names_init(&n, &t, 4, &err), 0);
    path = mdtest_name_item(&n, "base", INT32_MAX, UINT64_MAX, INT32_MAX, 200, MDTEST_FILES,
                            INT32_MAX, UINT64_MAX);
    assert_true(strlen(path) < n.capacity);
    mdtest_names_free(&n);
}

static void names_longer_than_a_path_are_refused(void **state)
{
    struct weir_dirtree t = make_tree(1, 1000, 0, 1, false);
    struct weir_err err = WEIR_ERR_INIT;
    struct mdtest_names n;

    (void)state;
    assert_int_equal(mdtest_names_init(&n, &t, 4, &err), -1);
    assert_int_equal(err.code, WEIR_EUSAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_are_spread_over_all_directories),
        cmocka_unit_test(fewer_items_than_directories_are_none),
        cmocka_unit_test(leaves_hold_the_highest_numbers),
        cmocka_unit_test(a_chain_has_one_leaf),
        cmocka_unit_test(items_over_items_per_directory_are_trees),
        cmocka_unit_test(preorder_goes_depth_first),
        cmocka_unit_test(postorder_has_children_before_parents),
        cmocka_unit_test(both_orders_visit_every_directory_once),
        cmocka_unit_test(numbers_beyond_31_bits_are_right),
        cmocka_unit_test(impossible_shapes_are_refused),
        cmocka_unit_test(without_depth_the_branching_factor_does_not_matter),
        cmocka_unit_test(names_follow_the_tree),
        cmocka_unit_test(the_longest_name_fits),
        cmocka_unit_test(names_longer_than_a_path_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
