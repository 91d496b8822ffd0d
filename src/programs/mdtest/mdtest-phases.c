/* SPDX-License-Identifier: BSD-3-Clause */
/* mdtest-phases.c - rows of the phases, what is around their steps, and the directories of the
 * trees */
#include "config.h"
#include "programs/mdtest/mdtest-step.h"

#include <errno.h>
#include <stddef.h>

#include "programs/mdtest/mdtest-hook.h"

#define MODE 0775
#define BATCH_NS 20000u /* where nobody asks for single times, look at the clock this often ... */
#define BATCH_MOST 32   /* ... but not after more operations than this */

/* ---- what each operation is about ---- */

#define FACT(k, n, f, ...)                                                                         \
    {                                                                                              \
        .of = (k), .shifts = (n), .flag = offsetof(struct mdtest_options, f), __VA_ARGS__          \
    }

const struct mdtest_fact mdtest_facts[MDTEST_OPS] = {
    [MDTEST_DIR_CREATE] = FACT(MDTEST_DIRS, 0, create, .makes = true),
    [MDTEST_DIR_STAT] = FACT(MDTEST_DIRS, 1, stat, .visits = true),
    [MDTEST_DIR_READ] = FACT(MDTEST_DIRS, 2, read, ),
    [MDTEST_DIR_RENAME] = FACT(MDTEST_DIRS, 1, rename, ),
    [MDTEST_DIR_REMOVE] = FACT(MDTEST_DIRS, 3, remove, .removes = true),
    [MDTEST_FILE_CREATE] = FACT(MDTEST_FILES, 0, create, .makes = true),
    [MDTEST_FILE_STAT] = FACT(MDTEST_FILES, 1, stat, .visits = true),
    [MDTEST_FILE_READ] = FACT(MDTEST_FILES, 2, read, .visits = true),
    [MDTEST_FILE_REMOVE] = FACT(MDTEST_FILES, 3, remove, .removes = true),
    [MDTEST_TREE_CREATE] = FACT(MDTEST_DIRS, 0, create, .is_tree = true),
    [MDTEST_TREE_REMOVE] = FACT(MDTEST_DIRS, 0, remove, .is_tree = true),
};

bool mdtest_makes_items(const struct mdtest_test *t)
{
    return mdtest_facts[t->pass.op].makes && t->pass.phase != &mdtest_write_phase;
}

bool mdtest_writes_apart(const struct mdtest_test *t)
{
    return t->pass.op == MDTEST_FILE_CREATE && t->o->collective && !t->o->mknod;
}

static bool changes_names(const struct mdtest_test *t)
{
    const struct mdtest_fact *f = &mdtest_facts[t->pass.op];

    return mdtest_makes_items(t) || f->removes || f->is_tree;
}

bool mdtest_works_alone(const struct mdtest_test *t)
{
    const struct mdtest_fact *f = &mdtest_facts[t->pass.op];

    return (t->o->collective && changes_names(t)) || (f->is_tree && !t->o->unique) ||
           (f->removes && t->o->shared);
}

uint64_t mdtest_things_of_step(const struct weir_run *run, const struct mdtest_test *t)
{
    bool for_all =
        t->o->collective && changes_names(t) && (t->o->unique || !mdtest_facts[t->pass.op].is_tree);

    return for_all ? (uint64_t)run->par.size : 1;
}

/* Steps of this rank. */
static uint64_t count_steps(struct weir_run *run, void *state)
{
    struct mdtest_test *t = state;
    const uint64_t *items = mdtest_makes_items(t) ? t->ledger.planned : t->ledger.count;
    uint64_t n = items[t->pass.of];

    if (run->par.rank > 0 && mdtest_works_alone(t))
        return 0;
    if (mdtest_facts[t->pass.op].is_tree)
        return t->tree.dirs * t->tree.loops;
    return t->pass.op == MDTEST_DIR_RENAME && n < 2 ? 0 : n;
}

static uint64_t count_operations(struct weir_run *run, void *state)
{
    return count_steps(run, state) * mdtest_things_of_step(run, state);
}

static uint64_t count_done(struct weir_run *run, const void *state, uint64_t steps)
{
    return steps * mdtest_things_of_step(run, state);
}

/* ---- around the steps ---- */

void mdtest_look(struct weir_run *run, struct mdtest_test *t, uint64_t *clock_ns)
{
    uint64_t now = weir_now_ns();
    uint64_t each = (now - *clock_ns) / t->pass.ops + 1;
    uint64_t n = BATCH_NS / each;

    weir_records_add_batch(&run->records, *clock_ns, now, t->pass.batch_bytes, t->pass.ops);
    t->pass.ops = n < 1 ? 1 : n > BATCH_MOST ? BATCH_MOST : (unsigned)n;
    t->pass.skip = t->pass.ops - 1;
    t->pass.batch_ns = now;
    t->pass.batch_bytes = 0;
    *clock_ns = now;
}

/* Run a command of the user, on every rank. */
static int run_command(struct weir_run *run, const char *what, const char *command,
                       struct weir_err *err)
{
    if (!command || !*command)
        return 0;
    mdtest_log(run, 0, "calling %s: \"%s\"", what, command);
    weir_report_flush(&run->report);
    return weir_hook_run(run, what, command, err);
}

void mdtest_rewind(struct mdtest_test *t)
{
    t->pass.low = t->pass.high = 0;
    t->names.known = t->target.known = false;
}

static int prepare(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mdtest_test *t = state;

    mdtest_rewind(t);
    t->pass.ops = 1;
    t->pass.skip = 0;
    t->pass.batch_ns = t->pass.batch_bytes = 0;
    t->pass.worked_ns = 0;
    if (mdtest_facts[t->pass.op].is_tree || t->pass.phase == &mdtest_write_phase)
        return 0; /* the command has run before the files were made */
    return run_command(run, "prologue", t->o->before, err);
}

static int finish(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mdtest_test *t = state;
    int rc = 0;

    t->pass.worked_ns = weir_now_ns();
    weir_records_add_batch(&run->records, t->pass.batch_ns, t->pass.worked_ns, t->pass.batch_bytes,
                           t->pass.ops - 1 - t->pass.skip);
    if (mdtest_facts[t->pass.op].is_tree || (mdtest_writes_apart(t) && mdtest_makes_items(t)))
        return 0;
    if (t->o->sync_phase)
        rc = weir_session_syncfs(&t->fs.session, mdtest_base_of(&t->places, run->par.rank), err);
    return rc < 0 ? rc : run_command(run, "epilogue", t->o->after, err);
}

int mdtest_fail_op(struct weir_run *run, const struct mdtest_test *t, uint64_t item, uint64_t begin,
                   const struct weir_err *err)
{
    weir_records_add_failed(&run->records, (int)t->pass.op, begin, weir_now_ns(), item, err);
    return -1;
}

/* ---- trees ---- */

int mdtest_each_tree(struct weir_run *run, struct mdtest_test *t, uint64_t loop, uint64_t dir,
                     mdtest_branch_act *act, void *arg, uint64_t *clock_ns, struct weir_err *err)
{
    int last = t->o->unique && t->o->collective ? run->par.size - 1 : 0;

    for (int k = 0; k <= last; k++) {
        int whose = t->o->unique ? (t->o->collective ? k : run->par.rank) : MDTEST_NOBODY;

        mdtest_name_dir(&t->names, mdtest_base_of(&t->places, whose), run->repetition, loop, whose,
                        dir);
        mdtest_enter(t, t->names.path);
        if (weir_session_leave(&t->fs.session, act(run, arg, dir, clock_ns, err)) < 0)
            return -1;
    }
    return 0;
}

/* What an earlier run left is used again; the run says so once. */
static int make_branch(struct weir_run *run, void *test, uint64_t dir, uint64_t *clock_ns,
                       struct weir_err *err)
{
    struct mdtest_test *t = test;
    struct weir_err why = WEIR_ERR_INIT;
    uint64_t begin = *clock_ns;
    int rc = t->fs.ns->mkdir(&t->fs.session, t->names.path, MODE, &why);

    if (rc < 0 && why.sys == EEXIST) {
        t->ledger.stale++;
        rc = 0;
    } else if (rc < 0) {
        *err = why;
    }
    return mdtest_finish_op(run, t, rc, dir, 0, begin, clock_ns, err);
}

static int remove_branch(struct weir_run *run, void *test, uint64_t dir, uint64_t *clock_ns,
                         struct weir_err *err)
{
    struct mdtest_test *t = test;
    uint64_t begin = *clock_ns;
    int rc = t->fs.ns->rmdir(&t->fs.session, t->names.path, err);

    return mdtest_finish_op(run, t, rc, dir, 0, begin, clock_ns, err);
}

static int step_tree_create(struct weir_run *run, void *state, uint64_t i, uint64_t *clock_ns,
                            struct weir_err *err)
{
    struct mdtest_test *t = state;
    uint64_t dir = weir_dirtree_preorder(&t->tree, i % t->tree.dirs);

    t->ledger.trees_started = i + 1;
    return mdtest_each_tree(run, t, i / t->tree.dirs, dir, make_branch, t, clock_ns, err);
}

static int step_tree_remove(struct weir_run *run, void *state, uint64_t i, uint64_t *clock_ns,
                            struct weir_err *err)
{
    struct mdtest_test *t = state;
    uint64_t dir = weir_dirtree_postorder(&t->tree, i % t->tree.dirs);

    return mdtest_each_tree(run, t, i / t->tree.dirs, dir, remove_branch, t, clock_ns, err);
}

/* ---- rows ---- */

#define ROW(k, f, s)                                                                               \
    {                                                                                              \
        .key = (k), .unit = "items", .flags = (f), .prepare = prepare, .count = count_steps,       \
        .done = count_done, .operations = count_operations, .step = (s), .flush = finish           \
    }

const struct weir_phase mdtest_phases[MDTEST_OPS] = {
    [MDTEST_DIR_CREATE] = ROW("directory create", WEIR_PHASE_STONEWALL, mdtest_step_dir_create),
    [MDTEST_DIR_STAT] = ROW("directory stat", 0, mdtest_step_stat),
    [MDTEST_DIR_RENAME] = ROW("directory rename", 0, mdtest_step_rename),
    [MDTEST_DIR_REMOVE] = ROW("directory remove", 0, mdtest_step_dir_remove),
    [MDTEST_FILE_CREATE] = ROW("file create", WEIR_PHASE_STONEWALL, mdtest_step_file_create),
    [MDTEST_FILE_STAT] = ROW("file stat", 0, mdtest_step_stat),
    [MDTEST_FILE_READ] = ROW("file read", 0, mdtest_step_read),
    [MDTEST_FILE_REMOVE] = ROW("file remove", 0, mdtest_step_file_remove),
    [MDTEST_TREE_CREATE] = ROW("tree create", 0, step_tree_create),
    [MDTEST_TREE_REMOVE] = ROW("tree remove", 0, step_tree_remove),
};

const struct weir_phase mdtest_write_phase = ROW("file write", 0, mdtest_step_write);
