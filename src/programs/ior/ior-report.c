/* SPDX-License-Identifier: BSD-3-Clause */
/* ior-report.c - banner, test and the values of all options, as people and parsers read them, and what
 * -v -v -v adds */
#include "programs/ior/ior.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/node/environment.h"
#include "base/node/machine.h"
#include "base/options/option.h"
#include "base/size.h"
#include "engine/about/banner.h"
#include "engine/about/provenance.h"
#include "engine/place/usage.h"
#include "par/agree.h"

#define KEY_WIDTH 20 /* of facts in the text */

/* Outputs are shown to others: no key is in them. */
static void trace_environment(struct weir_run *run)
{
    if (run->log.verbose < 3 || run->report.n == 0)
        return;
    weir_report_line(&run->report, "STARTING ENVIRON LOOP");
    for (char **name = environ; *name; name++)
        if (weir_environment_is_secret(*name))
            weir_report_line(&run->report, "%.*s=(left out)", (int)strcspn(*name, "="), *name);
        else
            weir_report_line(&run->report, "%s", *name);
    weir_report_line(&run->report, "ENDING ENVIRON LOOP");
}

static void report_begin(struct weir_run *run, struct weir_test *tests)
{
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
    bool ratio = t->data.pattern.packet == WEIR_PACKET_RATIO; /* a kind of random */
    enum weir_packet packet = ratio ? WEIR_PACKET_RANDOM : t->data.pattern.packet;
    const char letter[2] = { t->o->packet[0], '\0' };
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
                        t->o->memory_per_node ? t->memory.bytes * run->par.cache.per_node_max : 0);
    else if (strcmp(name, "dataPacketType") == 0)
        weir_report_int(r, readers, name, packet);
    else if (strcmp(name, "data packet type") == 0)
        weir_report_str(r, readers, name, letter);
    else
        return false;
    return true;
}

static void report_parameters(struct weir_run *run, const struct ior_test *t, unsigned readers)
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

/* ---- test start ---- */

static void report_size(struct weir_report *r, const char *key, int64_t bytes)
{
    char text[WEIR_SIZE_TEXT];

    weir_report_str(r, WEIR_FOR_ALL, key, weir_size_show(bytes, text));
}

/* Private files may together have more than 2^63 bytes. */
static void report_all_files(struct weir_run *run, const struct ior_options *o)
{
    uint64_t all = (uint64_t)o->block * (uint64_t)o->segments * (uint64_t)run->par.size;
    char text[WEIR_SIZE_TEXT];

    if (all <= INT64_MAX)
        report_size(&run->report, "aggregate filesize", (int64_t)all);
    else if (snprintf(text, sizeof(text), "%.2f TiB", ldexp((double)all, -40)) > 0)
        weir_report_str(&run->report, WEIR_FOR_ALL, "aggregate filesize", text);
}

static void report_reordering(struct weir_run *run, const struct ior_options *o)
{
    struct weir_report *r = &run->report;

    weir_report_str(r, WEIR_FOR_ALL, "ordering inter file",
                    o->reorder_constant      ? "constant task offset"
                    : o->reorder_random      ? "random task offset"
                    : ior_reads_elsewhere(o) ? "another node"
                                             : "no tasks offsets");
    if (o->reorder_constant || o->reorder_random)
        weir_report_int(r, WEIR_FOR_ALL, "task offset", o->node_offset);
    if (o->reorder_constant)
        weir_report_int(r, WEIR_FOR_ALL_BUT_33, "task shift", ior_shift(o, &run->par, false));
    if (o->reorder_random)
        weir_report_int(r, WEIR_FOR_ALL, "reorder random seed", o->seed);
}

static void trace_memory(struct weir_run *run, const struct ior_test *t)
{
    bool node = t->o->memory_per_node != NULL;

    if (run->log.verbose >= 3 && t->memory.bytes > 0)
        weir_report_line(&run->report, "This %s hogging %" PRId64 " bytes of memory",
                         node ? "node" : "task",
                         t->memory.bytes * (node ? run->par.cache.per_node_max : 1));
}

static void report_geometry(struct weir_run *run, const struct ior_test *t)
{
    const struct ior_options *o = t->o;
    const struct weir_gpu_memory_kind *kind = &weir_gpu_memories[o->run.gpu_memory];
    struct weir_report *r = &run->report;

    weir_report_int(r, WEIR_FOR_ALL, "nodes", run->par.nodes);
    weir_report_int(r, WEIR_FOR_ALL, "tasks", run->par.size);
    weir_report_int(r, WEIR_FOR_ALL, "clients per node", run->par.per_node_max);
    if (o->memory_per_task)
        report_size(r, "memoryPerTask", o->memory_per_task);
    if (o->memory_per_node)
        report_size(r, "memoryPerNode", t->memory.bytes * run->par.cache.per_node_max);
    weir_report_str(r, WEIR_FOR_ALL_BUT_33, "memoryBuffer", kind->buffer);
    weir_report_str(r, WEIR_FOR_ALL_BUT_33, "dataAccess", kind->access);
    weir_report_str(r, WEIR_FOR_ALL_BUT_33, "GPUDirect",
                    o->run.gpu_memory && weir_gpu_path(&o->run) == WEIR_GPU_DIRECT ? "1" : "0");
    weir_report_int(r, WEIR_FOR_ALL, "repetitions", o->run.repetitions);
    report_size(r, "xfersize", o->transfer);
    report_size(r, "blocksize", o->block);
    report_all_files(run, o);
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

/* -C is there to keep a task from reading its own node's cache; note when it does not. */
static void note_shift(struct weir_run *run, const struct ior_options *o)
{
    int own;

    if (!o->reorder_constant || !(o->read || o->check_read))
        return;
    own = weir_par_same_node(&run->par, ior_shift(o, &run->par, false));
    if (own > 0 && run->par.cache.nodes > 1)
        weir_note(&run->log,
                  "-C with -Q %d shifts by %d tasks: %d of %d tasks read what their own node wrote",
                  o->node_offset, ior_shift(o, &run->par, false), own, run->par.size);
}

static int show_test(struct weir_run *run, struct ior_test *t, struct weir_err *err)
{
    int rc;

    note_shift(run, t->o);
    run->report.lost |= ior_file_name(t->o, t->use.mount, 0, 0, &t->use.path, NULL) < 0;
    if (run->report.details)
        weir_provenance_test(run, t->be, weir_str_text(&t->use.path));
    if (run->report.n == 0)
        return 0;
    weir_report_int(&run->report, WEIR_FOR_ALL, "TestID", run->test->id);
    weir_banner_time(run, WEIR_FOR_ALL, "StartTime");
    rc = weir_usage_report(run, &t->session, weir_str_text(&t->use.path), KEY_WIDTH, err);
    report_parameters(run, t, run->log.verbose >= 3 ? WEIR_FOR_ALL : WEIR_FOR_DATA);
    weir_banner_values(run);
    trace_memory(run, t);
    report_options(run, t);
    return rc;
}

static int warn_existing(struct weir_run *run, struct ior_test *t, struct weir_err *err)
{
    bool there = false;

    if (!(t->o->write || t->o->mix) || run->par.rank != 0 ||
        ior_file_name(t->o, t->use.mount, 0, 0, &t->use.path, err) < 0 ||
        weir_session_has_file(&t->session, t->use.path.text, &there, NULL) < 0 || !there ||
        (t->session.flags & WEIR_BE_NO_DATA))
        return 0;
    if (ior_file_check(run, t, true, NULL) < 0)
        return 0; /* the phase will be refused */
    if (!t->o->write) {
        weir_note(&run->log, "the mix writes over%s the file \"%s\", which exists already",
                  ior_mix_has(&t->mix, WEIR_DIR_DELETE) ? " and deletes objects of" : "",
                  t->use.path.text);
        return 0;
    }
    return weir_warn(&run->log, err, "The file \"%s\" exists already and will be %s",
                     t->use.path.text, t->o->use_existing ? "overwritten" : "deleted");
}

static int report_test(struct weir_run *run, void *state, struct weir_err *err)
{
    struct ior_test *t = state;
    int rc = show_test(run, t, err);

    if (rc == 0)
        rc = warn_existing(run, t, err);
    weir_usage_need(run, weir_str_text(&t->use.path),
                    ((double)t->o->transfer * t->data.lanes + (double)t->memory.bytes) *
                        run->par.cache.per_node_max);
    rc = weir_agree(&run->par, rc, err);
    weir_report_line(&run->report, "\nResults: ");
    weir_report_flush(&run->report);
    return rc;
}

static void choose_output(const void *opt, const char **format, const char **path)
{
    const struct ior_options *o = opt;

    *format = o->summary_format;
    *path = o->summary_file;
}

static void finish(struct weir_run *run, const struct weir_test *tests)
{
    weir_banner_time(run, WEIR_FOR_ALL, "Finished");
}

/* ---- the row ---- */

const struct weir_output ior_output = {
    .deviation = IOR_DEVIATION,
    .op_files = WEIR_OP_FILES_REPETITION,
    .form = choose_output,
    .banner = report_begin,
    .report = report_test,
    .summary = ior_report_summary,
    .finish = finish,
};
