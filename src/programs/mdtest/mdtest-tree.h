/* SPDX-License-Identifier: BSD-3-Clause */
/* mdtest-tree.h - full trees of directories with items spread over them, as pure arithmetic, and the
 * names of directories and items */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

/* The sizes from which trees are made; counts are not negative. */
struct weir_dirtree_shape {
    int64_t items, per_dir; /* in all, and in each directory; 0: follows from the other */
    int branch, depth;
    bool leaf_only; /* items are at the lowest level only */
};

/* One tree. Directories are numbered like a heap: the children of d are d * branch + 1 and so on.
 * Directory d holds the items d * per_dir and so on. */
struct weir_dirtree {
    uint64_t branch;
    unsigned depth;
    uint64_t dirs;     /* of one tree */
    uint64_t first;    /* the first directory with items; all after it have items, too */
    uint64_t per_dir;  /* items in each of these */
    uint64_t per_loop; /* items in one tree */
    uint64_t loops;    /* trees one beside the other */
    uint64_t total;    /* items in all of them */
};

/* The nth directory in the order in which a tree is made (parents first, depth first) and
 * removed (children first). */
uint64_t weir_dirtree_preorder(const struct weir_dirtree *t, uint64_t nth);
uint64_t weir_dirtree_postorder(const struct weir_dirtree *t, uint64_t nth);

/* The number of the item that is made as the nth, within one tree: directory by directory, in
 * preorder. */
uint64_t weir_dirtree_made(const struct weir_dirtree *t, uint64_t nth);

/* As weir_dirtree_made, for items made in the order of their numbers. */
static inline uint64_t weir_dirtree_linear(const struct weir_dirtree *t, uint64_t nth)
{
    return t->first * t->per_dir + nth;
}

/* The directory of an item. */
static inline uint64_t weir_dirtree_dir_of(const struct weir_dirtree *t, uint64_t item)
{
    return t->dirs == 1 ? 0 : item / t->per_dir;
}

/* The tree that the options -b -z -n -I -L ask for; unique: -u. Local. -1 and err (WEIR_EUSAGE)
 * when the shape is no tree, or has more than 2^63 of something. */
int mdtest_tree_init(struct weir_dirtree *t, const struct weir_dirtree_shape *s, bool unique,
                     struct weir_err *err);

#define MDTEST_SHARED_TREE (-1) /* as tree: the tree that all tasks share */
#define MDTEST_SHARED (-1) /* as owner: items that all tasks share (-S) */

enum mdtest_kind { MDTEST_DIRS, MDTEST_FILES, MDTEST_KINDS };

/* Names are made in one buffer, of which only the end changes from item to item. Nothing is
 * allocated after mdtest_names_init. */
struct mdtest_names {
    const struct weir_dirtree *tree;
    char *path;        /* the name made last */
    size_t capacity, tail; /* tail: where the number of the item begins */
    bool known;        /* the path holds a prefix for the following */
    const char *base;
    int iteration, whose, owner;
    uint64_t loop, dir;
    enum mdtest_kind kind;
};

/* Memory for every name in trees of this shape below bases of at most base_len bytes. Local. -1 and
 * err (WEIR_ESETUP; WEIR_EUSAGE when names become longer than a path may be). */
int mdtest_names_init(struct mdtest_names *n, const struct weir_dirtree *tree, size_t base_len,
                      struct weir_err *err);
void mdtest_names_free(struct mdtest_names *n);

#define MDTEST_TESTS "test-dir."

/* The directory that holds the trees of an iteration: BASE/test-dir.0-0. Each returns n->path. */
const char *mdtest_name_test(struct mdtest_names *n, const char *base, int iteration,
                             uint64_t loop);
/* Directory dir of the tree of a task, or of the shared one. */
const char *mdtest_name_dir(struct mdtest_names *n, const char *base, int iteration, uint64_t loop,
                            int whose, uint64_t dir);
/* "mdtest_tree.0", "mdtest_tree.<task>.0": the name of a root alone. */
const char *mdtest_name_root(struct mdtest_names *n, int whose);

/* The slow part of mdtest_name_item: directories and owner are other ones. */
void mdtest_name_prefix(struct mdtest_names *n, const char *base, int iteration, uint64_t loop,
                        int whose, uint64_t dir, enum mdtest_kind kind, int owner);

/* One item. */
static inline const char *mdtest_name_item(struct mdtest_names *n, const char *base, int iteration,
                                           uint64_t loop, int whose, uint64_t dir,
                                           enum mdtest_kind kind, int owner, uint64_t item)
{
    if (!n->known || n->dir != dir || n->loop != loop || n->owner != owner || n->whose != whose ||
        n->kind != kind || n->iteration != iteration || n->base != base)
        mdtest_name_prefix(n, base, iteration, loop, whose, dir, kind, owner);
    weir_put_u64(n->path + n->tail, item);
    return n->path;
}
