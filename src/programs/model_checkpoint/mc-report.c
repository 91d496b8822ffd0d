/* SPDX-License-Identifier: BSD-3-Clause */
/* mc-report.c - the rows of saves and loads, and their summary */
#include "engine/phase.h"
#include "programs/model_checkpoint/mc.h"

#include <inttypes.h>
#include <math.h>

#include "base/node/machine.h"
#include "base/size.h"
#include "engine/about/banner.h"
#include "engine/observer.h"
#include "par/agree.h"

#define R struct mc_row
#define TIME_OF(S, f, k, h, ...)                                                                   \
    COL_REAL(S, f, k, h, .none = "-", .width = 10, .prec = 4, .gap = 1, __VA_ARGS__)
#define TIME(...) TIME_OF(R, __VA_ARGS__)

static const struct weir_col cols[] = {
    COL_STR(R, operation, "operation", "save or load", .head = "operation", .rule = "---------", .width = -9, .gap = 1),
    COL_INT(R, test, "test", "Number of the test, from 0"),
    COL_INT(R, iter, "iter", "Repetition, from 0", .head = "iter", .rule = "----", .width = 4, .gap = 1),
    COL_INT(R, step, "step", "Training step of the checkpoint", .head = "step", .rule = "------", .width = 8, .gap = 1),
    COL_INT(R, tasks, "tasks", "Ranks that save or load"),
    COL_INT(R, bytes, "bytes", "Bytes of tensors that were saved, or that ranks asked for"),
    COL_REAL(R, rate, "rate", "These in 'time', MiB/s", .unit = WEIR_MIB, .head = "MiB/s", .rule = "-----", .width = 10, .prec = 2,
             .gap = 1),
    TIME(seconds, "time",
         "Save: until it is durable, without the removal of old ones; load: until the last rank has all, with the "
         "search for the newest; seconds",
         .head = "time(s)", .rule = "-------"),
    TIME(stall, "stall", "Save: how long training stands still, seconds", .head = "stall(s)", .rule = "--------"),
    TIME(copy, "copyTime", "Asynchronous save: the copy in memory, seconds"),
    TIME(make, "makeTime", "Save: making the directory, seconds; objects need none"),
    TIME(write, "writeTime", "Save: open, write, fsync and close of all files, seconds"),
    TIME(publish, "publishTime", "Save: metadata file, its fsync, those of the directories, and the new name, seconds; objects: the metadata",
         .head = "publish(s)",
         .rule = "----------"),
    TIME(remove, "removeTime", "Save: removal of old checkpoints, seconds", .head = "remove(s)", .rule = "---------"),
    TIME(work, "workTime", "Emulated work between two saves, seconds"),
    TIME(slowest, "slowestTime",
         "The slowest rank in open, transfers, fsync and close of its files, seconds",
         .head = "slowest(s)", .rule = "----------"),
    COL_REAL(R, slowest_rate, "slowestRate",
             "The lowest rate of a rank, the bytes of its transfers in that time, MiB/s",
             .unit = WEIR_MIB, .none = "-"),
    TIME(find, "findTime", "Load: search for the newest checkpoint, and its metadata, seconds"),
    TIME(metadata, "metadataTime",
         "Load: search, metadata, opens and tables of contents of the rank that took longest for them, seconds",
             .head = "meta(s)", .rule = "-------"),
    COL_REAL(R, opens, "opens", "Files that ranks opened", .none = "-", .head = "opens", .rule = "-----", .width = 6, .gap = 1),
    COL_REAL(R, asked, "askedBytes", "Load: bytes that ranks needed", .none = "-", .head = "asked(B)", .rule = "--------",
             .width = 14, .gap = 1),
    COL_REAL(R, read, "readBytes", "Load: bytes of all read calls", .none = "-"),
    COL_REAL(R, storage, "storageBytes", "Load: bytes that came from devices, as far as the kernels of the ranks tell", .none = "-",
             .head = "device(B)", .rule = "---------", .width = 14, .gap = 1),
    COL_REAL(R, amplification, "amplification", "Load: bytes of read calls / bytes that ranks needed", .none = "-",
             .head = "read/asked", .rule = "----------",
             .width = 10, .prec = 3),
    TIME(verify, "verifyTime", "Load: comparison of all bytes, after it and in no time, of the slowest rank, seconds"),
    WEIR_COL_END
};

static const struct weir_table table = { .key = "checkpoints", .cols = cols, .headed = true, .readers = WEIR_FOR_ALL };

struct mc_row mc_row_of(const struct weir_run *run, const char *operation, int64_t step)
{
    return (struct mc_row) {
        .operation = operation, .test = run->test->id, .iter = run->repetition, .step = step, .tasks = run->par.size,
        .stall = NAN, .copy = NAN, .make = NAN, .write = NAN, .publish = NAN, .remove = NAN, .work = NAN,
        .slowest = NAN, .slowest_rate = NAN,
        .find = NAN, .metadata = NAN, .asked = NAN, .read = NAN, .storage = NAN,
        .amplification = NAN, .opens = NAN, .verify = NAN
    };
}

static void keep(struct mc_series *s, const struct mc_row *x)
{
    weir_stats_add(&s->rate, x->rate);
    weir_stats_add(&s->seconds, x->seconds);
    weir_stats_add(&s->stall, x->stall);
    weir_stats_add(&s->slowest, x->slowest);
    weir_stats_add(&s->slowest_rate, x->slowest_rate);
    s->deviation = weir_stats_sd(&s->rate, WEIR_DEVIATION_SAMPLE);
    s->operation = x->operation;
}

/* ---- a save ---- */

int mc_saved(struct weir_run *run, void *state, const struct weir_stage *stage, struct weir_err *err)
{
    struct mc_test *t = state;
    struct mc_row x = t->row;
    int64_t most[] = { (int64_t)t->save.make_ns, (int64_t)t->save.blocked_ns };
    double work = (double)t->save.work_ns / WEIR_NS_PER_S, blocked, beside;
    double copy = t->async ? x.copy : 0, remove = t->o->keep > 0 ? x.remove : 0;

    weir_allmax_i64(&run->par, most, 2);
    x.make = (double)most[0] / WEIR_NS_PER_S;
    blocked = (double)most[1] / WEIR_NS_PER_S;
    beside = x.make + x.write + x.publish + remove;
    if (t->async && t->save.work_ns == 0)
        work = beside - blocked;
    x.work = work;
    x.seconds = copy + x.make + x.write + x.publish;
    /* A save that is not over when the next one is due makes that wait. */
    x.stall = t->async ? copy + blocked + fmax(0, beside - blocked - work) : x.seconds + remove;
    x.opens = (double)t->save.opens;
    x.bytes = (int64_t)t->save.bytes;
    x.rate = (double)t->save.bytes / x.seconds;
    keep(&t->save.series, &x);
    weir_report_row(&run->report, &table, &x);
    weir_report_flush(&run->report);
    return t->async ? weir_phase_pause(run, fmax(0, work - (beside - blocked)), err) : 0;
}

/* ---- a load ---- */

/* Sums over the ranks. */
enum { ASKED, READ, OPENS, STORAGE, UNKNOWN, WRONG, SUMS };

static void fill_load(struct weir_run *run, struct mc_test *t, const struct weir_phase_rec *rec,
                      const uint64_t *sum, struct mc_row *x)
{
    int64_t most = (int64_t)t->load.used.metadata_ns;

    weir_allmax_i64(&run->par, &most, 1);
    x->tasks = t->play.tasks > 0 ? t->play.tasks : t->load.ranks;
    x->find = t->load.find_s;
    x->metadata = x->find + (double)most / WEIR_NS_PER_S;
    x->slowest = (double)rec->max.own_ns / WEIR_NS_PER_S;
    x->slowest_rate = rec->min.rate < INT64_MAX ? (double)rec->min.rate : NAN;
    x->seconds = x->find + weir_phase_span(rec, WEIR_MARK_OPEN, WEIR_MARK_CLOSED);
    x->asked = (double)sum[ASKED];
    x->read = (double)sum[READ];
    x->storage = sum[UNKNOWN] > 0 ? NAN : (double)sum[STORAGE];
    x->amplification = x->read / x->asked;
    x->opens = (double)sum[OPENS];
    x->bytes = (int64_t)sum[ASKED];
    x->rate = x->asked / x->seconds;
}

int mc_after_load(struct weir_run *run, void *state, const struct weir_stage *stage, struct weir_phase_rec *rec,
                  struct weir_err *err)
{
    struct mc_test *t = state;
    struct mc_row x = mc_row_of(run, "load", t->load.step);
    struct weir_machine_use use;
    uint64_t sum[SUMS] = { [ASKED] = t->load.used.asked, [READ] = t->load.used.read, [OPENS] = t->load.used.opens }, begin_ns;
    int64_t verify;
    int rc;

    weir_machine_use(&use, true);
    sum[STORAGE] = use.read - t->load.used.io_before;
    sum[UNKNOWN] = !use.io_known || !t->load.used.io_known;
    begin_ns = weir_now_ns();
    rc = rec->interrupted ? 0 : mc_load_verify(t, &sum[WRONG], err);
    verify = (int64_t)(weir_now_ns() - begin_ns);
    weir_allsum_u64(&run->par, sum, SUMS);
    weir_allmax_i64(&run->par, &verify, 1);
    rec->wrong_found = sum[WRONG];
    fill_load(run, t, rec, sum, &x);
    x.verify = (double)verify / WEIR_NS_PER_S;
    if (!rec->interrupted) {
        keep(&t->load.series, &x);
        weir_report_row(&run->report, &table, &x);
    }
    weir_observers_measured(run, &t->session, rec);
    return weir_agree(&run->par, rc, err);
}

/* ---- the test ---- */

#define S struct mc_series
#define RATE(f, k, h, ...) COL_REAL(S, f, k, h, .unit = WEIR_MIB, .width = 10, .prec = 2, .gap = 1, .none = "-", __VA_ARGS__)

static const struct weir_col sum_cols[] = {
    COL_STR(S, operation, "operation", "save or load", .head = "operation", .width = -9, .gap = 1),
    COL_INT(S, rate.n, "n", "Repetitions", .head = "n", .width = 4, .gap = 1),
    RATE(rate.max, "max", "Highest rate, MiB/s", .head = "max MiB/s"),
    RATE(rate.min, "min", "Lowest rate, MiB/s", .head = "min MiB/s"),
    RATE(rate.mean, "mean", "Mean of the rates, MiB/s", .head = "mean"),
    RATE(deviation, "deviation", "Standard deviation of the rates, MiB/s", .head = "stddev"),
    TIME_OF(S, seconds.mean, "time", "Mean time, seconds", .head = "mean(s)"),
    TIME_OF(S, stall.mean, "stall", "Mean stall, seconds", .head = "stall(s)"),
    TIME_OF(S, slowest.mean, "slowestTime", "Mean time of the slowest rank, seconds",
            .head = "slowest(s)"),
    COL_REAL(S, slowest_rate.mean, "slowestRate", "Mean of the lowest rates of a rank, MiB/s",
             .head = "slowest MiB/s", .unit = WEIR_MIB, .width = 13, .prec = 2, .none = "-"),
    WEIR_COL_END
};

static const struct weir_table sums = { .key = "summary", .cols = sum_cols, .headed = true, .readers = WEIR_FOR_ALL };

int mc_conclude(struct weir_run *run, void *state, struct weir_err *err)
{
    const struct mc_test *t = state;
    const struct mc_series *both[] = { &t->save.series, &t->load.series };

    if (both[0]->rate.n + both[1]->rate.n > 0)
        weir_report_line(&run->report, "%s", "");
    for (int i = 0; i < 2; i++)
        if (both[i]->rate.n > 0)
            weir_report_row(&run->report, &sums, both[i]);
    return 0;
}

static void report_need(struct weir_report *r, const int64_t need[MC_NEEDS])
{
    static const char *const keys[] = { "rankMemoryBytes", "rankWriteBytes", "nodeMemoryBytes",
                                        "nodeWriteBytes" };
    char text[MC_NEEDS][WEIR_SIZE_TEXT];

    for (int i = 0; i < MC_NEEDS; i++) {
        weir_report_int(r, WEIR_FOR_DATA, keys[i], need[i]);
        weir_size_show(need[i], text[i]);
    }
    weir_report_line(r, "a rank needs up to %s of memory and writes up to %s, a node %s and %s",
                     text[MC_RANK_MEMORY], text[MC_RANK_WRITTEN], text[MC_NODE_MEMORY],
                     text[MC_NODE_WRITTEN]);
}

/* The job of which the tasks are a part, and the size of the model in the rules. */
static void report_job(struct weir_report *r, const struct mc_test *t)
{
    const int first = t->play.first, ranks = (int)mc_job_ranks(&t->job);
    struct weir_str words = { 0 };

    if (t->play.tasks > 0) {
        weir_report_int(r, WEIR_FOR_DATA, "jobRanks", ranks);
        weir_report_int(r, WEIR_FOR_DATA, "firstRank", first);
        weir_report_line(r, "these are ranks %d to %d of a job of %d", first,
                         first + t->play.tasks - 1, ranks);
    }
    mc_preset_words(t->o, &t->job, &words);
    if (words.len > 0)
        weir_report_line(r, "%s", weir_str_words(&words));
    weir_report_free(r, &words);
}

/* The model as --scale has left it: its numbers are those that were measured. */
static int report_test(struct weir_run *run, void *state, struct weir_err *err)
{
    const struct mc_test *t = state;
    struct weir_report *r = &run->report;
    uint64_t parameters = mc_model_parameters(&t->job.model);
    char size[WEIR_SIZE_TEXT];
    struct mc_model row;

    weir_banner_test(run);
    if (t->save.bytes == 0) /* of another job, and not yet known */
        return 0;
    if (!run->test->plan.options->anonymous || mc_model_row(t->job.model.name, &row, NULL) == 0)
        weir_report_str(r, WEIR_FOR_DATA, "model", t->job.model.name);
    weir_report_int(r, WEIR_FOR_DATA, "parameters", (int64_t)parameters);
    weir_report_int(r, WEIR_FOR_DATA, "checkpointBytes", (int64_t)t->save.bytes);
    weir_report_line(r, "%s, %" PRIu64 " parameters: a checkpoint of %d rank%s has %s in %d file%s", t->job.model.name,
                     parameters, run->par.size,
                     run->par.size == 1 ? "" : "s", weir_size_show((int64_t)t->save.bytes, size), (int)t->save.files,
                     t->save.files == 1 ? "" : "s");
    report_job(r, t);
    report_need(r, t->need);
    weir_report_line(r, "tp %d, pp %d, dp %d, ep %d, ZeRO %d\n", (int)t->job.shape.tp, (int)t->job.shape.pp, (int)t->job.shape.dp,
                     (int)t->job.shape.ep, (int)t->job.shape.zero);
    return 0;
}

const struct weir_output mc_output = { .deviation = WEIR_DEVIATION_SAMPLE, .report = report_test };
