/* SPDX-License-Identifier: BSD-3-Clause */
/* mdtest-report.c - what stands above and below the tables (mdtest.md 4.1) */
#include "config.h"
#include "drivers/mdtest/mdtest.h"

#include <inttypes.h>

#include "engine/banner.h"
#include "engine/provenance.h"
#include "engine/usage.h"

#define LINE_MOST 1023 /* of the command line and its heading */

static void report_time(struct weir_run *run, const char *what, const char *key)
{
    char now[32];

    if (run->log.verbose >= 1)
        weir_report_line(&run->report, "V-1: Entering PrintTimestamp...");
    weir_report_line(&run->report, "-- %s at %s --\n", what, weir_banner_now(now, "%m/%d/%Y %T"));
    weir_report_str(&run->report, WEIR_FOR_DATA, key, now);
}

static void report_command(struct weir_run *run, int argc, char *const *argv)
{
    struct weir_str line = { 0 };

    weir_str_addf(&line, "Command line used: %s", argv[0]);
    for (int i = 1; i < argc; i++)
        weir_str_addf(&line, " '%s'", argv[i]);
    weir_report_line(&run->report, "%.*s", LINE_MOST, weir_str_text(&line));
    weir_str_free(&line);
    weir_banner_command(run, argc, argv);
}

void mdtest_report_begin(struct weir_run *run, const struct mdtest_test *t, int argc,
                         char *const *argv)
{
    struct weir_report *r = &run->report;

    report_time(run, "started", "Began");
    weir_banner_fakes(run);
    weir_report_line(r, "mdtest-4.1.0+weir-%s was launched with %d total task(s) on %d node(s)",
                     PACKAGE_VERSION, run->world.size, run->world.nodes);
    weir_banner_program(run, "mdtest");
    report_command(run, argc, argv);
    weir_banner_machine(run, WEIR_FOR_DATA);
    if (run->details)
        weir_provenance_run(run);
    mdtest_trace_options(run, t);
    weir_banner_nodemap(run);
}

/* ---- places ---- */

int mdtest_report_places(struct weir_run *run, struct mdtest_test *t, struct weir_err *err)
{
    int rc;

    mdtest_say(run, 3, "main (before display_freespace): o.testdirpath is '%s'", t->base[0]);
    weir_report_str(&run->report, WEIR_FOR_ALL, "Path", t->base[0]);
    rc = weir_usage_report(run, &t->outer, t->base[0], err);
    if (t->o->shift > 0)
        mdtest_say(run, 0, "Shifting ranks by %d for each phase.", t->shift);
    mdtest_say(run, 3, "main (after display_freespace): o.testdirpath is '%s'", t->base[0]);
    if (t->o->random)
        weir_report_line(&run->report, "random seed: %d", t->o->random_seed);
    return rc;
}

/* ---- a test ---- */

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

int mdtest_report_test(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mdtest_test *t = state;

    (void)err;
    weir_report_int(&run->report, WEIR_FOR_DATA, "TestID", t->id);
    if (run->details)
        weir_provenance_test(run, t->be, t->base[0]);
    weir_banner_parameters(run, mdtest_option_rows, t->o);
    report_count(run, t);
    if (run->log.verbose < 1)
        return 0;
    mdtest_say(run, 1, "%s", "");
    mdtest_say(run, 1, "   Operation               Duration              Rate");
    mdtest_say(run, 1, "   ---------               --------              ----");
    return 0;
}

void mdtest_report_finish(struct weir_run *run)
{
    report_time(run, "finished", "Finished");
}
