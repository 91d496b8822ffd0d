/* SPDX-License-Identifier: BSD-3-Clause */
/* mdtest-phases.c - rows of the phases, what is around their steps, and the directories of the trees */
#include "config.h"
#include "drivers/mdtest/mdtest-step.h"

#include <errno.h>

#include "engine/hook.h"

#define MODE 0775
#define BATCH_NS 20000u /* where nobody asks for single times, look at the clock this often ... */
#define BATCH_MOST 32   /* ... but not after more operations than this */

/* ---- around the steps ---- */

void mdtest_look(struct mdtest_test *t, uint64_t *clock_ns)
{
    uint64_t now = weir_now_ns();
    uint64_t each = (now - *clock_ns) / t->ops + 1;
    uint64_t n = BATCH_NS / each;

    t->ops = n < 1 ? 1 : n > BATCH_MOST ? BATCH_MOST : (unsigned)n;
    t->skip = t->ops - 1;
    *clock_ns = now;
}

static bool makes_items(const struct mdtest_test *t)
{
    return t->op == MDTEST_DIR_CREATE ||
           (t->op == MDTEST_FILE_CREATE && t->phase != &mdtest_write_phase);
}

static bool removes_items(const struct mdtest_test *t)
{
    return t->op == MDTEST_DIR_REMOVE || t->op == MDTEST_FILE_REMOVE;
}

/* Steps of this rank. Rank 0 works alone with -c on what is made and removed, and on what is there
 * only once (-S). */
static uint64_t count_items(struct weir_run *run, void *state)
{
    struct mdtest_test *t = state;
    bool makes = makes_items(t), removes = removes_items(t);
    uint64_t n = makes ? t->planned[t->of] : t->count[t->of];

    if (run->par.rank > 0 &&
        (((makes || removes) && t->o->collective) || (removes && t->o->shared)))
        return 0;
    return t->op == MDTEST_DIR_RENAME && n < 2 ? 0 : n;
}

/* Operations of this rank: with -c a step makes or removes an item for each task. */
static uint64_t count_operations(struct weir_run *run, void *state)
{
    struct mdtest_test *t = state;
    bool for_all = t->o->collective && (makes_items(t) || removes_items(t));

    return count_items(run, t) * (for_all ? (uint64_t)run->par.size : 1);
}

/* A command of the user, on every rank. */
static int run_command(struct weir_run *run, const char *what, const char *command,
                       struct weir_err *err)
{
    mdtest_say(run, 0, "calling %s: \"%s\"", what, command);
    weir_report_flush(&run->report);
    return weir_hook_run(run, what, command, err);
}

static int prepare(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mdtest_test *t = state;

    t->low = t->high = 0;
    t->ops = 1;
    t->skip = 0;
    t->worked_ns = 0;
    t->names.known = t->target.known = false;
    if (t->fine)
        weir_session_reset(&t->fs.session);
    if (t->o->before && *t->o->before && t->op < MDTEST_TREE_CREATE)
        return run_command(run, "prologue", t->o->before, err);
    return 0;
}

static int finish(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mdtest_test *t = state;
    int rc = 0;

    t->worked_ns = weir_now_ns();
    if (t->op >= MDTEST_TREE_CREATE)
        return 0;
    if (t->o->sync_phase)
        rc = weir_session_syncfs(&t->fs.session, mdtest_base_of(t, run->par.rank), err);
    if (rc == 0 && t->o->after && *t->o->after)
        rc = run_command(run, "epilogue", t->o->after, err);
    return rc;
}

int mdtest_fail_op(struct weir_run *run, const struct mdtest_test *t, uint64_t item, uint64_t begin,
                   const struct weir_err *err)
{
    weir_records_add_failed(&run->records, (int)t->op, begin, weir_now_ns(), item, err);
    return -1;
}

/* ---- trees ---- */

static uint64_t count_trees(struct weir_run *run, void *state)
{
    struct mdtest_test *t = state;
    bool works = run->par.rank == 0 || (t->o->unique && !t->o->collective);

    return works ? t->tree.dirs * t->tree.loops : 0;
}

static uint64_t count_branches(struct weir_run *run, void *state)
{
    const struct mdtest_test *t = state;
    bool for_all = t->o->unique && t->o->collective;

    return count_trees(run, state) * (for_all ? (uint64_t)run->par.size : 1);
}

/* One directory of one tree, and with -c -u that of every task's. */
static int each_tree(struct weir_run *run, struct mdtest_test *t, uint64_t loop, uint64_t dir,
                     uint64_t *clock_ns,
                     int (*act)(struct weir_run *, struct mdtest_test *, const char *,
                                struct weir_err *),
                     struct weir_err *err)
{
    int last = t->o->unique && t->o->collective ? run->par.size - 1 : 0;

    for (int k = 0; k <= last; k++) {
        int whose = t->o->unique ? (t->o->collective ? k : run->par.rank) : MDTEST_NOBODY;
        const char *path =
            mdtest_name_dir(&t->names, mdtest_base_of(t, whose), run->repetition, loop, whose, dir);
        uint64_t begin = *clock_ns;

        int rc = act(run, t, path, err);

        if (mdtest_finish_op(run, t, rc, dir, 0, begin, clock_ns, err) < 0)
            return -1;
    }
    return 0;
}

/* What an earlier run left behind is used again; the run says so once. */
static int make_branch(struct weir_run *run, struct mdtest_test *t, const char *path,
                       struct weir_err *err)
{
    struct weir_err why = WEIR_ERR_INIT;

    (void)run;
    if (t->fs.ns->mkdir(&t->fs.session, path, MODE, &why) == 0)
        return 0;
    if (why.sys == EEXIST) {
        t->stale++;
        return 0;
    }
    *err = why;
    return -1;
}

static int remove_branch(struct weir_run *run, struct mdtest_test *t, const char *path,
                         struct weir_err *err)
{
    (void)run;
    (void)t;
    return t->fs.ns->rmdir(&t->fs.session, path, err);
}

static int step_tree_create(struct weir_run *run, void *state, uint64_t i, uint64_t *clock_ns,
                            struct weir_err *err)
{
    struct mdtest_test *t = state;

    t->trees_started = i + 1;
    return each_tree(run, t, i / t->tree.dirs, mdtest_tree_preorder(&t->tree, i % t->tree.dirs),
                     clock_ns, make_branch, err);
}

static int step_tree_remove(struct weir_run *run, void *state, uint64_t i, uint64_t *clock_ns,
                            struct weir_err *err)
{
    struct mdtest_test *t = state;

    return each_tree(run, t, i / t->tree.dirs, mdtest_tree_postorder(&t->tree, i % t->tree.dirs),
                     clock_ns, remove_branch, err);
}

/* ---- rows ---- */

#define ROW(k, f, c, o, s)                                                                         \
    {                                                                                              \
        .key = (k), .unit = "items", .flags = (f), .prepare = prepare, .count = (c),               \
        .operations = (o), .step = (s), .flush = finish                                            \
    }
#define ITEMS(k, f, s) ROW(k, f, count_items, count_operations, s)
#define TREES(k, s) ROW(k, 0, count_trees, count_branches, s)

const struct weir_phase mdtest_phases[MDTEST_OPS] = {
    [MDTEST_DIR_CREATE] = ITEMS("directory create", WEIR_PHASE_STONEWALL, mdtest_step_dir_create),
    [MDTEST_DIR_STAT] = ITEMS("directory stat", 0, mdtest_step_stat),
    [MDTEST_DIR_RENAME] = ITEMS("directory rename", 0, mdtest_step_rename),
    [MDTEST_DIR_REMOVE] = ITEMS("directory remove", 0, mdtest_step_dir_remove),
    [MDTEST_FILE_CREATE] = ITEMS("file create", WEIR_PHASE_STONEWALL, mdtest_step_file_create),
    [MDTEST_FILE_STAT] = ITEMS("file stat", 0, mdtest_step_stat),
    [MDTEST_FILE_READ] = ITEMS("file read", 0, mdtest_step_read),
    [MDTEST_FILE_REMOVE] = ITEMS("file remove", 0, mdtest_step_file_remove),
    [MDTEST_TREE_CREATE] = TREES("tree create", step_tree_create),
    [MDTEST_TREE_REMOVE] = TREES("tree remove", step_tree_remove),
};

const struct weir_phase mdtest_write_phase = ITEMS("file write", 0, mdtest_step_write);
