/* SPDX-License-Identifier: BSD-3-Clause */
/* mdtest-items.c - where items are, and steps of one item: directories, and what is the same for
 * files */
#include "config.h"
#include "drivers/mdtest/mdtest-step.h"

#include <string.h>

#define MODE 0775

/* ---- where items are ---- */

void mdtest_locate_step(struct mdtest_test *t, uint64_t step)
{
    const struct mdtest_tree *tree = &t->tree;
    uint64_t nth = t->shuffled ? weir_perm_at(&t->perm, step) : step;
    uint64_t in_loop = nth % tree->per_loop, item, back;

    item = t->made_order ? mdtest_tree_made(tree, in_loop) : mdtest_tree_linear(tree, in_loop);
    back = item % tree->per_dir;
    t->loop = nth / tree->per_loop;
    if (t->shuffled)
        back = 0;
    t->item = item - back;
    t->low = step - back;
    t->high = t->shuffled ? step + 1 : t->low + tree->per_dir;
}

const char *mdtest_name_created(struct mdtest_test *t, const struct weir_run *run,
                                struct mdtest_names *n, enum mdtest_kind kind, int owner,
                                uint64_t nth)
{
    uint64_t item = mdtest_tree_made(&t->tree, nth % t->tree.per_loop);
    int whose = mdtest_tree_of(t, run, owner);

    return mdtest_name_item(n, mdtest_base_of(t, whose), run->repetition, nth / t->tree.per_loop,
                            whose, mdtest_tree_dir_of(&t->tree, item), kind, owner, item);
}

/* ---- steps ---- */

/* A call that takes nothing but a name, on the item of a step. */
static inline int visit(struct weir_run *run, struct mdtest_test *t, int owner, uint64_t step,
                        int (*call)(struct weir_session *, const char *, struct weir_err *),
                        uint64_t *clock_ns, struct weir_err *err)
{
    uint64_t item, begin = *clock_ns;
    const char *path = mdtest_name_step(run, t, owner, step, &item);

    if (call(&t->session, path, err) < 0)
        return -1;
    mdtest_finish_op(run, t, item, 0, begin, clock_ns);
    return 0;
}

static int make_dir(struct weir_run *run, struct mdtest_test *t, int owner, uint64_t step,
                    uint64_t *clock_ns, struct weir_err *err)
{
    uint64_t item, begin = *clock_ns;
    const char *path = mdtest_name_step(run, t, owner, step, &item);

    if (t->ns->mkdir(&t->session, path, MODE, err) < 0)
        return -1;
    mdtest_finish_op(run, t, item, 0, begin, clock_ns);
    return 0;
}

static int remove_dir(struct weir_run *run, struct mdtest_test *t, int owner, uint64_t step,
                      uint64_t *clock_ns, struct weir_err *err)
{
    return visit(run, t, owner, step, t->ns->rmdir, clock_ns, err);
}

static int remove_file(struct weir_run *run, struct mdtest_test *t, int owner, uint64_t step,
                       uint64_t *clock_ns, struct weir_err *err)
{
    return visit(run, t, owner, step, t->ns->unlink, clock_ns, err);
}

int mdtest_step_dir_create(struct weir_run *run, void *state, uint64_t i, uint64_t *clock_ns,
                           struct weir_err *err)
{
    struct mdtest_test *t = state;

    t->started[MDTEST_DIRS] = i + 1;
    return mdtest_each_owner(run, t, i, clock_ns, make_dir, err);
}

int mdtest_step_dir_remove(struct weir_run *run, void *state, uint64_t i, uint64_t *clock_ns,
                           struct weir_err *err)
{
    return mdtest_each_owner(run, state, i, clock_ns, remove_dir, err);
}

int mdtest_step_file_remove(struct weir_run *run, void *state, uint64_t i, uint64_t *clock_ns,
                            struct weir_err *err)
{
    return mdtest_each_owner(run, state, i, clock_ns, remove_file, err);
}

int mdtest_step_stat(struct weir_run *run, void *state, uint64_t i, uint64_t *clock_ns,
                     struct weir_err *err)
{
    struct mdtest_test *t = state;

    return visit(run, t, t->owner, i, t->ns->stat, clock_ns, err);
}

/* A chain that ends with the names it began with: the first steps aside, each other one moves up,
 * the first goes to the last but one place, which the one before it left. The last never moves. */
int mdtest_step_rename(struct weir_run *run, void *state, uint64_t i, uint64_t *clock_ns,
                       struct weir_err *err)
{
    struct mdtest_test *t = state;
    uint64_t n = t->count[MDTEST_DIRS], begin = *clock_ns;
    bool first = i == 0, last = i == n - 1;
    const char *from, *to;

    from = mdtest_name_created(t, run, &t->names, MDTEST_DIRS, t->owner, last ? 0 : i);
    to = mdtest_name_created(t, run, &t->target, MDTEST_DIRS, t->owner,
                             first  ? 0
                             : last ? n - 2
                                    : i - 1);
    if (first)
        memcpy(t->target.path + strlen(to), "-XX", 4);
    if (last)
        memcpy(t->names.path + strlen(from), "-XX", 4);
    if (t->ns->rename(&t->session, from, to, err) < 0)
        return -1;
    mdtest_finish_op(run, t, i, 0, begin, clock_ns);
    return 0;
}
