/* SPDX-License-Identifier: BSD-3-Clause */
/* mdtest-pass.h - the operations, and the phase in progress: whose items it visits, in which
 * order, and its clock */
#ifndef WEIR_PROGRAMS_MDTEST_MDTEST_PASS_H
#define WEIR_PROGRAMS_MDTEST_MDTEST_PASS_H

#include "base/rng.h"
#include "engine/driver.h"
#include "engine/phase.h"
#include "programs/mdtest/mdtest-tree.h"

/* What is measured, in the order of tables and files. */
enum mdtest_op {
    MDTEST_DIR_CREATE,
    MDTEST_DIR_STAT,
    MDTEST_DIR_READ,
    MDTEST_DIR_RENAME,
    MDTEST_DIR_REMOVE,
    MDTEST_FILE_CREATE,
    MDTEST_FILE_STAT,
    MDTEST_FILE_READ,
    MDTEST_FILE_REMOVE,
    MDTEST_TREE_CREATE,
    MDTEST_TREE_REMOVE,
    MDTEST_OPS
};

extern const struct weir_operation mdtest_operations[MDTEST_OPS + 1];

/* What an operation is about: items or trees, how far the tasks have shifted, what it does to
 * names, and the option that asks for it. */
struct mdtest_fact {
    enum mdtest_kind of;
    int shifts;
    size_t flag;                 /* of that option in struct mdtest_options */
    bool makes, removes, visits; /* items */
    bool is_tree;
};
extern const struct mdtest_fact mdtest_facts[MDTEST_OPS];

struct mdtest_pass {
    const struct weir_phase *phase;
    enum mdtest_op op;
    enum mdtest_kind of;
    int owner;       /* whose items */
    bool made_order; /* visit in the order of creation, not of the numbers */
    bool shuffled;
    struct weir_perm perm;
    /* Steps low..high-1 are consecutive items of one directory, from item. */
    uint64_t loop, low, high, item;
    bool fine;          /* times of single operations are wanted */
    unsigned skip, ops; /* clock: operations to go without looking, and in the present batch */
    uint64_t batch_ns, batch_bytes; /* when it began, and what it has moved */
    uint64_t worked_ns; /* when this rank had done its own work */
};

#endif
