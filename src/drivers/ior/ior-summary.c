/* SPDX-License-Identifier: BSD-3-Clause */
/* ior-summary.c - the rows of the summary: columns and formulas (ior.md 7.6) */
#include "config.h"
#include "drivers/ior/ior.h"

#include <math.h>
#include <stddef.h>

#include "base/col.h"

#define MIB 1048576.0

#define S struct ior_summary
#define REAL(k, t, f, w, p, h)                                                                     \
    COL_REAL(S, f, k, h, .head = (t), .width = (w), .prec = (p), .gap = 1)
#define RATE(k, t, f, h)                                                                           \
    COL_REAL(S, f, k, h, .head = (t), .unit = MIB, .width = 10, .prec = 2, .gap = 1)
#define INT(k, t, f, w, h) COL_INT(S, f, k, h, .head = (t), .width = (w), .gap = 1)

/* The text order is the order of the rows; JSON readers go by key. */
static const struct weir_col summary_cols[] = {
    COL_STR(S, operation, "operation", "Operation", .head = "Operation", .width = -9, .gap = 1),
    RATE("bwMaxMIB", "Max(MiB)", bw_max, "Best bandwidth of the repetitions, MiB/s"),
    RATE("bwMinMIB", "Min(MiB)", bw_min, "Worst bandwidth of the repetitions, MiB/s"),
    RATE("bwMeanMIB", "Mean(MiB)", bw_mean, "Mean bandwidth, MiB/s"),
    RATE("bwStdMIB", "StdDev", bw_sd, "Population standard deviation of the bandwidth, MiB/s"),
    REAL("OPsMax", "Max(OPs)", ops_max, 10, 2, "Most transfers a second, over the total time"),
    REAL("OPsMin", "Min(OPs)", ops_min, 10, 2, "Fewest transfers a second"),
    REAL("OPsMean", "Mean(OPs)", ops_mean, 10, 2, "Mean transfers a second"),
    REAL("OPsSD", "StdDev", ops_sd, 10, 2,
         "Population standard deviation of the transfers a second"),
    REAL("MeanTime", "Mean(s)", mean_s, 10, 5, "Mean total time, seconds"),
    REAL("StoneWallTime", "Stonewall(s)", wall_s, 10, 2,
         "Mean time at the stonewall, seconds; only with wear-out"),
    COL_REAL(S, wall_bw, "StoneWallbwMeanMIB",
             "Bytes of all tasks at the stonewall over the time until then, MiB/s",
             .head = "Stonewall(MiB)", .unit = MIB, .width = 13, .prec = 2, .gap = 1),
    INT("TestID", "Test#", test, 5, "Number of the test, from 0"),
    INT("numTasks", "#Tasks", tasks, 6, "Tasks"),
    INT("tasksPerNode", "tPN", per_node, 3, "Tasks on the first node"),
    INT("repetitions", "reps", reps, 4, "Repetitions that were measured"),
    INT("filePerProc", "fPP", file_per_task, 3, "1 with a file per task"),
    INT("reorderTasks", "reord", reorder, 5, "1 with -C"),
    INT("taskPerNodeOffset", "reordoff", node_offset, 8, "Value of -Q"),
    INT("reorderTasksRandom", "reordrand", reorder_random, 9, "Times that -Z was given"),
    INT("reorderTasksRandomSeed", "seed", seed, 4, "Value of -X"),
    INT("segmentCount", "segcnt", segments, 6, "Segments"),
    INT("blockSize", "blksiz", block, 8, "Block size, bytes"),
    INT("transferSize", "xsize", transfer, 8, "Transfer size, bytes"),
    COL_REAL(S, bytes, "xsizeMiB", "Mean bytes moved in a repetition, MiB", .head = "aggs(MiB)",
             .unit = MIB, .width = 9, .prec = 1, .gap = 1),
    /* two columns apart */
    COL_STR(S, api, "API", "Backend", .head = "  API", .width = 3, .gap = 1),
    COL_INT(S, ref_num, "ReferenceNumber", "Value of -A", .head = "RefNum", .width = 6),
    WEIR_COL_END
};

static const struct weir_table summary = {
    .key = "summary",
    .cols = summary_cols,
    .readers = WEIR_FOR_ALL,
    .headed = true,
};

#undef S

/* A moment of a series; missing when no repetition was measured. */
#define SEEN(moment, series) (s->series.n ? s->series.moment : NAN)

static void summarise(struct weir_run *run, const struct ior_test *t, const char *operation,
                      const struct ior_series *s)
{
    const struct ior_options *o = t->o;
    struct ior_summary row = {
        .operation = operation,
        .api = o->api,
        .test = t->id,
        .tasks = t->access.tasks,
        .per_node = run->world.per_node,
        .reps = (int64_t)s->bw.n,
        .file_per_task = o->file_per_task,
        .reorder = o->reorder_constant,
        .node_offset = o->node_offset,
        .reorder_random = o->reorder_random,
        .seed = o->seed,
        .segments = o->segments,
        .block = o->block,
        .transfer = o->transfer,
        .ref_num = o->ref_num,
        .bw_max = SEEN(max, bw),
        .bw_min = SEEN(min, bw),
        .bw_mean = SEEN(mean, bw),
        .bw_sd = s->bw.n ? weir_stats_sd(&s->bw) : NAN,
        .ops_max = SEEN(max, ops),
        .ops_min = SEEN(min, ops),
        .ops_mean = SEEN(mean, ops),
        .ops_sd = s->ops.n ? weir_stats_sd(&s->ops) : NAN,
        .mean_s = SEEN(mean, time),
        .bytes = SEEN(mean, bytes),
        .wall_s = s->walls ? s->wall_s / s->walls : NAN,
        .wall_bw = s->walls && s->wall_s > 0 ? s->wall_bytes / s->wall_s : NAN,
    };

    weir_report_row(&run->report, &summary, &row);
}

#undef SEEN

void ior_summarise(struct weir_run *run, const struct ior_test *t)
{
    if (ior_wants_write(t->o))
        summarise(run, t, "write", &t->write);
    if (ior_wants_read(t->o))
        summarise(run, t, "read", &t->read);
}

void ior_report_summary(struct weir_run *run, const struct weir_test *tests, int n)
{
    if (run->report.n == 0)
        return;
    weir_report_line(&run->report, "\nSummary of all tests:");
    weir_report_head(&run->report, &summary);
    for (int i = 0; i < n; i++)
        ior_summarise(run, ior_test_of(&tests[i]));
}
