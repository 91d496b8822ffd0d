/* SPDX-License-Identifier: BSD-3-Clause */
/* mdtest-trace.c - lines "V-<level>: Rank   0 Line ..." as scripts compare them (mdtest.md 4.6, 4.7)
 *
 * Nothing is said while a phase runs. Which names it visited follows from its place in the test, so the lines of a phase are made
 * behind it. Consumers delete the number after "Line". */
#include "config.h"
#include "drivers/mdtest/mdtest.h"

#include <inttypes.h>
#include <stdarg.h>

#define BODY_MOST 1023

void mdtest_trace(struct weir_run *run, int level, int line, const char *fmt, ...)
{
    struct weir_str text = { 0 };
    va_list ap;

    if (run->log.verbose < level || run->report.n == 0)
        return;
    va_start(ap, fmt);
    weir_str_vaddf(&text, fmt, ap);
    va_end(ap);
    weir_report_line(&run->report, "V-%d: Rank %3d Line %5d %.*s", level, run->log.rank, line,
                     BODY_MOST, weir_str_text(&text));
    weir_str_free(&text);
}

static bool is_silent(const struct weir_run *run, int level)
{
    return run->report.n == 0 || run->log.verbose < level;
}

/* ---- options ---- */

static const char *truth(bool yes)
{
    return yes ? "True" : "False";
}

static void trace_places(struct weir_run *run, const struct mdtest_test *t)
{
    mdtest_say(run, 1, "dirpath(s):");
    for (int i = 0; i < t->bases; i++)
        mdtest_say(run, 1, "\t%s", t->base[i]);
}

void mdtest_trace_options(struct weir_run *run, const struct mdtest_test *t)
{
    const struct mdtest_options *o = t->o;
    const struct {
        const char *name, *word;
        int64_t number;
    } rows[] = {
        { "api", o->api ? o->api : "(null)", 0 },
        { "barriers", truth(!o->no_barriers), 0 },
        { "collective_creates", truth(o->collective), 0 },
        { "create_only", truth(o->create), 0 },
        { NULL, NULL, 0 }, /* the places */
        { "dirs_only", truth(t->kind[MDTEST_DIRS]), 0 },
        { "read_bytes", NULL, o->read_bytes },
        { "read_only", truth(o->read), 0 },
        { "first", NULL, o->first },
        { "files_only", truth(t->kind[MDTEST_FILES]), 0 },
        { "iterations", NULL, o->iterations },
        { "items_per_dir", NULL, o->per_dir },
        { "last", NULL, o->last },
        { "leaf_only", truth(o->leaf_only), 0 },
        { "items", NULL, o->items },
        { "nstride", NULL, o->shift },
        { "pre_delay", NULL, o->delay_s },
        { "remove_only", truth(o->remove), 0 },
        { "random_seed", NULL, o->random_seed },
        { "stride", NULL, o->step },
        { "shared_file", truth(o->shared), 0 },
        { "time_unique_dir_overhead", truth(o->time_dirs), 0 },
        { "stone_wall_timer_seconds", NULL, o->deadline_s },
        { "stat_only", truth(o->stat), 0 },
        { "unique_dir_per_task", truth(o->unique), 0 },
        { "write_bytes", NULL, o->write_bytes },
        { "sync_file", truth(o->sync_file), 0 },
        { "call_sync", truth(o->sync_phase), 0 },
        { "depth", NULL, o->depth },
        { "make_node", NULL, o->mknod },
    };

    if (is_silent(run, 1))
        return;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        if (!rows[i].name)
            trace_places(run, t);
        else if (rows[i].word)
            mdtest_say(run, 1, "%-24s: %s", rows[i].name, rows[i].word);
        else
            mdtest_say(run, 1, "%-24s: %" PRId64, rows[i].name, rows[i].number);
    }
}

/* ---- the walk over a tree ---- */

/* A walk in progress: what it does to items, and how many of them are left. */
struct walk {
    struct weir_run *run;
    struct mdtest_test *t;
    enum mdtest_op op;
    int owner, whose;
    uint64_t loop, left;
};

static const char *const visit_words[MDTEST_OPS] = {
    [MDTEST_DIR_CREATE] = "dirs create",
    [MDTEST_DIR_REMOVE] = "dirs remove",
    [MDTEST_FILE_CREATE] = "non-dirs create",
    [MDTEST_FILE_REMOVE] = "non-dirs remove",
};

static const char *dir_path(struct walk *w, uint64_t dir)
{
    return mdtest_name_dir(&w->t->target, mdtest_base_of(w->t, w->whose), w->run->repetition,
                           w->loop, w->whose, dir);
}

static void trace_creation(const struct walk *w)
{
    const struct mdtest_options *o = w->t->o;

    if (o->mknod) {
        mdtest_say(w->run, 3, "create_remove_items_helper : mknod...");
        return;
    }
    mdtest_say(w->run, 3, "create_remove_items_helper (%s): open...",
               o->collective ? "collective" : "non-collective, shared");
    if (o->write_bytes > 0)
        mdtest_say(w->run, 3, "create_remove_items_helper: write...");
    mdtest_say(w->run, 3, "create_remove_items_helper: close...");
}

/* Below the root the directory part ends in a slash of its own. */
static void trace_items(struct walk *w, uint64_t dir)
{
    const struct mdtest_tree *tree = &w->t->tree;
    const char *slash = dir > 0 ? "//" : "/";
    struct weir_str owner = { 0 };

    if (w->owner == MDTEST_SHARED)
        weir_str_addf(&owner, "shared");
    else
        weir_str_addf(&owner, "%d", w->owner);
    for (uint64_t i = 0; dir >= tree->first && i < tree->per_dir && w->left > 0; i++, w->left--) {
        mdtest_say(w->run, 3,
                   "create_remove_items_helper (%s): curr_item is '%s%s%s.mdtest.%s.%" PRIu64 "'",
                   visit_words[w->op], dir_path(w, dir), slash,
                   w->op < MDTEST_FILE_CREATE ? "dir" : "file", weir_str_text(&owner),
                   dir * tree->per_dir + i);
        if (w->op == MDTEST_FILE_CREATE)
            trace_creation(w);
    }
    weir_str_free(&owner);
}

/* Deep trees are narrow or the lines endless: the recursion is as deep as the tree. */
static void trace_below(struct walk *w, uint64_t dir, unsigned level)
{
    const struct mdtest_tree *tree = &w->t->tree;

    mdtest_say(w->run, 3, "create_remove_items (start): temp_path is '%s%s'", dir_path(w, dir),
               dir > 0 ? "/" : "");
    if (level == tree->depth)
        return;
    for (uint64_t j = 0; j < tree->branch; j++) {
        uint64_t child = dir * tree->branch + 1 + j;

        mdtest_say(w->run, 3, "create_remove_items (for loop): temp_path is '%s/'",
                   dir_path(w, child));
        trace_items(w, child);
        trace_below(w, child, level + 1);
    }
}

static void trace_walk(struct walk *w)
{
    mdtest_say(w->run, 3, "create_remove_items (start): temp_path is '%s'", dir_path(w, 0));
    trace_items(w, 0);
    if (w->t->tree.depth > 0)
        trace_below(w, 0, 0);
}

/* ---- phases ---- */

static const char *const phase_words[MDTEST_OPS] = {
    [MDTEST_DIR_CREATE] = "directory_test: create path is",
    [MDTEST_DIR_STAT] = "stat path is",
    [MDTEST_DIR_READ] = "directory_test: read path is",
    [MDTEST_DIR_RENAME] = "rename path is",
    [MDTEST_DIR_REMOVE] = "directory_test: remove directories path is",
    [MDTEST_FILE_CREATE] = "file_test: create path is",
    [MDTEST_FILE_STAT] = "file_test: stat path is",
    [MDTEST_FILE_READ] = "file_test: read path is",
    [MDTEST_FILE_REMOVE] = "file_test: rm directories path is",
};

static const char *const item_words[MDTEST_OPS] = {
    [MDTEST_DIR_STAT] = "mdtest_stat  dir:",
    [MDTEST_FILE_STAT] = "mdtest_stat file:",
    [MDTEST_FILE_READ] = "mdtest_read file:",
    [MDTEST_DIR_RENAME] = "mdtest_rename  dir:",
};

static void trace_visits(struct walk *w, uint64_t steps)
{
    struct mdtest_test *t = w->t;

    t->target.known = false;
    for (uint64_t i = 0; i < steps; i++) {
        uint64_t place = t->shuffled ? weir_perm_at(&t->perm, i) : i,
                 in_loop = place % t->tree.per_loop;
        uint64_t item = t->made_order ? mdtest_tree_made(&t->tree, in_loop)
                                      : mdtest_tree_linear(&t->tree, in_loop);

        mdtest_say(w->run, 3, "%s %s", item_words[w->op],
                   mdtest_name_item(&t->target, mdtest_base_of(t, w->whose), w->run->repetition,
                                    place / t->tree.per_loop, w->whose,
                                    mdtest_tree_dir_of(&t->tree, item), t->of, w->owner, item));
    }
}

static void trace_after_removal(struct walk *w)
{
    struct mdtest_test *t = w->t;
    const char *format = w->op == MDTEST_DIR_REMOVE
                             ? "directory_test: remove unique directories path is"
                             : "file_test: rm unique directories path is";

    if (t->o->unique)
        mdtest_say(w->run, 3, "%s '%s/'%s", format,
                   mdtest_name_test(&t->target, t->base[0], w->run->repetition, t->tree.loops - 1),
                   w->op == MDTEST_DIR_REMOVE ? "\n" : "");
    else if (w->op == MDTEST_DIR_REMOVE)
        mdtest_say(w->run, 3, "%s '%s'\n", format, dir_path(w, 0));
    else
        mdtest_say(w->run, 3, "%s '%s'", format, mdtest_name_root(&t->target, MDTEST_NOBODY));
}

/* Directories of the tree, as rank 0 makes and removes them. */
static void trace_branches(struct walk *w, uint64_t steps)
{
    struct mdtest_test *t = w->t;
    bool made = w->op == MDTEST_TREE_CREATE;

    w->whose = t->o->unique ? w->run->par.rank : MDTEST_NOBODY;
    for (uint64_t i = 0; i < steps; i++) {
        uint64_t place = i % t->tree.dirs;

        w->loop = i / t->tree.dirs;
        mdtest_say(w->run, 2, "%s directory '%s/'", made ? "Making" : "Remove",
                   dir_path(w, made ? mdtest_tree_preorder(&t->tree, place)
                                    : mdtest_tree_postorder(&t->tree, place)));
    }
    if (!made)
        mdtest_say(w->run, 2, "main (at end of for j loop): Removing o.testdir of '%s'\n",
                   mdtest_name_test(&t->target, t->base[0], w->run->repetition, t->tree.loops - 1));
}

void mdtest_trace_phase(struct weir_run *run, struct mdtest_test *t, enum mdtest_op op,
                        uint64_t steps)
{
    struct walk w = { .run = run, .t = t, .op = op, .owner = t->owner };

    if (!is_silent(run, 2) && op >= MDTEST_TREE_CREATE)
        trace_branches(&w, steps);
    if (is_silent(run, 3) || op >= MDTEST_TREE_CREATE || (op == MDTEST_DIR_RENAME && steps == 0))
        return;
    w.whose = mdtest_tree_of(t, run, t->owner);
    for (w.loop = 0; w.loop < t->tree.loops; w.loop++) {
        mdtest_say(run, 3, "%s '%s'", phase_words[op], dir_path(&w, 0));
        if (op == MDTEST_FILE_REMOVE)
            mdtest_say(run, 3, "gonna remove %s", dir_path(&w, 0));
        w.left = steps > w.loop * t->tree.per_loop ? steps - w.loop * t->tree.per_loop : 0;
        if (visit_words[op])
            trace_walk(&w);
    }
    w.loop = 0;
    if (item_words[op])
        trace_visits(&w, steps);
    if (op == MDTEST_DIR_REMOVE || op == MDTEST_FILE_REMOVE)
        trace_after_removal(&w);
}

/* ---- around phases ---- */

static const char *test_path(struct weir_run *run, struct mdtest_test *t)
{
    return mdtest_name_test(&t->target, t->base[0], run->repetition, 0);
}

void mdtest_trace_kind(struct weir_run *run, struct mdtest_test *t, enum mdtest_kind kind,
                       bool before)
{
    const char *root;

    if (is_silent(run, 1) || !before)
        return;
    root = mdtest_name_root(&t->target, mdtest_tree_of(t, run, run->par.rank));
    if (kind == MDTEST_DIRS) {
        mdtest_say(run, 1, "Entering directory_test on %s", root);
        return;
    }
    mdtest_say(run, 3, "will file_test on %s", root);
    mdtest_say(run, 3, "Entering file_test on %s", root);
}

void mdtest_trace_tree(struct weir_run *run, struct mdtest_test *t, bool create)
{
    const struct mdtest_options *o = t->o;

    if (is_silent(run, 2))
        return;
    if (create) {
        mdtest_say(run, 2, "main (for j loop): making o.testdir, '%s'", test_path(run, t));
        mdtest_say(run, 3,
                   "main (create hierarchical directory loop-%s): Calling "
                   "create_remove_directory_tree with '%s'",
                   !o->unique      ? "!unque_dir_per_task"
                   : o->collective ? "collective"
                                   : "!collective_creates",
                   test_path(run, t));
    } else {
        mdtest_say(run, 3,
                   "%smain (remove hierarchical directory loop-%s): Calling "
                   "create_remove_directory_tree with '%s'",
                   o->unique ? "" : "V-3: ",
                   !o->unique      ? "!unique_dir_per_task"
                   : o->collective ? "collective"
                                   : "!collective",
                   test_path(run, t));
    }
}

void mdtest_trace_iteration(struct weir_run *run, struct mdtest_test *t, bool before)
{
    int whose = mdtest_tree_of(t, run, run->par.rank);

    if (is_silent(run, 1))
        return;
    if (before) {
        mdtest_say(run, 1, "main: * iteration %d *", run->repetition + 1);
        return;
    }
    if (t->o->unique)
        mdtest_say(run, 3, "i %d nstride %d", run->par.size, t->shift);
    else
        mdtest_say(run, 3, "V-3: main: Using unique_mk_dir, '%s'",
                   mdtest_name_root(&t->target, whose));
    mdtest_say(run, 3, "V-3: main: Copied unique_mk_dir, '%s', to topdir",
               mdtest_name_root(&t->target, whose));
}
