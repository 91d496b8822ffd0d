/* SPDX-License-Identifier: BSD-3-Clause */
/* mdtest-ledger.h - which items a task has, which are there, and which this run may have made */
#ifndef WEIR_PROGRAMS_MDTEST_MDTEST_LEDGER_H
#define WEIR_PROGRAMS_MDTEST_MDTEST_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#include "programs/mdtest/mdtest-tree.h"

struct mdtest_ledger {
    bool kind[MDTEST_KINDS];        /* which are tested */
    uint64_t planned[MDTEST_KINDS]; /* items of a task */
    uint64_t count[MDTEST_KINDS]; /* items of a task that are there now, as far as this run knows */
    uint64_t started[MDTEST_KINDS]; /* items that this rank may have made, for the clean-up */
    uint64_t trees_started;
    uint64_t stale; /* directories of the tree that were there before */
};

#endif
