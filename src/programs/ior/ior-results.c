/* SPDX-License-Identifier: BSD-3-Clause */
/* ior-results.c - rows of results and of the summary: columns, formulas and text
 * (doc/guide/reading-the-table.md) */
#include "programs/ior/ior.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>

#include "base/clock.h"
#include "base/text/columns.h"
#include "engine/observe/gather.h"
#include "engine/observe/latency.h"
#include "engine/observer.h"
#include "engine/place/status.h"

/* ---- tables ---- */

/* One row of the results table. Times in seconds, sizes in bytes, rates in bytes or operations a
 * second; NaN: not measured. */
struct ior_row {
    const char *access;
    double bw, iops, latency, block, transfer, open, work, close, total;
    int64_t tasks, iter;
};

/* One row of the summary. */
struct ior_summary {
    const char *operation, *api;
    int64_t test, tasks, per_node, reps, file_per_task, reorder, node_offset, reorder_random, seed,
        segments, block, transfer, ref_num;
    struct weir_stats bw, ops, time, bytes;
    double bw_sd, ops_sd, wall_s, wall_bw;
};

#define R struct ior_row
#define RULE(f, k, h, r, what, ...)                                                                \
    COL_RULE(R, f, k, what, .csv = (h), .head = (h), .rule = (r), .width = -10, .gap = 1,          \
             .none = "-", __VA_ARGS__)

static const struct weir_col result_cols[] = {
    COL_STR(R, access, "access", "Operation", .csv = "access", .head = "access", .rule = "------",
            .width = -10),
    RULE(bw, "bwMiB", "bw(MiB/s)", "---------",
         "Bytes moved by all tasks over total(s), which has open and close in it, in MiB/s",
         .unit = WEIR_MIB),
    RULE(iops, "iops", "IOPS", "----", "Transfers of all tasks over wr/rd(s)"),
    COL_RULE(R, latency, "latency", "Mean time of a transfer over all tasks, in seconds",
             .csv = "Latency", .head = "Latency(s)", .rule = "----------", .width = -10, .gap = 2,
             .none = "-"),
    RULE(block, "blockKiB", "block(KiB)", "----------", "Block size", .unit = WEIR_KIB),
    RULE(transfer, "xferKiB", "xfer(KiB)", "---------", "Transfer size", .unit = WEIR_KIB),
    RULE(open, "openTime", "open(s)", "--------",
         "From the first task that begins to open to the last that has opened"),
    RULE(work, "wrRdTime", "wr/rd(s)", "--------",
         "From the first transfer of any task to the last, with fsync if asked for"),
    RULE(close, "closeTime", "close(s)", "--------",
         "From the first task that begins to close to the last that has closed"),
    RULE(total, "totalTime", "total(s)", "--------", "From the first open to the last close"),
    COL_INT(R, tasks, NULL, "Tasks", .csv = "numTasks"),
    COL_INT(R, iter, NULL, "Repetition, from 0", .csv = "iter", .head = "iter", .rule = "----",
            .width = -4),
    WEIR_COL_END
};

static const struct weir_table results = {
    .key = "Results",
    .cols = result_cols,
    .readers = WEIR_FOR_ALL | WEIR_FOR_CSV,
    .headed = true,
};

/* 3.3 always shows them. */
static const struct weir_table removals = { .key = "Results",
                                            .cols = result_cols,
                                            .readers = WEIR_FOR_TEXT };
static const struct weir_table removals_33 = { .key = "Results",
                                               .cols = result_cols,
                                               .readers = WEIR_FOR_TEXT_33 };

/* For programs a removal has its time only. */
static const struct weir_col removal_cols[] = {
    COL_STR(R, access, "access", "remove"),
    COL_REAL(R, total, "totalTime", "Time to remove the files, seconds"), WEIR_COL_END
};

static const struct weir_table removal_data = { .key = "Results",
                                                .cols = removal_cols,
                                                .readers = WEIR_FOR_DATA };

#undef R
#undef RULE

/* ---- results ---- */

/* Keep a phase, or one operation of it, unless nothing was done. */
static void keep_series(struct ior_series *s, const struct ior_row *row, uint64_t bytes, double ops)
{
    if (ops == 0)
        return;
    weir_stats_add(&s->ops, ops / row->total);
    weir_stats_add(&s->time, row->total);
    if (bytes == 0)
        return;
    weir_stats_add(&s->bw, row->bw);
    weir_stats_add(&s->bytes, (double)bytes);
}

static void keep_wall(struct ior_series *s, const struct weir_phase_rec *rec)
{
    if (!rec->stonewall.known || rec->sum.bytes == 0)
        return;
    s->walls++;
    s->wall_s += (double)rec->stonewall.time_ns / WEIR_NS_PER_S;
    s->wall_bytes += (double)rec->stonewall.sum.bytes;
}

/* At -v one line a task, too. */
static void report_wall(struct weir_run *run, const struct weir_phase_rec *rec)
{
    struct weir_str line = { 0 };

    weir_str_addf(&line, "%d: stonewalling pairs accessed: %" PRIu64 "\n", run->par.rank,
                  rec->stonewall.steps);
    if (run->log.verbose >= 1)
        weir_ranks_lines(run, &line);
    weir_str_free(&line);
    weir_report_line(&run->report,
                     "stonewalling pairs accessed min: %" PRIu64 " max: %" PRIu64
                     " -- min data: %.1f GiB mean data: %.1f GiB time: %.1fs",
                     rec->stonewall.min.steps, rec->stonewall.max.steps,
                     (double)rec->stonewall.min.bytes / WEIR_GIB,
                     (double)rec->stonewall.sum.bytes / run->par.size / WEIR_GIB,
                     (double)rec->stonewall.time_ns / WEIR_NS_PER_S);
}

/* Programs find the lists, even when they stay empty. */
void ior_report_head(struct weir_run *run)
{
    weir_report_head(&run->report, &results);
    if (run->report.details)
        weir_observers_measured(run, NULL, NULL);
}

/* The row of a phase in which that many bytes were moved; the mean time of a transfer in seconds. */
static struct ior_row row_of(const struct weir_run *run, const struct ior_test *t,
                             const struct weir_phase_rec *rec, const char *access, uint64_t bytes,
                             double latency)
{
    double work = weir_phase_span(rec, WEIR_MARK_WORK, WEIR_MARK_WORKED);
    double total = weir_phase_span(rec, WEIR_MARK_OPEN, WEIR_MARK_CLOSED);

    return (struct ior_row) {
        .access = access,
        .bw = bytes ? (double)bytes / total : NAN,
        .iops = bytes ? floor((double)bytes / (double)t->o->transfer) / work : NAN,
        .latency = latency,
        .block = (double)t->o->block,
        .transfer = (double)t->o->transfer,
        .open = weir_phase_span(rec, WEIR_MARK_OPEN, WEIR_MARK_OPENED),
        .work = work,
        .close = weir_phase_span(rec, WEIR_MARK_CLOSE, WEIR_MARK_CLOSED),
        .total = total,
        .tasks = run->par.size,
        .iter = run->repetition,
    };
}

void ior_report_phase(struct weir_run *run, struct ior_test *t, const struct weir_phase_rec *rec,
                      struct ior_series *s)
{
    double busy_s = (double)rec->sum.work_ns / WEIR_NS_PER_S;
    struct ior_row row = row_of(run, t, rec, rec->phase->key, rec->sum.bytes,
                                rec->sum.done ? busy_s / (double)rec->sum.done : NAN);

    keep_series(s, &row, rec->sum.bytes, (double)rec->sum.bytes / row.transfer);
    keep_wall(s, rec);
    if (rec->stonewall.known)
        report_wall(run, rec);
    weir_report_row(&run->report, &results, &row);
    weir_observers_measured(run, &t->session, rec);
}

/* One row for each operation: what it did, over the time that all of them had. */
void ior_report_mix(struct weir_run *run, struct ior_test *t, const struct weir_phase_rec *rec)
{
    if (rec->stonewall.known)
        report_wall(run, rec);
    weir_latency_sum(run, &t->session, rec);
    for (int d = 0; d < WEIR_DIRS; d++) {
        const struct weir_hist *h = &run->records.hist[IOR_MIX + d];
        double seconds = h->n ? (double)h->sum_ns / (double)h->n / WEIR_NS_PER_S : NAN;
        const struct weir_dir_work *work = &rec->sum.by_dir[d];
        struct ior_row row = row_of(run, t, rec, run->program->operations[IOR_MIX + d].title,
                                    work->bytes, seconds);

        if (!ior_mix_has(&t->mix, (enum weir_dir)d))
            continue;
        if (work->ops > 0)
            row.iops = (double)work->ops / row.work;
        keep_series(&t->results.mix[d], &row, work->bytes, (double)work->ops);
        weir_report_row(&run->report, &results, &row);
    }
    weir_observers_measured(run, &t->session, rec);
}

/* A row of something that was not measured but for the time that it took. */
static struct ior_row unmeasured(const struct weir_run *run, const char *access, double seconds)
{
    return (struct ior_row) { access, NAN, NAN, NAN,     NAN,           NAN,
                              NAN,    NAN, NAN, seconds, run->par.size, run->repetition };
}

void ior_report_skipped(struct weir_run *run, void *state, const struct weir_stage *s)
{
    const struct weir_operation *op = &weir_ior.operations[s->phase->mixed];
    const struct ior_test *t = state;
    struct ior_row row = unmeasured(run, s->key, NAN);

    row.block = (double)t->o->block;
    row.transfer = (double)t->o->transfer;
    for (int d = 0; d < (s->phase->mixed ? WEIR_DIRS : 1); d++) {
        if (s->phase->mixed)
            row.access = op[d].title;
        if (!s->phase->mixed || ior_mix_has(&t->mix, (enum weir_dir)d))
            weir_report_row(&run->report, &results, &row);
    }
    weir_note(&run->log, "%s phase of repetition %d skipped: %.15g minutes (-T) have passed", s->key,
              run->repetition, t->o->run.max_minutes);
}

void ior_report_remove(struct weir_run *run, void *state, double seconds)
{
    struct ior_row row = unmeasured(run, "remove", seconds);
    struct ior_test *t = state;

    ior_trace_file(run, t, "removing", t->use.removed ? run->par.rank : -1);
    weir_report_row(&run->report, run->log.verbose >= 1 ? &removals : &removals_33, &row);
    if (run->log.verbose >= 1)
        weir_report_row(&run->report, &removal_data, &row);
}

/* ---- summary ---- */

#define S struct ior_summary
#define REAL(k, t, f, w, p, h)                                                                     \
    COL_REAL(S, f, k, h, .head = (t), .width = (w), .prec = (p), .gap = 1)
#define RATE(k, t, f, h)                                                                           \
    COL_REAL(S, f, k, h, .head = (t), .unit = WEIR_MIB, .width = 10, .prec = 2, .gap = 1)
#define INT(k, t, f, w, h) COL_INT(S, f, k, h, .head = (t), .width = (w), .gap = 1)

/* The text order is the order of the rows; JSON readers go by key. */
static const struct weir_col summary_cols[] = {
    COL_STR(S, operation, "operation", "Operation", .head = "Operation", .width = -9, .gap = 1),
    RATE("bwMaxMIB", "Max(MiB)", bw.max, "Best bandwidth of the repetitions, MiB/s"),
    RATE("bwMinMIB", "Min(MiB)", bw.min, "Worst bandwidth of the repetitions, MiB/s"),
    RATE("bwMeanMIB", "Mean(MiB)", bw.mean, "Mean bandwidth, MiB/s"),
    RATE("bwStdMIB", "StdDev", bw_sd, "Population standard deviation of the bandwidth, MiB/s"),
    REAL("OPsMax", "Max(OPs)", ops.max, 10, 2, "Most transfers a second, over the total time"),
    REAL("OPsMin", "Min(OPs)", ops.min, 10, 2, "Fewest transfers a second"),
    REAL("OPsMean", "Mean(OPs)", ops.mean, 10, 2, "Mean transfers a second"),
    REAL("OPsSD", "StdDev", ops_sd, 10, 2,
         "Population standard deviation of the transfers a second"),
    REAL("MeanTime", "Mean(s)", time.mean, 10, 5, "Mean total time, seconds"),
    COL_REAL(S, wall_s, "StoneWallTime", "Mean time at the stonewall, seconds; only with wear-out",
             .head = "Stonewall(s)", .width = 10, .prec = 2, .gap = 1, .optional = true),
    COL_REAL(S, wall_bw, "StoneWallbwMeanMIB",
             "Bytes of all tasks at the stonewall over the time until then, MiB/s",
             .head = "Stonewall(MiB)", .unit = WEIR_MIB, .width = 13, .prec = 2, .gap = 1,
             .optional = true),
    INT("TestID", "Test#", test, 5, "Number of the test, from 0"),
    INT("numTasks", "#Tasks", tasks, 6, "Tasks"),
    INT("tasksPerNode", "tPN", per_node, 3, "Tasks on the fullest node"),
    INT("repetitions", "reps", reps, 4, "Repetitions that were measured"),
    INT("filePerProc", "fPP", file_per_task, 3, "1 with a file per task"),
    INT("reorderTasks", "reord", reorder, 5, "1 with -C"),
    INT("taskPerNodeOffset", "reordoff", node_offset, 8, "Value of -Q"),
    INT("reorderTasksRandom", "reordrand", reorder_random, 9, "Times that -Z was given"),
    INT("reorderTasksRandomSeed", "seed", seed, 4, "Value of -X"),
    INT("segmentCount", "segcnt", segments, 6, "Segments"),
    INT("blockSize", "blksiz", block, 8, "Block size, bytes"),
    INT("transferSize", "xsize", transfer, 8, "Transfer size, bytes"),
    COL_REAL(S, bytes.mean, "xsizeMiB", "Mean bytes moved in a repetition, MiB", .head = "aggs(MiB)",
             .unit = WEIR_MIB, .width = 9, .prec = 1, .gap = 1),
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

static void summarise(struct weir_run *run, const struct ior_test *t, const char *operation,
                      const struct ior_series *s)
{
    const struct weir_stats none = { 0, NAN, NAN, NAN, NAN };
    const struct ior_options *o = t->o;
    bool known = s->ops.n > 0;
    struct ior_summary row = {
        .operation = operation,
        .api = o->run.api,
        .test = t->id,
        .tasks = t->access.tasks,
        .per_node = run->world.per_node_max,
        .reps = (int64_t)s->ops.n,
        .file_per_task = o->file_per_task,
        .reorder = o->reorder_constant,
        .node_offset = o->node_offset,
        .reorder_random = o->reorder_random,
        .seed = o->seed,
        .segments = o->segments,
        .block = o->block,
        .transfer = o->transfer,
        .ref_num = o->ref_num,
        .bw = s->bw.n > 0 ? s->bw : none,
        .ops = known ? s->ops : none,
        .time = known ? s->time : none,
        .bytes = s->bw.n > 0 ? s->bytes : none,
        .bw_sd = s->bw.n > 0 ? weir_stats_sd(&s->bw, IOR_DEVIATION) : NAN,
        .ops_sd = known ? weir_stats_sd(&s->ops, IOR_DEVIATION) : NAN,
        .wall_s = s->walls ? s->wall_s / s->walls : NAN,
        .wall_bw = s->walls && s->wall_s > 0 ? s->wall_bytes / s->wall_s : NAN,
    };

    weir_report_row(&run->report, &summary, &row);
}

static void summarise_test(struct weir_run *run, const struct ior_test *t)
{
    if (t->o->write)
        summarise(run, t, "write", &t->results.write);
    for (int d = 0; d < WEIR_DIRS && t->o->mix; d++)
        if (ior_mix_has(&t->mix, (enum weir_dir)d))
            summarise(run, t, weir_ior.operations[IOR_MIX + d].title, &t->results.mix[d]);
    if (ior_wants_read(t->o))
        summarise(run, t, "read", &t->results.read);
}

static void report_best(struct weir_report *r, unsigned readers, const char *text, const char *mib,
                        const char *mb, const struct ior_series *s)
{
    if (s->bw.n == 0)
        return;
    weir_report_line_for(r, readers, "%s%.2f MiB/sec (%.2f MB/sec)", text, s->bw.max / WEIR_MIB,
                         s->bw.max / 1e6);
    if (!(readers & WEIR_FOR_DATA))
        return;
    weir_report_real(r, WEIR_FOR_DATA, mib, s->bw.max / WEIR_MIB);
    weir_report_real(r, WEIR_FOR_DATA, mb, s->bw.max / 1e6);
}

static void report_bests(struct weir_run *run, const struct ior_test *t, unsigned readers)
{
    const struct ior_results *all = &t->results;
    struct weir_report *r = &run->report;

    report_best(r, readers, "Max Write: ", "writeMiB", "writeMB", &all->write);
    report_best(r, readers, "Max Mix-Write: ", "mixWriteMiB", "mixWriteMB", &all->mix[WEIR_DIR_WRITE]);
    report_best(r, readers, "Max Mix-Read:  ", "mixReadMiB", "mixReadMB", &all->mix[WEIR_DIR_READ]);
    if (t->o->read) /* not with -R alone */
        report_best(r, readers, "Max Read:  ", "readMiB", "readMB", &all->read);
}

static void report_max(struct weir_run *run, struct ior_test *t)
{
    bool verbose = run->log.verbose >= 1;

    ior_report_head(run); /* the test may have ended before its first repetition */
    if (!verbose || t->o->summary_always)
        report_bests(run, t, WEIR_FOR_TEXT_33);
    if (verbose && t->o->summary_always) {
        summarise_test(run, t);
    } else if (verbose) {
        weir_report_enter(&run->report, "max", false);
        report_bests(run, t, WEIR_FOR_ALL);
        weir_report_leave(&run->report);
    }
}

void ior_report_summary(struct weir_run *run, const struct weir_test *tests, int n)
{
    if (run->report.n == 0)
        return;
    weir_report_line(&run->report, "\nSummary of all tests:");
    weir_report_head(&run->report, &summary);
    for (int i = 0; i < n; i++)
        summarise_test(run, tests[i].state);
}

static void report_hints(struct weir_run *run, struct ior_test *t)
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

int ior_conclude(struct weir_run *run, void *state, struct weir_err *err)
{
    struct ior_test *t = state;
    bool failed = run->test->failed;

    if (!failed && !t->o->write && !t->o->keep)
        weir_note(&run->log, "the files were kept: a run without a write phase never removes them");
    if (t->results.wore_out && !t->o->status_file)
        weir_report_line(&run->report, "Pairs deadlineForStonewallingaccessed: %" PRIu64,
                         t->results.first_steps);
    report_hints(run, t);
    report_max(run, t);
    if (failed || !t->o->status_file || !t->results.knows_status || t->o->run.dry_run)
        return 0;
    return weir_status_write(run, t->o->status_file, t->results.status_steps, err);
}
