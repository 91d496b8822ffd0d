/* SPDX-License-Identifier: BSD-3-Clause */
/* ior.c - the bandwidth benchmark: what a test takes, what is known of it, and the run over all tests */
#include "programs/ior/ior.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/node/machine.h"
#include "engine/check/inputs.h"
#include "engine/test.h"
#include "par/agree.h"

#define AHEAD_BYTES (64u << 20) /* at most this much memory for transfers that are filled ahead */

/* ---- before the first test ---- */

/* Tests of a script that write the same status file: only the last one's count is left. */
static int note_status_files(struct weir_run *run, struct weir_test *tests, int n,
                             struct weir_err *err)
{
    for (int i = 1; i < n; i++)
        for (int k = 0; k < i; k++) {
            const struct ior_options *a = tests[i].chosen;
            const struct ior_options *b = tests[k].chosen;

            if (a->write && b->write && a->status_file && b->status_file &&
                strcmp(a->status_file, b->status_file) == 0) {
                weir_note(&run->log, "stoneWallingStatusFile '%s' is written by several tests; it "
                                     "keeps the count of the last test", a->status_file);
                return 0;
            }
        }
    return 0;
}

/* ---- what a test takes ---- */

/* A dry run takes none. */
static int take_buffers(struct ior_test *t, struct weir_err *err)
{
    bool ahead = t->data.pattern.packet == WEIR_PACKET_RANDOM &&
                 t->o->random_offset < 2 && /* see by_block */
                 t->extent.transfer * WEIR_LANES <= AHEAD_BYTES;

    t->data.lanes = ahead ? WEIR_LANES : 1;
    if (t->o->run.dry_run)
        return 0;
    for (int i = 0; i < t->data.lanes; i++)
        if (weir_gpu_take(t->gpu, true, &t->data.buf[i], WEIR_PAGE, t->extent.transfer, err) < 0)
            return -1;
    return t->o->mix ? weir_gpu_take(t->gpu, true, &t->mix.buf, WEIR_PAGE, t->extent.transfer, err) : 0;
}

/* Touched page by page by weir_mem_aligned, so the kernel has really given it. */
static int take_memory(struct ior_test *t, struct weir_err *err)
{
    if (t->memory.bytes <= 0 || t->o->run.dry_run)
        return 0;
    if (weir_mem_aligned(&t->memory.taken, WEIR_PAGE, (size_t)t->memory.bytes, err) < 0)
        return weir_err_within(err, "allocate memory (-M, memoryPerTask)");
    return 0;
}

static int begin(struct weir_run *run, void *state, struct weir_err *err)
{
    struct ior_test *t = state;
    const struct ior_options *o = t->o;

    if (o->tasks > run->world.size &&
        weir_warn(&run->log, err,
                  "more tasks requested (%d) than available (%d), running with %d tasks", o->tasks,
                  run->world.size, run->world.size) < 0)
        return -1;
    t->access.nodes = run->par.nodes;
    t->use.mount = o->dual_mount ? weir_machine_numa_node() : -1; /* once: names stay */
    t->gpu = run->gpu;
    if (take_buffers(t, err) < 0 || ior_check_owner(t, &run->par, err) < 0)
        return -1;
    return take_memory(t, err);
}

static void end(void *state)
{
    struct ior_test *t = state;

    for (int i = 0; i < t->data.lanes; i++)
        weir_gpu_give(t->gpu, t->data.buf[i]);
    weir_gpu_give(t->gpu, t->mix.buf);
    weir_queue_end(&t->queue);
    weir_offsets_free(&t->pass.offsets);
    weir_str_free(&t->use.path);
    weir_str_free(&t->use.dir);
    weir_str_free(&t->use.facts);
    weir_str_free(&t->use.in_effect);
    free(t->owner_of);
    free(t->memory.taken);
}

/* Requests and buffers of the queue of the session: t->queue.depth is 0 where transfers are done one
 * after the other. Local. */
static int begin_queue(struct ior_test *t, struct weir_err *err)
{
    const struct weir_extent *x = &t->extent;
    bool copies =
        ior_data_varies(&t->data) || t->gpu || t->o->check_write || ior_wants_read(t->o) ||
        t->o->mix;

    return weir_queue_begin(&t->queue, &t->session, x->block / x->transfer * x->segments,
                            copies ? x->transfer : 0,
                            (struct iovec) { t->data.buf[0], x->transfer }, err);
}

static int start(struct weir_run *run, void *state, struct weir_err *err)
{
    struct ior_test *t = state;

    /* Replaces a signature that was not given. With -l signature later runs have larger numbers. */
    t->data.unit.run = weir_clock_day_ns(&run->par);
    if (ior_find_elsewhere(run, t, err) < 0 ||
        weir_test_session(run, &t->session, t->be, t->be_opt, &t->access, &run->par, err) < 0)
        return -1;
    return weir_agree(&run->par, begin_queue(t, err), err);
}

/* A new signature for each repetition, so that what an earlier one left does not pass. */
static int begin_repetition(struct weir_run *run, void *state, struct weir_err *err)
{
    struct ior_test *t = state;
    uint32_t sig = (uint32_t)t->o->signature;

    if (sig == 0)
        sig = (uint32_t)(t->data.unit.run / WEIR_NS_PER_S) + (uint32_t)run->repetition;
    t->data.pattern.rank = run->par.rank;
    ior_new_signature(t, sig);
    t->results.written = UINT64_MAX;
    t->results.mixed = 0;
    t->damage.dirty = t->results.wrote_short = false;
    if (run->log.verbose >= 2)
        weir_report_line(&run->report,
                         "Using Time Stamp %" PRIu32 " (0x%" PRIx32 ") for Data Signature", sig,
                         sig);
    if (run->repetition > 0)
        return 0;
    weir_report_line(&run->report, "%s", "");
    ior_report_head(run);
    return 0;
}

/* ---- inputs of the checks: what follows from the options for the reliability of the results ---- */

/* Return the nodes between a task and the one whose data it reads; -1: no distance was asked for. */
static int distance_of(const struct ior_options *o, const struct weir_par *par)
{
    if (!o->reorder_constant || par->cache.nodes < 2)
        return -1;
    return weir_par_same_node(par, ior_shift(o, par, false)) == par->size
               ? 0
               : o->node_offset % par->cache.nodes;
}

/* Compute the fraction of tasks that read what their own node wrote, and of the data that is
 * not read. */
static void look_at_owners(struct weir_run *run, const struct ior_test *t, struct weir_inputs *f)
{
    const struct ior_options *o = t->o;
    int owner = ior_owner(t, &run->par, false, 0, NULL);
    double own = weir_inputs_own_node(&run->par, owner < 0 ? run->par.rank : owner);
    double tasks = run->par.size;

    f->own_node = o->write ? own : NAN;
    f->service.of_others = o->reorder_random > 0 || (owner >= 0 && owner != run->par.rank);
    /* of n draws out of n with repetition */
    f->unread = o->reorder_random == 1 && !t->owner_of ? pow(1 - 1 / tasks, tasks) : 0;
}

/* -z -z: as many draws as there are blocks. */
static double share_repeated(const struct ior_options *o, const struct weir_par *par)
{
    double m = (double)o->segments * (o->file_per_task ? 1 : par->size);

    return o->random_offset < 2 || m < 1 ? NAN : pow(1 - 1 / m, m);
}

static void inputs_of(struct weir_run *run, void *state, struct weir_inputs *f)
{
    struct ior_test *t = state;
    const struct ior_options *o = t->o;
    enum weir_packet packet = t->data.pattern.packet;

    f->path = o->test_file;
    f->planned_bytes = (double)o->block * (double)o->segments * run->par.size;
    if (!(t->session.flags & (WEIR_BE_CONTAINER | WEIR_BE_NO_DATA)) && weir_run_options_bound(&o->run) == 0 &&
        (o->write || !o->status_file)) /* which says that a stonewall has ended the writing of these files */
        f->file_bytes = (double)t->extent.file_bytes;
    f->durable = o->sync_end || o->sync_each || f->direct == 1;
    f->shared = !o->file_per_task;
    f->random = o->random_offset > 0;
    f->collective = o->collective;
    f->own_metadata = -1;
    f->transfer = (double)o->transfer;
    f->distance = distance_of(o, &run->par);
    f->repeats = share_repeated(o, &run->par);
    f->data_kind = packet == WEIR_PACKET_TIMESTAMP || packet == WEIR_PACKET_OFFSET
                       ? WEIR_DATA_REPEATED
                       : WEIR_DATA_RANDOM;
    f->ratio = t->data.pattern.ratio;
    if (ior_wants_read(o))
        look_at_owners(run, t, f);
    if (o->mix && o->write)
        f->own_node = 1; /* a mix reads the task's own data */
}

static bool range_of(struct weir_run *run, void *state, const struct weir_stage *stage,
                     struct weir_str *path, struct weir_cache_range *range)
{
    const struct ior_test *t = state;
    const struct ior_options *o = t->o;
    bool reads = (stage->flags & WEIR_STAGE_READS) && !(stage->flags & WEIR_STAGE_WRITES);
    int owner = reads ? ior_owner(t, &run->par, false, run->repetition, NULL) : run->par.rank;
    uint64_t block = (uint64_t)o->block, tasks = (uint64_t)run->par.size;

    if (owner < 0 || (t->session.flags & WEIR_BE_NO_DATA) ||
        ior_file_name(o, reads ? t->use.owner_mount : t->use.mount, owner, run->repetition, path,
                      NULL) < 0)
        return false;
    if (o->file_per_task)
        *range = (struct weir_cache_range) { 0, block * (uint64_t)o->segments, 0, 1 };
    else
        *range = (struct weir_cache_range) { (uint64_t)owner * block, block, block * tasks,
                                             (uint64_t)o->segments };
    return true;
}

/* ---- the program ---- */

static const char *script_of(const void *opt)
{
    return ((const struct ior_options *)opt)->script;
}

static const struct weir_example examples[] = {
    { WEIR_TOPIC_NONE, "-o /scratch/f -b 1g -t 1m -e -C",
      "one shared file, read by the next node (two nodes or more)" },
    { WEIR_TOPIC_NONE, "-o /scratch/f -F -b 1g -t 1m -e -C", "a file for each task" },
    { WEIR_TOPIC_NONE, "-o /scratch/f -b 4m -t 4k -s 16 -z", "small transfers in random order" },
    { WEIR_TOPIC_NONE, "-a MPIIO -c -o /scratch/f -b 64m -t 1m -w -R",
      "collective MPI-IO, every byte checked" },
    { WEIR_TOPIC_FILES, "-o /scratch/f -F -u -k -b 16m",
      "a directory and a file for each task, kept afterwards" },
    { WEIR_TOPIC_ORDER, "-o /scratch/f -F -b 1g -t 4k -z -w --mix=read:70,write:30",
      "reads and writes mixed, over a file that is written first" },
    { WEIR_TOPIC_ORDER, "-a S3 --s3.object=transfer --depth=16 -F -b 64m -t 64k -w "
      "--mix=read:60,write:25,list:5,head:5,delete:5 -o s3://bench/d",
      "operations on objects, in a ratio" },
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
    [IOR_MIX + WEIR_DIR_WRITE] = { "mix-write", "mix-write", "transfers", true },
    [IOR_MIX + WEIR_DIR_READ] = { "mix-read", "mix-read", "transfers", true },
    [IOR_MIX + WEIR_DIR_LIST] = { "mix-list", "mix-list", "requests", false },
    [IOR_MIX + WEIR_DIR_HEAD] = { "mix-head", "mix-head", "requests", false },
    [IOR_MIX + WEIR_DIR_DELETE] = { "mix-del", "mix-del", "requests", false },
    { .key = NULL }
};

static const struct weir_cli cli = { .script = script_of, .read_script = weir_script_read };

static const struct weir_test_checks checks = { .inputs = inputs_of, .range = range_of };

const struct weir_program weir_ior = {
    .name = "ior",
    .examples = examples,
    .brief = "measure the bandwidth of parallel file I/O",
    .opts = ior_opts,
    .opt_size = sizeof(struct ior_options),
    .state_size = sizeof(struct ior_test),
    .operations = operations,
    .output = &ior_output,
    .cli = &cli,
    .files = &ior_files_made,
    .plan = ior_plan,
    .enter = note_status_files,
    .begin = begin,
    .end = end,
    .start = start,
    .checks = &checks,
    .repetition = begin_repetition,
    .stages = ior_stages,
    .conclude = ior_conclude,
};

WEIR_PROGRAM("ior", weir_ior);
