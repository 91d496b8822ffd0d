/* SPDX-License-Identifier: BSD-3-Clause */
/* mdtest.c - the metadata benchmark: option rows, and the run over all numbers of tasks */
#include "config.h"
#include "programs/mdtest/mdtest.h"

#include <stdlib.h>
#include <string.h>

#include "engine/place/items.h"
#include "engine/place/preflight.h"
#include "par/agree.h"

#define O struct mdtest_options
#define MOST32 .max = INT32_MAX
#define MOST64 .max = INT64_MAX

static const struct weir_opt options[] = {
    OPT_RUN(api, 'a', "api", NULL, .help = "Backend that does the operations; POSIX without it"),
    OPT_INT('b', "branch", NULL, O, branch, "1", "N",
            "Directories below each directory of the tree", OPT_IN(FILES)),
    OPT_INT(
        'B', "no-barriers", NULL, O, no_barriers, "0", "N",
        "Not 0: no barriers between phases; only the agreement on errors keeps the tasks together",
        OPT_IN(ORDER)),
    OPT_FLAG('c', "collective", NULL, O, collective,
             "Task 0 makes and removes the items of all tasks", OPT_IN(ORDER)),
    OPT_FLAG('C', "create", NULL, O, create,
             "Create phases; all phases are on unless one of -C -T -E -r -U is given",
             OPT_IN(ORDER)),
    OPT_STR('d', "directory", NULL, O, dirs, "./out", "DIR[@DIR...]",
            "Where to work, or several places with -u; made when it is not there",
            .flags = WEIR_OPT_PLACES, OPT_FIRST(FILES)),
    OPT_FLAG('D', "only-directories", NULL, O, only_dirs, "Test directories, not files",
             OPT_IN(FILES)),
    OPT_SIZE('e', "read-bytes", NULL, O, read_bytes, "0", "SIZE",
             "Bytes to read from each file in the read phase; 0: open and close only", MOST64,
             OPT_FIRST(DATA)),
    OPT_FLAG('E', "read", NULL, O, read, "Read phase of files", OPT_IN(ORDER)),
    OPT_INT('f', "first", NULL, O, first, "1", "N", "First number of tasks that the test runs on",
            .min = 1, MOST32, .flags = WEIR_OPT_APART, OPT_IN(ORDER)),
    OPT_FLAG('F', "only-files", NULL, O, only_files, "Test files, not directories",
             OPT_FIRST(FILES)),
    OPT_FLAG(
        'g', "reset-layout", NULL, O, reset_layout,
        "Lustre: give the test directories the default layout of directories; POSIX in a build "
        "with its library",
        OPT_IN(FILES)),
    WEIR_OPT_DATA_SEED(O, "files"),
    OPT_RUN(repetitions, 'i', "iterations", NULL),
    OPT_SIZE('I', "items-per-directory", NULL, O, per_dir, "0", "N",
             "Items of a task in each directory of the tree", MOST64, OPT_IN(FILES)),
    OPT_FLAG('k', "mknod", NULL, O, mknod, "Create files with mknod instead of open and close",
             OPT_IN(FILES)),
    OPT_INT('l', "last", NULL, O, last, "0", "N",
            "Last number of tasks that the test runs on; 0: all, and only these", .min = 0, MOST32,
            .flags = WEIR_OPT_APART, OPT_IN(ORDER)),
    OPT_FLAG('L', "leaf-only", NULL, O, leaf_only,
             "Items only in the directories at the lowest level of the tree", OPT_IN(FILES)),
    OPT_SIZE('n', "items", NULL, O, items, "0", "N",
             "Directories and files of a task in the whole tree", MOST64, OPT_FIRST(FILES)),
    OPT_INT(
        'N', "shift", NULL, O, shift, "0", "N",
        "From phase to phase, use what the task N nodes further on made; on one node, or where "
        "tasks of a node are not ranks in a row, N tasks further on",
        .min = 0, MOST32, OPT_FIRST(ORDER)),
    OPT_RUN(
        delay_s, 'p', "delay", NULL,
        .help = "Wait this many seconds before the directory phases and before the file phases"),
    OPT_FLAG('P', "rates-and-times", NULL, O, rates_and_times,
             "Show the table of rates and the table of times", .flags = WEIR_OPT_APART,
             OPT_IN(OUTPUT)),
    OPT_FLAG(0, "print-all-procs", NULL, O, all_procs,
             "Show the numbers of every task before each table", .flags = WEIR_OPT_APART,
             OPT_IN(OUTPUT)),
    OPT_FLAG('r', "remove", NULL, O, remove, "Remove phases", OPT_IN(ORDER)),
    OPT_FLAG('R', "random", NULL, O, random,
             "Visit items in random order when they are stat'ed and read", OPT_IN(ORDER)),
    OPT_INT(0, "random-seed", NULL, O, random_seed, "0", "N",
            "Seed of the random order; more than 0 turns it on", .min = 0, MOST32, OPT_IN(ORDER)),
    OPT_INT('s', "stride", NULL, O, step, "1", "N", "Step from one number of tasks to the next",
            .min = 1, MOST32, .flags = WEIR_OPT_APART, OPT_IN(ORDER)),
    OPT_FLAG('S', "shared-files", NULL, O, shared,
             "All tasks use the same files; no directory phases", OPT_IN(FILES)),
    OPT_FLAG('t', "time-directory-switch", NULL, O, time_dirs,
             "With -u, time the change to the task's own directory; there is no such change here, "
             "so this does nothing",
             OPT_IN(ORDER)),
    OPT_FLAG('T', "stat", NULL, O, stat, "Stat phases", OPT_IN(ORDER)),
    OPT_FLAG('u', "unique-directory", NULL, O, unique, "Give each task a tree of its own",
             OPT_FIRST(FILES)),
    OPT_FLAG('U', "rename", NULL, O, rename, "Rename phase of directories", OPT_IN(ORDER)),
    OPT_RUN(verbose, 'v', "verbose", NULL),
    OPT_INT('V', "verbosity", NULL, O, run.verbose, "0", "N", "Print as much as with that many -v",
            .min = 0, MOST32, .flags = WEIR_OPT_APART, OPT_IN(OUTPUT)),
    OPT_SIZE('w', "write-bytes", NULL, O, write_bytes, "0", "SIZE",
             "Bytes to write to each file when it is created", MOST64, OPT_FIRST(DATA)),
    OPT_RUN(deadline_s, 'W', "stonewall", NULL,
            .help = "Stop creating after this many seconds, and let all tasks reach the count of "
                    "the fastest"),
    OPT_STR('x', "stonewall-status", NULL, O, status_file, NULL, "FILE",
            "Keep the items of a task after a stonewall for a later run", .flags = WEIR_OPT_WRITES,
            OPT_IN(FILES)),
    OPT_FLAG('X', "verify-read", NULL, O, verify_read, "Check the data that are read",
             OPT_IN(DATA)),
    OPT_FLAG(0, "verify-write", NULL, O, verify_write,
             "Read back and check what was written, through the same open file", OPT_IN(DATA)),
    OPT_FLAG('y', "sync-file", NULL, O, sync_file,
             "Flush each file to storage after it was written", OPT_IN(DATA)),
    OPT_FLAG('Y', "sync-phase", NULL, O, sync_phase,
             "Flush the file system at the end of each phase, inside its time", OPT_IN(DATA)),
    OPT_INT('z', "depth", NULL, O, depth, "0", "N", "Levels of the tree below its root",
            OPT_FIRST(FILES)),
    OPT_FLAG('Z', "times", NULL, O, times, "Show the table of times instead of that of rates",
             .flags = WEIR_OPT_APART, OPT_IN(OUTPUT)),
    WEIR_OPT_DATA_PACKET(O, "files"),
    OPT_STR(0, "run-cmd-before-phase", NULL, O, before, "", "COMMAND",
            "Run this on every task before each phase, outside its time", .flags = WEIR_OPT_APART | WEIR_OPT_PRIVATE,
            OPT_IN(TIME)),
    OPT_STR(0, "run-cmd-after-phase", NULL, O, after, "", "COMMAND",
            "Run this on every task at the end of each phase, inside its time",
            .flags = WEIR_OPT_APART | WEIR_OPT_PRIVATE, OPT_IN(TIME)),
    OPT_RUN(warnings_are_errors, 0, "warningAsErrors", NULL),
    OPT_RUN(rank_csv, 0, "saveRankPerformanceDetails", NULL,
            .help = "Write the rates and times of every task"),
    OPT_RUN(op_csv, 0, "savePerOpDataCSV", NULL,
            .help = "Write every operation on files to PREFIX-<phase>-<task>.csv"),
    OPT_FLAG(0, "showRankStatistics", NULL, O, rank_stats,
             "Show the extremes and means of single tasks in the tables", .flags = WEIR_OPT_APART,
             OPT_IN(OUTPUT)),
    OPT_FLAG(0, "latency", NULL, O, latency, "Show the latencies of operations after the tables",
             .flags = WEIR_OPT_APART, OPT_IN(OUTPUT)),
    OPT_RUN(dry_run, 0, "dry-run", "dryRun",
            .help = "Show what the tree needs, check that there is room for it, and do nothing"),
    OPT_STR(0, "cleanup", NULL, O, cleanup, NULL, "DIR",
            "Remove what earlier runs left in DIR, and nothing else", .flags = WEIR_OPT_APART | WEIR_OPT_PRIVATE,
            OPT_IN(FILES)),
    OPT_RUN(max_minutes, 0, "max-time-duration", NULL),
    OPT_RUN(existing, 0, "existing", "existing",
            .help = "Trees of an earlier run that are there when -C begins: remove them, go on in "
                    "them (files are used, directories that are items are an error), or end with "
                    "an error",
            .choices = weir_existing_ways),
    OPT_RUN_UP_TO(reports),
    OPT_RUN(gpu_memory, 0, "allocateBufferOnGPU", NULL),
    OPT_RUN(gpu_id, 0, "GPUid", NULL),
    OPT_RUN(gpu_direct, 0, "gpuDirect", NULL),
    OPT_END
};

#undef O

static bool clean_instead(struct weir_run *run, const void *opt, enum weir_code *code)
{
    const char *dir = ((const struct mdtest_options *)opt)->cleanup;
    struct weir_err err = WEIR_ERR_INIT;

    if (!dir)
        return false;
    *code = mdtest_remove_leftovers(run, dir, &err) < 0 ? weir_run_refuse(run, &err) : WEIR_OK;
    return true;
}

/* The numbers of tasks from the first to the last. */
static int count_variants(const void *opt, const struct weir_par *world)
{
    const struct mdtest_options *o = opt;

    if (o->last <= o->first || o->last > world->size) /* one, or a mistake */
        return 1;
    return (o->last - o->first) / o->step + 1;
}

static int plan_test(struct weir_run *run, void *state, void *chosen, struct weir_err *err)
{
    struct weir_test *test = run->test;
    struct mdtest_test *t = state;

    *t = (struct mdtest_test) { .id = test->id,
                                .o = chosen,
                                .places.all_ours = true };
    if (weir_values_backend(test->values, t->o->run.api, &run->world, &t->fs.be, &t->fs.be_opt,
                            err) < 0 ||
        mdtest_check(t, run, chosen, err) < 0)
        return -1;
    test->plan.tasks = t->o->first + test->variant * t->o->step;
    test->plan.is_run = !t->o->run.dry_run;
    test->plan.path = t->o->dirs;
    test->plan.writes = t->o->create;
    test->plan.shared = !t->o->unique || t->o->shift != 0;
    return 0;
}

/* Each directory of trees, by the task that makes it: what is in them goes with it. The first of each
 * iteration come before the others. */
static bool target(struct weir_run *run, const void *state, int i, struct weir_str *path)
{
    const struct mdtest_test *t = state;
    int n = t->o->run.repetitions;

    if ((uint64_t)(i / n) >= mdtest_my_tests(run, t))
        return false;
    weir_str_addf(path, "%s/test-dir.%d-%d", t->places.base[run->par.rank], i % n, i / n);
    return true;
}

/* The base directories are made before the first test and removed after the last. */
static int enter_run(struct weir_run *run, struct weir_test *tests, int n, struct weir_err *err)
{
    struct mdtest_test *t = tests[0].state;

    (void)n;
    if (weir_run_session(run, &t->places.outer, t->fs.be, t->fs.be_opt, &t->fs.access, err) < 0 ||
        mdtest_report_places(run, t, err) < 0)
        return -1;
    if (t->o->run.dry_run)
        return 0;
    if (mdtest_look_at_leftovers(run, t, err) < 0)
        return -1;
    return mdtest_make_bases(run, t, err);
}

static int leave_run(struct weir_run *run, void *state, enum weir_code code, struct weir_err *err)
{
    bool good = weir_code_is_whole(code);

    return mdtest_remove_bases(run, state, good ? err : NULL);
}

/* Does a node look at what it made itself? */
static void facts_of(struct weir_run *run, void *state, struct weir_facts *f)
{
    const struct mdtest_test *t = state;

    f->own_metadata = (t->o->stat || t->o->read) && weir_par_same_node(&run->par, t->shift) > 0;
}

static const struct weir_example examples[] = {
    { WEIR_TOPIC_NONE, "-d /scratch/d -F -n 1000 -u -N 1",
      "files, in a directory for each task; other nodes stat them" },
    { WEIR_TOPIC_NONE, "-d /scratch/d -F -n 1000 -w 3901 -e 3901", "small files with data" },
    { WEIR_TOPIC_NONE, "-d /scratch/d -n 1000 -i 3",
      "directories and files in one place, three repetitions" },
    { WEIR_TOPIC_NONE, "-d /scratch/d -I 10 -b 4 -z 3",
      "10 items in each directory of a tree with 85" },
    { WEIR_TOPIC_NONE, "-d /scratch/d -F -n 100000 -W 60",
      "create for 60 s, then reach the count of the fastest" },
    { WEIR_TOPIC_FILES, "-d /scratch/d -F -I 10 -b 4 -z 3 -L",
      "files only in the lowest directories of a tree" },
    { WEIR_TOPIC_ORDER, "-d /scratch/d -F -n 1000 -C -T -r -N 1 -R",
      "create, stat in random order what another node made, remove" },
    { WEIR_TOPIC_DATA, "-d /scratch/d -F -n 1000 -w 4k -e 4k -y -X",
      "4 KiB in each file, flushed, and checked when it is read" },
    { WEIR_TOPIC_TIME, "-d /scratch/d -F -n 100000 -W 60 -i 3",
      "stop creating after 60 s, three repetitions" },
    { .args = NULL }
};

static const struct weir_line line = { .instead = clean_instead };

static const struct weir_made made = {
    .target = target,
    .existing = WEIR_EXISTING_REPLACE | WEIR_EXISTING_REUSE | WEIR_EXISTING_FAIL |
                WEIR_EXISTING_TOLD,
    .clean = mdtest_clean,
};

static const struct weir_judged judged = { .facts = facts_of };

const struct weir_driver weir_mdtest = {
    .name = "mdtest",
    .examples = examples,
    .brief = "measure metadata operations of parallel file systems",
    .opts = options,
    .opt_size = sizeof(struct mdtest_options),
    .state_size = sizeof(struct mdtest_test),
    .operations = mdtest_operations,
    .deviation = MDTEST_DEVIATION,
    .op_files = WEIR_OP_FILES_OPERATION,
    .records = mdtest_records,
    .rank_head = mdtest_rank_head,
    .line = &line,
    .variants = count_variants,
    .plan = plan_test,
    .banner = mdtest_report_begin,
    .enter = enter_run,
    .leave = leave_run,
    .begin = mdtest_begin,
    .made = &made,
    .end = mdtest_end,
    .start = mdtest_start,
    .report = mdtest_report_test,
    .judged = &judged,
    .repetition = mdtest_iteration,
    .stages = mdtest_stages,
    .conclude = mdtest_summary,
    .summary = mdtest_summary_rows,
    .finish = mdtest_report_finish,
};

WEIR_PROGRAM("mdtest", weir_mdtest);
