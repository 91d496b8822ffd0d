/* SPDX-License-Identifier: BSD-3-Clause */
/* mdtest-report.c - what stands above and below the tables (mdtest.md 4.1) */
#include "config.h"
#include "drivers/mdtest/mdtest.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <time.h>

#include "base/opt.h"
#include "engine/provenance.h"

#define LINE_MOST 1023    /* of the command line and its heading */
#define NODEMAP_MOST 4096 /* tasks that are shown one by one */

static const char *now_text(char out[32])
{
    time_t now = time(NULL);
    struct tm tm;

    if (!localtime_r(&now, &tm) || strftime(out, 32, "%m/%d/%Y %T", &tm) == 0)
        out[0] = '\0';
    return out;
}

static void report_time(struct weir_run *run, const char *what, const char *key)
{
    char now[32];

    if (run->log.verbose >= 1)
        weir_report_line(&run->report, "V-1: Entering PrintTimestamp...");
    weir_report_line(&run->report, "-- %s at %s --\n", what, now_text(now));
    weir_report_str(&run->report, WEIR_FOR_DATA, key, now);
}

static void report_command(struct weir_run *run, int argc, char *const *argv)
{
    struct weir_str line = { 0 }, plain = { 0 };

    weir_str_addf(&line, "Command line used: %s", argv[0]);
    weir_str_addf(&plain, "%s", argv[0]);
    for (int i = 1; i < argc; i++) {
        weir_str_addf(&line, " '%s'", argv[i]);
        weir_str_addf(&plain, " %s", argv[i]);
    }
    weir_report_line(&run->report, "%.*s", LINE_MOST, weir_str_text(&line));
    weir_report_str(&run->report, WEIR_FOR_DATA, "Command line", weir_str_text(&plain));
    weir_str_free(&line);
    weir_str_free(&plain);
}

static void report_machine(struct weir_run *run)
{
    struct weir_str text = { 0 };
    struct utsname u;

    if (uname(&u) < 0)
        return;
    weir_str_addf(&text, "%s %s", u.sysname, u.nodename);
    weir_report_str(&run->report, WEIR_FOR_DATA, "Machine", weir_str_text(&text));
    weir_str_free(&text);
}

/* Which tasks share the node of task 0. */
static void report_nodemap(struct weir_run *run)
{
    char mine = run->world.node == 0 ? '1' : '0';
    char *all = run->world.rank == 0 ? calloc(1, (size_t)run->world.size + 1) : NULL;
    int same = 0;

    weir_gather(&run->world, &mine, 1, all);
    if (!all)
        return;
    for (int i = 0; i < run->world.size; i++)
        same += all[i] == '1';
    if (run->world.size > NODEMAP_MOST)
        weir_report_line(&run->report, "Nodemap: %d of %d tasks on the node of task 0", same,
                         run->world.size);
    else
        weir_report_line(&run->report, "Nodemap: %s", all);
    free(all);
}

void mdtest_report_begin(struct weir_run *run, const struct mdtest_test *t, int argc,
                         char *const *argv)
{
    struct weir_report *r = &run->report;

    report_time(run, "started", "Began");
    weir_report_line(r, "mdtest-4.1.0+weir-%s was launched with %d total task(s) on %d node(s)",
                     PACKAGE_VERSION, run->world.size, run->world.nodes);
    weir_report_str(r, WEIR_FOR_DATA, "Version", "4.1.0+weir-" PACKAGE_VERSION);
    weir_report_int(r, WEIR_FOR_DATA, "schema_version", WEIR_SCHEMA_VERSION);
    weir_report_str(r, WEIR_FOR_DATA, "program", "mdtest");
    report_command(run, argc, argv);
    report_machine(run);
    if (run->details)
        weir_provenance_run(run);
    mdtest_trace_options(run, t);
    report_nodemap(run);
}

/* ---- places ---- */

void mdtest_report_places(struct weir_run *run, struct mdtest_test *t)
{
    mdtest_say(run, 3, "main (before display_freespace): o.testdirpath is '%s'", t->base[0]);
    weir_report_str(&run->report, WEIR_FOR_ALL, "Path", t->base[0]);
    mdtest_space_report(run, t, t->base[0]);
    if (t->o->shift > 0)
        mdtest_say(run, 0, "Shifting ranks by %d for each phase.", t->shift);
    mdtest_say(run, 3, "main (after display_freespace): o.testdirpath is '%s'", t->base[0]);
    if (t->o->random)
        weir_report_line(&run->report, "random seed: %d", t->o->random_seed);
}

/* ---- a test ---- */

static void report_row(struct weir_report *r, const struct weir_opt *row, const void *values)
{
    struct weir_str text = { 0 };

    weir_opt_show(row, values, &text);
    if (row->type == WEIR_OPT_STR)
        weir_report_str(r, WEIR_FOR_DATA, row->name, weir_str_text(&text));
    else
        weir_report_int(r, WEIR_FOR_DATA, row->name, strtoll(weir_str_text(&text), NULL, 10));
    weir_str_free(&text);
}

static void report_parameters(struct weir_run *run, const struct mdtest_test *t)
{
    weir_report_enter(&run->report, "Parameters", false);
    for (const struct weir_opt *row = mdtest_option_rows; row->name || row->letter || row->key;
         row++)
        if (row->name)
            report_row(&run->report, row, t->o);
    weir_report_leave(&run->report);
}

static void report_count(struct weir_run *run, const struct mdtest_test *t)
{
    uint64_t all = t->planned[MDTEST_FILES] * (uint64_t)run->par.size;
    const char *one = t->kind[MDTEST_FILES] ? "files" : "directories";
    const char *what = t->kind[MDTEST_DIRS] && t->kind[MDTEST_FILES] ? "files/directories" : one;

    weir_report_int(&run->report, WEIR_FOR_DATA, "tasks", run->par.size);
    weir_report_int(&run->report, WEIR_FOR_DATA, "itemsPerTask", (int64_t)t->planned[MDTEST_FILES]);
    weir_report_int(&run->report, WEIR_FOR_DATA, "directoriesPerTree", (int64_t)t->tree.dirs);
    weir_report_int(&run->report, WEIR_FOR_DATA, "trees", (int64_t)t->tree.loops);
    if (t->o->shared)
        weir_report_line(&run->report, "%d tasks, 1 file", run->par.size);
    else
        weir_report_line(&run->report, "%d tasks, %" PRIu64 " %s", run->par.size, all, what);
}

void mdtest_report_test(struct weir_run *run, struct mdtest_test *t)
{
    weir_report_enter(&run->report, NULL, false);
    weir_report_int(&run->report, WEIR_FOR_DATA, "TestID", t->id);
    if (run->details)
        weir_provenance_test(run, t->base[0]);
    report_parameters(run, t);
    report_count(run, t);
    if (run->log.verbose < 1)
        return;
    mdtest_say(run, 1, "%s", "");
    mdtest_say(run, 1, "   Operation               Duration              Rate");
    mdtest_say(run, 1, "   ---------               --------              ----");
}

/* How it ended: programs that read a document need not know the exit status to tell a failed run
 * from a good one. */
void mdtest_report_finish(struct weir_run *run, enum weir_code code, const struct weir_err *err)
{
    weir_report_int(&run->report, WEIR_FOR_DATA, "status", code);
    weir_report_str(&run->report, WEIR_FOR_DATA, "error", err->text);
    report_time(run, "finished", "Finished");
}
