/* SPDX-License-Identifier: BSD-3-Clause */
/* mib-report.c - what is shown */
#include "config.h"
#include "drivers/mib/mib.h"

#include <inttypes.h>
#include <string.h>

#include "engine/banner.h"
#include "engine/calltable.h"
#include "engine/metrics.h"
#include "engine/outputs.h"
#include "engine/provenance.h"
#include "engine/ranks.h"
#include "par/agree.h"

#define MIB 1048576.0
#define FORM "%a %b %e %H:%M:%S %Y" /* as ctime(3) */
#define RULER 50                    /* stars of a whole phase; the last two are never shown */

/* ---- before the phases ---- */

static void show_signon(struct weir_run *run)
{
    struct weir_str version = { 0 };
    char now[32];

    mib_version(&version);
    weir_report_line(&run->report, "\n\n%s  %s\n", weir_str_text(&version),
                     weir_banner_now(now, FORM));
    weir_str_free(&version);
}

static void show_pair(struct weir_report *r, const char *key, const char *value)
{
    weir_report_line(r, "%-25s= %s", key, value);
}

static void show_flag(struct weir_report *r, const char *key, bool value)
{
    show_pair(r, key, value ? "true" : "false");
}

/* What release 1.9.10 does not show comes only where it was asked for. */
static void show_more(struct weir_report *r, const struct mib_test *t)
{
    const struct mib_options *o = t->o;

    if (o->averages)
        show_flag(r, "use_node_aves", true);
    if (o->force)
        show_flag(r, "force", true);
    if (o->verify)
        show_flag(r, "verify", true);
    if (o->run.api)
        show_pair(r, "api", t->be->name);
    if (strcmp(o->log_dir, ".") != 0)
        show_pair(r, "log_dir", o->log_dir);
}

/* As an options file has it; tasks are skipped there. */
static void show_parameters(struct weir_run *run, const struct mib_test *t)
{
    const struct mib_options *o = t->o;
    struct weir_report *r = &run->report;

    show_flag(r, "new", o->fresh);
    show_flag(r, "remove", o->remove);
    show_pair(r, "testdir", o->test_dir);
    weir_report_line(r, "%-25s= %d", "call_limit", o->call_limit);
    weir_report_line(r, "%-25s= %" PRId64, "call_size", o->call_size);
    weir_report_line(r, "%-25s= %d", "time_limit", o->run.deadline_s);
    weir_report_line(r, "%-25s= %d", "tasks", run->world.size);
    show_flag(r, "write_only", o->write_only && !o->read_only);
    show_flag(r, "read_only", o->read_only && !o->write_only);
    show_pair(r, "profiles", !o->profiles ? "no" : *o->profiles ? o->profiles : "true");
    if (t->granularity)
        weir_report_line(r, "%-25s= %" PRIu64, "random_reads", t->granularity);
    show_flag(r, "show_signon", o->signon);
    show_flag(r, "show_headers", o->headers);
    show_flag(r, "show_environment", o->environment);
    show_flag(r, "show_progress", o->progress);
    show_flag(r, "show_intermediate_values", o->intermediate);
    show_more(r, t);
}

static void show_file_system(struct weir_report *r, const struct weir_fs_type *fs)
{
    if (fs->name)
        weir_report_line(r, "Testing a file system of type \"%s\" (f_type = %#lx)", fs->name,
                         fs->number);
    else
        weir_report_line(r, "Testing an unregistered file system with f_type = %#lx", fs->number);
}

void mib_report_begin(struct weir_run *run, struct mib_test *t, int argc, char *const *argv)
{
    struct weir_report *r = &run->report;
    char now[32];

    weir_banner_program(run, "mib");
    weir_report_str(r, WEIR_FOR_DATA, "Began", weir_banner_now(now, FORM));
    weir_banner_command(run, argc, argv);
    weir_banner_machine(run, WEIR_FOR_DATA);
    if (run->details)
        weir_provenance_run(run);
    if (t->o->environment && t->fs.number)
        show_file_system(r, &t->fs);
    if (t->o->environment && t->o->no_mpi)
        weir_report_line(r, "Command line forbade the use of MPI");
    if (t->o->signon)
        show_signon(run);
    if (t->o->environment)
        show_parameters(run, t);
    weir_report_flush(r);
}

int mib_report_test(struct weir_run *run, void *state, struct weir_err *err)
{
    const struct mib_test *t = state;

    (void)err;
    if (run->details)
        weir_provenance_test(run, t->be, t->o->test_dir);
    weir_report_int(&run->report, WEIR_FOR_DATA, "TestID", run->test->id);
    weir_banner_parameters(run, mib_option_rows, t->o);
    weir_report_int(&run->report, WEIR_FOR_DATA, "tasks", run->par.size);
    return 0;
}

void mib_report_end(struct weir_run *run, const struct weir_test *tests)
{
    char now[32];

    (void)tests;
    weir_report_str(&run->report, WEIR_FOR_DATA, "Finished", weir_banner_now(now, FORM));
}

/* ---- the progress bar ---- */

void mib_progress_begin(struct weir_run *run, struct mib_test *t)
{
    t->stars = 0;
    if (!t->o->progress)
        return;
    weir_report_line(&run->report, "\n%s phase\nshould last about this long---------------------->",
                     run->stage->key);
    weir_report_flush(&run->report);
}

/* Each star is printed once and the last two never, so a call that jumps over the end adds none. */
void mib_progress(struct weir_run *run, void *state, uint64_t calls, double seconds)
{
    struct mib_test *t = state;
    int limit_s = t->o->run.deadline_s;
    uint64_t stars = RULER * calls / (uint64_t)t->o->call_limit;
    double by_time = limit_s > 0 ? RULER * seconds / limit_s : 0;

    if (!t->o->progress || run->par.rank != 0)
        return;
    if (by_time > (double)stars)
        stars = (uint64_t)by_time;
    if ((int)stars <= t->stars || stars >= RULER - 1)
        return;
    weir_report_piece(&run->report, "%.*s", (int)stars - t->stars,
                      "**************************************************");
    t->stars = (int)stars;
}

/* The stars that the calls since the last look, and those up to the end, have earned. */
static void end_progress(struct weir_run *run, struct mib_test *t, const struct weir_phase_rec *rec)
{
    uint64_t counted = ((RULER - 1) * (uint64_t)t->o->call_limit - 1) / RULER;
    uint64_t own_ns = rec->mark[WEIR_MARK_WORKED] - rec->mark[WEIR_MARK_WORK];
    double seconds = (double)own_ns / WEIR_NS_PER_S;
    double last = t->o->run.deadline_s * (RULER - 1.5) / RULER;

    if (!t->o->progress)
        return;
    mib_progress(run, t, rec->steps < counted ? rec->steps : counted, 0);
    mib_progress(run, t, 0, seconds < last ? seconds : last);
    weir_report_line(&run->report, "%s", "");
}

/* ---- a phase ---- */

/* One phase over all tasks. Bytes, ns, counts, MiB/s. */
struct row {
    const char *operation, *ended;
    int64_t test, iter, tasks, calls, calls_min, calls_max, short_calls, bytes, wrong;
    int64_t by_calls, by_time, by_file, interrupted;
    double rate, seconds, unlink_ns, open_ns, fsync_ns, close_ns;
};

static const struct weir_col cols[] = {
    COL_INT(struct row, test, "test", "Number of the test, from 0"),
    COL_INT(struct row, iter, "iter", "Repetition, from 0"),
    COL_STR(struct row, operation, "operation", "Phase"),
    COL_INT(struct row, tasks, "tasks", "Tasks"),
    COL_REAL(struct row, rate, "rate", "Bytes of all tasks in 'time', MiB/s"),
    COL_REAL(struct row, seconds, "time",
             "First call begun to last call done, of writes to last fsync done, seconds"),
    COL_INT(struct row, bytes, "bytes", "Bytes moved by all tasks"),
    COL_INT(struct row, calls, "calls", "Calls of all tasks"),
    COL_INT(struct row, calls_min, "callsMin", "Fewest of a task"),
    COL_INT(struct row, calls_max, "callsMax", "Most of a task"),
    COL_INT(struct row, short_calls, "shortCalls", "Calls that met the end of the file"),
    COL_INT(struct row, wrong, "wrong", "Calls whose data were not right"),
    COL_STR(struct row, ended, "ended", "What ended it: calls, time, file, mixed, signal"),
    COL_INT(struct row, by_calls, "tasksByCalls", "Tasks that reached the call limit"),
    COL_INT(struct row, by_time, "tasksByTime", "Tasks that reached the time limit"),
    COL_INT(struct row, by_file, "tasksByFile", "Tasks that reached the end of their file"),
    COL_REAL(struct row, unlink_ns, "unlinkTime", "Longest removal before it (-n), seconds",
             .unit = WEIR_NS_PER_S),
    COL_REAL(struct row, open_ns, "openTime", "First open begun to last open done, seconds",
             .unit = WEIR_NS_PER_S),
    COL_REAL(struct row, fsync_ns, "fsyncTime", "Longest fsync of a task, seconds",
             .unit = WEIR_NS_PER_S),
    COL_REAL(struct row, close_ns, "closeTime", "First close begun to last close done, seconds",
             .unit = WEIR_NS_PER_S),
    COL_INT(struct row, interrupted, "interrupted", "1 when a signal ended it early"),
    WEIR_COL_END
};

static const struct weir_table table = { .key = "Results", .cols = cols, .readers = WEIR_FOR_DATA };

/* What ended the phase: tasks by call limit, by time limit, at the end of their file. */
static void count_ends(struct weir_run *run, const struct mib_test *t,
                       const struct weir_phase_rec *rec, uint64_t n[3])
{
    n[0] = rec->steps == (uint64_t)t->o->call_limit;
    n[2] = !n[0] && rec->steps == t->planned;
    n[1] = !n[0] && !n[2];
    weir_allsum_u64(&run->par, n, 3);
}

static const char *name_end(const struct row *row)
{
    if (row->interrupted)
        return "signal";
    return row->by_calls == row->tasks  ? "calls"
           : row->by_time == row->tasks ? "time"
           : row->by_file == row->tasks ? "file"
                                        : "mixed";
}

static void fill_row(struct weir_run *run, const struct mib_test *t,
                     const struct weir_phase_rec *rec, struct row *row)
{
    int64_t longest[] = { (int64_t)t->unlink_ns, (int64_t)t->fsync_ns };
    uint64_t short_calls = t->short_calls, ends[3];

    count_ends(run, t, rec, ends);
    weir_allmax_i64(&run->par, longest, 2);
    weir_allsum_u64(&run->par, &short_calls, 1);
    *row = (struct row) {
        .operation = run->stage->key,
        .test = run->test->id,
        .iter = rec->repetition,
        .tasks = run->par.size,
        .calls = (int64_t)rec->steps_sum,
        .calls_min = (int64_t)rec->steps_min,
        .calls_max = (int64_t)rec->steps_max,
        .short_calls = (int64_t)short_calls,
        .bytes = (int64_t)rec->bytes_sum,
        .wrong = (int64_t)rec->wrong_sum,
        .by_calls = (int64_t)ends[0],
        .by_time = (int64_t)ends[1],
        .by_file = (int64_t)ends[2],
        .interrupted = rec->interrupted,
        .seconds = weir_phase_span(rec, WEIR_MARK_WORK, WEIR_MARK_WORKED),
        .unlink_ns = (double)longest[0],
        .open_ns = weir_phase_span(rec, WEIR_MARK_OPEN, WEIR_MARK_OPENED) * WEIR_NS_PER_S,
        .fsync_ns = (double)longest[1],
        .close_ns = weir_phase_span(rec, WEIR_MARK_CLOSE, WEIR_MARK_CLOSED) * WEIR_NS_PER_S,
    };
    row->rate = (double)row->bytes / MIB / row->seconds;
    row->ended = name_end(row);
}

static void show_end(struct weir_report *r, const struct row *row)
{
    static const char *const names[] = { "call limit", "time limit", "end of the file" };
    const int64_t n[] = { row->by_calls, row->by_time, row->by_file };
    struct weir_str text = { 0 };

    for (int i = 0; i < 3; i++)
        if (n[i] > 0)
            weir_str_addf(&text, "%s%s of %" PRId64 " task%s", text.len ? ", " : "", names[i], n[i],
                          n[i] == 1 ? "" : "s");
    weir_report_line(r, "Ended by: %s", row->interrupted ? "signal" : weir_str_text(&text));
    weir_str_free(&text);
}

static void show_values(struct weir_run *run, const struct mib_test *t,
                        const struct weir_phase_rec *rec, const struct row *row)
{
    struct weir_report *r = &run->report;
    const char *phase = row->operation;
    const char *done = run->stage->index == WEIR_DIR_WRITE ? "written" : "read";
    uint64_t own_ns = rec->mark[WEIR_MARK_CLOSED] - rec->mark[WEIR_MARK_OPEN];

    weir_report_line(r, "Call %" PRId64 " was the last %s recorded", row->calls_max, phase);
    weir_report_line(r, "\nAfter %" PRId64 " calls and %f seconds", row->calls_max,
                     (double)own_ns / WEIR_NS_PER_S);
    if (row->tasks > 1)
        weir_report_line(r, "%f MB %s in %f seconds", (double)row->bytes / MIB, done, row->seconds);
    if (row->short_calls)
        weir_report_line(r, "%" PRId64 " short %ss", row->short_calls, phase);
    if (t->o->profiles)
        weir_report_line(r, "Table of %" PRId64 " tasks with up to %" PRId64 " system calls",
                         row->tasks, row->calls_max + 1);
    weir_report_line(r, "Aggregate %s rate = %10.2f", phase, row->rate);
    show_end(r, row);
}

/* The words of the lowest task with wrong data; not the end of the run. */
static void report_wrong(struct weir_run *run, struct mib_test *t)
{
    struct weir_err err = WEIR_ERR_INIT;
    uint64_t wrong = run->counters.wrong;
    int rc = 0;

    if (wrong > 0)
        rc = weir_refuse(&err, WEIR_EDATA,
                         "wrong data in %" PRIu64 " reads of '%s', first at offset %" PRIu64
                         " (was it written with --verify?)",
                         wrong, weir_str_text(&t->peer), t->wrong_at);
    if (weir_agree(&run->par, rc, &err) < 0) {
        weir_run_refuse(run, &err);
        t->wrong = true;
    }
}

static int write_profile(struct weir_run *run, const struct mib_test *t,
                         const struct weir_phase_rec *rec, struct weir_err *err)
{
    bool by_node = t->o->averages && run->par.size > run->par.nodes;
    struct weir_str path = { 0 };
    int rc;

    mib_profile_path(t->o, (enum weir_dir)run->stage->index, &path);
    rc = weir_calltable_write(run, rec, weir_str_text(&path), by_node, err);
    weir_str_free(&path);
    return rc;
}

int mib_report_phase(struct weir_run *run, struct mib_test *t, const struct weir_phase_rec *rec,
                     struct weir_err *err)
{
    struct row row;

    end_progress(run, t, rec);
    fill_row(run, t, rec, &row);
    t->rate[run->stage->index] = row.rate;
    weir_report_row(&run->report, &table, &row);
    if (t->o->intermediate)
        show_values(run, t, rec, &row);
    if (row.by_file > 0)
        weir_note(&run->log,
                  "%" PRId64 " of %" PRId64 " tasks have read all of their file in %" PRId64
                  " calls or fewer; reads end there",
                  row.by_file, row.tasks, row.calls_max);
    report_wrong(run, t);
    weir_metrics_report(run, &t->session, rec);
    if (t->o->profiles && write_profile(run, t, rec, err) < 0)
        return -1;
    return weir_ranks_report(run, rec, err);
}

/* ---- the line of results ---- */

static void show_head(struct weir_report *r, bool task)
{
    const char *const pad[] = { task ? "  task " : "", task ? "       " : "",
                                task ? "------ " : "" };

    weir_report_line(r, "%s%14s           %6s %5s %5s %5s %10s %10s", pad[0], "date", "tasks",
                     "xfer", "call", "time", "write", "read");
    weir_report_line(r, "%s%24s %6s %5s %5s %5s %10s %10s", pad[1], "", "", "", "limit", "limit",
                     "MB/s", "MB/s");
    weir_report_line(r, "%s%24s %6s %5s %5s %5s %10s %10s", pad[2], "------------------------",
                     "------", "-----", "-----", "-----", "----------", "----------");
}

void mib_report_result(struct weir_run *run, struct mib_test *t)
{
    const struct mib_options *o = t->o;
    bool large = o->call_size > (int64_t)MIB;
    struct weir_str task = { 0 };
    char now[32];

    if (o->headers)
        show_head(&run->report, o->no_mpi);
    if (o->no_mpi)
        weir_str_addf(&task, "%6d ", t->task);
    weir_report_line(&run->report, "%s%s %6d %4" PRId64 "%c %5d %5d %10.2f %10.2f",
                     weir_str_text(&task), weir_banner_now(now, FORM), run->par.size,
                     o->call_size / (int64_t)(large ? MIB : 1024), large ? 'M' : 'k', o->call_limit,
                     o->run.deadline_s, t->rate[WEIR_DIR_WRITE], t->rate[WEIR_DIR_READ]);
    weir_report_flush(&run->report);
    weir_str_free(&task);
    t->untold = false;
}
