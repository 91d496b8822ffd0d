/* SPDX-License-Identifier: BSD-3-Clause */
/* mdtest-places.h - the directories around the trees: where a test works, and the test directories
 * in them */
#ifndef WEIR_PROGRAMS_MDTEST_MDTEST_PLACES_H
#define WEIR_PROGRAMS_MDTEST_MDTEST_PLACES_H

#include "backends/session/session.h"
#include "engine/run.h"

struct mdtest_test;

struct mdtest_places {
    char **base; /* where to work: one of these for each task */
    bool *made;  /* this rank made base[i] */
    int n;
    struct weir_session outer; /* of these directories, for all tests */
    bool all_ours;             /* no test-dir was there before */
    bool made_tests;           /* in this iteration */
};

/* The base directory in which the tree of a task is. */
static inline const char *mdtest_base_of(const struct mdtest_places *p, int whose)
{
    return p->base[p->n > 1 && whose >= 0 ? whose % p->n : 0];
}

/* mdtest-places.c: base and test directories. Collective over run->par. */
int mdtest_make_bases(struct weir_run *run, struct mdtest_test *t, struct weir_err *err);
int mdtest_remove_bases(struct weir_run *run, struct mdtest_test *t, struct weir_err *err);
int mdtest_make_tests(struct weir_run *run, struct mdtest_test *t, struct weir_err *err);
int mdtest_remove_tests(struct weir_run *run, struct mdtest_test *t, struct weir_err *err);

/* How many test directories of an iteration this task makes and removes, and the name of one of
 * them (valid until the next name is made). Local. */
uint64_t mdtest_my_tests(const struct weir_run *run, const struct mdtest_test *t);
const char *mdtest_my_test(const struct weir_run *run, struct mdtest_test *t, uint64_t loop);

#endif
