/* SPDX-License-Identifier: BSD-3-Clause */
/* ior-report.c - banner, test and the values of all options, as people and parsers read them, and what
 * -v -v -v adds */
#include "config.h"
#include "programs/ior/ior.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/node/machine.h"
#include "base/options/option.h"
#include "base/size.h"
#include "engine/about/banner.h"
#include "engine/about/provenance.h"
#include "engine/observe/gather.h"
#include "engine/place/usage.h"

#define KEY_WIDTH 20 /* of facts in the text */

#define TRACE_LEVEL 3
#define MORE_LEVEL 4

static bool traces(const struct weir_run *run)
{
    return run->log.verbose >= TRACE_LEVEL;
}

static void trace_environment(struct weir_run *run)
{
    if (!traces(run) || run->report.n == 0)
        return;
    weir_report_line(&run->report, "STARTING ENVIRON LOOP");
    for (char **name = environ; *name; name++)
        weir_report_line(&run->report, "%s", *name);
    weir_report_line(&run->report, "ENDING ENVIRON LOOP");
}

void ior_report_begin(struct weir_run *run, struct weir_test *tests)
{
    (void)tests;
    weir_banner_fakes(run);
    weir_report_line_for(&run->report, WEIR_FOR_TEXT_4,
                         "IOR-4.1.0+weir-%s: MPI Coordinated Test of Parallel I/O",
                         PACKAGE_VERSION);
    weir_report_line_for(&run->report, WEIR_FOR_TEXT_33,
                         "IOR-3.3.0: MPI Coordinated Test of Parallel I/O");
    weir_banner_program(run);
    weir_banner_time(run, WEIR_FOR_ALL, "Began");
    weir_banner_command(run, WEIR_FOR_ALL);
    weir_banner_machine(run, WEIR_FOR_ALL);
    trace_environment(run);
    if (run->report.details)
        weir_provenance_run(run);
}

/* ---- the values of all options: the block "Parameters" and one by option name ---- */

/* The keys that old readers find, in their order. Most are keys of options; report_special tells
 * the rest. */
static const char *const parameters[] = {
    "testID", "refnum", "api", "platform", "testFileName", "deadlineForStonewall",
    "stoneWallingWearOut", "maxTimeDuration", "outlierThreshold", "options", "dryRun", "nodes",
    "memoryPerTask", "memoryPerNode", "tasksPerNode", "repetitions", "multiFile", "interTestDelay",
    "fsync", "fsyncperwrite", "useExistingTestFile", "uniqueDir", "singleXferAttempt", "readFile",
    "writeFile", "filePerProc", "reorderTasks", "reorderTasksRandom", "reorderTasksRandomSeed",
    "randomOffset", "checkWrite", "checkRead", "dataPacketType", "keepFile", "keepFileWithError",
    "warningAsErrors", "verbose", "data packet type", "setTimeStampSignature/incompressibleSeed",
    "collective", "segmentCount", "transferSize", "blockSize"
};

/* Options that they know by another name. */
static const char *const renamed[][2] = {
    { "testFileName", "testFile" },
    { "deadlineForStonewall", "deadlineForStonewalling" },
    { "setTimeStampSignature/incompressibleSeed", "setTimeStampSignature" },
};

static const struct weir_opt *row_of(const struct weir_run *run, const char *name)
{
    for (size_t i = 0; i < sizeof(renamed) / sizeof(*renamed); i++)
        if (strcmp(renamed[i][0], name) == 0)
            name = renamed[i][1];
    return weir_opt_row_of(run->test->values->rows, name);
}

static void report_platform(struct weir_report *r, unsigned readers, const struct ior_options *o)
{
    struct weir_str text = { 0 };

    if (o->platform)
        weir_str_addf(&text, "%s", o->platform);
    else if (!weir_machine_name(&text))
        return;
    weir_report_str(r, readers, "platform", weir_str_text(&text));
    weir_report_free(r, &text);
}

/* Reports a parameter that is no option, or has another form than it; false: it is one. */
static bool report_special(struct weir_run *run, const struct ior_test *t, unsigned readers,
                           const char *name)
{
    static const char letters[] = { [WEIR_PACKET_TIMESTAMP] = 't',
                                    [WEIR_PACKET_OFFSET] = 'o',
                                    [WEIR_PACKET_INCOMPRESSIBLE] = 'i',
                                    [WEIR_PACKET_RANDOM] = 'r',
                                    [WEIR_PACKET_SIGNATURE] = 's' };
    const char letter[2] = { letters[t->data.pattern.packet], '\0' };
    struct weir_report *r = &run->report;

    if (strcmp(name, "testID") == 0)
        weir_report_int(r, readers, name, run->test->id);
    else if (strcmp(name, "platform") == 0)
        report_platform(r, readers, t->o);
    else if (strcmp(name, "options") == 0)
        weir_report_str(r, readers, name, "");
    else if (strcmp(name, "nodes") == 0)
        weir_report_int(r, readers, name, run->par.nodes);
    else if (strcmp(name, "tasksPerNode") == 0)
        weir_report_int(r, readers, name, run->par.per_node_max);
    else if (strcmp(name, "memoryPerNode") == 0)
        weir_report_int(r, readers, name,
                        t->o->memory_per_node ? t->memory.bytes * run->par.per_node_max : 0);
    else if (strcmp(name, "dataPacketType") == 0)
        weir_report_int(r, readers, name, t->data.pattern.packet);
    else if (strcmp(name, "data packet type") == 0)
        weir_report_str(r, readers, name, letter);
    else
        return false;
    return true;
}

static void report_known(struct weir_run *run, const struct ior_test *t, unsigned readers)
{
    struct weir_report *r = &run->report;

    weir_report_enter(r, "Parameters", false);
    if (readers & WEIR_FOR_TEXT)
        weir_report_line(r, "\nParameters: ");
    for (size_t i = 0; i < sizeof(parameters) / sizeof(*parameters); i++)
        if (!report_special(run, t, readers, parameters[i]))
            weir_banner_option(run, readers, parameters[i], row_of(run, parameters[i]), t->o);
    weir_report_leave(r);
}

static void report_parameters(struct weir_run *run, const struct ior_test *t)
{
    report_known(run, t, run->log.verbose >= 3 ? WEIR_FOR_ALL : WEIR_FOR_DATA);
    weir_banner_values(run);
}

/* ---- test start ---- */

static void report_size(struct weir_report *r, const char *key, int64_t bytes)
{
    char text[WEIR_SIZE_TEXT];

    weir_report_str(r, WEIR_FOR_ALL, key, weir_size_show(bytes, text));
}

static void report_reordering(struct weir_run *run, const struct ior_options *o)
{
    struct weir_report *r = &run->report;
    bool any = o->reorder_constant || o->reorder_random;

    weir_report_str(r, WEIR_FOR_ALL, "ordering inter file",
                    o->reorder_constant      ? "constant task offset"
                    : o->reorder_random      ? "random task offset"
                    : ior_reads_elsewhere(o) ? "another node"
                                             : "no tasks offsets");
    if (any)
        weir_report_int(r, WEIR_FOR_ALL, "task offset", o->node_offset);
    if (o->reorder_constant)
        weir_report_int(r, WEIR_FOR_ALL_BUT_33, "task shift", ior_shift(o, &run->par, false));
    if (o->reorder_random)
        weir_report_int(r, WEIR_FOR_ALL, "reorder random seed", o->seed);
}

static void trace_memory(struct weir_run *run, const struct ior_test *t)
{
    if (!traces(run) || t->memory.bytes <= 0)
        return;
    if (t->o->memory_per_node)
        weir_report_line(&run->report, "This node hogging %" PRId64 " bytes of memory",
                         t->memory.bytes * run->par.per_node_max);
    else
        weir_report_line(&run->report, "This task hogging %" PRId64 " bytes of memory",
                         t->memory.bytes);
}

static void report_geometry(struct weir_run *run, const struct ior_test *t)
{
    const struct ior_options *o = t->o;
    struct weir_report *r = &run->report;

    weir_report_int(r, WEIR_FOR_ALL, "nodes", run->par.nodes);
    weir_report_int(r, WEIR_FOR_ALL, "tasks", run->par.size);
    weir_report_int(r, WEIR_FOR_ALL, "clients per node", run->par.per_node_max);
    if (o->memory_per_task)
        report_size(r, "memoryPerTask", o->memory_per_task);
    if (o->memory_per_node)
        report_size(r, "memoryPerNode", t->memory.bytes * run->par.per_node_max);
    weir_report_str(r, WEIR_FOR_ALL_BUT_33, "memoryBuffer", "CPU");
    weir_report_str(r, WEIR_FOR_ALL_BUT_33, "dataAccess", "CPU");
    weir_report_str(r, WEIR_FOR_ALL_BUT_33, "GPUDirect", "0");
    weir_report_int(r, WEIR_FOR_ALL, "repetitions", o->run.repetitions);
    report_size(r, "xfersize", o->transfer);
    report_size(r, "blocksize", o->block);
    report_size(r, "aggregate filesize", o->block * o->segments * run->par.size);
    if (o->run.dry_run)
        weir_report_int(r, WEIR_FOR_ALL, "dryRun", o->run.dry_run);
    if (o->run.verbose)
        weir_report_int(r, WEIR_FOR_ALL_BUT_33, "verbose", o->run.verbose);
    if (o->run.deadline_s > 0) {
        weir_report_number(r, WEIR_FOR_ALL, "stonewallingTime", o->run.deadline_s);
        weir_report_int(r, WEIR_FOR_ALL, "stoneWallingWearOut", o->run.wear_out);
    }
}

static void report_options(struct weir_run *run, const struct ior_test *t)
{
    const struct ior_options *o = t->o;
    struct weir_report *r = &run->report;

    if (o->debug)
        weir_report_line(r, "\n*** DEBUG MODE ***\n*** %s ***\n", o->debug);
    weir_report_enter(r, "Options", false);
    weir_report_line(r, "\nOptions: ");
    weir_report_str(r, WEIR_FOR_ALL, "api", o->run.api);
    weir_report_str(r, WEIR_FOR_ALL, "apiVersion", t->be->version ? t->be->version() : "");
    weir_report_str(r, WEIR_FOR_ALL, "test filename", o->test_file);
    weir_report_str(r, WEIR_FOR_ALL, "access",
                    o->file_per_task ? "file-per-process" : "single-shared-file");
    weir_report_str(r, WEIR_FOR_ALL, "type", o->collective ? "collective" : "independent");
    weir_report_int(r, WEIR_FOR_ALL, "segments", o->segments);
    weir_report_str(r, WEIR_FOR_ALL, "ordering in a file",
                    o->random_offset ? "random" : "sequential");
    report_reordering(run, o);
    report_geometry(run, t);
    weir_report_leave(r);
}

void ior_report_hints(struct weir_run *run, struct ior_test *t)
{
    struct weir_report *r = &run->report;
    const char *key = weir_str_text(&t->use.in_effect);
    const char *end = key + t->use.in_effect.len;

    if (!run->report.details || !t->be->hints)
        return;
    r->lost |= t->use.in_effect.failed;
    weir_report_enter(r, "hintsInEffect", false);
    while (key < end) {
        const char *value = key + strlen(key) + 1;

        weir_report_str(r, WEIR_FOR_DATA, key, value);
        key = value + strlen(value) + 1;
    }
    weir_report_leave(r);
}

/* -C is there to keep a task from reading its own node's cache; say when it does not. */
static void note_shift(struct weir_run *run, const struct ior_options *o)
{
    int own;

    if (!o->reorder_constant || !(o->read || o->check_read))
        return;
    own = weir_par_same_node(&run->par, ior_shift(o, &run->par, false));
    if (own > 0 && run->par.nodes > 1)
        weir_note(&run->log,
                  "-C with -Q %d shifts by %d tasks: %d of %d tasks read what their own node wrote",
                  o->node_offset, ior_shift(o, &run->par, false), own, run->par.size);
}

int ior_report_test(struct weir_run *run, struct ior_test *t, struct weir_err *err)
{
    struct weir_err ignored = WEIR_ERR_INIT;
    int rc;

    note_shift(run, t->o);
    run->report.lost |= ior_file_name(t->o, t->use.mount, 0, 0, &t->use.path, &ignored) < 0;
    if (run->report.details)
        weir_provenance_test(run, t->be, weir_str_text(&t->use.path));
    if (run->report.n == 0)
        return 0;
    weir_report_int(&run->report, WEIR_FOR_ALL, "TestID", run->test->id);
    weir_banner_time(run, WEIR_FOR_ALL, "StartTime");
    rc = weir_usage_report(run, &t->session, weir_str_text(&t->use.path), KEY_WIDTH, err);
    report_parameters(run, t);
    trace_memory(run, t);
    report_options(run, t);
    return rc;
}

/* ---- what -v -v -v adds ---- */

void ior_trace_file(struct weir_run *run, struct ior_test *t, const char *doing, int owner)
{
    struct weir_err ignored = WEIR_ERR_INIT;
    struct weir_str line = { 0 }, name = { 0 };

    if (!traces(run))
        return;
    if (owner >= 0 &&
        ior_file_name(t->o, t->use.mount, owner, run->repetition, &name, &ignored) == 0)
        weir_str_addf(&line, "task %d %s %s\n", run->par.rank, doing, weir_str_text(&name));
    weir_ranks_lines(run, &line);
    weir_str_free(&line);
    weir_str_free(&name);
}

void ior_trace_commence(struct weir_run *run, enum weir_dir dir)
{
    bool reads = dir == WEIR_DIR_READ;
    char now[32];

    if (!traces(run))
        return;
    weir_report_line(&run->report, "Commencing %s performance test: %s%s", reads ? "read" : "write",
                     weir_banner_now(now, WEIR_BANNER_CTIME), reads ? "\n" : "");
    weir_report_flush(&run->report);
}

void ior_trace_phase(struct weir_run *run, const struct ior_test *t,
                     const struct weir_phase_rec *rec)
{
    static const char *const labels[WEIR_MARKS] = {
        [WEIR_MARK_OPEN] = "open start",   [WEIR_MARK_OPENED] = "open stop",
        [WEIR_MARK_WORK] = "start",        [WEIR_MARK_WORKED] = "stop",
        [WEIR_MARK_CLOSE] = "close start", [WEIR_MARK_CLOSED] = "close stop",
    };
    struct weir_str lines = { 0 };
    int64_t day_ns;

    if (!traces(run))
        return;
    day_ns = weir_clock_to_day_ns(&run->par);
    if (run->log.verbose >= MORE_LEVEL)
        weir_str_addf(&lines, "* data moved = %" PRIu64 "\n", run->counters.bytes);
    for (int m = 0; m < WEIR_MARKS; m++)
        weir_str_addf(&lines, "Test %d: Iter=%d, Task=%d, Time=%f, %s %s\n", t->id, rec->repetition,
                      run->par.rank,
                      (double)(day_ns + weir_clock_common(&run->clock, rec->mark[m])) /
                          WEIR_NS_PER_S,
                      rec->phase->key, labels[m]);
    weir_ranks_lines(run, &lines);
    weir_str_free(&lines);
}
