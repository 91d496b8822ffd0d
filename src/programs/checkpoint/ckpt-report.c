/* SPDX-License-Identifier: BSD-3-Clause */
/* ckpt-report.c - the numbers of trials, the summaries of the originals, and what programs read */
#include "engine/phase.h"
#include "programs/checkpoint/ckpt.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/size.h"
#include "engine/about/banner.h"
#include "engine/observer.h"
#include "par/agree.h"

#define T struct ckpt_trial
#define SECONDS(f, k, h) COL_REAL(T, f, k, h)

static const struct weir_col cols[] = {
    COL_INT(T, test, "test", "Number of the test, from 0"),
    COL_INT(T, trial, "trial", "Number of the trial, from 1"),
    COL_INT(T, writers, "writers", "Ranks that write or read"),
    COL_INT(T, bytes, "bytes", "Bytes of all fields"),
    SECONDS(create, "createTime", "Create and define, or open: first begun to last done, seconds"),
    SECONDS(work, "workTime", "All gathers and writes, or reads and scatters, seconds"),
    SECONDS(close, "closeTime",
            "First close begun to last close done, of the writers or readers, seconds"),
    SECONDS(gather, "gatherTime", "In gathers or scatters, mean over the ranks, seconds"),
    SECONDS(gather_max, "gatherTimeMax", "The same, of the slowest rank"),
    SECONDS(reorder, "reorderTime",
            "Buffers made, and between order of ranks and of the file, mean over writers"),
    SECONDS(reorder_max, "reorderTimeMax", "The same, of the slowest writer"),
    SECONDS(move, "putTime", "In put or get, mean over the writers or readers, seconds"),
    SECONDS(move_max, "putTimeMax", "The same, of the slowest"),
    SECONDS(flush, "flushTime", "To stable storage (--fsync), mean over the writers, seconds"),
    SECONDS(flush_max, "flushTimeMax", "The same, of the slowest writer"),
    SECONDS(verify_max, "verifyTimeMax", "Comparison of what was read, of the slowest rank"),
    SECONDS(application, "realThroughput",
            "Bytes / (workTime without verification): create and close left out, as the wiki "
            "defines it, bytes/s"),
    SECONDS(file_system, "fileSystemThroughput",
            "Writers * mean bytes of a writer / mean putTime, as the wiki defines it, bytes/s; "
            "flushTime counts as a part of it"),
    SECONDS(application_whole, "applicationThroughput",
            "Bytes / time from the first create begun to the last close done, bytes/s"),
    SECONDS(file_system_whole, "storageThroughput",
            "Bytes / (create, put, flush and close of the slowest writer), bytes/s"),
    WEIR_COL_END
};

static const struct weir_table trials = { .key = "trials", .cols = cols, .readers = WEIR_FOR_DATA };

/* ---- a test ---- */

static int report_test(struct weir_run *run, void *state, struct weir_err *err)
{
    const struct ckpt *t = state;
    struct weir_report *r = &run->report;

    if (t->o->config) {
        weir_report_line(r, " Using configuration file %s", t->o->config);
        weir_report_line(r, " NOTE: This overrides any other command line options");
    }
    weir_report_int(r, WEIR_FOR_DATA, "test", run->test->id);
    weir_report_str(r, WEIR_FOR_DATA, "api", t->be->name);
    weir_report_int(r, WEIR_FOR_DATA, "tasks", run->par.size);
    weir_report_int(r, WEIR_FOR_DATA, t->reads ? "readers" : "writers", t->number);
    weir_report_int(r, WEIR_FOR_DATA, "bytes", (int64_t)t->bytes);
    weir_report_str(r, WEIR_FOR_DATA, "buffers", t->o->keep_buffers ? "kept" : "new");
    weir_banner_parameters(run);
    return 0;
}

/* ---- a trial ---- */

/* From the first close of a mover begun to the last one done: the other ranks close nothing, and do
 * not wait for a flush. Collective. */
static double close_span(const struct ckpt *t, struct weir_run *run,
                         const struct weir_phase_rec *rec)
{
    int64_t ends[2] = { INT64_MIN, INT64_MIN };

    if (t->ranks.is_leader) {
        ends[0] = -weir_clock_common(&run->clock, rec->mark[WEIR_MARK_CLOSE]);
        ends[1] = weir_clock_common(&run->clock, rec->mark[WEIR_MARK_CLOSED]);
    }
    weir_allmax_i64(&run->par, ends, 2);
    return (double)(ends[0] + ends[1]) / WEIR_NS_PER_S;
}

static uint64_t between(const struct weir_phase_rec *rec, enum weir_mark from, enum weir_mark to)
{
    return rec->mark[to] - rec->mark[from];
}

/* Times of the movers. */
static void fill_moves(struct ckpt *t, const uint64_t *sum, const int64_t *most,
                       struct ckpt_trial *out)
{
    out->move = out->move_max = out->flush = out->flush_max = NAN;
    out->file_system = out->file_system_whole = NAN;
    if (!t->moves)
        return;
    out->move = (double)sum[CKPT_MOVE] / t->number / WEIR_NS_PER_S;
    out->move_max = (double)most[CKPT_MOVE] / WEIR_NS_PER_S;
    out->file_system = (double)t->bytes / out->move; /* W * (bytes / W) / mean */
    out->file_system_whole = (double)t->bytes * WEIR_NS_PER_S / (double)most[CKPT_STAGES];
    if (!t->o->sync)
        return;
    out->flush = (double)sum[CKPT_FLUSH] / t->number / WEIR_NS_PER_S;
    out->flush_max = (double)most[CKPT_FLUSH] / WEIR_NS_PER_S;
    out->file_system = (double)t->bytes / (out->move + out->flush);
}

/* Times of the ranks: means and the highest ones. Collective. */
static void sum_stages(struct ckpt *t, struct weir_run *run, const struct weir_phase_rec *rec,
                       struct ckpt_trial *out)
{
    uint64_t io = between(rec, WEIR_MARK_OPEN, WEIR_MARK_OPENED) + t->ns[CKPT_MOVE] +
                  t->ns[CKPT_FLUSH] + between(rec, WEIR_MARK_CLOSE, WEIR_MARK_CLOSED);
    uint64_t sum[CKPT_STAGES];
    int64_t most[CKPT_STAGES + 1];

    for (int i = 0; i < CKPT_STAGES; i++)
        most[i] = (int64_t)(sum[i] = t->ns[i]);
    most[CKPT_STAGES] = t->ranks.is_leader ? (int64_t)io : 0;
    weir_allsum_u64(&run->par, sum, CKPT_STAGES);
    weir_allmax_i64(&run->par, most, CKPT_STAGES + 1);
    out->gather = (double)sum[CKPT_GATHER] / run->par.size / WEIR_NS_PER_S;
    out->gather_max = (double)most[CKPT_GATHER] / WEIR_NS_PER_S;
    out->reorder = (double)sum[CKPT_REORDER] / t->number / WEIR_NS_PER_S;
    out->reorder_max = (double)most[CKPT_REORDER] / WEIR_NS_PER_S;
    out->look_max = (double)most[CKPT_LOOK] / WEIR_NS_PER_S;
    out->verify_max = (double)most[CKPT_VERIFY] / WEIR_NS_PER_S;
    fill_moves(t, sum, most, out);
}

static void keep_series(struct ckpt *t, const struct ckpt_trial *x)
{
    const double rate[] = { x->application, x->file_system, x->application_whole,
                            x->file_system_whole };

    for (size_t i = 0; i < sizeof(rate) / sizeof(*rate); i++)
        weir_stats_add(&t->series[i], rate[i] / WEIR_MIB);
}

int ckpt_report_trial(struct weir_run *run, void *state, const struct weir_stage *stage,
                      struct weir_phase_rec *rec, struct weir_err *err)
{
    struct ckpt *t = state;
    struct ckpt_trial x = { .test = run->test->id,
                            .trial = run->repetition + 1,
                            .writers = t->number,
                            .bytes = (int64_t)t->bytes };

    sum_stages(t, run, rec, &x);
    x.create = weir_phase_span(rec, WEIR_MARK_OPEN, WEIR_MARK_OPENED);
    x.work = weir_phase_span(rec, WEIR_MARK_WORK, WEIR_MARK_WORKED);
    x.close = close_span(t, run, rec);
    x.application = (double)t->bytes / (x.work - x.verify_max);
    x.application_whole =
        (double)t->bytes / (weir_phase_span(rec, WEIR_MARK_OPEN, WEIR_MARK_CLOSED) - x.look_max -
                            x.verify_max);
    if (!rec->interrupted) {
        keep_series(t, &x);
        weir_report_row(&run->report, &trials, &x);
    }
    weir_observers_measured(run, &t->session, rec);
    if (t->reads)
        ckpt_note_scan(run, t);
    if (t->wrong.code != WEIR_OK)
        *err = t->wrong;
    return weir_agree(&run->par, t->wrong.code == WEIR_OK ? 0 : -1, err);
}

/* ---- the summary ---- */

/* NaN where nothing was measured. */
static double deviation(const struct weir_stats *s)
{
    return isnan(s->mean) ? NAN : weir_stats_sd(s, CKPT_DEVIATION);
}

static void report_stats(struct weir_report *r, const struct weir_stats *s, double sd)
{
    weir_report_real(r, WEIR_FOR_DATA, "mean", s->mean);
    weir_report_real(r, WEIR_FOR_DATA, "deviation", sd);
    weir_report_real(r, WEIR_FOR_DATA, "min", s->min);
    weir_report_real(r, WEIR_FOR_DATA, "max", s->max);
}

static void report_rates(struct weir_report *r, const struct ckpt *t)
{
    static const struct {
        const char *key, *definition;
    } rates[] = {
        { "real", "wiki: bytes / time of gathers and writes, mean of the trials' rates" },
        { "fileSystem", "wiki: writers * mean bytes of a writer / mean time in put and flush, "
                        "without create and close" },
        { "application", "sound: bytes / time from the first create begun to the last close done" },
        { "storage", "sound: bytes / time of the slowest writer in create, put, flush and close" },
    };

    weir_report_enter(r, "throughput", false);
    for (size_t i = 0; i < sizeof(rates) / sizeof(*rates); i++) {
        weir_report_enter(r, rates[i].key, false);
        weir_report_str(r, WEIR_FOR_DATA, "definition", rates[i].definition);
        weir_report_str(r, WEIR_FOR_DATA, "unit", "MiB/s");
        report_stats(r, &t->series[i], deviation(&t->series[i]));
        weir_report_leave(r);
    }
    weir_report_leave(r);
}

static char letter(bool yes)
{
    return yes ? 'T' : 'F';
}

static void show_flags(struct weir_report *r, const struct ckpt *t)
{
    const struct ckpt_options *o = t->o;
    bool netcdf = strcmp(t->be->name, "NETCDF") == 0, chunk = o->chunk && !o->no_chunk;

    weir_report_line(r,
                     "Split file, 3D_%s, extra, netcdf output, write barrier, do writes:  "
                     "%c%c%s%c%c%c%c",
                     t->reads ? "scatter" : "gather, chunk", letter(o->split), letter(o->whole),
                     t->reads ? "" : chunk ? "T" : "F", letter(o->extra), letter(netcdf),
                     letter(o->barrier), letter(t->moves));
}

static void show_summary(struct weir_run *run, const struct ckpt *t)
{
    const struct weir_stats *s = t->series;
    struct weir_report *r = &run->report;
    char g[4][WEIR_FORTRAN_TEXT];

    weir_report_line(r, " ***************************************************");
    weir_report_line(r, " Summary of run: ");
    weir_report_line(r, "Total data volume in megabytes: %s",
                     weir_fortran_g((double)t->bytes / WEIR_MIB, g[0]));
    weir_report_line(r, "Num %s:  %3d", t->reads ? "readers" : "writers", t->number);
    weir_report_line(r, "Total cores:  %6d", run->par.size);
    weir_report_line(r, "Cube size%s:  %6d%6d", t->reads ? "/LM" : "", t->o->im, t->o->lm);
    show_flags(r, t);
    weir_report_line(r, "Number of trial:  %6d", run->test->done);
    weir_report_line(r, "Application  time: %s",
                     weir_fortran_g((double)(weir_now_ns() - t->begin_ns) / WEIR_NS_PER_S, g[0]));
    weir_report_line(r,
                     "Real throughput MB/s, Std Real throughput MB/s, file system MB/S, std file "
                     "system MB/s");
    weir_report_line(r, "%s%s%s%s", weir_fortran_g(s[0].mean, g[0]),
                     weir_fortran_g(deviation(&s[0]), g[1]), weir_fortran_g(s[1].mean, g[2]),
                     weir_fortran_g(deviation(&s[1]), g[3]));
}

int ckpt_conclude(struct weir_run *run, void *state, struct weir_err *err)
{
    struct ckpt *t = state;

    if (t->series[0].n == 0)
        return 0;
    if (t->reads)
        weir_report_str(&run->report, WEIR_FOR_DATA, "verified", ckpt_verified(t));
    report_rates(&run->report, t);
    weir_run_print_notes(run);
    if (!run->test->failed)
        show_summary(run, t);
    return 0;
}

/* ---- --sweep-writers ---- */

static const struct weir_col sweep_cols[] = {
    COL_INT(T, writers, "writers", "Ranks that write or read"),
    SECONDS(application, "realThroughput", "As in trials, mean, bytes/s"),
    SECONDS(file_system, "fileSystemThroughput", "As in trials, mean, bytes/s"),
    SECONDS(application_whole, "applicationThroughput", "As in trials, mean, bytes/s"),
    SECONDS(file_system_whole, "storageThroughput", "As in trials, mean, bytes/s"),
    WEIR_COL_END
};

static const struct weir_table sweep = { .key = "sweep",
                                         .cols = sweep_cols,
                                         .readers = WEIR_FOR_DATA };

static void summarise(struct weir_run *run, const struct weir_test *tests, int n)
{
    struct weir_report *r = &run->report;
    const struct ckpt *best = NULL;

    if (((const struct ckpt *)tests[0].state)->o->sweep.n == 0)
        return;
    for (int i = 0; i < n; i++) {
        const struct ckpt *t = tests[i].state;
        const struct weir_stats *s = t->series;
        const struct ckpt_trial x = { .writers = t->number,
                                      .application = s[0].mean * WEIR_MIB,
                                      .file_system = s[1].mean * WEIR_MIB,
                                      .application_whole = s[2].mean * WEIR_MIB,
                                      .file_system_whole = s[3].mean * WEIR_MIB };

        if (s[0].n == 0)
            continue;
        weir_report_row(r, &sweep, &x);
        if (!best || s[2].mean > best->series[2].mean)
            best = t;
    }
    if (!best)
        return;
    weir_report_int(r, WEIR_FOR_DATA, "best", best->number);
    weir_report_line(r, "Best number of %s: %d (%.2f MiB/s with create and close)",
                     best->reads ? "readers" : "writers", best->number, best->series[2].mean);
}

const struct weir_output ckpt_output = {
    .deviation = CKPT_DEVIATION,
    .report = report_test,
    .summary = summarise,
};

#define GB 1e9

/* ---- raw_bw.x, gatherv.x, combo.x: of rank 0, which is the first writer ---- */

static int report_parts(struct weir_run *run, void *state, struct weir_err *err)
{
    const struct parts *t = state;
    struct weir_report *r = &run->report;

    weir_report_int(r, WEIR_FOR_DATA, "test", run->test->id);
    weir_report_str(r, WEIR_FOR_DATA, "api", t->kind == PARTS_GATHERV ? "" : t->be->name);
    weir_report_int(r, WEIR_FOR_DATA, "tasks", run->par.size);
    weir_report_int(r, WEIR_FOR_DATA, "bytes", (int64_t)(t->total * sizeof(float)));
    if (t->kind != PARTS_RAW)
        weir_report_str(r, WEIR_FOR_DATA, "buffers", t->o->keep_buffers ? "kept" : "new");
    weir_banner_parameters(run);
    return 0;
}

/* -1 for one try, as the originals have it. */
static double deviation_of_tries(const struct weir_stats *s)
{
    return s->n > 1 ? weir_stats_sd(s, PARTS_DEVIATION) : -1;
}

static void show_raw(struct weir_report *r, const struct parts *t)
{
    double packet = (double)t->packet * sizeof(float) / GB, all = packet * t->o->writers;
    double seconds = t->write.mean;

    weir_report_line(r, " Tested with file type: %s", t->o->type);
    weir_report_line(r, "%10s,%10s,%10s,%15s,%15s,%15s,%15s,%15s,%15s", "NX", "# levs", "# writers",
                     "write (GB)", "packet (GB)", "Time (s)", "Eff. BW (GB/s)", "Avg. BW (GB/s)",
                     "Rel. Std. Dev.");
    weir_report_line(r, "%10d,%10d,%10d,%15.4f,%15.4f,%15.4f,%15.4f,%15.4f,%15.4f", t->o->nx,
                     t->o->levels, t->o->writers, all, packet, seconds, all / seconds,
                     all / seconds / t->o->writers, deviation_of_tries(&t->write) / seconds);
}

static void show_gatherv(struct weir_report *r, const struct parts *t, int ranks, double gb)
{
    double sd = deviation_of_tries(&t->gather), seconds = t->gather.mean;

    weir_report_line(r,
                     "    NX,# levs,# writ,group ,       Time (s), Rel. Std. dev.,    BW (GB/sec)");
    weir_report_line(r, "%6d,%6d,%6d,%6d,%15.4f,%15.4f,%15.4f", t->o->nx, t->o->levels,
                     t->o->writers, ranks / t->o->writers, seconds, sd < 0 ? sd : sd / seconds, gb / seconds);
}

static void show_combo(struct weir_report *r, const struct parts *t, int ranks, double gb)
{
    double seconds = t->gather.mean + t->write.mean;

    weir_report_line(r,
                     "    NX,# levs,# writ,group ,       Time (s),     G Time (s),     W Time (s), "
                     "   BW (GB/sec)");
    weir_report_line(r, "%6d,%6d,%6d,%6d,%15.4f,%15.4f,%15.4f,%15.4f", t->o->nx, t->o->levels,
                     t->o->writers, ranks / t->o->writers, seconds, t->gather.mean, t->write.mean,
                     gb / seconds);
}

static void report_times(struct weir_report *r, const char *key, const struct weir_stats *s)
{
    weir_report_enter(r, key, false);
    report_stats(r, s, s->n > 1 ? deviation_of_tries(s) : NAN);
    weir_report_leave(r);
}

int parts_conclude(struct weir_run *run, void *state, struct weir_err *err)
{
    const struct parts *t = state;
    double gb = (double)t->total * sizeof(float) / GB;

    if (t->both.n == 0 || run->test->failed)
        return 0;
    if (t->kind != PARTS_RAW)
        report_times(&run->report, "gatherTime", &t->gather);
    if (t->kind != PARTS_GATHERV)
        report_times(&run->report, "writeTime", &t->write);
    report_times(&run->report, "time", &t->both);
    if (t->kind == PARTS_RAW)
        show_raw(&run->report, t);
    else if (t->kind == PARTS_GATHERV)
        show_gatherv(&run->report, t, run->par.size, gb);
    else
        show_combo(&run->report, t, run->par.size, gb);
    return 0;
}

const struct weir_output parts_output = {
    .deviation = PARTS_DEVIATION,
    .report = report_parts,
};
