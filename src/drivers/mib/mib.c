/* SPDX-License-Identifier: BSD-3-Clause */
/* mib.c - mib: option rows, and the life of a test */
#include "config.h"
#include "drivers/mib/mib.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "base/mem.h"
#include "base/shift.h"
#include "base/size.h"
#include "engine/ranks.h"
#include "par/agree.h"
#include "par/reduce.h"

#define O struct mib_options

static const struct weir_opt options[] = {
    OPT_FLAG('a', "use_node_aves", NULL, O, averages,
             "In profiles, a column for each node: the mean of its tasks"),
    WEIR_OPT_API(0, "api", NULL, NULL, "Backend that moves the data; POSIX without it"),
    OPT_STR('b', "random_reads", NULL, O, random_reads, NULL, "SIZE",
            "Read at random multiples of SIZE (1 without it)",
            .flags = WEIR_OPT_OPTARG | WEIR_OPT_NEXT),
    OPT_STR('d', "log_dir", NULL, O, log_dir, ".", "DIR",
            "Where the file 'options' is read and profiles are written"),
    OPT_ALIAS(0, "directio", "posix.odirect=1",
              "Open files with O_DIRECT, which is --posix.odirect"),
    OPT_FLAG('E', "show_environment", NULL, O, environment,
             "Show the parameters, in the form of an options file"),
    OPT_FLAG('F', "force", NULL, O, force, "Write also to a file system that is refused"),
    OPT_FLAG('I', "show_intermediate_values", NULL, O, intermediate, "Show more of each phase"),
    OPT_FLAG('H', "show_headers", NULL, O, headers, "Show a heading above the result"),
    OPT_INT('l', "call_limit", NULL, O, call_limit, "4096", "N",
            "Calls of a task in a phase at most", .min = 1, .max = INT32_MAX),
    WEIR_OPT_DEADLINE_DEFAULT('L', "time_limit", NULL, "60",
                              "Begin no call after this time of a phase; 0: one call"),
    OPT_FLAG('M', "no_mpi", NULL, O, no_mpi, "Run in this process alone, without starting MPI"),
    OPT_FLAG('n', "new", NULL, O, fresh, "Remove files of an earlier run before they are written"),
    OPT_STR('p', "profiles", NULL, O, profiles, NULL, "PREFIX",
            "Write when each call returned to PREFIX.write and PREFIX.read, without PREFIX to "
            "write.profile and read.profile in log_dir",
            .flags = WEIR_OPT_OPTARG | WEIR_OPT_NEXT),
    OPT_FLAG('P', "show_progress", NULL, O, progress, "Show a bar while a phase runs"),
    OPT_FLAG('r', "remove", NULL, O, remove, "Remove the files at the end"),
    OPT_FLAG('R', "read_only", NULL, O, read_only, "Only read what an earlier run has written"),
    OPT_SIZE('s', "call_size", NULL, O, call_size, "512k", "SIZE", "Bytes of each call", .min = 1,
             .max = INT64_C(1) << 40),
    OPT_FLAG('S', "show_signon", NULL, O, signon, "Show name, version and date first"),
    OPT_STR('t', "test_dir", "testdir", O, test_dir, ".", "DIR", "Where the files are"),
    OPT_ALIAS('V', NULL, "version=1", "Show the version and end"),
    OPT_FLAG(0, "verify", NULL, O, verify, "Write data that differ in each place, and check reads"),
    OPT_FLAG('W', "write_only", NULL, O, write_only, "Only write"),
    WEIR_OPT_REPETITIONS(0, "repetitions", NULL),
    WEIR_OPT_DELAY(0, "delay", NULL, "Wait before each phase"),
    WEIR_OPT_MAX_TIME(0, "max-time-duration", NULL),
    WEIR_OPT_VERBOSE(0, "verbose", NULL, .min = 0, .max = 5),
    WEIR_OPT_WARNINGS("warning-as-errors", NULL),
    WEIR_OPT_RANK_CSV("rank-csv", NULL, "Write the times of every task after each phase"),
    WEIR_OPT_OP_CSV("op-csv", NULL, "Write every operation to PREFIX-<task>.csv"),
    WEIR_OPT_RECORDS,
    WEIR_OPT_TRUST,
    WEIR_OPT_DROP_CACHE,
    WEIR_OPT_IO_TIMEOUT,
    WEIR_OPT_REPORT(WEIR_REPORT_PHASES),
    WEIR_OPT_GPU("gpu-memory", NULL, "gpu-id", NULL, "gpu-direct", NULL),
    OPT_END
};

#undef O

const struct weir_opt *const mib_option_rows = options;

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
    weir_str_addf(out, "mib-%s-%s", PACKAGE_VERSION, u.machine);
}

static void show_version(struct weir_str *out)
{
    mib_version(out);
    weir_str_addc(out, '\n');
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

/* -1: the value is no word for true or false. The first letter counts. */
static int truth_of(const char *value)
{
    if (*value && strchr("tTyY1", *value))
        return 1;
    return *value && strchr("fFnN0", *value) ? 0 : -1;
}

/* Keys are the long names. What -E shows about the job is no option. */
static int apply_setting(struct weir_opts *o, const char *key, const char *value,
                         struct weir_err *err)
{
    static const char *const facts[] = { "cluster", "nodes", "tasks" };
    static const char *const words[] = { "false", "true" };
    const struct weir_opt *row = options;
    int truth = truth_of(value);

    for (size_t i = 0; i < sizeof(facts) / sizeof(*facts); i++)
        if (strcasecmp(key, facts[i]) == 0)
            return 0;
    while ((row->name || row->letter) && (!row->name || strcasecmp(key, row->name) != 0))
        row++;
    if (row->type == WEIR_OPT_FLAG && row->name && truth >= 0)
        return weir_opts_set(o, key, words[truth], err);
    if (row->name && strcmp(row->name, "profiles") == 0 && truth >= 0 && strlen(value) <= 5 &&
        (!value[1] || strcasecmp(value, "no") == 0 || strcasecmp(value, "yes") == 0 ||
         strcasecmp(value, words[truth]) == 0))
        return truth ? weir_opts_set(o, key, NULL, err) : 0;
    return weir_opts_set(o, key, value, err);
}

void mib_profile_path(const struct mib_options *o, enum weir_dir dir, struct weir_str *out)
{
    const char *phase = dir == WEIR_DIR_WRITE ? "write" : "read";

    if (o->profiles && *o->profiles)
        weir_str_addf(out, "%s.%s", o->profiles, phase);
    else if (o->profiles)
        weir_str_addf(out, "%s/%s.profile", o->log_dir, phase);
}

static int add_files(const void *opt, int tasks, struct weir_files *files, struct weir_err *err)
{
    static const char *const roles[] = { "-p (profiles), the table of writes",
                                         "-p (profiles), the table of reads" };
    const struct mib_options *o = opt;
    struct weir_str path = { 0 };
    int rc = weir_ranks_files(opt, tasks, files, err);

    for (int dir = WEIR_DIR_WRITE; rc == 0 && o->profiles && dir <= WEIR_DIR_READ; dir++) {
        const char *kept;

        weir_str_clear(&path);
        mib_profile_path(o, (enum weir_dir)dir, &path);
        kept = weir_arena_strdup(files->arena, weir_str_text(&path), err);
        rc = kept ? weir_files_add(files, roles[dir], kept, WEIR_FILE_WRITE, err) : -1;
    }
    weir_str_free(&path);
    return rc;
}

/* So that a wrong name is known before any test. */
static int make_profile(const struct mib_options *o, enum weir_dir dir, struct weir_err *err)
{
    struct weir_str path = { 0 };
    FILE *f;
    int rc = 0;

    mib_profile_path(o, dir, &path);
    if (!(f = fopen(weir_str_text(&path), "w")))
        rc = weir_fail(err, WEIR_ESETUP, "open '%s' for the profile", weir_str_text(&path));
    else
        fclose(f);
    weir_str_free(&path);
    return rc;
}

/* ---- before a test ---- */

static int parse_granularity(struct mib_test *t, struct weir_err *err)
{
    const char *text = t->o->random_reads;
    int64_t n = 1;

    if (text && *text && weir_size_parse(text, 1, INT64_MAX, &n, err) < 0)
        return weir_err_within(err, "option -b (random_reads)");
    t->granularity = text ? (uint64_t)n : 0;
    return 0;
}

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

static int check_surroundings(struct weir_run *run, struct mib_test *t, struct weir_err *err)
{
    if (weir_agree_check(&run->world, check_log_dir(t->o, err), err) < 0)
        return -1;
    if (t->be->flags & WEIR_BE_NO_DATA) /* the directory need not exist */
        return 0;
    return weir_agree_check(&run->world, mib_guard(t, run->world.nodes, err), err);
}

static int plan(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mib_test *t = state;

    *t = (struct mib_test) { .o = run->test->values->driver_opt };
    if (parse_granularity(t, err) < 0)
        return -1;
    t->task = t->o->no_mpi ? run->launched : run->world.rank;
    t->access = (struct weir_access) { .file_per_task = true,
                                       .random = t->granularity > 0,
                                       .tasks = run->world.size,
                                       .nodes = run->world.nodes };
    t->extent.transfer = (uint64_t)t->o->call_size;
    t->extent.block = t->extent.transfer * (uint64_t)t->o->call_limit;
    t->extent.file_bytes = t->extent.block;
    t->extent.segments = 1;
    run->test->plan.path = t->o->test_dir;
    if (weir_plan_use(run, &t->session, t->o->run.api, &t->access, err) < 0)
        return -1;
    t->be = run->test->plan.use[0].be;
    return check_surroundings(run, t, err);
}

static int prepare(struct weir_run *run, struct weir_test *tests, int n, struct weir_err *err)
{
    const struct mib_options *o = tests[0].values->driver_opt;
    bool makes = o->profiles && run->world.rank == 0;
    int rc = 0;

    if (makes && (o->write_only || !o->read_only))
        rc = make_profile(o, WEIR_DIR_WRITE, err);
    if (makes && rc == 0 && (o->read_only || !o->write_only))
        rc = make_profile(o, WEIR_DIR_READ, err);
    if (weir_agree(&run->world, rc, err) < 0)
        return -1;
    return weir_ranks_begin(run, tests, n, err);
}

static void show_banner(struct weir_run *run, struct weir_test *tests, int n, int argc,
                        char *const *argv)
{
    (void)n;
    mib_report_begin(run, tests[0].state, argc, argv);
}

/* ---- a test ---- */

static int begin(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mib_test *t = state;

    t->source =
        t->o->no_mpi ? t->task : weir_shift_fixed(t->task, run->par.size, run->par.size / 2);
    weir_str_addf(&t->own, "%s/mibData.%08d", t->o->test_dir, t->task);
    weir_str_addf(&t->peer, "%s/mibData.%08d", t->o->test_dir, t->source);
    if (t->own.failed || t->peer.failed)
        return weir_refuse(err, WEIR_ESETUP, "no memory for the names of files");
    run->records.wanted |= t->o->profiles != NULL;
    return weir_mem_aligned(&t->buf, 4096, (size_t)t->o->call_size, err);
}

static void end(void *state)
{
    struct mib_test *t = state;

    weir_str_free(&t->own);
    weir_str_free(&t->peer);
    free(t->buf);
}

static int start(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mib_test *t = state;

    if (t->o->read_only && !t->o->write_only)
        return 0;
    return mib_space_check(run, t, err);
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

static void tell_removed(struct weir_run *run, void *state, double seconds)
{
    (void)state;
    if (run->repetition == 0)
        weir_report_real(&run->report, WEIR_FOR_DATA, "removeTime", seconds);
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
    uint64_t node = (uint64_t)run->par.node;
    int source = o->no_mpi ? run->par.rank : t->source;
    uint64_t own = weir_fetch_u64(&run->par, node, source) == node;

    weir_allsum_u64(&run->par, &own, 1);
    f->path = o->test_dir;
    f->durable = 1;
    f->shared = 0;
    f->random = o->random_reads != NULL;
    f->transfer = (double)o->call_size;
    f->own_node = o->read_only && !o->write_only ? NAN : (double)own / run->par.size;
    f->data_kind = o->verify ? WEIR_DATA_UNKNOWN : WEIR_DATA_REPEATED;
}

static bool range_of(struct weir_run *run, void *state, const struct weir_stage *stage,
                     struct weir_str *path, struct weir_cache_range *range)
{
    const struct mib_test *t = state;

    (void)run;
    weir_str_addf(path, "%s", weir_str_text(stage->flags & WEIR_STAGE_READS ? &t->peer : &t->own));
    *range = (struct weir_cache_range) { 0, UINT64_MAX, 0, 1 };
    return !path->failed && !(t->session.flags & WEIR_BE_NO_DATA);
}

static enum weir_code verdict(const void *state)
{
    return ((const struct mib_test *)state)->wrong ? WEIR_EDATA : WEIR_OK;
}

const struct weir_driver weir_mib = {
    .name = "mib",
    .brief = "write a file for each task until a call or time limit, and read another task's",
    .opts = options,
    .opt_size = sizeof(struct mib_options),
    .state_size = sizeof(struct mib_test),
    .operations = operations,
    .version = show_version,
    .without_mpi = is_without_mpi,
    .settings_file = name_settings,
    .setting = apply_setting,
    .api = weir_run_options_api,
    .files = add_files,
    .plan = plan,
    .prepare = prepare,
    .banner = show_banner,
    .begin = begin,
    .end = end,
    .start = start,
    .facts = facts_of,
    .range = range_of,
    .report = mib_report_test,
    .stages = mib_stages,
    .keeps = keeps,
    .remove = remove_file,
    .removed = tell_removed,
    .conclude = conclude,
    .verdict = verdict,
    .finish = mib_report_end,
};
