/* SPDX-License-Identifier: BSD-3-Clause */
/* mdtest-dirtree.h - full trees of directories, and items that are spread over them, as pure arithmetic */
#ifndef WEIR_PROGRAMS_MDTEST_MDTEST_DIRTREE_H
#define WEIR_PROGRAMS_MDTEST_MDTEST_DIRTREE_H

#include <stdbool.h>
#include <stdint.h>

/* What trees are made from; counts are not negative. */
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

/* Local. False where the shape has more than 2^63 of something. */
bool weir_dirtree_init(struct weir_dirtree *t, const struct weir_dirtree_shape *s);

/* The nth directory in the order in which a tree is made (parents first, depth first) and
 * removed (children first). */
uint64_t weir_dirtree_preorder(const struct weir_dirtree *t, uint64_t nth);
uint64_t weir_dirtree_postorder(const struct weir_dirtree *t, uint64_t nth);

/* Levels between a directory and the root, and the one on the way that is so many levels above
 * it. */
unsigned weir_dirtree_level(const struct weir_dirtree *t, uint64_t dir);
uint64_t weir_dirtree_above(const struct weir_dirtree *t, uint64_t dir, unsigned levels);

/* The number of the item that is made as the nth, within one tree: directory by directory, in
 * preorder. */
uint64_t weir_dirtree_made(const struct weir_dirtree *t, uint64_t nth);

/* The same in the order of the numbers. */
uint64_t weir_dirtree_linear(const struct weir_dirtree *t, uint64_t nth);

/* The directory of an item. */
uint64_t weir_dirtree_dir_of(const struct weir_dirtree *t, uint64_t item);

#endif
