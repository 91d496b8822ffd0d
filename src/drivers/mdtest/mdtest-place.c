/* SPDX-License-Identifier: BSD-3-Clause */
/* mdtest-place.c - where items are */
#include "config.h"
#include "drivers/mdtest/mdtest-step.h"

void mdtest_find_place(struct mdtest_test *t, uint64_t step)
{
    const struct mdtest_tree *tree = &t->tree;
    uint64_t place = t->shuffled ? weir_perm_at(&t->perm, step) : step;
    uint64_t in_loop = place % tree->per_loop, item, back;

    item = t->made_order ? mdtest_tree_made(tree, in_loop) : mdtest_tree_linear(tree, in_loop);
    back = item % tree->per_dir;
    t->loop = place / tree->per_loop;
    if (t->shuffled)
        back = 0;
    t->item = item - back;
    t->low = step - back;
    t->high = t->shuffled ? step + 1 : t->low + tree->per_dir;
}

const char *mdtest_made_name(struct mdtest_test *t, const struct weir_run *run,
                             struct mdtest_names *n, enum mdtest_kind kind, int owner,
                             uint64_t place)
{
    uint64_t item = mdtest_tree_made(&t->tree, place % t->tree.per_loop);
    int whose = mdtest_tree_of(t, run, owner);

    return mdtest_name_item(n, mdtest_base_of(t, whose), run->repetition, place / t->tree.per_loop,
                            whose, mdtest_tree_dir_of(&t->tree, item), kind, owner, item);
}
