/* SPDX-License-Identifier: BSD-3-Clause */
/* mdtest-dirtree.c - full trees of directories, and items that are spread over them */
#include "config.h"
#include "programs/mdtest/mdtest-dirtree.h"

#include <string.h>

#define MOST INT64_MAX

static bool times(uint64_t a, uint64_t b, uint64_t *out)
{
    return !__builtin_mul_overflow(a, b, out) && *out <= (uint64_t)MOST;
}

/* Directories of a full tree of this depth; false: too many. */
static bool full_tree(uint64_t branch, unsigned depth, uint64_t *out)
{
    uint64_t level = 1, all = 1;

    if (branch == 1) {
        *out = (uint64_t)depth + 1;
        return true;
    }
    for (unsigned i = 0; i < depth; i++) {
        if (!times(level, branch, &level) || __builtin_add_overflow(all, level, &all) ||
            all > (uint64_t)MOST)
            return false;
    }
    *out = all;
    return true;
}

bool weir_dirtree_init(struct weir_dirtree *t, const struct weir_dirtree_shape *s)
{
    uint64_t holders, inner = 0, all;

    memset(t, 0, sizeof(*t));
    t->depth = (unsigned)s->depth;
    t->branch = s->depth > 0 ? (uint64_t)s->branch : 1;
    if (!full_tree(t->branch, t->depth, &t->dirs))
        return false;
    if (s->leaf_only && t->depth > 0)
        full_tree(t->branch, t->depth - 1, &inner);
    t->first = inner;
    holders = t->dirs - inner;
    t->per_dir = s->per_dir > 0 ? (uint64_t)s->per_dir : (uint64_t)s->items / holders;
    t->loops = s->items > 0 && s->per_dir > 0 ? (uint64_t)(s->items / s->per_dir) : 1;
    return times(t->per_dir, holders, &t->per_loop) && times(t->per_loop, t->loops, &t->total) &&
           times(t->dirs, t->loops, &all) &&
           times(t->per_dir, t->dirs, &all); /* the highest number of an item */
}

/* Directories of the subtree below (and with) a directory on a level. Fits: the whole tree does. */
static uint64_t below(const struct weir_dirtree *t, unsigned level)
{
    uint64_t n = 1;

    full_tree(t->branch, t->depth - level, &n);
    return n;
}

/* Both orders go down from the root: at each level the rest says which child's subtree comes
 * next. */
uint64_t weir_dirtree_preorder(const struct weir_dirtree *t, uint64_t nth)
{
    uint64_t dir = 0, size;

    if (t->branch == 1)
        return nth;
    size = t->dirs;
    while (nth > 0) {
        nth--;
        size = (size - 1) / t->branch;
        dir = dir * t->branch + 1 + nth / size;
        nth %= size;
    }
    return dir;
}

uint64_t weir_dirtree_postorder(const struct weir_dirtree *t, uint64_t nth)
{
    uint64_t dir = 0, size = below(t, 0);

    if (t->branch == 1)
        return t->dirs - 1 - nth;
    while (nth < size - 1) {
        size = (size - 1) / t->branch;
        dir = dir * t->branch + 1 + nth / size;
        nth %= size;
    }
    return dir;
}

uint64_t weir_dirtree_linear(const struct weir_dirtree *t, uint64_t nth)
{
    return t->first * t->per_dir + nth;
}

/* Among the leaves, depth first is the order of the numbers. */
uint64_t weir_dirtree_made(const struct weir_dirtree *t, uint64_t nth)
{
    if (t->first > 0 || t->branch == 1 || t->per_dir == 0)
        return weir_dirtree_linear(t, nth);
    return weir_dirtree_preorder(t, nth / t->per_dir) * t->per_dir + nth % t->per_dir;
}

uint64_t weir_dirtree_dir_of(const struct weir_dirtree *t, uint64_t item)
{
    return t->dirs == 1 ? 0 : item / t->per_dir;
}

unsigned weir_dirtree_level(const struct weir_dirtree *t, uint64_t dir)
{
    unsigned level = 0;

    if (t->branch == 1)
        return (unsigned)dir;
    for (; dir > 0; dir = (dir - 1) / t->branch)
        level++;
    return level;
}

uint64_t weir_dirtree_above(const struct weir_dirtree *t, uint64_t dir, unsigned levels)
{
    if (t->branch == 1)
        return dir - levels;
    for (; levels > 0; levels--)
        dir = (dir - 1) / t->branch;
    return dir;
}
