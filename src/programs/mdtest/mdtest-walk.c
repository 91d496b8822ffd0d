/* SPDX-License-Identifier: BSD-3-Clause */
/* mdtest-walk.c - lines of -v about a phase: the directories and items that rank 0 visited, in its
 * order
 *
 * Nothing is printed while a phase runs. The names that it visited follow from its place in the test,
 * so the lines of a phase are made after it. */
#include "programs/mdtest/mdtest.h"

#include <string.h>

/* ---- items of one owner ---- */

/* A walk in progress: what it does to items, and how many of them are left. */
struct walk {
    struct weir_run *run;
    struct mdtest_test *t;
    enum mdtest_op op;
    int owner, whose;
    uint64_t loop, left;
    bool for_all; /* -c: rank 0's pass over the items of every owner */
};

/* Names of an operation in lines: the phase, its walk (visit), or its function and its items. */
static const struct {
    const char *phase, *visit, *enter, *item;
} words[MDTEST_OPS] = {
    [MDTEST_DIR_CREATE] = { "directory_test: create path is", .visit = "dirs create" },
    [MDTEST_DIR_STAT] = { "stat path is", .enter = "mdtest_stat", .item = "mdtest_stat  dir:" },
    [MDTEST_DIR_READ] = { .phase = "directory_test: read path is" },
    [MDTEST_DIR_RENAME] = { "rename path is", .enter = "mdtest_rename",
                            .item = "mdtest_rename  dir:" },
    [MDTEST_DIR_REMOVE] = { "directory_test: remove directories path is", .visit = "dirs remove" },
    [MDTEST_FILE_CREATE] = { "file_test: create path is", .visit = "non-dirs create" },
    [MDTEST_FILE_STAT] = { "file_test: stat path is", .enter = "mdtest_stat",
                           .item = "mdtest_stat file:" },
    [MDTEST_FILE_READ] = { "file_test: read path is", .enter = "mdtest_read",
                           .item = "mdtest_read file:" },
    [MDTEST_FILE_REMOVE] = { "file_test: rm directories path is", .visit = "non-dirs remove" },
};

static const char *dir_path(struct walk *w, uint64_t dir)
{
    return mdtest_name_dir(&w->t->target, mdtest_base_of(&w->t->places, w->whose),
                           w->run->repetition, w->loop, w->whose, dir);
}

static void trace_creation(const struct walk *w)
{
    const struct mdtest_options *o = w->t->o;

    if (w->op != MDTEST_FILE_CREATE)
        return;
    if (o->mknod) {
        mdtest_log(w->run, 3, "create_remove_items_helper : mknod...");
        return;
    }
    mdtest_log(w->run, 3, "create_remove_items_helper (%s): open...",
               o->collective ? "collective" : "non-collective, shared");
    if (o->write_bytes > 0)
        mdtest_log(w->run, 3, "create_remove_items_helper: write...");
    mdtest_log(w->run, 3, "create_remove_items_helper: close...");
}

/* Below the root the directory part ends in a slash of its own. */
static void trace_item(struct walk *w, uint64_t dir, uint64_t item)
{
    struct mdtest_test *t = w->t;
    const char *path = dir_path(w, dir), *slash = dir > 0 ? "/" : "";
    const char *name = strrchr(mdtest_name_item(&t->names, mdtest_base_of(&t->places, w->whose),
                                                w->run->repetition, w->loop, w->whose, dir,
                                                t->pass.of, w->owner, item),
                               '/');

    if (w->for_all && w->op >= MDTEST_FILE_CREATE) {
        mdtest_log(w->run, 3, "create file: %s%s%s", path, slash, name);
        return;
    }
    mdtest_log(w->run, 3, "create_remove_items_helper (%s): curr_item is '%s%s%s'",
               words[w->op].visit, path, slash, name);
    trace_creation(w);
}

static void trace_items(struct walk *w, uint64_t dir)
{
    const struct weir_dirtree *tree = &w->t->tree;

    if (dir < tree->first)
        return;
    mdtest_log(w->run, 1, "Entering %s on %s%s",
               w->for_all ? "collective_helper" : "create_remove_items_helper", dir_path(w, dir),
               dir > 0 ? "/" : "");
    for (uint64_t i = 0; i < tree->per_dir && w->left > 0 && w->run->log.verbose >= 3;
         i++, w->left--)
        trace_item(w, dir, dir * tree->per_dir + i);
}

static void trace_start(struct walk *w, uint64_t dir, unsigned depth)
{
    const char *slash = dir > 0 ? "/" : "";

    mdtest_log(w->run, 1, "Entering create_remove_items on %s%s, currDepth = %u...",
               dir_path(w, dir), slash, depth);
    mdtest_log(w->run, 3, "create_remove_items (start): temp_path is '%s%s'", dir_path(w, dir),
               slash);
}

/* Deep trees are narrow or the lines endless: the recursion is as deep as the tree. */
static void trace_below(struct walk *w, uint64_t dir, unsigned level)
{
    const struct weir_dirtree *tree = &w->t->tree;

    trace_start(w, dir, level + 1);
    if (level == tree->depth)
        return;
    for (uint64_t j = 0; j < tree->branch; j++) {
        uint64_t child = dir * tree->branch + 1 + j;

        mdtest_log(w->run, 3, "create_remove_items (for loop): temp_path is '%s/'",
                   dir_path(w, child));
        trace_items(w, child);
        trace_below(w, child, level + 1);
    }
}

static void trace_walk(struct walk *w, uint64_t items)
{
    w->left = items;
    trace_start(w, 0, 0);
    trace_items(w, 0);
    if (w->t->tree.depth > 0)
        trace_below(w, 0, 0);
}

/* -c: rank 0 goes through the tree for every owner, then writes its own files. */
static void trace_collective(struct walk *w, uint64_t items)
{
    const struct mdtest_test *t = w->t;
    int owner = w->owner, whose = w->whose;

    mdtest_log(w->run, 1, "Entering collective_create_remove on %s", dir_path(w, 0));
    w->for_all = true;
    for (int k = 0; k < w->run->par.size; k++) {
        w->owner = k;
        w->whose = mdtest_tree_of(t, w->run, k);
        if (t->o->unique)
            mdtest_log(w->run, 3, "i %d nstride %d ntasks %d", k, t->shift, w->run->par.size);
        mdtest_log(w->run, 3, "collective_create_remove (create_remove_items): temp is '%s'",
                   dir_path(w, 0));
        trace_walk(w, items);
    }
    w->for_all = false;
    w->owner = owner;
    w->whose = whose;
    if (w->op == MDTEST_FILE_CREATE && !t->o->mknod)
        trace_walk(w, items);
}

/* ---- phases ---- */

static void trace_after_removal(struct walk *w)
{
    struct mdtest_test *t = w->t;
    const char *format = w->op == MDTEST_DIR_REMOVE
                             ? "directory_test: remove unique directories path is"
                             : "file_test: rm unique directories path is";

    if (t->o->unique) {
        const char *test = mdtest_name_test(&t->target, mdtest_base_of(&t->places, w->whose),
                                            w->run->repetition, t->tree.loops - 1);

        mdtest_log(w->run, 1, "Entering unique_dir_access, set it to %s/", test);
        mdtest_log(w->run, 3, "%s '%s/'%s", format, test, w->op == MDTEST_DIR_REMOVE ? "\n" : "");
    } else if (w->op == MDTEST_DIR_REMOVE)
        mdtest_log(w->run, 3, "%s '%s'\n", format, dir_path(w, 0));
    else
        mdtest_log(w->run, 3, "%s '%s'", format, mdtest_name_root(&t->target, MDTEST_SHARED_TREE));
}

static void trace_loop(struct walk *w, uint64_t steps)
{
    struct mdtest_test *t = w->t;
    uint64_t low = w->loop * t->tree.per_loop, high = low + t->tree.per_loop, item;

    if (t->o->unique)
        mdtest_log(w->run, 1, "Entering unique_dir_access, set it to %s", dir_path(w, 0));
    mdtest_log(w->run, 3, "%s '%s'", words[w->op].phase, dir_path(w, 0));
    if (w->op == MDTEST_FILE_REMOVE && !t->o->collective)
        mdtest_log(w->run, 3, "gonna remove %s", dir_path(w, 0));
    if (words[w->op].enter)
        mdtest_log(w->run, 1, "Entering %s on %s", words[w->op].enter, dir_path(w, 0));
    low = low < steps ? low : steps;
    high = high < steps ? high : steps;
    if (w->run->log.verbose < 3 && !words[w->op].visit)
        return;
    for (uint64_t i = low; words[w->op].item && i < high; i++)
        mdtest_log(w->run, 3, "%s %s", words[w->op].item,
                   mdtest_name_step(w->run, t, w->owner, i, &item));
    if (words[w->op].visit && t->o->collective)
        trace_collective(w, high - low);
    else if (words[w->op].visit)
        trace_walk(w, high - low);
}

/* ---- directories of the trees ---- */

static void enter_tree(struct walk *w, const char *path, const char *slash, unsigned depth)
{
    mdtest_log(w->run, 1, "Entering create_remove_directory_tree on %s%s, currDepth = %u...", path,
               slash, depth);
}

/* One directory and what is below it; left counts those that were really made or removed. */
static void trace_branch(struct walk *w, uint64_t dir, unsigned depth)
{
    const struct weir_dirtree *tree = &w->t->tree;
    bool made = w->op == MDTEST_TREE_CREATE;

    if (w->left == 0)
        return;
    if (made) {
        w->left--;
        mdtest_log(w->run, 2, "Making directory '%s/'", dir_path(w, dir));
    }
    enter_tree(w, dir_path(w, dir), "/", depth);
    for (uint64_t j = 0; depth <= tree->depth && j < tree->branch; j++)
        trace_branch(w, dir * tree->branch + 1 + j, depth + 1);
    if (!made && w->left > 0) {
        w->left--;
        mdtest_log(w->run, 2, "Remove directory '%s/'", dir_path(w, dir));
    }
}

static void trace_tree(struct walk *w, uint64_t dirs)
{
    struct mdtest_test *t = w->t;
    const struct mdtest_options *o = t->o;
    int last = o->unique && o->collective ? w->run->par.size - 1 : 0;
    const char *how = !o->unique ? "" : o->collective ? "collective" : "!collective";

    for (int k = 0; k <= last; k++) {
        const char *test;

        w->whose = o->unique ? w->run->par.rank + k : MDTEST_SHARED_TREE;
        w->left = dirs;
        test = mdtest_name_test(&t->target, mdtest_base_of(&t->places, w->whose),
                                w->run->repetition, w->loop);
        if (w->op == MDTEST_TREE_CREATE)
            mdtest_log(w->run, 2, "main (for j loop): making o.testdir, '%s'", test);
        mdtest_log(w->run, 3,
                   "%smain (%s hierarchical directory loop-%s%s): Calling "
                   "create_remove_directory_tree with '%s'",
                   w->op == MDTEST_TREE_REMOVE && !o->unique ? "V-3: " : "",
                   w->op == MDTEST_TREE_CREATE ? "create" : "remove",
                   o->unique                     ? how
                   : w->op == MDTEST_TREE_CREATE ? "!unque_dir_per_task"
                                                 : "!unique_dir_per_task",
                   w->op == MDTEST_TREE_CREATE && o->unique && !o->collective ? "_creates" : "",
                   test);
        enter_tree(w, test, "", 0);
        trace_branch(w, 0, 1);
    }
}

void mdtest_trace_phase(struct weir_run *run, struct mdtest_test *t, enum mdtest_op op,
                        uint64_t steps)
{
    struct walk w = { .run = run, .t = t, .op = op, .owner = t->pass.owner };

    if (run->report.n == 0 || run->log.verbose < 1 || mdtest_facts[op].call ||
        (op == MDTEST_DIR_RENAME && steps == 0))
        return;
    w.whose = mdtest_tree_of(t, run, t->pass.owner);
    for (w.loop = 0; w.loop < t->tree.loops; w.loop++) {
        if (op >= MDTEST_TREE_CREATE)
            trace_tree(&w, steps < t->tree.dirs ? steps : t->tree.dirs);
        else
            trace_loop(&w, steps);
        if (op >= MDTEST_TREE_CREATE)
            steps -= steps < t->tree.dirs ? steps : t->tree.dirs;
    }
    w.loop = 0;
    if (op == MDTEST_DIR_REMOVE || op == MDTEST_FILE_REMOVE)
        trace_after_removal(&w);
}
