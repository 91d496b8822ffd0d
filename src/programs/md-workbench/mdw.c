/* SPDX-License-Identifier: BSD-3-Clause */
/* mdw.c - the metadata workbench: option rows, the check of the options, and the program */
#include "programs/md-workbench/mdw.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/size.h"
#include "base/text/path.h"
#include "base/text/wholefile.h"
#include "engine/check/inputs.h"
#include "engine/observe/gather.h"
#include "engine/place/cleanup.h"
#include "par/agree.h"

#define O struct mdw_options
#define MOST32 .max = INT32_MAX
#define MOST_START (INT64_MAX / 4)

static const struct weir_opt options[] = {
    OPT_INT('O', "offset", NULL, O, offset, "1", "N",
            "Distance in ranks from a task to those it reads from and writes for",
            OPT_FIRST(ORDER)),
    OPT_RUN(api, 'a', "api", NULL, .help = "I/O backend (default: POSIX)"),
    OPT_INT('I', "obj-per-proc", NULL, O, steps, "1000", "N",
            "Steps of a task in each data set and iteration", .min = 0, MOST32, OPT_FIRST(FILES)),
    OPT_INT('P', "precreate-per-set", NULL, O, population, "3000", "N", "Objects in each data set",
            .min = 0, MOST32, OPT_FIRST(FILES)),
    OPT_INT('D', "data-sets", NULL, O, sets, "10", "N", "Data sets of each task", .min = 1, MOST32,
            OPT_FIRST(FILES)),
    OPT_STR('o', "directory", NULL, O, prefix, "./out", "DIR", "Directory of the data sets",
            .flags = WEIR_OPT_NEUTRAL | WEIR_OPT_PRIVATE | WEIR_OPT_PLACE, OPT_FIRST(FILES)),
    OPT_INT('S', "object-size", NULL, O, size, "3901", "SIZE", "Bytes of each object", .min = 0,
            MOST32, OPT_FIRST(DATA)),
    OPT_RUN(repetitions, 'R', "iterations", NULL, .def = "3"),
    WEIR_OPT_DATA_SEED(O, "objects"),
    OPT_REAL('t', "waiting-time", NULL, O, wait, "0", "FACTOR",
             "Wait after each benchmark operation, as a multiple of its time", .min = 0,
             .max = 1000000, OPT_FIRST(TIME)),
    OPT_FLAG('T', "adaptive-waiting", NULL, O, adaptive,
             "Eight benchmarks per iteration, with waiting factors 0 and 0.0625 to 4",
             OPT_IN(TIME)),
    OPT_FLAG('1', "run-precreate", NULL, O, precreate,
             "Precreate phase; all phases without -1, -2 and -3", OPT_IN(ORDER)),
    OPT_FLAG('2', "run-benchmark", NULL, O, benchmark, "Benchmark phase", OPT_IN(ORDER)),
    OPT_FLAG('3', "run-cleanup", NULL, O, cleanup, "Cleanup phase", OPT_IN(ORDER)),
    OPT_RUN(deadline_s, 'w', "stonewall-timer", NULL,
            .help = "Stonewall of each benchmark, seconds"),
    OPT_RUN(wear_out, 'W', "stonewall-wear-out", NULL,
            .help = "Wear-out: after the stonewall all tasks reach the step of the fastest"),
    OPT_FLAG('X', "verify-read", NULL, O, verify, "Check of the data that are read",
             OPT_FIRST(DATA)),
    WEIR_OPT_DATA_PACKET(O, "objects"),
    OPT_STR('L', "latency", NULL, O, latency, NULL, "PREFIX",
            "Files PREFIX-<factor>-<iteration>-<name>.csv with every operation of rank 0",
            .flags = WEIR_OPT_NEUTRAL | WEIR_OPT_PRIVATE, OPT_IN(OUTPUT)),
    OPT_FLAG(0, "latency-all", NULL, O, latency_all, "Operations of all ranks in the files of -L",
             .flags = WEIR_OPT_NEUTRAL, OPT_IN(OUTPUT)),
    OPT_FLAG('q', "quiet", NULL, O, quiet, "Results only", .flags = WEIR_OPT_NEUTRAL, OPT_IN(OUTPUT)),
    OPT_RUN(verbose, 'v', "verbose", NULL),
    OPT_SIZE(0, "start-item", NULL, O, start, "0", "N",
             "First object, instead of the position in the run-info file", .min = 0,
             .max = MOST_START, OPT_IN(FILES)),
    OPT_FLAG(0, "print-detailed-stats", NULL, O, detailed,
             "Counters with tabs between them instead of lines to read", .flags = WEIR_OPT_NEUTRAL,
             OPT_IN(OUTPUT)),
    OPT_FLAG(0, "read-only", NULL, O, read_only, "Only stat and read in the benchmark",
             OPT_IN(ORDER)),
    OPT_FLAG(0, "ignore-precreate-errors", NULL, O, ignore_errors,
             "Errors of the precreate phase counted, not the end of the run", OPT_IN(ORDER)),
    OPT_FLAG(0, "process-reports", NULL, O, each_rank, "Line for each rank",
             .flags = WEIR_OPT_NEUTRAL, OPT_IN(OUTPUT)),
    OPT_STR(0, "run-info-file", NULL, O, position_file, "md-workbench.status", "FILE",
            "File that keeps the position from run to run", .flags = WEIR_OPT_WRITES,
            OPT_IN(FILES)),
    OPT_RUN(warnings_are_errors, 0, "warningAsErrors", NULL),
    OPT_RUN(delay_s, 0, "delay", NULL),
    OPT_RUN(max_minutes, 0, "max-time-duration", NULL),
    OPT_RUN(rank_csv, 0, "saveRankPerformanceDetails", NULL),
    OPT_RUN(op_csv, 0, "savePerOpDataCSV", NULL),
    OPT_RUN(existing, 0, "existing", "existing",
            .help = "Existing data sets before new ones are made: removed, or an error"),
    OPT_RUN_UP_TO(reports),
    OPT_RUN_NO_SWEEP,
    OPT_END
};

#undef O

/* ---- files of operations (-L) ---- */

/* Which operations a phase has, and the name of their file; NULL: the operation's own. */
static const struct {
    bool has[MDW_OPS];
    const char *name;
} kinds[MDW_PHASES] = {
    [MDW_PRECREATE] = { .has = { [MDW_CREATE] = true }, .name = "precreate" },
    [MDW_BENCHMARK] = { .has = { true, true, true, true } },
    [MDW_CLEANUP] = { .has = { [MDW_DELETE] = true }, .name = "cleanup" },
};

uint64_t mdw_count_operations(struct weir_run *run, void *state)
{
    const struct mdw_test *t = state;
    const struct mdw_options *o = t->o;
    uint64_t each = t->m->phase == MDW_PRECREATE ? (uint64_t)o->population : (uint64_t)o->steps;
    uint64_t n = t->m->phase == MDW_CLEANUP ? mdw_sets_objects(t) : (uint64_t)o->sets * each;
    uint64_t kinds_of_phase = 0;

    for (int op = 0; op < MDW_OPS; op++)
        kinds_of_phase += kinds[t->m->phase].has[op];
    return n * kinds_of_phase;
}

/* The file of an operation in a phase. */
static void name_file(const struct mdw_options *o, double wait, int iteration, enum mdw_phase phase,
                      enum mdw_op op, struct weir_str *out)
{
    weir_str_addf(out, "%s-%.2f-%d-%s%s.csv", o->latency, wait, iteration,
                  kinds[phase].name ? kinds[phase].name : mdw_operations[op].key,
                  o->latency_all ? "-all" : "");
}

static void name_any_file(const void *opt, uint64_t i, struct weir_str *out)
{
    const struct mdw_options *o = opt;
    uint64_t phase = i % MDW_PHASES, op = i / MDW_PHASES % MDW_OPS;
    uint64_t rest = i / (MDW_PHASES * MDW_OPS);

    name_file(o, mdw_factor(o, (int)(rest % MDW_WAITS) - 1), (int)(rest / MDW_WAITS),
              (enum mdw_phase)phase, (enum mdw_op)op, out);
}

/* The directory of a set. */
static void name_set(const struct mdw_options *o, int rank, int set, struct weir_str *out)
{
    char name[22];

    weir_str_addf(out, "%s/", o->prefix);
    weir_str_add(out, name, (size_t)(mdw_put_set(name, rank, set) - name));
}

static void name_any_set(const void *opt, uint64_t i, struct weir_str *out)
{
    const struct mdw_options *o = opt;

    name_set(o, (int)(i / (uint64_t)o->sets), (int)(i % (uint64_t)o->sets), out);
}

static int add_files(const void *opt, int tasks, struct weir_files *files, struct weir_err *err)
{
    const struct mdw_options *o = opt;
    const struct weir_file_names names = { .prefix = o->latency,
                                           .n = (uint64_t)o->run.repetitions * MDW_WAITS *
                                                MDW_PHASES * MDW_OPS,
                                           .name = name_any_file,
                                           .arg = o };
    const struct weir_file_names sets = {
        .n = (uint64_t)tasks * (uint64_t)o->sets, .name = name_any_set, .arg = o, .trees = true
    };

    if (weir_files_add_inside(files, "", o->prefix, "", sets, err) < 0)
        return -1;
    if (!o->latency || !*o->latency)
        return 0;
    return weir_files_add_names(files, "-L (latency)", &names, WEIR_FILE_WRITE, err);
}

/* A file for each kind of operation that the phase has, on rank 0. */
struct op_files {
    FILE *out[MDW_OPS];
    struct weir_str path[MDW_OPS];
};

static int open_files(const struct mdw_test *t, struct op_files *f, struct weir_err *err)
{
    for (int op = 0; op < MDW_OPS; op++) {
        struct weir_str *path = &f->path[op];

        if (!kinds[t->m->phase].has[op])
            continue;
        name_file(t->o, t->m->wait, (int)t->m->iteration, t->m->phase, (enum mdw_op)op, path);
        if (!(f->out[op] = weir_open_now(weir_str_text(path), "w")))
            return weir_fail(err, WEIR_ESETUP, "create file of operations '%s'",
                             weir_str_text(path));
        fputs("time,runtime\n", f->out[op]);
    }
    return 0;
}

/* Sort the records into the files of their operations. */
static void write_records(void *arg, const struct weir_record *r, size_t n, uint64_t origin_ns)
{
    const struct op_files *f = arg;

    for (size_t i = 0; i < n; i++)
        if (r[i].op < MDW_OPS && f->out[r[i].op])
            fprintf(f->out[r[i].op], "%.7f,%.4e\n",
                    (double)weir_record_after(&r[i], origin_ns) / WEIR_NS_PER_S,
                    (double)(r[i].end_ns - r[i].begin_ns) / WEIR_NS_PER_S);
}

static int close_files(struct op_files *f, int rc, struct weir_err *err)
{
    for (int op = 0; op < MDW_OPS; op++) {
        if (!weir_close_written(f->out[op]) && rc == 0)
            rc = weir_fail(err, WEIR_ESETUP, "write file of operations '%s'",
                           weir_str_text(&f->path[op]));
        weir_str_free(&f->path[op]);
    }
    return rc;
}

int mdw_write_operations(struct weir_run *run, const struct mdw_test *t,
                         const struct weir_phase_rec *rec, struct weir_err *err)
{
    struct op_files f = { .out = { NULL } };
    int rc = run->par.rank == 0 ? open_files(t, &f, err) : 0;

    weir_records_gather(run, rec, t->o->latency_all, write_records, &f);
    return weir_agree(&run->par, close_files(&f, rc, err), err);
}

/* ---- what follows from the options ---- */

static int check_words(struct mdw_test *t, struct weir_err *err)
{
    const struct mdw_options *o = t->o;
    const struct weir_conflict rules[] = {
        { !o->prefix || !*o->prefix, "option -o: the name of the directory is empty" },
        { !o->position_file || !*o->position_file,
          "option --run-info-file: the name of the file is empty" },
        { o->latency && !*o->latency, "option -L (latency): the prefix of the files is empty" },
    };

    if (weir_metadata_packet(o->packet, &t->fs.data, err) < 0)
        return -1;
    return weir_conflicts_check(rules, sizeof(rules) / sizeof(*rules), err);
}

/* Objects are counted in 64 bits, and the system allows the longest of their names. */
static int check_objects(const struct mdw_test *t, const struct weir_run *run, struct weir_err *err)
{
    const struct mdw_options *o = t->o;
    int64_t of_set, n;
    int below;

    if (__builtin_mul_overflow((int64_t)o->steps, o->run.repetitions, &of_set) ||
        __builtin_add_overflow(of_set, o->population, &of_set) ||
        __builtin_mul_overflow(of_set, o->sets, &n) ||
        __builtin_mul_overflow(n, run->world.size, &n))
        return weir_refuse(err, WEIR_EUSAGE,
                           "sets (-D), population (-P), steps (-I) and iterations (-R) make more "
                           "objects than can be counted");
    below = snprintf(NULL, 0, "/%d_%d/file-%" PRId64, run->world.size - 1, o->sets - 1,
                     of_set - 1);
    return weir_system_path(t->fs.be, o->prefix) ? weir_path_holds(o->prefix, (size_t)below, err)
                                                 : 0;
}

static int check_backend(struct mdw_test *t, const struct weir_run *run, struct weir_err *err)
{
    const struct weir_ns *ns = t->fs.ns = t->fs.be->ns;

    if (!ns || !ns->mkdir || !ns->rmdir || !ns->stat || !ns->unlink)
        return weir_refuse(err, WEIR_EUSAGE,
                           "%s cannot create, stat, remove files and directories", t->fs.be->name);
    return weir_small_files_check(&t->fs, run, (uint64_t)t->o->size, "md-workbench", err);
}

/* All checks. Ranks may differ in memory and in the check of the backend. */
static int check_all(struct mdw_test *t, const struct weir_run *run, struct weir_err *err)
{
    const struct mdw_options *o = t->o;
    uint64_t sets = (uint64_t)o->sets * (uint64_t)run->world.size;

    if (check_words(t, err) < 0 || check_objects(t, run, err) < 0)
        return -1;
    run->test->plan.inodes = sets * ((uint64_t)o->population + 1) + 1;
    run->test->plan.bytes = weir_product(sets * (uint64_t)o->population, (uint64_t)o->size);
    return check_backend(t, run, err);
}

static int check(struct mdw_test *t, struct weir_run *run, struct mdw_options *o,
                 struct weir_err *err)
{
    int rc = 0;

    run->par = run->world;
    if (!o->precreate && !o->benchmark && !o->cleanup)
        o->precreate = o->benchmark = o->cleanup = true;
    if (weir_agree_check(&run->world, check_all(t, run, err), err) < 0)
        return -1;
    if (o->benchmark && !o->precreate && weir_run_options_bound(&o->run) > 0 && !o->run.wear_out &&
        o->run.repetitions > 1)
        rc = weir_warn(&run->log, err,
                       "with a stonewall (-w) and without wear-out (-W) tasks stop at different "
                       "objects; some objects can be missing in later iterations");
    t->fs.seed_unknown = o->seed == -1 && o->benchmark && !o->precreate && o->size > 0;
    weir_metadata_seed(run, &o->seed);
    t->fs.data.signature = (uint32_t)o->seed;
    return rc;
}

/* ---- the program ---- */

static int plan_test(struct weir_run *run, void *state, void *chosen, struct weir_err *err)
{
    struct weir_test *test = run->test;
    struct mdw_test *t = state;

    *t = (struct mdw_test) { .o = chosen };
    if (weir_values_backend(test->values, t->o->run.api, &run->world, &t->fs.be, &t->fs.be_opt,
                            err) < 0)
        return -1;
    if (check(t, run, chosen, err) < 0)
        return -1;
    test->plan.path = t->o->prefix;
    test->plan.writes = t->o->precreate;
    test->plan.shared = true;
    return 0;
}

/* The directories of this task's data sets, which a clean-up removes with all that is in them. */
static bool target(struct weir_run *run, const void *state, int i, struct weir_str *path)
{
    const struct mdw_test *t = state;

    if (!t->o->precreate || i >= t->o->sets)
        return false;
    name_set(t->o, run->par.rank, i, path);
    return true;
}

#define MOST_SETS 64 /* of which the nodes are compared */

/* A task works on the objects of another one. The makers of those of an earlier run are not known. */
static void inputs_of(struct weir_run *run, void *state, struct weir_inputs *f)
{
    const struct mdw_test *t = state;
    int same = 0, sets = t->o->sets < MOST_SETS ? t->o->sets : MOST_SETS;

    f->own_metadata = -1;
    f->ratio = t->fs.data.ratio;
    if (t->o->benchmark && !t->o->precreate)
        return;
    for (int d = 0; t->o->benchmark && d < sets && same == 0; d++)
        same = weir_par_same_node(&run->par, mdw_sets_shift(t->o, run->par.size, d));
    f->own_metadata = same > 0;
}

static const struct weir_cleanup_form forms[] = {
    { "#_#", true, 0, 0, WEIR_CLEANUP_TREE },
    { "file-#", false, 1, 1, WEIR_CLEANUP_OURS },
};

/* Before the first test. */
static int look_at_existing(struct weir_run *run, struct weir_test *tests, int n,
                            struct weir_err *err)
{
    const struct mdw_test *t = tests[0].state;
    bool replaces = t->o->precreate && weir_existing(&t->o->run) == WEIR_EXISTING_REPLACE;

    return weir_cleanup_existing(run, "md-workbench", t->o->prefix, replaces, t->fs.be, forms,
                              sizeof(forms) / sizeof(*forms), 0, err);
}

static const struct weir_example examples[] = {
    { WEIR_TOPIC_NONE, "-o /scratch/d", "all three phases with the values below" },
    { WEIR_TOPIC_NONE, "-o /scratch/d -P 1000 -I 100 -S 4k", "fewer objects, of 4 KiB" },
    { WEIR_TOPIC_NONE, "-o /scratch/d -P 1000 -I 100 -1",
      "only make the data sets; then -2, then -3" },
    { WEIR_TOPIC_NONE, "-o /scratch/d -P 3000 -w 60 -W", "each benchmark for 60 s" },
    { WEIR_TOPIC_NONE, "-o /scratch/d -P 1000 -I 100 -T", "how latencies follow from the load" },
    { WEIR_TOPIC_FILES, "-o /scratch/d -D 4 -P 1000 -I 100",
      "four data sets of each task, with 1000 objects" },
    { WEIR_TOPIC_ORDER, "-o /scratch/d -O 2 -2 --read-only",
      "stat and read what the task two ranks away wrote" },
    { WEIR_TOPIC_DATA, "-o /scratch/d -S 64k -X", "objects of 64 KiB, checked when they are read" },
    { WEIR_TOPIC_TIME, "-o /scratch/d -w 60 -W -t 0.5",
      "60 s each, and wait half as long as each operation took" },
    { .args = NULL }
};

static const struct weir_test_files files = {
    .add = add_files,
    .target = target,
    .existing = WEIR_EXISTING_REPLACE | WEIR_EXISTING_FAIL | WEIR_EXISTING_REPORTED,
    .clean = mdw_clean_up,
};

static const struct weir_test_checks checks = { .inputs = inputs_of };

const struct weir_program weir_mdw = {
    .name = "md-workbench",
    .examples = examples,
    .brief = "measure a steady mix of metadata operations",
    .opts = options,
    .opt_size = sizeof(struct mdw_options),
    .files = &files,
    .state_size = sizeof(struct mdw_test),
    .operations = mdw_operations,
    .plan = plan_test,
    .output = &mdw_output,
    .begin = mdw_begin,
    .end = mdw_end,
    .start = mdw_start,
    .enter = look_at_existing,
    .checks = &checks,
    .stages = mdw_stages,
    .conclude = mdw_conclude,
};

WEIR_PROGRAM("md-workbench", weir_mdw);
