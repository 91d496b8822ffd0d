/* SPDX-License-Identifier: BSD-3-Clause */
/* ior.c - the bandwidth benchmark: option rows, and the run over all tests */
#include "config.h"
#include "programs/ior/ior.h"

#include <string.h>

#include "engine/driver.h"
#include "engine/place/preflight.h"

#define O struct ior_options

static const char *const formats[] = { "default", "JSON", "CSV", "3.3", NULL };
static const char *const packets[] = { "timestamp", "offset",    "incompressible",
                                       "random",    "signature", NULL };
static const char *const readers[] = { "default", "elsewhere", NULL };
static const char *const distributions[] = { "even", "original", NULL };

static const struct weir_opt options[] = {
    OPT_RUN(api, 'a', "api", "api", .def = "POSIX",
            .help = "Backend that does the I/O (case-insensitive)"),
    OPT_INT('A', "ref-num", "refNum", O, ref_num, "0", "N",
            "Reference number of your own, repeated in the summary", .flags = WEIR_OPT_APART,
            OPT_IN(OUTPUT)),
    OPT_SIZE('b', "block-size", "blockSize", O, block, "1m", "SIZE",
             "Contiguous bytes each task writes in a segment", OPT_FIRST(DATA)),
    OPT_FLAG('c', "collective", "collective", O, collective,
             "Use collective transfers where the backend has them", OPT_IN(ORDER)),
    OPT_FLAG('C', "reorder-tasks", "reorderTasksConstant", O, reorder_constant,
             "Read what the task Q nodes further on wrote, past the caches of the writer",
             .key2 = "reorderTasks", OPT_FIRST(ORDER)),
    OPT_RUN(delay_s, 'd', "inter-test-delay", "interTestDelay",
            .help = "Wait this many seconds before each write and read phase",
            .flags = WEIR_OPT_RESET),
    OPT_RUN(deadline_s, 'D', "deadline", "deadlineForStonewalling",
            .help = "Start no transfer after this many seconds of a phase (stonewall)"),
    OPT_FLAG('e', "fsync", "fsync", O, sync_end,
             "Flush to storage at the end of the write phase, inside its time", OPT_FIRST(DATA)),
    OPT_FLAG('E', "use-existing", "useExistingTestFile", O, use_existing,
             "Write over a file that exists instead of removing it first", OPT_IN(FILES)),
    OPT_STR('f', "script", NULL, O, script, NULL, "FILE", "Read the tests from a script",
            .flags = WEIR_OPT_ARGV_ONLY | WEIR_OPT_READS, OPT_IN(FILES), .example = "script"),
    OPT_FLAG('F', "file-per-proc", "filePerProc", O, file_per_task,
             "Give each task a file of its own", OPT_FIRST(FILES)),
    OPT_FLAG('g', "intra-test-barriers", "intraTestBarriers", O, run.barriers,
             "Put barriers between open, transfers and close", OPT_IN(ORDER)),
    OPT_SIZE('G', "signature", "setTimeStampSignature", O, signature, "0", "N",
             "Signature in the data, 32 bits; 0 takes the time, new in each repetition",
             .min = INT32_MIN, .max = UINT32_MAX, OPT_IN(DATA), .example = "123"),
    OPT_RUN(repetitions, 'i', "repetitions", "repetitions", .flags = WEIR_OPT_RESET),
    OPT_FLAG('k', "keep-file", "keepFile", O, keep, "Keep the files after each repetition",
             .flags = WEIR_OPT_APART, OPT_IN(FILES)),
    OPT_FLAG('K', "keep-file-with-error", "keepFileWithError", O, keep_with_error,
             "Keep the files of a repetition with wrong data", .flags = WEIR_OPT_APART,
             OPT_IN(FILES)),
    OPT_STR('l', "data-packet-type", "dataPacketType", O, packet, "timestamp", "TYPE",
            "Data in the files: timestamp, offset, incompressible, random or signature; the first "
            "letter counts",
            OPT_IN(DATA), .suggestions = packets, .flags = WEIR_OPT_INITIAL),
    OPT_FLAG('m', "multi-file", "multiFile", O, multi_file,
             "Append the number of the repetition to the file name", OPT_IN(FILES)),
    OPT_INT('N', "num-tasks", "numTasks", O, tasks, "-1", "N",
            "Tasks that take part, the lowest ranks; -1 is all", .min = -1, .max = INT32_MAX,
            .flags = WEIR_OPT_APART, OPT_IN(ORDER)),
    OPT_STR('o', "test-file", "testFile", O, test_file, "testFile", "PATH",
            "File to write and read, or several joined by @ with -F", .flags = WEIR_OPT_PLACES,
            OPT_FIRST(FILES)),
    { .type = WEIR_OPT_DIRECTIVES,
      .letter = 'O',
      .name = "option",
      .meta = "KEY=VALUE,...",
      .help = "Set options by their script keys",
      .flags = WEIR_OPT_ARGV_ONLY,
      OPT_IN(OUTPUT) },
    OPT_INT(
        'Q', "task-per-node-offset", "taskPerNodeOffset", O, node_offset, "1", "N",
        "With -C, read what the task N nodes further on wrote (N tasks on one node); with -Z, at "
        "least N nodes",
        .min = 0, .max = INT32_MAX, OPT_IN(ORDER)),
    OPT_FLAG('r', "read", "readFile", O, read,
             "Read phase; write and read are both on unless one of -w -r -W -R is given",
             OPT_FIRST(ORDER)),
    OPT_FLAG('R', "check-read", "checkRead", O, check_read,
             "Read phase in which every byte is checked", OPT_IN(DATA)),
    OPT_SIZE('s', "segments", "segmentCount", O, segments, "1", "N",
             "Segments: blocks of every task one after the other", .min = 0, .max = INT64_MAX,
             OPT_IN(DATA)),
    OPT_SIZE('t', "transfer-size", "transferSize", O, transfer, "256k", "SIZE",
             "Bytes of one I/O call", OPT_FIRST(DATA)),
    OPT_FLAG('u', "unique-dir", "uniqueDir", O, unique_dir,
             "With -F, put each file into a directory of its own", OPT_IN(FILES)),
    OPT_RUN(verbose, 'v', "verbose", "verbose", .min = -1, .max = 5),
    OPT_FLAG('w', "write", "writeFile", O, write, "Write phase", OPT_FIRST(ORDER)),
    OPT_FLAG('W', "check-write", "checkWrite", O, check_write,
             "After writing, read everything back and check it, outside any time", OPT_IN(DATA)),
    OPT_FLAG('x', "single-xfer-attempt", "singleXferAttempt", O, single_try,
             "Treat a short transfer as an error instead of continuing it", OPT_IN(ORDER)),
    OPT_INT('X', "reorder-seed", "reorderTasksRandomSeed", O, seed, "0", "N",
            "Seed of -Z; a negative one changes with the repetition", OPT_IN(ORDER),
            .example = "7"),
    OPT_FLAG('Y', "fsync-per-write", "fsyncPerWrite", O, sync_each,
             "Flush to storage after every write transfer", OPT_IN(DATA)),
    OPT_COUNT('z', "random-offset", "randomOffset", O, random_offset,
              "Visit the transfers in random order; twice: random blocks, with repetition",
              OPT_IN(ORDER)),
    OPT_COUNT('Z', "reorder-random", "reorderTasksRandom", O, reorder_random,
              "Read what a random task wrote; twice: a random permutation of the tasks",
              OPT_IN(ORDER)),
    OPT_STR(0, "read-back", "readBack", O, read_back, "default", "WHO",
            "elsewhere: each task reads what another node wrote and its own node has not read in "
            "this test; default: as -C and -Z say",
            .choices = readers, OPT_IN(ORDER)),
    OPT_INT(0, "random-offset-seed", "randomOffsetSeed", O, random_seed, "-1", "N",
            "Seed of -z; -1 takes the time", .min = -1, .max = INT32_MAX, .flags = WEIR_OPT_APART,
            OPT_IN(ORDER), .example = "7"),
    OPT_STR(0, "random-offset-deal", "randomOffsetDeal", O, distribution, "even", "WAY",
            "How -z distributes the offsets of a shared file: even gives every task the same "
            "number of transfers, original repeats the uneven distribution of older releases",
            .choices = distributions, OPT_IN(ORDER)),
    OPT_RUN(warnings_are_errors, 0, "warning-as-errors", "warningAsErrors"),
    OPT_RUN(dry_run, 0, "dry-run", "dryRun",
            .help = "Show what the test needs and how its results would be judged, and do nothing"),
    OPT_RUN(
        wear_out, 0, NULL, "stoneWallingWearOut",
        .help = "After the stonewall all tasks go on to as many transfers as the fastest did"),
    OPT_SIZE(0, NULL, "stoneWallingWearOutIterations", O, run.max_steps, "0", "N",
             "Largest number of transfers of a task in a phase", .min = 0, .max = INT64_MAX,
             OPT_IN(TIME)),
    OPT_REAL(0, NULL, "minTimeDuration", O, run.min_time_s, "0", "SECONDS",
             "Repeat the whole pattern until this many seconds have passed", .min = 0,
             .max = INT32_MAX, OPT_IN(TIME)),
    OPT_REAL(0, NULL, "interIODelay", O, run.pause_us, "0", "MICROSECONDS",
             "Wait so many microseconds after every transfer, inside the measured time", .min = 0,
             .max = INT32_MAX, OPT_IN(TIME)),
    OPT_REAL('j', "outlier-threshold", "outlierThreshold", O, run.outlier_s, "0", "SECONDS",
             "Name the tasks whose times are more than this many seconds from the mean", .min = 0,
             .max = INT32_MAX, .flags = WEIR_OPT_APART, OPT_IN(TIME)),
    OPT_STR('M', "memory-per-node", "memoryPerNode", O, memory_per_node, NULL, "SIZE|NN%",
            "Take this much memory of each node away from the page cache, shared by its tasks",
            OPT_IN(DATA)),
    OPT_SIZE(0, NULL, "memoryPerTask", O, memory_per_task, "0", "SIZE",
             "Take this much memory away for each task", .min = 0, .max = INT64_MAX, OPT_IN(DATA)),
    OPT_RUN(max_minutes, 'T', "max-time-duration", "maxTimeDuration"),
    OPT_FLAG(
        'y',
        "dual-mount", "dualMount", O, dual_mount,
        "With -F, write to PATH<K>/data where K is the NUMA node of the task: one mount for each",
        OPT_IN(FILES)),
    OPT_SIZE(
        0, "random-prefill", "randomPrefill", O, prefill, "0", "SIZE",
        "With -z, first write the file in order in pieces of this size, outside the measured time",
        .min = 0, .max = INT64_MAX, OPT_IN(DATA)),
    OPT_STR(
        0, NULL, "stoneWallingStatusFile", O, status_file, NULL, "FILE",
        "Keep the number of transfers of a write phase with wear-out for a later run that reads",
        .flags = WEIR_OPT_WRITES, OPT_IN(FILES)),
    OPT_RUN(rank_csv, 0, NULL, "saveRankPerformanceDetailsCSV"),
    OPT_RUN(op_csv, 0, NULL, "savePerOpDataCSV",
            .help = "Write every operation to PREFIX-<repetition>-<rank>.csv"),
    OPT_FLAG(0, NULL, "summaryAlways", O, summary_always,
             "Show the summary of each test after it, too", .flags = WEIR_OPT_APART,
             OPT_IN(OUTPUT)),
    OPT_INT(0, NULL, "numNodes", O, nodes, "-1", "N", "Number of nodes, instead of what was found",
            .min = -1, .max = INT32_MAX, .flags = WEIR_OPT_APART, OPT_IN(ORDER)),
    OPT_INT(0, NULL, "numTasksOnNode0", O, node0_tasks, "-1", "N",
            "Tasks on the first node, instead of what was found", .min = -1, .max = INT32_MAX,
            .key2 = "tasksPerNode", .flags = WEIR_OPT_APART, OPT_IN(ORDER)),
    OPT_STR(0, NULL, "debug", O, debug, NULL, "TEXT", "Show this text in front of the options",
            .flags = WEIR_OPT_APART | WEIR_OPT_PRIVATE, OPT_IN(OUTPUT), .example = "text"),
    OPT_STR(0, NULL, "platform", O, platform, NULL, "TEXT", "Name of the machine in the parameters",
            .flags = WEIR_OPT_APART | WEIR_OPT_PRIVATE, OPT_IN(OUTPUT), .example = "cluster"),
    OPT_RUN(gpu_memory, 0, NULL, "allocateBufferOnGPU"),
    OPT_RUN(gpu_id, 0, NULL, "GPUid"),
    OPT_RUN(gpu_direct, 0, NULL, "GPUDirect"),
    OPT_RUN_UP_TO(progress),
    OPT_SIZE(0, "assume-rate", "assumeRate", O, run.assume_rate, NULL, "SIZE",
             "With a dry run, bytes a second from which the time of a phase is estimated",
             .min = 1, .example = "2g", .flags = WEIR_OPT_APART, OPT_IN(OUTPUT)),
    OPT_RUN_UP_TO(anonymous),
    OPT_RUN(existing, 0, "existing", "existing",
            .help = "Files that are there and that this run did not make: remove them, write over "
                    "them, or end with an error",
            .choices = weir_existing_ways),
    OPT_RUN_UP_TO(io_timeout_s),
    OPT_RUN(reports, 0, "report", NULL,
            .help = "Write the results in these forms instead: text:-, json:FILE, csv:FILE (the "
                    "full table)"),
    OPT_OLD('B', "useO_DIRECT", "posix.odirect=1", NULL, "Before 4.0: --posix.odirect"),
    OPT_OLD('H', "showHints", "mpiio.showHints=1,hdf5.showHints=1,ncmpi.showHints=1", NULL,
            "Before 4.0: --mpiio.showHints, --hdf5.showHints and --ncmpi.showHints"),
    OPT_OLD('J', "setAlignment", "hdf5.setAlignment=%s", "SIZE", "Before 4.0: --hdf5.setAlignment"),
    OPT_OLD('n', "noFill", "hdf5.noFill=1", NULL, "Before 4.0: --hdf5.noFill"),
    OPT_OLD('p', "preallocate", "mpiio.preallocate=1", NULL, "Before 4.0: --mpiio.preallocate"),
    OPT_OLD('q', "quitOnError", "", NULL, "Before 4.0; an error always ends the run"),
    OPT_OLD('S', "useStridedDatatype", "mpiio.useStridedDatatype=1", NULL,
            "Before 4.0: --mpiio.useStridedDatatype"),
    OPT_OLD('U', "hintsFileName",
            "mpiio.hintsFileName=%s,hdf5.hintsFileName=%s,ncmpi.hintsFileName=%s", "FILE",
            "Before 4.0: --mpiio.hintsFileName, --hdf5.hintsFileName and --ncmpi.hintsFileName"),
    OPT_OLD('V', "useFileView", "mpiio.useFileView=1", NULL, "Before 4.0: --mpiio.useFileView"),
    OPT_OLD(0, "lustreStripeCount", "posix.lustre.stripecount=%s", "N",
            "Before 4.0: --posix.lustre.stripecount"),
    OPT_OLD(0, "lustreStripeSize", "posix.lustre.stripesize=%s", "SIZE",
            "Before 4.0: --posix.lustre.stripesize"),
    OPT_OLD(0, "lustreStartOST", "posix.lustre.startost=%s", "N",
            "Before 4.0: --posix.lustre.startost"),
    OPT_OLD(0, "lustreIgnoreLocks", "posix.lustre.ignorelocks=1", NULL,
            "Before 4.0: --posix.lustre.ignorelocks"),
    OPT_OLD(0, "gpfsHintAccess", "posix.gpfs.hintaccess=1", NULL,
            "Before 4.0: --posix.gpfs.hintaccess"),
    OPT_OLD(0, "gpfsReleaseToken", "posix.gpfs.releasetoken=1", NULL,
            "Before 4.0: --posix.gpfs.releasetoken"),
    OPT_OLD(0, "beegfsNumTargets", "posix.beegfs.NumTargets=%s", "N",
            "Before 4.0: --posix.beegfs.NumTargets"),
    OPT_OLD(0, "beegfsChunkSize", "posix.beegfs.ChunkSize=%s", "SIZE",
            "Before 4.0: --posix.beegfs.ChunkSize"),
    OPT_GONE('P', "useSharedFilePointer", "shared file pointers were removed in 4.0; leave it out"),
    OPT_GONE('I', "individualDataSets",
             "individual data sets were never implemented; leave it out"),
    OPT_OLD(0, "storeFileOffset", "dataPacketType=offset", NULL, "Before 4.0: -l offset"),
    OPT_STR(0, NULL, "summaryFile", O, summary_file, "-", "FILE",
            "Write the results to this file instead of standard output", .flags = WEIR_OPT_WRITES,
            OPT_IN(OUTPUT), .example = "results"),
    OPT_STR(0, NULL, "summaryFormat", O, summary_format, "default", "FORMAT", "Form of the results",
            .choices = formats, .flags = WEIR_OPT_APART, OPT_IN(OUTPUT)),
    OPT_END
};

#undef O

static const char *script_of(const void *opt)
{
    return ((const struct ior_options *)opt)->script;
}

/* -E has the same meaning as 'reuse'; without it files are removed first. */
static int choose_existing(const struct weir_test *test, struct ior_options *o,
                           struct weir_err *err)
{
    unsigned way = weir_existing(test->plan.options);

    if (way == WEIR_EXISTING_REPLACE && o->use_existing)
        return weir_refuse(err, WEIR_EUSAGE,
                           "--existing=replace and -E contradict each other; give one of them");
    if (way == WEIR_EXISTING_REUSE)
        o->use_existing = true;
    return 0;
}

static int plan_test(struct weir_run *run, void *state, void *chosen, struct weir_err *err)
{
    struct weir_test *test = run->test;
    struct ior_test *t = state;

    t->id = test->id;
    t->o = chosen;
    if (t->o->tasks > 0 && t->o->tasks < run->world.size)
        test->plan.tasks = t->o->tasks;
    test->plan.nodes = t->o->nodes;
    test->plan.node0_tasks = t->o->node0_tasks;
    if (weir_values_backend(test->values, t->o->run.api, &run->world, &t->be, &t->be_opt, err) < 0)
        return -1;
    if (ior_check(t, run, chosen, err) < 0)
        return -1;
    test->plan.path = t->o->dual_mount ? NULL : t->o->test_file; /* mounts: a number follows */
    test->plan.writes = t->o->write;
    test->plan.shared = !t->o->file_per_task || ior_reads_of_others(t->o);
    return choose_existing(test, chosen, err);
}

/* Each repetition of -m has its own files. */
static bool target(struct weir_run *run, const void *state, int i, struct weir_str *path)
{
    const struct ior_test *t = state;
    const struct ior_options *o = t->o;
    struct weir_err ignored = WEIR_ERR_INIT;

    if (i >= (o->multi_file ? o->run.repetitions : 1) || (!o->file_per_task && run->par.rank != 0))
        return false;
    return ior_file_name(o, t->use.mount, run->par.rank, i, path, &ignored) == 0;
}

static void choose_output(const void *opt, const char **format, const char **path)
{
    const struct ior_options *o = opt;

    *format = o->summary_format;
    *path = o->summary_file;
}

/* Tests of a script that write the same status file: only the last one's count is left. */
static int note_status_files(struct weir_run *run, struct weir_test *tests, int n,
                             struct weir_err *err)
{
    (void)err;
    for (int i = 1; i < n; i++)
        for (int k = 0; k < i; k++) {
            const struct ior_options *a = tests[i].chosen;
            const struct ior_options *b = tests[k].chosen;

            if (a->write && b->write && a->status_file && b->status_file &&
                strcmp(a->status_file, b->status_file) == 0) {
                weir_note(&run->log,
                          "stoneWallingStatusFile '%s' is written by several tests and keeps the "
                          "count of the last",
                          a->status_file);
                return 0;
            }
        }
    return 0;
}

static const struct weir_example examples[] = {
    { WEIR_TOPIC_NONE, "-o /scratch/f -b 1g -t 1m -e -C",
      "one shared file; each task reads what another one wrote" },
    { WEIR_TOPIC_NONE, "-o /scratch/f -F -b 1g -t 1m -e -C", "a file for each task" },
    { WEIR_TOPIC_NONE, "-o /scratch/f -b 4m -t 4k -s 16 -z", "small transfers in random order" },
    { WEIR_TOPIC_NONE, "-a MPIIO -c -o /scratch/f -b 64m -t 1m -w -R",
      "collective MPI-IO, every byte checked" },
    { WEIR_TOPIC_FILES, "-o /scratch/f -F -u -k -b 16m",
      "a directory and a file for each task, kept afterwards" },
    { WEIR_TOPIC_ORDER, "-o /scratch/f -b 16m -Z -X 7",
      "read what a random other task wrote, the same at each run" },
    { WEIR_TOPIC_DATA, "-o /scratch/f -b 1g -t 16m -l random -e -R",
      "data that no storage can compress, flushed, and checked after reading" },
    { WEIR_TOPIC_TIME, "-o /scratch/f -w -F -b 100g -t 1m -D 30 -O stoneWallingWearOut=1",
      "write for 30 s, and let all tasks reach the count of the fastest" },
    { .args = NULL }
};

static const struct weir_operation operations[] = {
    [WEIR_DIR_WRITE] = { "write", "write", "transfers", true },
    [WEIR_DIR_READ] = { "read", "read", "transfers", true },
    { .key = NULL }
};

static const struct weir_line line = { .script = script_of, .read_script = weir_script_read };

static const struct weir_made made = {
    .files = ior_files,
    .target = target,
    .existing =
        WEIR_EXISTING_REPLACE | WEIR_EXISTING_REUSE | WEIR_EXISTING_FAIL | WEIR_EXISTING_TOLD,
    .keeps = ior_keeps,
    .remove = ior_remove,
    .removed = ior_removed,
};

static const struct weir_judged judged = { .facts = ior_facts, .range = ior_range };

const struct weir_driver weir_ior = {
    .name = "ior",
    .examples = examples,
    .brief = "measure the bandwidth of parallel file I/O",
    .opts = options,
    .opt_size = sizeof(struct ior_options),
    .state_size = sizeof(struct ior_test),
    .operations = operations,
    .deviation = IOR_DEVIATION,
    .op_files = WEIR_OP_FILES_REPETITION,
    .line = &line,
    .made = &made,
    .plan = plan_test,
    .output = choose_output,
    .enter = note_status_files,
    .banner = ior_report_begin,
    .begin = ior_begin,
    .end = ior_free,
    .start = ior_start,
    .report = ior_report,
    .judged = &judged,
    .repetition = ior_repetition,
    .stages = ior_stages,
    .conclude = ior_conclude,
    .summary = ior_report_summary,
    .finish = ior_report_finish,
};

WEIR_PROGRAM("ior", weir_ior);
