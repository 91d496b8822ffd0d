/* SPDX-License-Identifier: BSD-3-Clause */
/* mdtest-check.c - the options: are they sound, and what follows from them */
#include "config.h"
#include "programs/mdtest/mdtest.h"

#include <inttypes.h>

#include "base/size.h"
#include "engine/place/items.h"
#include "par/agree.h"

#define O struct mdtest_options
#define MOST32 .max = INT32_MAX
#define MOST64 .max = INT64_MAX

/* Flags of an option that needs the library of Lustre. */
#ifdef HAVE_LUSTRE
#define NEEDS_LUSTRE 0
#else
#define NEEDS_LUSTRE WEIR_OPT_ABSENT
#endif

const struct weir_opt mdtest_opts[] = {
    OPT_RUN(api, 'a', "api", NULL, .help = "I/O backend (default: POSIX)"),
    OPT_INT('b', "branch", NULL, O, branch, "1", "N",
            "Directories below each directory of the tree", OPT_IN(FILES)),
    OPT_INT(
        'B', "no-barriers", NULL, O, no_barriers, "0", "N",
        "No barriers between phases unless 0; only the agreement on errors keeps tasks together",
        OPT_IN(ORDER)),
    OPT_FLAG('c', "collective", NULL, O, collective,
             "Items of all tasks made and removed by task 0", OPT_IN(ORDER)),
    OPT_FLAG('C', "create", NULL, O, create,
             "Create phases; all phases unless one of -C -T -E -r -U is given", OPT_IN(ORDER)),
    OPT_STR('d', "directory", NULL, O, dirs, "./out", "DIR[@DIR...]",
            "Working directory, or several joined by @ with -u", .flags = WEIR_OPT_PLACES,
            OPT_FIRST(FILES)),
    OPT_FLAG('D', "only-directories", NULL, O, only_dirs, "Directories only, no files",
             OPT_IN(FILES)),
    OPT_SIZE('e', "read-bytes", NULL, O, read_bytes, "0", "SIZE",
             "Bytes read from each file (0: open and close only)", MOST64, OPT_FIRST(DATA)),
    OPT_FLAG('E', "read", NULL, O, read, "Read phase of files", OPT_IN(ORDER)),
    OPT_INT('f', "first", NULL, O, first, "1", "N", "First number of tasks", .min = 1, MOST32,
            .flags = WEIR_OPT_NEUTRAL, OPT_IN(ORDER)),
    OPT_FLAG('F', "only-files", NULL, O, only_files, "Files only, no directories",
             OPT_FIRST(FILES)),
    OPT_FLAG('g', "reset-layout", NULL, O, reset_layout,
             "Default layout of directories for the test directories (Lustre)",
             .flags = NEEDS_LUSTRE, OPT_IN(FILES)),
    WEIR_OPT_DATA_SEED(O, "files"),
    OPT_RUN(repetitions, 'i', "iterations", NULL),
    OPT_SIZE('I', "items-per-directory", NULL, O, per_dir, "0", "N",
             "Items of a task in each directory of the tree", MOST64, OPT_IN(FILES)),
    OPT_FLAG('k', "mknod", NULL, O, mknod, "Files made by mknod, not by open and close",
             OPT_IN(FILES)),
    OPT_INT('l', "last", NULL, O, last, "0", "N",
            "Last number of tasks (0: all tasks, and no other number)", .min = 0, MOST32,
            .flags = WEIR_OPT_NEUTRAL, OPT_IN(ORDER)),
    OPT_FLAG('L', "leaf-only", NULL, O, leaf_only,
             "Items only in the lowest directories of the tree", OPT_IN(FILES)),
    OPT_SIZE('n', "items", NULL, O, items, "0", "N",
             "Directories and files of a task in the whole tree", MOST64, OPT_FIRST(FILES)),
    OPT_INT(
        'N', "shift", NULL, O, shift, "0", "N",
        "Shift from phase to phase: items of the task N nodes further on, or N tasks further on "
        "one node",
        .min = 0, MOST32, OPT_FIRST(ORDER)),
    OPT_RUN(delay_s, 'p', "delay", NULL,
            .help = "Wait before the directory phases and before the file phases, seconds"),
    OPT_FLAG('P', "rates-and-times", NULL, O, rates_and_times, "Tables of rates and of times",
             .flags = WEIR_OPT_NEUTRAL, OPT_IN(OUTPUT)),
    OPT_FLAG(0, "print-all-procs", NULL, O, all_procs, "Numbers of every task before each table",
             .flags = WEIR_OPT_NEUTRAL, OPT_IN(OUTPUT)),
    OPT_FLAG('r', "remove", NULL, O, remove, "Remove phases", OPT_IN(ORDER)),
    OPT_FLAG('R', "random", NULL, O, random, "Random order of items in stat and read phases",
             OPT_IN(ORDER)),
    OPT_INT(0, "random-seed", NULL, O, random_seed, "0", "N",
            "Seed of the random order; above 0 it is on", .min = 0, MOST32, OPT_IN(ORDER)),
    OPT_INT('s', "stride", NULL, O, step, "1", "N", "Step from one number of tasks to the next",
            .min = 1, MOST32, .flags = WEIR_OPT_NEUTRAL, OPT_IN(ORDER)),
    OPT_FLAG('S', "shared-files", NULL, O, shared, "Same files for all tasks; no directory phases",
             OPT_IN(FILES)),
    OPT_FLAG('t', "time-directory-switch", NULL, O, time_dirs,
             "No effect: with -u there is no change of directory to be timed", OPT_IN(ORDER)),
    OPT_FLAG('T', "stat", NULL, O, stat, "Stat phases", OPT_IN(ORDER)),
    OPT_FLAG('u', "unique-directory", NULL, O, unique, "Tree per task", OPT_FIRST(FILES)),
    OPT_FLAG('U', "rename", NULL, O, rename, "Rename phase of directories", OPT_IN(ORDER)),
    OPT_RUN(verbose, 'v', "verbose", NULL),
    OPT_INT('V', "verbosity", NULL, O, run.verbose, "0", "N", "Number of -v", .min = 0, MOST32,
            .flags = WEIR_OPT_NEUTRAL, OPT_IN(OUTPUT)),
    OPT_SIZE('w', "write-bytes", NULL, O, write_bytes, "0", "SIZE",
             "Bytes written to each file when it is created", MOST64, OPT_FIRST(DATA)),
    OPT_RUN(deadline_s, 'W', "stonewall", NULL,
            .help = "Stonewall of create phases, then wear-out, seconds"),
    OPT_STR('x', "stonewall-status", NULL, O, status_file, NULL, "FILE",
            "File that keeps the items of a task after a stonewall for a later run",
            .flags = WEIR_OPT_WRITES, OPT_IN(FILES)),
    OPT_FLAG('X', "verify-read", NULL, O, verify_read, "Check of the data that are read",
             OPT_IN(DATA)),
    OPT_FLAG(0, "verify-write", NULL, O, verify_write,
             "Check of what was written, through the same open file", OPT_IN(DATA)),
    OPT_FLAG('y', "sync-file", NULL, O, sync_file,
             "Flush of each file to storage after it was written", OPT_IN(DATA)),
    OPT_FLAG('Y', "sync-phase", NULL, O, sync_phase,
             "Flush of the file system at the end of each phase, inside its time", OPT_IN(DATA)),
    OPT_INT('z', "depth", NULL, O, depth, "0", "N", "Levels of the tree below its root",
            OPT_FIRST(FILES)),
    OPT_FLAG('Z', "times", NULL, O, times, "Show the table of times instead of that of rates",
             .flags = WEIR_OPT_NEUTRAL, OPT_IN(OUTPUT)),
    WEIR_OPT_DATA_PACKET(O, "files"),
    OPT_STR(0, "run-cmd-before-phase", NULL, O, before, "", "COMMAND",
            "Command of every task before each phase, untimed",
            .flags = WEIR_OPT_NEUTRAL | WEIR_OPT_PRIVATE, OPT_IN(TIME)),
    OPT_STR(0, "run-cmd-after-phase", NULL, O, after, "", "COMMAND",
            "Command of every task at the end of each phase, inside its time",
            .flags = WEIR_OPT_NEUTRAL | WEIR_OPT_PRIVATE, OPT_IN(TIME)),
    OPT_RUN(warnings_are_errors, 0, "warningAsErrors", NULL),
    OPT_RUN(rank_csv, 0, "saveRankPerformanceDetails", NULL,
            .help = "File with the rates and times of every task"),
    OPT_RUN(op_csv, 0, "savePerOpDataCSV", NULL,
            .help = "Files PREFIX-<phase>-<task>.csv with every operation on files"),
    OPT_FLAG(0, "showRankStatistics", NULL, O, rank_stats,
             "Extremes and means of single tasks in the tables", .flags = WEIR_OPT_NEUTRAL,
             OPT_IN(OUTPUT)),
    OPT_FLAG(0, "latency", NULL, O, latency, "Latencies of operations after the tables",
             .flags = WEIR_OPT_NEUTRAL, OPT_IN(OUTPUT)),
    OPT_RUN(dry_run, 0, "dry-run", "dryRun",
            .help = "Needs of the tree and room for it, without doing anything"),
    OPT_STR(0, "cleanup", NULL, O, cleanup, NULL, "DIR",
            "Directory from which what earlier runs left is removed, and nothing else",
            .flags = WEIR_OPT_NEUTRAL | WEIR_OPT_PRIVATE, OPT_IN(FILES)),
    OPT_RUN(max_minutes, 0, "max-time-duration", NULL),
    OPT_RUN(existing, 0, "existing", "existing",
            .help = "Existing trees when -C begins: remove them, go on in them (files are used, "
                    "directories that are items are errors), or end with an error",
            .choices = weir_existing_ways),
    OPT_RUN_UP_TO(reports),
    OPT_RUN(gpu_memory, 0, "allocateBufferOnGPU", NULL, .flags = WEIR_OPT_OPTARG | WEIR_OPT_NEXT),
    OPT_RUN(gpu_id, 0, "GPUid", NULL),
    OPT_RUN(gpu_direct, 0, "gpuDirect", NULL),
    OPT_END
};

#undef O

/* ---- directories ---- */

static int split_dirs(struct mdtest_test *t, struct weir_run *run, struct weir_err *err)
{
    const char *list = t->o->dirs ? t->o->dirs : "";
    int n = weir_places_count(list);

    t->places.base = weir_arena_alloc(&run->arena, sizeof(*t->places.base) * (size_t)n, err);
    if (!t->places.base)
        return -1;
    for (t->places.n = 0; t->places.n < n; t->places.n++) {
        size_t len;
        const char *at = weir_places_at(list, t->places.n, &len);

        if (len == 0)
            return weir_refuse(err, WEIR_EUSAGE, "option -d: an empty name in the list '%s'", list);
        t->places.base[t->places.n] = weir_arena_strndup(&run->arena, at, len, err);
        if (!t->places.base[t->places.n])
            return -1;
    }
    return 0;
}

/* ---- phases and kinds ---- */

static void fill_phases(struct mdtest_test *t, struct mdtest_options *o)
{
    t->all_phases = !o->create && !o->stat && !o->read && !o->remove && !o->rename;
    if (t->all_phases)
        o->create = o->stat = o->read = o->remove = o->rename = true;
    t->ledger.kind[MDTEST_DIRS] = (o->only_dirs || !o->only_files) && !o->shared;
    t->ledger.kind[MDTEST_FILES] = o->only_files || !o->only_dirs;
    if (o->random_seed > 0)
        o->random = true;
}

/* The time of rank 0 stands in for seeds that were not given; files of an earlier run may have
 * another one. */
static void fill_seeds(struct mdtest_test *t, struct weir_run *run, struct mdtest_options *o)
{
    int now = -1;

    weir_metadata_seed(run, &now);
    if (o->random && o->random_seed == 0)
        o->random_seed = now;
    t->fs.seed_unknown = o->seed == -1 && o->verify_read && !o->create;
    if (o->seed == -1)
        o->seed = now;
    t->fs.data.signature = (uint32_t)o->seed;
}

/* ---- options that exclude each other ---- */

static int check_rules(const struct mdtest_test *t, const struct weir_run *run,
                       struct weir_err *err)
{
    const struct mdtest_options *o = t->o;
    const struct weir_conflict rules[] = {
        { weir_run_options_bound(&o->run) > 0 && o->branch > 1,
          "a stonewall (-W, --until=steady) needs a tree with branching factor 1 (-b)" },
        { o->no_barriers && o->shift != 0, "shifting tasks (-N) needs barriers; leave -B out" },
        { o->shared && o->collective,
          "shared files (-S) and collective creates (-c) exclude each other; choose one" },
        { t->places.n > 1 && o->collective,
          "collective creates (-c) work in one directory (-d) only" },
        { o->no_barriers && o->collective, "collective creates (-c) need barriers; leave -B out" },
        { o->unique && o->shared,
          "a directory for each task (-u) and shared files (-S) exclude each other; choose one" },
        { t->places.n > 1 && o->shift > 0,
          "several directories (-d) and shifting tasks (-N) exclude each other; choose one" },
        { t->places.n > 1 && !o->unique,
          "several directories (-d) need a tree for each task; give -u" },
        { t->places.n > o->first, "there are more directories (-d) than tasks" },
        { o->mknod && o->write_bytes > 0, "files made with mknod (-k) cannot be written (-w)" },
        { o->mknod && o->shared, "files made with mknod (-k) cannot be shared (-S)" },
        { o->verify_read && !o->read, "checking data (-X) needs the read phase; give -E" },
        { o->verify_read && o->read_bytes == 0, "checking data (-X) needs bytes to read; give -e" },
        { o->write_bytes < 0 || o->read_bytes < 0,
          "bytes of a file (-w, -e) must not be negative" },
        { o->write_bytes > INT64_MAX / 4 || o->read_bytes > INT64_MAX / 4,
          "bytes of a file (-w, -e) are more than a file can hold" },
        { o->verify_write && o->write_bytes == 0,
          "checking what was written (--verify-write) needs bytes to write; give -w" },
        { o->create && o->read && t->ledger.kind[MDTEST_FILES] && o->read_bytes > o->write_bytes,
          "the read phase cannot read more (-e) than the create phase writes (-w)" },
        { o->first > o->last, "the first number of tasks (-f) is more than the last (-l)" },
        { o->last > run->world.size, "the last number of tasks (-l) is more than there are tasks" },
    };

    return weir_conflicts_check(rules, sizeof(rules) / sizeof(*rules), err);
}

/* ---- the backend ---- */

/* Refuses operations that the backend lacks, but for a rename. */
static int check_names(struct mdtest_test *t, const struct mdtest_options *o, struct weir_err *err)
{
    static const struct weir_ns none;
    const struct weir_ns *ns = t->fs.ns = t->fs.be->ns ? t->fs.be->ns : &none;
    const struct {
        bool wanted, there;
        const char *what;
    } needs[] = {
        { true, ns->mkdir && ns->rmdir && ns->exists, "make and remove directories" },
        { t->ledger.kind[MDTEST_FILES] && o->remove, ns->unlink, "remove files (-r)" },
        { o->stat, ns->stat, "stat (-T)" },
        { o->mknod, ns->mknod, "mknod (-k)" },
        { o->sync_phase, ns->syncfs, "sync a file system (-Y)" },
        { o->reset_layout, t->fs.be->reset_dir,
          "reset the layout of directories (-g), which needs -a POSIX in a build with Lustre "
          "(lustreapi)" },
        { o->sync_file && o->write_bytes > 0, t->fs.be->sync, "sync files (-y)" },
        { o->shared && t->ledger.kind[MDTEST_FILES], !(t->fs.be->flags & WEIR_BE_COLLECTIVE_OPEN),
          "share files between tasks that open them one by one (-S)" },
    };

    t->fs.access.directories = t->ledger.kind[MDTEST_DIRS];
    for (size_t i = 0; i < sizeof(needs) / sizeof(*needs); i++)
        if (needs[i].wanted && !needs[i].there)
            return weir_refuse(err, WEIR_EUSAGE, "%s cannot %s", t->fs.be->name, needs[i].what);
    return 0;
}

/* ---- all of it ---- */

/* Warnings come behind all that is refused. */
static int warn_odd(const struct mdtest_test *t, const struct weir_run *run, bool renames_not,
                    struct weir_err *err)
{
    const struct mdtest_options *o = t->o;

    if (renames_not &&
        weir_warn(&run->log, err, "%s cannot rename: the rename phase is left out", t->fs.be->name) < 0)
        return -1;
    if (o->read && o->read_bytes == 0 &&
        weir_warn(&run->log, err,
                  "Read bytes is 0, thus, a read test will actually just open/close") < 0)
        return -1;
    if (o->items > 0 && t->tree.total == 0)
        weir_note(&run->log, "%" PRId64 " items (-n) in %" PRIu64 " directories: 0 items per "
                             "directory, so no item is created; use more items (-n), or a smaller "
                             "tree (-z, -b)", o->items, t->tree.dirs - t->tree.first);
    if (o->no_barriers)
        return weir_warn(&run->log, err,
                         "without barriers (-B) a phase can need items that another task has not "
                         "created yet; tasks still exchange errors between phases");
    return 0;
}

/* Directory items are gone before files are made when they are removed at all. */
static void plan_need(struct mdtest_test *t, struct weir_plan *plan)
{
    const struct mdtest_options *o = t->o;
    uint64_t tasks = (uint64_t)o->last, items = t->tree.total;
    uint64_t files = t->ledger.kind[MDTEST_FILES] ? weir_product(items, o->shared ? 1 : tasks) : 0;
    uint64_t dirs = t->ledger.kind[MDTEST_DIRS] ? weir_product(items, tasks) : 0;
    uint64_t iterations = o->remove ? 1 : (uint64_t)o->run.repetitions;

    t->need.dirs = weir_product(weir_product(t->tree.dirs, t->tree.loops), o->unique ? tasks : 1);
    t->need.items = !o->remove ? weir_sum(files, dirs) : files > dirs ? files : dirs;
    t->plan = plan;
    plan->inodes = weir_sum(weir_sum(t->need.items, t->need.dirs), t->tree.loops);
    plan->inodes = weir_product(plan->inodes, iterations);
    plan->bytes = weir_product(weir_product(files, (uint64_t)o->write_bytes), iterations);
}

int mdtest_plan(struct mdtest_test *t, const struct weir_run *run, struct weir_err *err)
{
    const struct mdtest_options *o = t->o;
    const struct weir_dirtree_shape shape = { o->items, o->per_dir, o->branch, o->depth,
                                              o->leaf_only };
    int64_t shift = o->shift;

    if (mdtest_tree_init(&t->tree, &shape, o->unique, err) < 0)
        return -1;
    if (t->tree.total > INT64_MAX / (uint64_t)o->last)
        return weir_refuse(err, WEIR_EUSAGE,
                           "%" PRIu64 " items for each of %d tasks are more than can be counted, "
                           "2^63",
                           t->tree.total, o->last);
    if (run->par.cache.nodes > 1)
        shift *= weir_par_node_stride(&run->par);
    t->shift = (int)(shift % run->par.size);
    t->ledger.planned = t->tree.total;
    for (int k = 0; k < MDTEST_KINDS; k++)
        t->ledger.count[k] = t->tree.total;
    return 0;
}

/* All checks. Ranks may differ in memory and in the check of the backend. */
static int check_all(struct mdtest_test *t, struct weir_run *run, struct mdtest_options *o,
                     struct weir_err *err)
{
    int64_t bytes = o->write_bytes > o->read_bytes ? o->write_bytes : o->read_bytes;
    bool renames_not;

    if (o->last == 0)
        o->first = o->last = run->world.size;
    run->par = run->world;
    fill_phases(t, o);
    if (split_dirs(t, run, err) < 0 ||
        weir_metadata_packet(o->packet, &t->fs.data.packet, err) < 0 ||
        mdtest_plan(t, run, err) < 0 || check_rules(t, run, err) < 0 ||
        check_names(t, o, err) < 0 ||
        weir_small_files_check(&t->fs, run, (uint64_t)bytes, "mdtest", err) < 0)
        return -1;
    renames_not = t->ledger.kind[MDTEST_DIRS] && o->rename && !t->fs.ns->rename;
    o->rename = o->rename && !renames_not;
    plan_need(t, &run->test->plan);
    return run->test->variant == 0 ? warn_odd(t, run, renames_not, err) : 0;
}

int mdtest_check(struct mdtest_test *t, struct weir_run *run, struct mdtest_options *own,
                 struct weir_err *err)
{
    if (weir_agree_check(&run->world, check_all(t, run, own, err), err) < 0)
        return -1;
    fill_seeds(t, run, own);
    return 0;
}
