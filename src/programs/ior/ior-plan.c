/* SPDX-License-Identifier: BSD-3-Clause */
/* ior-plan.c - the plan of a test: are its options sound, and what follows from them */
#include "programs/ior/ior.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "engine/ratelimit.h"
#include "par/agree.h"
#include "par/clock.h"

/* The smallest unit of the data patterns. */
#define ACCESS_SIZE 8

#define SIZE_TEXT 64

/* Name a size as an option: "-t 1 MiB", and note when it is the default. */
static void name_size(const char *option, int64_t bytes, bool typed, char out[SIZE_TEXT])
{
    char size[WEIR_SIZE_TEXT];

    (void)snprintf(out, SIZE_TEXT, "%s %s%s", option, weir_size_show(bytes, size),
                   typed ? "" : ", the default");
}

static int check_sizes(const struct ior_options *o, const struct weir_values *given,
                       struct weir_err *err)
{
    char block[SIZE_TEXT], transfer[SIZE_TEXT];

    name_size("-b", o->block, weir_values_typed(given, "blockSize"), block);
    name_size("-t", o->transfer, weir_values_typed(given, "transferSize"), transfer);
    if (o->block < 0)
        return weir_refuse(err, WEIR_EUSAGE, "block size (-b %" PRId64 ") must not be negative",
                           o->block);
    if (o->transfer < 0 || o->transfer % ACCESS_SIZE)
        return weir_refuse(err, WEIR_EUSAGE,
                           "transfer size (-t %" PRId64 ") must be a multiple of %d bytes",
                           o->transfer, ACCESS_SIZE);
    if (o->block < o->transfer)
        return weir_refuse(err, WEIR_EUSAGE,
                           "block size (%s) must not be smaller than transfer size (%s)", block,
                           transfer);
    if (o->block % o->transfer)
        return weir_refuse(err, WEIR_EUSAGE,
                           "block size (%s) must be a multiple of transfer size (%s)", block,
                           transfer);
    if (o->prefill && o->block % o->prefill)
        return weir_refuse(err, WEIR_EUSAGE,
                           "randomPrefill (%" PRId64 " bytes) must divide the block size (%s)", o->prefill,
                           block);
    return 0;
}

/* Private files may together have more than 2^63 bytes: a stonewall ends them. */
static int check_volume(const struct ior_options *o, int tasks, struct weir_err *err)
{
    int64_t file, shared = 0;
    uint64_t all;
    bool fits = !__builtin_mul_overflow(o->block, o->segments, &file) &&
                (o->file_per_task || !__builtin_mul_overflow(file, tasks, &shared));

    if (!fits || __builtin_mul_overflow((uint64_t)file, (uint64_t)tasks, &all))
        return weir_refuse(err, WEIR_EUSAGE,
                           "blocks of %" PRId64 " bytes (-b) in %" PRId64
                           " segments (-s) for %d tasks are more than %s",
                           o->block, o->segments, tasks,
                           fits ? "can be counted, 2^64 bytes" : "a file can hold, 2^63 bytes");
    return 0;
}

int ior_check_owner(const struct ior_test *t, const struct weir_par *par, struct weir_err *err)
{
    const struct ior_options *o = t->o;

    if (o->reorder_random != 1 || !ior_wants_read(o) || ior_owner(t, par, false, 0, err) >= 0)
        return 0;
    return weir_err_within(err, "option -Z with -Q %d", o->node_offset);
}

/* Every name in the list of -o, so that an empty one is found before anything is written. */
static int check_names(const struct ior_options *o, struct weir_err *err)
{
    struct weir_str name = { 0 };
    int rc = 0;

    for (int i = 0; rc == 0 && i < weir_places_count(o->test_file); i++)
        rc = ior_file_name(o, -1, i, 0, &name, err);
    weir_str_free(&name);
    return rc;
}

static int check_packet(const struct ior_options *o, struct weir_pattern *p, struct weir_err *err)
{
    if (weir_pattern_parse(p, "-l (dataPacketType)", o->packet, ior_packets, err) < 0)
        return -1;
    if (p->packet == WEIR_PACKET_SIGNATURE && o->transfer % WEIR_SIGNATURE_UNIT)
        return weir_refuse(err, WEIR_EUSAGE,
                           "-l signature has units of %d bytes: the transfer size (-t %" PRId64
                           ") must be a multiple",
                           WEIR_SIGNATURE_UNIT, o->transfer);
    return 0;
}

/* Refuses options that do not go together. */
static int check_rules(const struct ior_options *o, struct weir_err *err)
{
    bool elsewhere = ior_reads_elsewhere(o), shared = !o->file_per_task;
    bool replaces = weir_existing(&o->run) == WEIR_EXISTING_REPLACE;
    const struct weir_conflict rules[] = {
        { o->tasks == 0, "option -N (numTasks): 0 is too few tasks for testing; -1 takes all" },
        { o->test_file[0] == '\0', "option -o (testFile): an empty name" },
        { o->unique_dir && strchr(o->test_file, '@'),
          "several file names (-o with @) with unique directories (-u) are not possible" },
        { o->dual_mount && shared,
          "dual mount (-y) can only be used with a file per task; give -F" },
        { o->status_file && !o->keep,
          "a stoneWallingStatusFile is only sensible when another run reads the files; keep them "
          "with -k" },
        { o->status_file && o->write && !o->run.wear_out,
          "a stoneWallingStatusFile is only sensible for a write phase with "
          "stoneWallingWearOut=1" },
        { o->nodes == 0 || o->node0_tasks == 0,
          "numNodes and numTasksOnNode0 are at least 1; -1 takes the actual number" },
        { o->run.wear_out && weir_run_options_bound(&o->run) == 0,
          "stoneWallingWearOut is only sensible with a stonewall deadline; give -D" },
        { o->transfer == 0,
          "test will not complete with zero transfer size (-t); give at least 8 bytes" },
        { o->reorder_constant && o->reorder_random,
          "constant and random reordering of tasks (-C and -Z) exclude each other; choose one" },
        { o->reorder_constant && elsewhere,
          "--read-back=elsewhere chooses whose data a task reads; leave -C out" },
        { o->reorder_random && elsewhere,
          "--read-back=elsewhere chooses whose data a task reads; leave -Z out" },
        { o->random_offset && shared && elsewhere,
          "random offsets (-z) with --read-back=elsewhere need a file per task (-F)" },
        { o->random_offset && shared && o->reorder_constant,
          "random offsets (-z) with -C need a file per task (-F)" },
        { o->random_offset && shared && o->reorder_random,
          "random offsets (-z) with -Z need a file per task (-F)" },
        { o->random_offset > 1 && o->random_seed == 0,
          "--random-offset-seed=0 with -z -z draws only the first block; use another seed" },
        { o->random_offset && shared && o->check_read && !o->write && o->random_seed < 0,
          "random offsets (-z) with a check of what another run wrote (-R) need its "
          "--random-offset-seed" },
        { o->prefill && !o->random_offset,
          "randomPrefill without random offsets is not useful; give -z" },
        { o->mix && o->collective,
          "--mix with -c: each task draws its reads and writes independently, but a collective "
          "transfer has one direction for all tasks; leave -c out" },
        { o->mix && o->random_offset > 1,
          "--mix with -z -z: a block that is drawn twice has no known version, so its data cannot "
          "be checked; give -z once" },
        { o->mix && o->run.sweep,
          "--mix with --sweep: the sweep would overwrite the versions that --mix wrote; leave one "
          "of the options out" },
        { o->mix && o->run.rate && strchr(o->run.rate, '%'),
          "--mix with a --rate in percent: each rate would overwrite the versions that --mix "
          "wrote; give one rate, like 500ops" },
        { replaces && o->use_existing,
          "--existing=replace and -E contradict each other; give one of them" },
        { replaces && o->mix && !o->write,
          "--existing=replace removes the file that --mix reads; add -w to write a new one, or "
          "leave the option out" },
        { o->memory_per_node && o->memory_per_task,
          "memory per node (-M) and memoryPerTask exclude each other; choose one" },
    };

    return weir_conflicts_check(rules, sizeof(rules) / sizeof(*rules), err);
}

static bool is_in_bytes(const char *rate)
{
    struct weir_load load;

    return rate && weir_load_parse_rate(rate, &load) && load.bytes > 0;
}

/* Check the weights of --mix, and what operations without data need. */
static int check_mix(struct ior_test *t, const struct ior_options *o, struct weir_err *err)
{
    bool objects = false;

    if (!o->mix)
        return 0;
    if (ior_mix_parse(o->mix, &t->mix, err) < 0)
        return -1;
    for (int d = WEIR_DIR_LIST; d < WEIR_DIRS; d++)
        objects |= ior_mix_has(&t->mix, (enum weir_dir)d);
    return weir_conflicts_check((const struct weir_conflict[]) {
        { objects && !(t->be->flags & WEIR_BE_OBJECTS),
          "--mix with list, head or delete: these are requests for an object, and here a transfer "
          "is none; give -a S3 --s3.object=transfer, or read and write only" },
        { objects && (is_in_bytes(o->run.rate) || is_in_bytes(o->run.rate_total)),
          "--mix with list, head or delete, which move no bytes: give the rate in operations, like "
          "500ops" },
        { t->mix.weight[WEIR_DIR_DELETE] && !o->write && !o->multi_file &&
              weir_run_options_most(&o->run) > 1,
          "--mix with delete and several repetitions (-i, --until): a repetition would read what "
          "the one before it has deleted; add -w, which writes the objects in each" },
    }, 3, err);
}

/* Bytes of memoryPerTask, or of -M for one task. */
static int parse_memory(const struct ior_options *o, const struct weir_par *par, int64_t *bytes,
                        struct weir_err *err)
{
    int64_t node = 0;
    double percent = -1;

    *bytes = o->memory_per_task;
    if (!o->memory_per_node)
        return 0;
    if (weir_share_parse(o->memory_per_node, &node, &percent, err) < 0)
        return weir_err_within(err, "option -M (memoryPerNode)");
    if (percent >= 0)
        node = (int64_t)((double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE) * percent /
                         100);
    *bytes = node / par->cache.per_node_max;
    return 0;
}

static void fill_layout(struct ior_test *t, int tasks)
{
    const struct ior_options *o = t->o;

    t->layout = (struct weir_layout) {
        .transfer = (uint64_t)o->transfer,
        .block = (uint64_t)o->block,
        .segments = (uint64_t)o->segments,
        .tasks = tasks,
        .shared = !o->file_per_task,
    };
    t->data.pattern.files = t->layout.shared ? WEIR_FILES_SHARED : WEIR_FILES_OF_TASKS;
    t->data.by_block = o->random_offset >= 2 && t->layout.shared;
}

/* Repetitions whose files are there at once. */
static uint64_t kept_at_a_time(const struct ior_options *o)
{
    return o->multi_file && o->keep && o->run.repetitions > 1 ? (uint64_t)o->run.repetitions : 1;
}

/* The option by which files keep bytes that were there. */
static const char *partly_by(const struct ior_options *o)
{
    if (o->mix)
        return "--mix";
    if (!o->write)
        return NULL;
    if (o->use_existing)
        return "-E";
    if (o->prefill)
        return "--random-prefill";
    return weir_existing(&o->run) == WEIR_EXISTING_REUSE ? "--existing=reuse"
           : o->random_offset > 1                        ? "-z -z"
                                                         : NULL;
}

static void fill_access(struct ior_test *t, const struct weir_run *run, int tasks)
{
    const struct ior_options *o = t->o;
    uint64_t file = (uint64_t)o->block * (uint64_t)o->segments;

    t->access = (struct weir_access) {
        .file_per_task = o->file_per_task,
        .in_place = "-E and -k",
        .partly = partly_by(o),
        .stops = weir_run_options_stops(&o->run),
        .only_reads = !o->write && !o->mix,
        .deletes = t->mix.weight[WEIR_DIR_DELETE] > 0,
        .collective = o->collective && t->be && (t->be->flags & WEIR_BE_COLLECTIVE_XFER),
        .random = o->random_offset > 0,
        .sync_each = o->sync_each,
        .single_try = o->single_try,
        .queued = true,
        .depth = o->run.depth,
        .dry_run = o->run.dry_run,
        .tasks = tasks,
        .nodes = run->world.nodes,
    };
    t->extent = (struct weir_extent) {
        .task = run->world.rank,
        .transfer = (uint64_t)o->transfer,
        .block = (uint64_t)o->block,
        .segments = (uint64_t)o->segments,
        .file_bytes = o->file_per_task ? file : file * (uint64_t)tasks,
    };
    run->test->plan.bytes = weir_product(file * (uint64_t)tasks, kept_at_a_time(o));
    run->test->plan.inodes = (o->file_per_task ? (uint64_t)tasks : 1) * kept_at_a_time(o);
}

/* All checks. Ranks may differ in memory, files that are there and the backend's own check. */
static int check_all(struct ior_test *t, const struct weir_run *run, struct ior_options *o,
                     struct weir_err *err)
{
    int tasks = run->test->plan.tasks;
    struct weir_par par = run->world;

    weir_par_renumber(&par, o->nodes, o->node0_tasks);
    if (!o->write && !o->read && !o->check_write && !o->check_read && !o->mix)
        o->write = o->read = true;
    if (check_packet(o, &t->data.pattern, err) < 0 || check_rules(o, err) < 0 ||
        check_mix(t, o, err) < 0 || check_names(o, err) < 0 ||
        check_sizes(o, run->test->values, err) < 0 || check_volume(o, tasks, err) < 0 ||
        parse_memory(o, &par, &t->memory.bytes, err) < 0 ||
        (tasks == par.size && ior_check_owner(t, &par, err) < 0))
        return -1;
    fill_layout(t, tasks);
    fill_access(t, run, tasks);
    if (o->random_offset && (t->be->flags & WEIR_BE_NO_RANDOM))
        return weir_refuse(err, WEIR_EUSAGE, "random offset not available with %s; leave -z out",
                           t->be->name);
    return weir_session_check(t->be, t->be_opt, &t->access, &t->extent, &run->world, &run->log,
                              err);
}

/* True for a number from 1 to 100 without a suffix, which the original reads as a percentage. */
static bool is_bare_share(const char *text)
{
    long number = strtol(text, NULL, 10);

    return text[strspn(text, "0123456789")] == '\0' && number > 0 && number <= 100;
}

/* Warn of combinations that can be run but are probably a mistake. */
static void note_odd(const struct ior_test *t, const struct weir_log *log)
{
    const struct ior_options *o = t->o;

    if (o->segments == 0)
        weir_note(log, "with no segments (-s 0) nothing is written or read");
    if (o->unique_dir && !o->file_per_task)
        weir_note(log, "-u has no effect on a shared file; it needs a file per task (-F)");
    if (o->reorder_constant && ior_wants_read(o) && t->layout.tasks == 1)
        weir_note(log, "-C has no effect with one task, which reads what it wrote");
    if (o->random_offset == 1 && o->block == o->transfer && o->segments == 1 &&
        (o->file_per_task || t->layout.tasks == 1))
        weir_note(log, "-z has no effect: each file has one transfer");
    if (o->memory_per_node && is_bare_share(o->memory_per_node))
        weir_note(log, "-M %s is %s bytes of each node; write -M %s%% for a part of its memory",
                  o->memory_per_node, o->memory_per_node, o->memory_per_node);
    if (o->collective && !t->access.collective)
        weir_note(log, "-c has no effect: %s has no collective transfers", t->be->name);
}

/* *own is t->o, filled up where options follow from others. Collective over run->world. */
static int check(struct ior_test *t, const struct weir_run *run, struct ior_options *own,
                 struct weir_err *err)
{
    if (weir_agree_check(&run->world, check_all(t, run, own, err), err) < 0)
        return -1;
    note_odd(t, &run->log);
    if (own->random_offset && own->random_seed < 0)
        own->random_seed = (int)((weir_clock_day_ns(&run->world) / WEIR_NS_PER_S +
                                  (uint64_t)t->id) & INT32_MAX); /* each test of a script has its own */
    t->mix.seed = own->random_seed < 0 ? 0 : (uint64_t)own->random_seed;
    return 0;
}

int ior_plan(struct weir_run *run, void *state, void *chosen, struct weir_err *err)
{
    struct weir_test *test = run->test;
    struct ior_test *t = state;
    struct ior_options *own = chosen;

    t->id = test->id;
    t->o = own;
    if (t->o->tasks > 0 && t->o->tasks < run->world.size)
        test->plan.tasks = t->o->tasks;
    test->plan.nodes = t->o->nodes;
    test->plan.node0_tasks = t->o->node0_tasks;
    if (weir_values_backend(test->values, t->o->run.api, &run->world, &t->be, &t->be_opt, err) < 0)
        return -1;
    if (t->be_opt.refused)
        own->run.api = t->be->name;
    if (check(t, run, own, err) < 0)
        return -1;
    test->plan.path = t->o->dual_mount ? NULL : t->o->test_file; /* mounts: a number follows */
    test->plan.between[0] = '@';
    test->plan.writes = t->o->write || t->o->mix;
    test->plan.shared = !t->o->file_per_task || ior_reads_of_others(t->o);
    own->use_existing |= weir_existing(&own->run) == WEIR_EXISTING_REUSE;
    return 0;
}
