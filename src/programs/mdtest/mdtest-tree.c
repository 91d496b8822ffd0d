/* SPDX-License-Identifier: BSD-3-Clause */
/* mdtest-tree.c - the trees of a test, and the names of directories and items */
#include "config.h"
#include "programs/mdtest/mdtest-tree.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER 20 /* digits of 2^64 */

static const char *const item_words[MDTEST_KINDS] = {
    [MDTEST_DIRS] = "dir.mdtest.", [MDTEST_FILES] = "file.mdtest."
};

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
    if (weir_dirtree_init(t, s))
        return 0;
    return weir_refuse(err, WEIR_EUSAGE,
                       "a tree with branching factor %d (-b) and depth %d (-z) and these items has "
                       "more than 2^63 names",
                       s->branch, s->depth);
}

/* ---- names ---- */

static char *put_text(char *at, const char *text)
{
    size_t len = strlen(text);

    memcpy(at, text, len + 1);
    return at + len;
}

int mdtest_names_init(struct mdtest_names *n, const struct weir_dirtree *tree, size_t base_len,
                      struct weir_err *err)
{
    /* Room by the longest numbers. What the system can take is asked for with short ones. */
    size_t each = sizeof("/mdtest_tree..") + 2 * NUMBER;
    size_t shortest = base_len + (size_t)tree->depth * sizeof("/mdtest_tree.");

    memset(n, 0, sizeof(*n));
    if (shortest >= PATH_MAX)
        return weir_refuse(err, WEIR_EUSAGE,
                           "names in a tree of depth %u (-z) have more than %d bytes, and the "
                           "system takes at most %d",
                           tree->depth, PATH_MAX, PATH_MAX);
    n->tree = tree;
    n->room = base_len + sizeof("/test-dir.-") + 2 * NUMBER + (size_t)(tree->depth + 1) * each +
              sizeof("/file.mdtest..") + 2 * NUMBER + 8;
    n->path = malloc(n->room);
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
    at = put_text(at, "/test-dir.");
    at = weir_put_u64(at, (uint64_t)iteration);
    at = put_text(at, "-");
    return weir_put_u64(at, loop);
}

static char *put_branch(char *at, int whose, uint64_t dir)
{
    at = put_text(at, "mdtest_tree.");
    if (whose != MDTEST_NOBODY) {
        at = weir_put_u64(at, (uint64_t)whose);
        at = put_text(at, ".");
    }
    return weir_put_u64(at, dir);
}

/* The chain from the root down. */
static char *put_chain(const struct mdtest_names *n, char *at, int whose, uint64_t dir)
{
    unsigned level = weir_dirtree_level(n->tree, dir);

    for (unsigned k = 0; k <= level; k++) {
        *at++ = '/';
        at = put_branch(at, whose, weir_dirtree_above(n->tree, dir, level - k));
    }
    return at;
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
