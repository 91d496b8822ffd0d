/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu.c - the GPU of a task in a test: the options, and the report of which, by which way, and the
 * copies in the time of its transfers */

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/node/machine.h"
#include "engine/gpu.h"
#include "engine/observe/all.h"
#include "par/reduce.h"

struct row {
    const char *operation;
    int64_t test, iter, copies, bytes;
    double seconds, share;
};

#define R struct row
static const struct weir_col cols[] = {
    COL_INT(R, test, "test", "Number of the test, from 0"),
    COL_INT(R, iter, "iter", "Repetition, from 0"),
    COL_STR(R, operation, "operation", "Phase"),
    COL_INT(R, copies, "copies", "Copies between host and GPU in the transfers of all tasks"),
    COL_INT(R, bytes, "bytes", "Bytes that they have moved"),
    COL_REAL(R, seconds, "copyTime", "Time of all tasks in them, seconds"),
    COL_REAL(R, share, "copyShare", "Share of the time of all tasks in steps, percent"),
    WEIR_COL_END
};
#undef R

static const struct weir_table table = { .key = "gpuCopies",
                                         .cols = cols,
                                         .readers = WEIR_FOR_DATA };

/* ---- the options ---- */

/* The number of a device, WEIR_GPU_IN_TURN (also without such an option) or WEIR_GPU_NEAR; a lower
 * number: the text is none of them. */
static int read_device(const char *text)
{
    char *end = NULL;
    long n = text ? strtol(text, &end, 10) : WEIR_GPU_IN_TURN;

    if (text && strcasecmp(text, "near") == 0)
        return WEIR_GPU_NEAR;
    return !text || (end != text && !*end && n >= -1 && n < 1024) ? (int)n : INT_MIN;
}

static int check(const struct weir_run_options *o, struct weir_files *files, struct weir_err *err)
{
    bool on_host = o->gpu_memory == WEIR_MEMORY_HOST;
    const struct weir_conflict rules[] = {
        { on_host && (o->gpu_direct || o->gpu_path),
          "--gpuDirect and --gpu-path are for buffers in memory of a GPU; choose it with "
          "--gpu-memory (allocateBufferOnGPU) 1, 2 or 3" },
        { o->gpu_direct && weir_gpu_path(o) != WEIR_GPU_DIRECT,
          "--gpu-path and GPUDirect contradict each other; give one of them" },
    };

    if (read_device(o->gpu_id) < WEIR_GPU_NEAR)
        return weir_refuse(err, WEIR_EUSAGE,
                           "GPUid: '%s' is not the number of a GPU, -1 (in turn) or near",
                           o->gpu_id);
    return weir_conflicts_check(rules, sizeof(rules) / sizeof(*rules), err);
}

/* ---- the test ---- */

static bool is_wanted(const struct weir_test *t)
{
    return t->plan.options->gpu_memory != WEIR_MEMORY_HOST && !t->plan.options->dry_run;
}

/* The index of this task on its node, as IOR counts it. */
static int index_of(const struct weir_par *par)
{
    return par->placement == WEIR_PLACED_BLOCK ? par->rank % par->per_node
                                               : par->rank / par->nodes;
}

/* A copy after the last transfer may have failed. */
static int end_gpu(void *what, struct weir_err *err)
{
    struct weir_run *run = what;
    int rc = weir_gpu_lost(run->gpu, err);

    weir_gpu_end(run->gpu);
    run->gpu = NULL;
    return rc;
}

static int test_begin(struct weir_run *run, void *state, struct weir_err *err)
{
    const struct weir_run_options *o = run->test->plan.options;

    run->gpu = weir_gpu_begin((enum weir_gpu_memory)o->gpu_memory, weir_gpu_path(o),
                              read_device(o->gpu_id), index_of(&run->par), err);
    if (!run->gpu)
        return weir_err_within(err, "allocateBufferOnGPU=%d", o->gpu_memory);
    return weir_unwind_push(&run->test->unwind, end_gpu, run, false, err);
}

/* Returns whether two tasks of a node have the same device, on the leader of the node. */
static bool is_shared(const struct weir_run *run)
{
    const struct weir_par *par = &run->par;
    uint64_t own = weir_hash(WEIR_HASH_BEGIN, run->gpu->bus, strlen(run->gpu->bus));
    uint64_t *all =
        par->rank == par->leader ? calloc((size_t)par->followers + 1, sizeof(*all)) : NULL;
    bool shared = false;

    weir_nodes_gather(par, &own, 1, all);
    for (int i = 0; all && i <= par->followers; i++)
        for (int k = 0; k < i; k++)
            shared |= all[i] == all[k];
    free(all);
    return shared;
}

/* The facts of rank 0's device. */
static void test_end(struct weir_run *run, void *state)
{
    const struct weir_gpu *g = run->gpu;
    struct weir_report *r = &run->report;
    int64_t facts[] = { is_shared(run), g->files_staged };
    int node = weir_machine_numa_node();

    weir_allmax_i64(&run->par, facts, 2);
    if (facts[0])
        weir_note(&run->log, "tasks of a node share a GPU (%d seen by rank 0): their copies wait "
                             "for each other", g->devices);
    if (g->unregistered.code != WEIR_OK)
        weir_note(&run->log, "buffers are not registered, and transfers go through those of the "
                             "library: %s", g->unregistered.text);
    weir_report_enter(r, "gpu", false);
    weir_report_str(r, WEIR_FOR_DATA, "memory", weir_gpu_memories[g->memory].name);
    weir_report_str(r, WEIR_FOR_DATA, "path", weir_gpu_paths[g->path]);
    weir_report_int(r, WEIR_FOR_DATA, "compatibilityMode", facts[1]);
    weir_report_str(r, WEIR_FOR_DATA, "driver", g->vendor->name);
    weir_report_int(r, WEIR_FOR_DATA, "driverVersion", g->version);
    weir_report_int(r, WEIR_FOR_DATA, "fileVersion", g->files_version);
    weir_report_str(r, WEIR_FOR_DATA, "name", g->name);
    weir_report_str(r, WEIR_FOR_DATA, "bus", g->bus);
    weir_report_int(r, WEIR_FOR_DATA, "device", g->device);
    weir_report_int(r, WEIR_FOR_DATA, "devices", g->devices);
    weir_report_int(r, WEIR_FOR_DATA, "numaNode", g->node);
    weir_report_int(r, WEIR_FOR_DATA, "taskNumaNode", node);
    weir_report_int(r, WEIR_FOR_DATA, "numaDistance",
                    weir_machine_numa_distance("/sys", node, g->node));
    weir_report_int(r, WEIR_FOR_DATA, "shared", facts[0]);
    weir_report_leave(r);
}

/* ---- a phase ---- */

static void start(struct weir_run *run, void *state, const struct weir_phase_rec *rec)
{
    memset(run->gpu->copies, 0, sizeof(run->gpu->copies));
}

static void add(struct weir_run *run, void *state, const struct weir_phase_rec *rec, uint64_t *sum)
{
    memcpy(sum, run->gpu->copies, sizeof(run->gpu->copies));
}

static int after(struct weir_run *run, void *state, struct weir_phase_rec *rec,
                 struct weir_err *err)
{
    struct row row = { .operation = rec->phase->key,
                       .test = run->test->id,
                       .iter = rec->repetition };

    if (rec->failed || !rec->stage || rec->sums[WEIR_GPU_COPIES] == 0)
        return 0;
    row.copies = (int64_t)rec->sums[WEIR_GPU_COPIES];
    row.bytes = (int64_t)rec->sums[WEIR_GPU_COPIED];
    row.seconds = (double)rec->sums[WEIR_GPU_COPY_NS] / WEIR_NS_PER_S;
    row.share = 100 * (double)rec->sums[WEIR_GPU_COPY_NS] /
                (double)(rec->sum.work_ns ? rec->sum.work_ns : 1);
    weir_report_row(&run->report, &table, &row);
    if (run->log.verbose >= 1)
        weir_report_line(&run->report, "copies between host and GPU in %s: %.6f s of all tasks, "
                                       "%.1f %% of their time", row.operation, row.seconds, row.share);
    return 0;
}

const struct weir_observer weir_gpu_use = {
    .name = "gpu",
    .sums = WEIR_GPU_SUMS,
    .wanted = is_wanted,
    .check = check,
    .test_begin = test_begin,
    .test_end = test_end,
    .start = start,
    .add = add,
    .after = after,
};
