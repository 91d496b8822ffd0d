/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu.c - the report of the GPUs of a test: which, by which way, and the copies in the time of its
 * transfers */
#include "config.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/hash.h"
#include "engine/gpu.h"
#include "engine/observe/all.h"
#include "engine/phase.h"
#include "engine/test.h"
#include "par/reduce.h"

enum { SUM_COPIES, SUM_BYTES, SUM_NS, SUMS };

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

static int check(const struct weir_run_options *o, struct weir_files *files, struct weir_err *err)
{
    return weir_gpu_check(o, err);
}

/* ---- the test ---- */

/* Have two tasks of a node the same device? On the leader of the node. */
static bool is_shared(const struct weir_run *run)
{
    const struct weir_par *par = &run->par;
    const char *bus = run->gpu->facts.bus;
    uint64_t own = weir_hash(WEIR_HASH_BEGIN, bus, sizeof(run->gpu->facts.bus));
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
static void report(struct weir_run *run, bool shared, bool staged)
{
    const struct weir_gpu *g = run->gpu;
    struct weir_report *r = &run->report;

    weir_report_enter(r, "gpu", false);
    weir_report_str(r, WEIR_FOR_DATA, "memory", weir_gpu_memories[g->memory].name);
    weir_report_str(r, WEIR_FOR_DATA, "path", weir_gpu_paths[g->path]);
    weir_report_int(r, WEIR_FOR_DATA, "compatibilityMode", staged);
    weir_report_str(r, WEIR_FOR_DATA, "driver", g->vendor->name);
    weir_report_int(r, WEIR_FOR_DATA, "driverVersion", g->facts.version);
    weir_report_int(r, WEIR_FOR_DATA, "fileVersion", weir_gpu_files_version(g->files));
    weir_report_str(r, WEIR_FOR_DATA, "name", g->facts.name);
    weir_report_str(r, WEIR_FOR_DATA, "bus", g->facts.bus);
    weir_report_int(r, WEIR_FOR_DATA, "device", g->device);
    weir_report_int(r, WEIR_FOR_DATA, "devices", g->devices);
    weir_report_int(r, WEIR_FOR_DATA, "numaNode", g->node);
    weir_report_int(r, WEIR_FOR_DATA, "taskNumaNode", weir_gpu_own_node());
    weir_report_int(r, WEIR_FOR_DATA, "shared", shared);
    weir_report_leave(r);
}

static void test_open(struct weir_run *run, void *state)
{
    int64_t facts[2];

    if (!run->gpu)
        return;
    facts[0] = is_shared(run);
    facts[1] = weir_gpu_files_are_staged(run->gpu->files);
    weir_allmax_i64(&run->par, facts, 2);
    if (facts[0])
        weir_note(
            &run->log,
            "tasks of a node share a GPU (%d seen by rank 0): their copies wait for each other",
            run->gpu->devices);
    report(run, facts[0], facts[1]);
}

/* ---- a phase ---- */

static void start(struct weir_run *run, void *state, const struct weir_phase_rec *rec)
{
    if (run->gpu)
        run->gpu->copies = (struct weir_gpu_copies) { 0 };
}

static void add(struct weir_run *run, void *state, const struct weir_phase_rec *rec, uint64_t *sum)
{
    if (!run->gpu)
        return;
    sum[SUM_COPIES] = run->gpu->copies.n;
    sum[SUM_BYTES] = run->gpu->copies.bytes;
    sum[SUM_NS] = run->gpu->copies.ns;
}

static int after(struct weir_run *run, void *state, struct weir_phase_rec *rec,
                 struct weir_err *err)
{
    struct row row = { .operation = rec->phase->key,
                       .test = run->test->id,
                       .iter = rec->repetition };

    if (rec->failed || !rec->stage || rec->sum[SUM_COPIES] == 0)
        return 0;
    row.copies = (int64_t)rec->sum[SUM_COPIES];
    row.bytes = (int64_t)rec->sum[SUM_BYTES];
    row.seconds = (double)rec->sum[SUM_NS] / WEIR_NS_PER_S;
    row.share = 100 * (double)rec->sum[SUM_NS] / (double)(rec->busy_ns_sum ? rec->busy_ns_sum : 1);
    weir_report_row(&run->report, &table, &row);
    if (run->log.verbose >= 1)
        weir_report_line(
            &run->report,
            "copies between host and GPU in %s: %.6f s of all tasks, %.1f %% of their time",
            row.operation, row.seconds, row.share);
    return 0;
}

const struct weir_observer weir_gpu_use = {
    .name = "gpu",
    .sums = SUMS,
    .check = check,
    .test_open = test_open,
    .start = start,
    .add = add,
    .after = after,
};
