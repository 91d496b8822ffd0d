/* SPDX-License-Identifier: BSD-3-Clause */
/* mdtest-tree.c - full trees of directories with items spread over them, and the names of directories
 * and items */
#include "programs/mdtest/mdtest-tree.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define MOST INT64_MAX
#define NUMBER 20 /* digits of 2^64 */

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

/* False where the shape has more than 2^63 of something. */
static bool spread_items(struct weir_dirtree *t, const struct weir_dirtree_shape *s)
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

/* Both orders go down from the root: at each level the rest chooses the child whose subtree comes
 * next. */
uint64_t weir_dirtree_preorder(const struct weir_dirtree *t, uint64_t nth)
{
    uint64_t dir = 0, size = t->dirs;

    if (t->branch == 1)
        return nth;
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
    uint64_t dir = 0, size = t->dirs;

    if (t->branch == 1)
        return t->dirs - 1 - nth;
    while (nth < size - 1) {
        size = (size - 1) / t->branch;
        dir = dir * t->branch + 1 + nth / size;
        nth %= size;
    }
    return dir;
}

/* Among the leaves, depth first is the order of the numbers. */
uint64_t weir_dirtree_made(const struct weir_dirtree *t, uint64_t nth)
{
    if (t->first > 0 || t->branch == 1 || t->per_dir == 0)
        return weir_dirtree_linear(t, nth);
    return weir_dirtree_preorder(t, nth / t->per_dir) * t->per_dir + nth % t->per_dir;
}

static int check_shape(const struct weir_dirtree_shape *s, bool unique, struct weir_err *err)
{
    if (s->depth < 0)
        return weir_refuse(err, WEIR_EUSAGE,
                           "depth of the tree (-z) must not be negative, and is %d", s->depth);
    if (s->depth > 0 && s->branch < 1)
        return weir_refuse(err, WEIR_EUSAGE,
                           "branching factor of the tree (-b) must be at least 1, and is %d",
                           s->branch);
    if (s->items < 0 || s->per_dir < 0)
        return weir_refuse(err, WEIR_EUSAGE, "number of items (-n, -I) must not be negative");
    if (s->items > 0 && s->per_dir > 0 && unique)
        return weir_refuse(err, WEIR_EUSAGE,
                           "items of a task (-n) and items of a directory (-I) exclude each other "
                           "with -u; leave one out");
    if (s->items > 0 && s->per_dir > 0 && s->items % s->per_dir)
        return weir_refuse(err, WEIR_EUSAGE,
                           "items of a task (-n %" PRId64
                           ") must be a multiple of items of a directory (-I %" PRId64 ")",
                           s->items, s->per_dir);
    return 0;
}

int mdtest_tree_init(struct weir_dirtree *t, const struct weir_dirtree_shape *s, bool unique,
                     struct weir_err *err)
{
    if (check_shape(s, unique, err) < 0)
        return -1;
    if (spread_items(t, s))
        return 0;
    return weir_refuse(err, WEIR_EUSAGE,
                       "a tree with branching factor %d (-b) and depth %d (-z) and these items has "
                       "more than 2^63 names",
                       s->branch, s->depth);
}

/* ---- names ---- */

static const char *const item_words[MDTEST_KINDS] = {
    [MDTEST_DIRS] = "dir.mdtest.", [MDTEST_FILES] = "file.mdtest."
};

static char *put_text(char *at, const char *text)
{
    size_t len = strlen(text);

    memcpy(at, text, len + 1);
    return at + len;
}

int mdtest_names_init(struct mdtest_names *n, const struct weir_dirtree *tree, size_t base_len,
                      struct weir_err *err)
{
    /* Memory for the longest numbers. The limit of the system is checked with short ones. */
    size_t each = sizeof("/mdtest_tree..") + 2 * NUMBER;
    size_t shortest = base_len + strlen("/" MDTEST_TESTS "0-0") +
                      (size_t)(tree->depth + 1) * strlen("/mdtest_tree.0") +
                      strlen("/dir.mdtest.0.0");

    memset(n, 0, sizeof(*n));
    if (shortest >= PATH_MAX)
        return weir_refuse(err, WEIR_EUSAGE,
                           "names in a tree of depth %u (-z) have %zu bytes or more, and the "
                           "system allows %d", tree->depth, shortest, PATH_MAX - 1);
    n->tree = tree;
    n->capacity = base_len + sizeof("/" MDTEST_TESTS "-") + 2 * NUMBER +
              (size_t)(tree->depth + 1) * each + sizeof("/file.mdtest..") + 2 * NUMBER + 8;
    n->path = malloc(n->capacity);
    return n->path ? 0 : weir_fail(err, WEIR_ESETUP, "memory for names");
}

void mdtest_names_free(struct mdtest_names *n)
{
    free(n->path);
    n->path = NULL;
    n->known = false;
}

static char *put_test(struct mdtest_names *n, const char *base, int iteration, uint64_t loop)
{
    char *at = put_text(n->path, base);

    n->known = false;
    at = put_text(at, "/" MDTEST_TESTS);
    at = weir_put_u64(at, (uint64_t)iteration);
    at = put_text(at, "-");
    return weir_put_u64(at, loop);
}

static char *put_branch(char *at, int whose, uint64_t dir)
{
    at = put_text(at, "mdtest_tree.");
    if (whose != MDTEST_SHARED_TREE) {
        at = weir_put_u64(at, (uint64_t)whose);
        at = put_text(at, ".");
    }
    return weir_put_u64(at, dir);
}

/* The chain from the root down; it is no deeper than a path is long. */
static char *put_chain(const struct mdtest_names *n, char *at, int whose, uint64_t dir)
{
    if (dir > 0)
        at = put_chain(n, at, whose, (dir - 1) / n->tree->branch);
    *at++ = '/';
    return put_branch(at, whose, dir);
}

const char *mdtest_name_test(struct mdtest_names *n, const char *base, int iteration, uint64_t loop)
{
    put_test(n, base, iteration, loop);
    return n->path;
}

const char *mdtest_name_dir(struct mdtest_names *n, const char *base, int iteration, uint64_t loop,
                            int whose, uint64_t dir)
{
    put_chain(n, put_test(n, base, iteration, loop), whose, dir);
    return n->path;
}

const char *mdtest_name_root(struct mdtest_names *n, int whose)
{
    n->known = false;
    put_branch(n->path, whose, 0);
    return n->path;
}

void mdtest_name_prefix(struct mdtest_names *n, const char *base, int iteration, uint64_t loop,
                        int whose, uint64_t dir, enum mdtest_kind kind, int owner)
{
    char *at = put_chain(n, put_test(n, base, iteration, loop), whose, dir);

    at = put_text(at, "/");
    at = put_text(at, item_words[kind]);
    if (owner == MDTEST_SHARED)
        at = put_text(at, "shared");
    else
        at = weir_put_u64(at, (uint64_t)owner);
    at = put_text(at, ".");
    n->tail = (size_t)(at - n->path);
    n->base = base;
    n->iteration = iteration;
    n->loop = loop;
    n->whose = whose;
    n->dir = dir;
    n->kind = kind;
    n->owner = owner;
    n->known = true;
}
