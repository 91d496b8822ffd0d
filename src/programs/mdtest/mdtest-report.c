/* SPDX-License-Identifier: BSD-3-Clause */
/* mdtest-report.c - what is shown above and below the tables, lines of -v, and the files of ranks */
#include "programs/mdtest/mdtest.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "engine/about/banner.h"
#include "engine/observe/gather.h"

#define LINE_MOST 1023 /* of the command line and its heading */

/* ---- lines "V-<level>: Rank   0 Line ..." as scripts compare them. Consumers delete the number after
 * "Line" ---- */

#define BODY_MAX 1023

static bool is_silent(const struct weir_run *run, int level)
{
    return run->report.n == 0 || run->log.verbose < level;
}

void mdtest_trace(struct weir_run *run, int level, int line, const char *fmt, ...)
{
    struct weir_str text = { 0 };
    va_list ap;

    if (is_silent(run, level))
        return;
    va_start(ap, fmt);
    weir_str_vaddf(&text, fmt, ap);
    va_end(ap);
    weir_report_line(&run->report, "V-%d: Rank %3d Line %5d %.*s", level, run->log.rank, line,
                     BODY_MAX, weir_str_text(&text));
    weir_report_free(&run->report, &text);
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

static void trace_options(struct weir_run *run, const struct mdtest_test *t)
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
    mdtest_log(run, 1, "Entering parse_dirpath on %s...", o->dirs);
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

/* Names of operations as scripts know them; they differ in the blanks. */
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
#define MORE_WORDS(key, title, call, op, ...) [MDTEST_##op] = "  " title ": ",
    MDTEST_MORE_DIRS(MORE_WORDS) MDTEST_MORE_FILES(MORE_WORDS)
};

void mdtest_trace_result(struct weir_run *run, const struct mdtest_test *t, enum mdtest_op op)
{
    const struct mdtest_series *s = &t->results.series[op];
    bool was_run = s->rate.n == (uint64_t)run->repetition + 1; /* in this iteration */

    mdtest_log(run, 1, "%s%14.3f sec, %14.3f ops/sec", result_words[op],
               was_run ? s->seconds : 0.0, was_run && s->seconds > 0 ? s->items / s->seconds : 0.0);
    if (op == MDTEST_FILE_CREATE && was_run && t->results.wall_s > 0)
        mdtest_log(run, 1, "  File creation (stonewall): %14.3f sec, %14.3f ops/sec",
                   t->results.wall_s, t->results.wall_items / t->results.wall_s);
}

int mdtest_trace_kind(struct weir_run *run, void *state, const struct weir_stage *s,
                      struct weir_err *err)
{
    struct mdtest_test *t = state;
    const char *root = mdtest_name_root(&t->target, mdtest_tree_of(t, run, run->par.rank));

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
    for (int op = MDTEST_DIR_CREATE; op < MDTEST_OPS; op++) {
        const struct mdtest_fact *f = &mdtest_facts[op];

        if (result_words[op] && !f->is_tree && (int)f->of == s->index && mdtest_shows(state, op))
            mdtest_trace_result(run, state, (enum mdtest_op)op);
    }
    return 0;
}

/* There is nothing to read in a directory. */
int mdtest_trace_dir_read(struct weir_run *run, void *state, const struct weir_stage *s,
                          struct weir_err *err)
{
    mdtest_trace_phase(run, state, (enum mdtest_op)s->index, 0);
    return 0;
}

int mdtest_trace_items(struct weir_run *run, void *state, const struct weir_stage *s,
                       struct weir_err *err)
{
    struct mdtest_test *t = state;
    const char *root = mdtest_name_root(&t->target, mdtest_tree_of(t, run, run->par.rank));

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

    if (!t->o->unique)
        mdtest_log(
            run, 3, "main: Using o.testdir, '%s'",
            mdtest_name_test(&t->names, t->places.base[0], run->repetition, t->tree.loops - 1));
    return 0;
}

/* ---- above and below the tables ---- */

static void report_time(struct weir_run *run, const char *what, const char *key)
{
    char now[32];

    if (run->log.verbose >= 1)
        weir_report_line(&run->report, "V-1: Entering PrintTimestamp...");
    weir_report_line(&run->report, "-- %s at %s --\n", what, weir_banner_now(now, "%m/%d/%Y %T"));
    weir_report_str(&run->report, WEIR_FOR_DATA, key, now);
}

static void report_begin(struct weir_run *run, struct weir_test *tests)
{
    struct weir_report *r = &run->report;

    report_time(run, "started", "Began");
    weir_banner_fakes(run);
    weir_report_line_for(r, WEIR_FOR_TEXT_4,
                         "mdtest-4.1.0+weir-%s was launched with %d total task(s) on %d node(s)",
                         PACKAGE_VERSION, run->world.size, run->world.nodes);
    weir_report_line_for(r, WEIR_FOR_TEXT_33,
                         "mdtest-3.3.0 was launched with %d total task(s) on %d node(s)",
                         run->world.size, run->world.nodes);
    weir_banner_words(run, "Command line used: ", '\'', LINE_MOST);
    weir_banner_data(run);
    trace_options(run, tests[0].state);
    weir_banner_nodemap(run, WEIR_FOR_TEXT_4);
}

/* ---- a test ---- */

static int report_test(struct weir_run *run, void *state, struct weir_err *err)
{
    const struct mdtest_test *t = state;
    uint64_t all = t->ledger.planned * (uint64_t)run->par.size;
    const bool *kind = t->ledger.kind;
    const char *one = kind[MDTEST_FILES] ? "files" : "directories";
    const char *what = kind[MDTEST_DIRS] && kind[MDTEST_FILES] ? "files/directories" : one;

    weir_banner_test(run);
    weir_report_int(&run->report, WEIR_FOR_DATA, "itemsPerTask", (int64_t)t->ledger.planned);
    weir_report_int(&run->report, WEIR_FOR_DATA, "directoriesPerTree", (int64_t)t->tree.dirs);
    weir_report_int(&run->report, WEIR_FOR_DATA, "trees", (int64_t)t->tree.loops);
    if (t->o->shared)
        weir_report_line(&run->report, "%d tasks, 1 file", run->par.size);
    else
        weir_report_line(&run->report, "%d tasks, %" PRIu64 " %s", run->par.size, all, what);
    mdtest_log(run, 1, "%s", "");
    mdtest_log(run, 1, "   Operation               Duration              Rate");
    mdtest_log(run, 1, "   ---------               --------              ----");
    return 0;
}

static void report_finish(struct weir_run *run, const struct weir_test *tests)
{
    report_time(run, "finished", "Finished");
}

/* ---- the CSV of ranks ---- */

static void rank_head(const void *state, struct weir_str *out)
{
    weir_str_addf(out, "rank,items");
    for (int op = 0; op < MDTEST_OPS; op++)
        if (mdtest_shows(state, op))
            weir_str_addf(out, ",rate-%s,time-%s", mdtest_operations[op].title,
                          mdtest_operations[op].title);
    weir_str_addc(out, '\n');
}

static void add_cell(struct weir_str *line, bool known, double rate, double seconds)
{
    if (known)
        weir_str_addf(line, ",%.10e,%.10e", rate, seconds);
    else
        weir_str_addf(line, ",,");
}

/* An operation of the iteration that has just ended; those that were not run have no
 * numbers. */
static bool was_run(const struct mdtest_test *t, int op)
{
    return t->results.series[op].rate.n > 0;
}

/* The row of all ranks, before that of rank 0. */
static void add_line_of_all(const struct mdtest_test *t, struct weir_str *lines)
{
    weir_str_addf(lines, "all,%" PRIu64,
                  t->ledger.count[t->ledger.kind[MDTEST_FILES] ? MDTEST_FILES : MDTEST_DIRS]);
    for (int op = 0; op < MDTEST_OPS; op++) {
        const struct mdtest_series *s = &t->results.series[op];

        if (mdtest_shows(t, op))
            add_cell(lines, was_run(t, op), s->seconds > 0 ? s->items / s->seconds : 0, s->seconds);
    }
    weir_str_addc(lines, '\n');
}

int mdtest_ranks_iteration(struct weir_run *run, void *state, const struct weir_stage *s,
                           struct weir_err *err)
{
    const struct mdtest_test *t = state;
    const struct mdtest_mine *mine = mdtest_mine_of(run, t);
    struct weir_str lines = { 0 };
    int rc;

    if (run->par.rank == 0)
        add_line_of_all(t, &lines);
    weir_str_addf(&lines, "%d,", run->par.rank);
    for (int op = 0; op < MDTEST_OPS; op++)
        if (op < MDTEST_TREE_CREATE || (mdtest_asks_more(t->o) && mdtest_shows(t, op)))
            add_cell(&lines, was_run(t, op), mine[op].rate, mine[op].seconds);
    weir_str_addc(&lines, '\n');
    rc = weir_ranks_rows(run, &lines, err);
    weir_str_free(&lines);
    return rc;
}

/* ---- the CSV of operations ---- */

static bool records(const void *state, int op, uint64_t *size)
{
    const struct mdtest_test *t = state;
    const struct mdtest_options *o = t->o;
    int64_t bytes = op == MDTEST_FILE_READ ? o->read_bytes : o->write_bytes;

    *size = op == MDTEST_FILE_STAT || mdtest_facts[op].call || bytes == 0 ? 1 : (uint64_t)bytes;
    return mdtest_facts[op].of == MDTEST_FILES && mdtest_wants(t, op);
}

/* ---- the row ---- */

const struct weir_output mdtest_output = {
    .deviation = MDTEST_DEVIATION,
    .op_files = WEIR_OP_FILES_OPERATION,
    .records = records,
    .rank_head = rank_head,
    .banner = report_begin,
    .report = report_test,
    .summary = mdtest_summary_rows,
    .finish = report_finish,
};
