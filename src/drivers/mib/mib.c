/* SPDX-License-Identifier: BSD-3-Clause */
/* mib.c - mib: option rows, and the life of a test */
#include "config.h"
#include "drivers/mib/mib.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/vfs.h>

#include "base/mem.h"
#include "base/shift.h"
#include "engine/guard.h"
#include "engine/usage.h"
#include "par/agree.h"
#include "par/reduce.h"

#define O struct mib_options

static const struct weir_opt options[] = {
    OPT_FLAG('a', "use_node_aves", NULL, O, averages,
             "In profiles, a column for each node: the mean of its tasks", .flags = WEIR_OPT_APART,
             OPT_IN(OUTPUT)),
    WEIR_OPT_API(0, "api", NULL, NULL, "Backend that moves the data; POSIX without it"),
    OPT_SIZE('b', "random_reads", NULL, O, granularity, NULL, "SIZE",
             "Read at random multiples of SIZE (1 without it)", .min = 1, .max = INT64_MAX,
             .flags = WEIR_OPT_OPTARG | WEIR_OPT_NEXT, OPT_FIRST(ORDER)),
    OPT_STR('d', "log_dir", NULL, O, log_dir, ".", "DIR",
            "Where the file 'options' is read and profiles are written", .flags = WEIR_OPT_APART | WEIR_OPT_PRIVATE,
            OPT_IN(FILES)),
    OPT_ALIAS(0, "directio", "posix.odirect=1",
              "Open files with O_DIRECT, which is --posix.odirect", OPT_IN(ORDER)),
    OPT_FLAG('E', "show_environment", NULL, O, environment,
             "Show the parameters, in the form of an options file", .flags = WEIR_OPT_APART,
             OPT_IN(OUTPUT)),
    OPT_FLAG('F', "force", NULL, O, force, "Write also to a file system that is refused",
             .flags = WEIR_OPT_APART, OPT_IN(FILES)),
    OPT_FLAG('I', "show_intermediate_values", NULL, O, intermediate, "Show more of each phase",
             .flags = WEIR_OPT_APART, OPT_IN(OUTPUT)),
    OPT_FLAG('H', "show_headers", NULL, O, headers, "Show a heading above the result",
             .flags = WEIR_OPT_APART, OPT_IN(OUTPUT)),
    OPT_INT('l', "call_limit", NULL, O, call_limit, "4096", "N",
            "Calls of a task in a phase at most", .min = 1, .max = INT32_MAX, OPT_FIRST(TIME)),
    WEIR_OPT_DEADLINE_DEFAULT('L', "time_limit", NULL, "60",
                              "Begin no call after this many seconds of a phase; 0: one call"),
    OPT_FLAG('M', "no_mpi", NULL, O, no_mpi, "Run in this process alone, without starting MPI",
             OPT_IN(TIME)),
    OPT_FLAG('n', "new", NULL, O, fresh, "Remove files of an earlier run before they are written",
             OPT_FIRST(FILES)),
    OPT_STR('p', "profiles", NULL, O, profiles, NULL, "PREFIX",
            "Write when each call returned to PREFIX.write and PREFIX.read, without PREFIX to "
            "write.profile and read.profile in log_dir",
            .flags = WEIR_OPT_APART | WEIR_OPT_PRIVATE | WEIR_OPT_OPTARG | WEIR_OPT_NEXT, OPT_IN(OUTPUT)),
    OPT_FLAG('P', "show_progress", NULL, O, progress, "Show a bar while a phase runs",
             .flags = WEIR_OPT_APART, OPT_IN(OUTPUT)),
    OPT_FLAG('r', "remove", NULL, O, remove, "Remove the files at the end", .flags = WEIR_OPT_APART,
             OPT_FIRST(FILES)),
    OPT_FLAG('R', "read_only", NULL, O, read_only, "Only read what an earlier run has written",
             OPT_FIRST(ORDER)),
    OPT_SIZE('s', "call_size", NULL, O, call_size, "512k", "SIZE", "Bytes of each call", .min = 1,
             .max = INT64_C(1) << 40, OPT_FIRST(DATA)),
    OPT_FLAG('S', "show_signon", NULL, O, signon, "Show name, version and date first",
             .flags = WEIR_OPT_APART, OPT_IN(OUTPUT)),
    OPT_STR('t', "test_dir", "testdir", O, test_dir, ".", "DIR", "Where the files are",
            .flags = WEIR_OPT_APART | WEIR_OPT_PRIVATE, OPT_FIRST(FILES)),
    OPT_ALIAS('V', NULL, "version=1", "Show the version and end"),
    OPT_FLAG(0, "verify", NULL, O, verify, "Write data that differ in each place, and check reads",
             OPT_IN(DATA)),
    OPT_FLAG('W', "write_only", NULL, O, write_only, "Only write", OPT_FIRST(ORDER)),
    WEIR_OPT_REPETITIONS(0, "repetitions", NULL),
    WEIR_OPT_RUN_LETTERS(0, 0, 0, "0"),
    OPT_END
};

#undef O

static const struct weir_operation operations[] = {
    [WEIR_DIR_WRITE] = { "write", "write", "calls", true },
    [WEIR_DIR_READ] = { "read", "read", "calls", true },
    { .key = NULL },
};

/* ---- the command line ---- */

void mib_version(struct weir_str *out)
{
    struct utsname u = { .machine = "" };

    uname(&u);
    weir_str_addf(out, "mib-%s-%s\n", PACKAGE_VERSION, u.machine);
}

static bool is_without_mpi(const void *opt)
{
    return ((const struct mib_options *)opt)->no_mpi;
}

static bool name_settings(const void *opt, struct weir_str *path)
{
    weir_str_addf(path, "%s/options", ((const struct mib_options *)opt)->log_dir);
    return true;
}

/* What -E shows about the job is no option. */
static const char *const facts[] = { "cluster", "nodes", "tasks", NULL };

static void name_profile(const void *opt, int op, struct weir_str *path)
{
    const struct mib_options *o = opt;

    if (o->profiles && *o->profiles)
        weir_str_addf(path, "%s.%s", o->profiles, operations[op].key);
    else if (o->profiles)
        weir_str_addf(path, "%s/%s.profile", o->log_dir, operations[op].key);
}

/* ---- before a test ---- */

/* The words after -d are often not what was meant: in release 1.9.10 it is O_DIRECT. */
static int check_log_dir(const struct mib_options *o, struct weir_err *err)
{
    struct stat st;

    if (stat(o->log_dir, &st) == 0 && S_ISDIR(st.st_mode))
        return 0;
    errno = errno == ENOENT ? ENOENT : ENOTDIR;
    return weir_fail(err, WEIR_EUSAGE,
                     "option -d (log_dir): '%s' is no directory (O_DIRECT is --directio)",
                     o->log_dir);
}

/* Look at the file system of the test directory, and refuse it where mib must not run (on 'nodes'
 * nodes), unless it was forced. */
static int check_file_system(struct mib_test *t, int nodes, struct weir_err *err)
{
    struct statfs s;

    if (statfs(t->o->test_dir, &s) < 0)
        return weir_refuse(err, WEIR_EUSAGE, "Could not statfs \"%s\" (%d): %s", t->o->test_dir,
                           errno, strerror(errno));
    t->fs = weir_fs_type_of((unsigned long)s.f_type & 0xFFFFFFFF);
    if (t->o->force || t->fs.kind == WEIR_FS_PARALLEL ||
        (t->fs.kind == WEIR_FS_LOCAL && nodes == 1))
        return 0;
    return weir_refuse(err, WEIR_EUSAGE,
                       "Mib will not write to a file system of type \"%s\" (f_type = %#lx) unless "
                       "you use the \"-F\" (--force) option",
                       t->fs.name, t->fs.number);
}

static int plan(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mib_options *o = run->test->values->driver_opt;
    struct mib_test *t = state;
    uint64_t call = (uint64_t)o->call_size, all = call * (uint64_t)o->call_limit;

    if (o->write_only && o->read_only) /* both or none: both phases */
        o->write_only = o->read_only = false;
    *t = (struct mib_test) {
        .o = o,
        .task = o->no_mpi ? run->launched : run->world.rank,
        .access = { .file_per_task = true, .random = o->granularity > 0 },
        .extent = { .transfer = call, .block = all, .file_bytes = all, .segments = 1 },
    };
    run->test->plan.path = o->test_dir;
    run->test->plan.calls_by_node = o->averages;
    run->test->plan.writes = !o->read_only;
    if (weir_existing(&o->run) == WEIR_EXISTING_REPLACE)
        o->fresh = true;
    if (weir_plan_use(run, &t->session, o->run.api, &t->access, err) < 0 ||
        weir_agree_check(&run->world, check_log_dir(o, err), err) < 0)
        return -1;
    if (run->test->plan.use[0].be->flags & WEIR_BE_NO_DATA) /* the directory need not exist */
        return 0;
    return weir_agree_check(&run->world, check_file_system(t, run->world.nodes, err), err);
}

/* ---- a test ---- */

/* Warn where the longest run that the limits allow does not fit. */
static int check_space(struct weir_run *run, void *state, struct weir_err *err)
{
    struct weir_plan *plan = &run->test->plan;
    struct mib_test *t = state;
    const char *path = weir_str_text(&t->own);
    uint64_t there = 0;
    bool is_there = false;

    if (t->o->read_only)
        return 0;
    if (weir_session_exists(&t->session, path, &is_there, NULL) == 0 && is_there &&
        weir_session_size(&t->session, path, &there, NULL) < 0)
        there = 0;
    plan->bytes = there < t->extent.block ? t->extent.block - there : 0;
    weir_allsum_u64(&run->par, &plan->bytes, 1);
    return weir_usage_check(run, &t->session, path, plan, err);
}

static int begin(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mib_test *t = state;

    t->source =
        t->o->no_mpi ? t->task : weir_shift_fixed(t->task, run->par.size, run->par.size / 2);
    weir_str_addf(&t->own, "%s/mibData.%08d", t->o->test_dir, t->task);
    weir_str_addf(&t->peer, "%s/mibData.%08d", t->o->test_dir, t->source);
    if (t->own.failed || t->peer.failed)
        return weir_refuse(err, WEIR_ESETUP, "no memory for the names of files");
    return weir_mem_aligned(&t->buf, 4096, (size_t)t->o->call_size, err);
}

static void end(void *state)
{
    struct mib_test *t = state;

    weir_str_free(&t->own);
    weir_str_free(&t->peer);
    free(t->buf);
}

static bool keeps(const void *state)
{
    const struct mib_test *t = state;

    return !t->o->remove || !t->made;
}

static int remove_file(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mib_test *t = state;

    (void)run;
    return weir_session_remove(&t->session, weir_str_text(&t->own), err);
}

/* A signal ended it: what was measured is told all the same. */
static int conclude(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mib_test *t = state;

    (void)err;
    if (t->untold)
        mib_report_result(run, t);
    return 0;
}

/* The fsync is inside the time of a write phase. */
static void facts_of(struct weir_run *run, void *state, struct weir_facts *f)
{
    const struct mib_test *t = state;
    const struct mib_options *o = t->o;
    double own = weir_facts_own_node(run, o->no_mpi ? run->par.rank : t->source);

    f->path = o->test_dir;
    f->durable = 1;
    f->shared = 0;
    f->random = o->granularity > 0;
    f->transfer = (double)o->call_size;
    f->own_node = o->read_only ? NAN : own;
    f->data_kind = o->verify ? WEIR_DATA_UNKNOWN : WEIR_DATA_REPEATED;
}

static bool range_of(struct weir_run *run, void *state, const struct weir_stage *stage,
                     struct weir_str *path, struct weir_cache_range *range)
{
    const struct mib_test *t = state;

    (void)run;
    weir_str_addf(path, "%s",
                  weir_str_text(stage && (stage->flags & WEIR_STAGE_READS) ? &t->peer : &t->own));
    *range = (struct weir_cache_range) { 0, UINT64_MAX, 0, 1 };
    return !path->failed && !(t->session.flags & WEIR_BE_NO_DATA);
}

static const struct weir_example examples[] = {
    { WEIR_TOPIC_NONE, "-t /scratch/d", "as many calls of 512 KiB as 60 s allow, at most 4096" },
    { WEIR_TOPIC_NONE, "-t /scratch/d -s 1m -l 1024", "1024 calls of 1 MiB" },
    { WEIR_TOPIC_NONE, "-t /scratch/d -W", "only write; then -R reads it" },
    { WEIR_TOPIC_NONE, "-t /scratch/d -b=4k", "reads at random multiples of 4 KiB" },
    { WEIR_TOPIC_NONE, "-t /scratch/d -H -r --repetitions=3",
      "with a heading, three times, and clean at the end" },
    { WEIR_TOPIC_FILES, "-t /scratch/d -n -r",
      "remove files of an earlier run before, and these after" },
    { WEIR_TOPIC_ORDER, "-t /scratch/d -R -b=4k", "read at random what an earlier run wrote" },
    { WEIR_TOPIC_DATA, "-t /scratch/d -s 4m --verify", "calls of 4 MiB, every byte checked" },
    { WEIR_TOPIC_TIME, "-t /scratch/d -L 30 -l 1000000", "30 s for each phase" },
    { .args = NULL }
};

const struct weir_driver weir_mib = {
    .name = "mib",
    .examples = examples,
    .brief = "write a file for each task until a call or time limit, and read another task's",
    .opts = options,
    .opt_size = sizeof(struct mib_options),
    .state_size = sizeof(struct mib_test),
    .operations = operations,
    .version = mib_version,
    .without_mpi = is_without_mpi,
    .settings_file = name_settings,
    .settings_skip = facts,
    .call_table = name_profile,
    .api = weir_run_options_api,
    .plan = plan,
    .enter = mib_report_begin,
    .begin = begin,
    .existing = WEIR_EXISTING_REPLACE | WEIR_EXISTING_FAIL,
    .end = end,
    .start = check_space,
    .facts = facts_of,
    .range = range_of,
    .stages = mib_stages,
    .keeps = keeps,
    .remove = remove_file,
    .conclude = conclude,
};

WEIR_PROGRAM("mib", weir_mib);
