/* SPDX-License-Identifier: BSD-3-Clause */
/* mdtest-step.h - what the steps of all phases share: names, the clock, owners. For the files of the
 * phases only */
#ifndef WEIR_PROGRAMS_MDTEST_MDTEST_STEP_H
#define WEIR_PROGRAMS_MDTEST_MDTEST_STEP_H

#include "base/clock.h"
#include "engine/transfer.h"
#include "programs/mdtest/mdtest.h"

/* ---- names ---- */

/* mdtest-phases.c: names are those of the phase in progress from now on, not of one before. */
void mdtest_rewind(struct mdtest_test *t);

/* mdtest-items.c: find the directory of a step, and how many steps before and after it stay
 * there. */
void mdtest_locate_step(struct mdtest_test *t, uint64_t step);

/* The name of a step's item; its number is left in *item. */
static inline const char *mdtest_name_step(struct weir_run *run, struct mdtest_test *t, int owner,
                                           uint64_t step, uint64_t *item)
{
    int whose;

    if (step < t->pass.low || step >= t->pass.high)
        mdtest_locate_step(t, step);
    *item = t->pass.item + (step - t->pass.low);
    whose = mdtest_tree_of(t, run, owner);
    return mdtest_name_item(&t->names, mdtest_base_of(&t->places, whose), run->repetition,
                            t->pass.loop, whose, weir_dirtree_dir_of(&t->tree, t->pass.item),
                            t->pass.of, owner, *item);
}

/* ---- the clock ---- */

/* mdtest-phases.c: read the clock, and estimate how many operations can follow without reading
 * it. */
void mdtest_look(struct weir_run *run, struct mdtest_test *t, uint64_t *clock_ns);

/* mdtest-phases.c: an operation has failed as err says. Records it, returns -1. */
int mdtest_fail_op(struct weir_run *run, const struct mdtest_test *t, uint64_t item, uint64_t begin,
                   const struct weir_err *err);

/* The call of an operation begins, for --io-timeout. */
static inline void mdtest_enter(struct mdtest_test *t, const char *path)
{
    weir_session_enter(&t->fs.session, mdtest_calls[t->pass.op].whole, path);
}

/* An operation is over: rc is what its calls returned, and is returned. Reading the clock can take
 * a fifth of the time of a stat, so without need it is not read for each. */
static inline int mdtest_finish_op(struct weir_run *run, struct mdtest_test *t, int rc,
                                   uint64_t item, uint64_t bytes, uint64_t begin,
                                   uint64_t *clock_ns, const struct weir_err *err)
{
    if (__builtin_expect(weir_session_leave(&t->fs.session, rc) < 0, 0))
        return mdtest_fail_op(run, t, item, begin, err);
    if (t->pass.fine) {
        *clock_ns = weir_now_ns();
        weir_operation_add(run, (int)t->pass.op, begin, *clock_ns, item, bytes);
        return 0;
    }
    t->pass.batch_bytes += bytes;
    if (t->pass.skip > 0)
        t->pass.skip--;
    else
        mdtest_look(run, t, clock_ns);
    return 0;
}

/* A part of an operation is over. */
static inline void mdtest_finish_part(struct mdtest_test *t, enum weir_op part, uint64_t *clock_ns)
{
    uint64_t now;

    if (!t->pass.fine)
        return;
    now = weir_now_ns();
    weir_hist_add(&t->fs.session.stats->hist[part], now - *clock_ns);
    *clock_ns = now;
}

/* ---- owners ---- */

/* One item of one owner. */
typedef int mdtest_act(struct weir_run *, struct mdtest_test *, int owner, uint64_t step,
                       uint64_t *clock_ns, struct weir_err *);

/* With -c one step is the same item of all tasks: so they all have the same number when the
 * stonewall comes. */
static inline int mdtest_each_owner(struct weir_run *run, struct mdtest_test *t, uint64_t step,
                                    uint64_t *clock_ns, mdtest_act *act, struct weir_err *err)
{
    if (!t->o->collective)
        return act(run, t, t->pass.owner, step, clock_ns, err);
    for (int k = 0; k < run->par.size; k++)
        if (act(run, t, k, step, clock_ns, err) < 0)
            return -1;
    return 0;
}

/* mdtest-items.c: one directory of one tree, and with -c -u that of every task's. Its name stands
 * in t->names.path. */
typedef int mdtest_branch_act(struct weir_run *, void *arg, uint64_t dir, uint64_t *clock_ns,
                              struct weir_err *);
int mdtest_each_tree(struct weir_run *run, struct mdtest_test *t, uint64_t loop, uint64_t dir,
                     mdtest_branch_act *act, void *arg, uint64_t *clock_ns, struct weir_err *err);

/* ---- around the steps ---- */

/* mdtest-phases.c: as in struct weir_phase, the same for all. */
int mdtest_prepare(struct weir_run *run, void *state, struct weir_err *err);
int mdtest_finish(struct weir_run *run, void *state, struct weir_err *err);

#endif
