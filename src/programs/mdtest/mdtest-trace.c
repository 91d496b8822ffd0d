/* SPDX-License-Identifier: BSD-3-Clause */
/* mdtest-trace.c - lines "V-<level>: Rank   0 Line ..." as scripts compare them. Consumers
 * delete the number after "Line" */
#include "config.h"
#include "programs/mdtest/mdtest.h"

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
    weir_report_free(&run->report, &text);
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

enum { SECONDS_TEXT = 32 };

static const char *show_seconds(double seconds, char out[SECONDS_TEXT])
{
    (void)snprintf(out, SECONDS_TEXT, "%.15g", seconds); /* the longest has 22 characters */
    return out;
}

static void trace_places(struct weir_run *run, const struct mdtest_test *t)
{
    mdtest_log(run, 1, "dirpath(s):");
    for (int i = 0; i < t->places.n; i++)
        mdtest_log(run, 1, "\t%s", t->places.base[i]);
}

void mdtest_trace_options(struct weir_run *run, const struct mdtest_test *t)
{
    const struct mdtest_options *o = t->o;
    char delay[SECONDS_TEXT], deadline[SECONDS_TEXT];
    const struct {
        const char *name, *word;
        int64_t number;
    } rows[] = {
        { "api", o->run.api ? o->run.api : "(null)", 0 },
        { "barriers", truth(!o->no_barriers), 0 },
        { "collective_creates", truth(o->collective), 0 },
        { "create_only", truth(o->create), 0 },
        { NULL, NULL, 0 }, /* the places */
        { "dirs_only", truth(t->ledger.kind[MDTEST_DIRS]), 0 },
        { "read_bytes", NULL, o->read_bytes },
        { "read_only", truth(o->read), 0 },
        { "first", NULL, o->first },
        { "files_only", truth(t->ledger.kind[MDTEST_FILES]), 0 },
        { "iterations", NULL, o->run.repetitions },
        { "items_per_dir", NULL, o->per_dir },
        { "last", NULL, o->last },
        { "leaf_only", truth(o->leaf_only), 0 },
        { "items", NULL, o->items },
        { "nstride", NULL, o->shift },
        { "pre_delay", show_seconds(o->run.delay_s, delay), 0 },
        { "remove_only", truth(o->remove), 0 },
        { "random_seed", NULL, o->random_seed },
        { "stride", NULL, o->step },
        { "shared_file", truth(o->shared), 0 },
        { "time_unique_dir_overhead", truth(o->time_dirs), 0 },
        { "stone_wall_timer_seconds", show_seconds(o->run.deadline_s, deadline), 0 },
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
    mdtest_log(run, 1, "Entering parse_dirpath on %s...", o->dirs ? o->dirs : "");
    if (t->all_phases)
        mdtest_log(run, 1, "main: Setting create/stat/read/remove_only to True");
    mdtest_log(run, 1, "Entering md_validate_tests...");
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        if (!rows[i].name)
            trace_places(run, t);
        else if (rows[i].word)
            mdtest_log(run, 1, "%-24s: %s", rows[i].name, rows[i].word);
        else
            mdtest_log(run, 1, "%-24s: %" PRId64, rows[i].name, rows[i].number);
    }
}

/* ---- around phases ---- */

/* How scripts know the names of operations; they differ in the blanks. */
static const char *const result_words[MDTEST_OPS] = {
    [MDTEST_DIR_CREATE] = "   Directory creation: ",
    [MDTEST_DIR_STAT] = "   Directory stat    : ",
    [MDTEST_DIR_RENAME] = "   Directory rename : ",
    [MDTEST_DIR_REMOVE] = "   Directory removal : ",
    [MDTEST_FILE_CREATE] = "  File creation     : ",
    [MDTEST_FILE_STAT] = "  File stat         : ",
    [MDTEST_FILE_READ] = "  File read         : ",
    [MDTEST_FILE_REMOVE] = "  File removal      : ",
    [MDTEST_TREE_CREATE] = "V-1: main:   Tree creation     : ",
    [MDTEST_TREE_REMOVE] = "main   Tree removal      : ",
};

void mdtest_trace_result(struct weir_run *run, const struct mdtest_test *t, enum mdtest_op op)
{
    const struct mdtest_series *s = &t->results.series[op];
    bool was_run = s->rate.n == (uint64_t)run->repetition + 1; /* in this iteration */

    mdtest_log(run, 1, "%s%14.3f sec, %14.3f ops/sec", result_words[op], was_run ? s->seconds : 0.0,
               was_run && s->seconds > 0 ? s->items / s->seconds : 0.0);
    if (op == MDTEST_FILE_CREATE && was_run && t->results.wall_s > 0)
        mdtest_log(run, 1, "  File creation (stonewall): %14.3f sec, %14.3f ops/sec",
                   t->results.wall_s, t->results.wall_items / t->results.wall_s);
}

int mdtest_trace_kind(struct weir_run *run, void *state, const struct weir_stage *s,
                      struct weir_err *err)
{
    struct mdtest_test *t = state;
    const char *root = mdtest_name_root(&t->target, mdtest_tree_of(t, run, run->par.rank));

    (void)err;
    if (s->index == MDTEST_DIRS) {
        mdtest_log(run, 1, "Entering directory_test on %s", root);
        return 0;
    }
    mdtest_log(run, 3, "will file_test on %s", root);
    mdtest_log(run, 3, "Entering file_test on %s", root);
    return 0;
}

int mdtest_trace_kind_end(struct weir_run *run, void *state, const struct weir_stage *s,
                          struct weir_err *err)
{
    (void)err;
    for (int op = MDTEST_DIR_CREATE; op < MDTEST_TREE_CREATE; op++)
        if (result_words[op] && (int)mdtest_facts[op].of == s->index)
            mdtest_trace_result(run, state, (enum mdtest_op)op);
    return 0;
}

/* There is nothing to read in a directory. */
int mdtest_trace_dir_read(struct weir_run *run, void *state, const struct weir_stage *s,
                          struct weir_err *err)
{
    (void)err;
    mdtest_trace_phase(run, state, (enum mdtest_op)s->index, 0);
    return 0;
}

void mdtest_trace_removed(struct weir_run *run, struct mdtest_test *t)
{
    for (uint64_t loop = 0; loop < t->tree.loops && !is_silent(run, 2); loop++)
        mdtest_log(run, 2, "main (at end of for j loop): Removing o.testdir of '%s'\n",
                   mdtest_name_test(&t->target, t->places.base[0], run->repetition, loop));
}

int mdtest_trace_items(struct weir_run *run, void *state, const struct weir_stage *s,
                       struct weir_err *err)
{
    struct mdtest_test *t = state;
    const char *root = mdtest_name_root(&t->target, mdtest_tree_of(t, run, run->par.rank));

    (void)s;
    (void)err;
    if (t->o->unique)
        mdtest_log(run, 3, "i %d nstride %d", run->par.size, t->shift);
    else
        mdtest_log(run, 3, "V-3: main: Using unique_mk_dir, '%s'", root);
    mdtest_log(run, 3, "V-3: main: Copied unique_mk_dir, '%s', to topdir", root);
    return 0;
}

int mdtest_trace_items_end(struct weir_run *run, void *state, const struct weir_stage *s,
                           struct weir_err *err)
{
    struct mdtest_test *t = state;

    (void)s;
    (void)err;
    if (!t->o->unique)
        mdtest_log(
            run, 3, "main: Using o.testdir, '%s'",
            mdtest_name_test(&t->names, t->places.base[0], run->repetition, t->tree.loops - 1));
    return 0;
}
