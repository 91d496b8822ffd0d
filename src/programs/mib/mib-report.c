/* SPDX-License-Identifier: BSD-3-Clause */
/* mib-report.c - the command line beside its options, and what is shown */
#include "engine/phase.h"
#include "programs/mib/mib.h"

#include <inttypes.h>
#include <string.h>
#include <sys/utsname.h>

#include "engine/about/banner.h"
#include "engine/observer.h"
#include "par/agree.h"

/* ---- the command line ---- */

/* Appends "mib-VERSION-MACHINE". */
static void add_version(const char *version, struct weir_str *out)
{
    struct utsname u = { .machine = "" };

    uname(&u);
    weir_str_addf(out, "mib-%s-%s", version, u.machine);
}

/* The first line is that of release 1.9.10. */
static void show_version(struct weir_str *out)
{
    add_version("1.9.8", out);
    weir_str_addf(out, "\nmib (weir) %s\n", PACKAGE_VERSION);
}

static bool is_without_mpi(const void *opt)
{
    return ((const struct mib_options *)opt)->no_mpi;
}

static bool name_settings(const void *opt, struct weir_str *path)
{
    weir_str_addf(path, "%s/options", ((const struct mib_options *)opt)->log_dir);
    return true;
}

/* Lines beside the options in what runs with -E and -I print. */
static const char *const facts[] = { "cluster",
                                     "nodes",
                                     "tasks",
                                     "Testing a* file system *f_type",
                                     "Aggregate * rate",
                                     "NOTE: *",
                                     "WARNING: *",
                                     NULL };

const struct weir_cli mib_cli = {
    .usage = "usage: mib [b::EFIhHl:L:np:PrRs:St:VWd]", /* of release 1.9.10 */
    .version = show_version,
    .without_mpi = is_without_mpi,
    .settings_file = name_settings,
    .settings_skip = facts,
};

/* ---- before the phases ---- */

static void show_signon(struct weir_run *run)
{
    struct weir_str version = { 0 };
    char now[32];

    add_version(PACKAGE_VERSION, &version);
    weir_report_line(&run->report, "\n\n%s  %s\n", weir_str_text(&version),
                     weir_banner_now(now, WEIR_BANNER_CTIME));
    weir_report_free(&run->report, &version);
}

static void add_setting(const struct weir_opt *row, const void *values, struct weir_str *out)
{
    const bool bare = row->type == WEIR_OPT_STR && (row->flags & WEIR_OPT_OPTARG);
    const void *field = (const char *)values + row->offset;
    size_t before = out->len;

    if (row->type == WEIR_OPT_FLAG)
        weir_str_addf(out, "%s", *(const bool *)field ? "true" : "false");
    else if (bare && !*(const char *const *)field)
        weir_str_addf(out, "no");
    else
        weir_opt_show(row, values, out);
    if (bare && out->len == before)
        weir_str_addf(out, "true");
}

static bool is_default(const struct weir_opt *row, const void *values)
{
    struct weir_str text = { 0 };
    bool same;

    weir_opt_show(row, values, &text);
    same = strcmp(weir_str_text(&text), row->def ? row->def : "") == 0 ||
           (!row->def && row->type != WEIR_OPT_STR && strcmp(weir_str_text(&text), "0") == 0);
    weir_str_free(&text);
    return same;
}

#define SETTING "%-25s= " /* the key in a line of a file of options */

/* Options under the keys of a list that ends with NULL, as lines of a file of options; with
 * changed_only those that do not have their default. */
static void show_options(struct weir_report *r, const struct weir_opt *rows, const void *values,
                         const char *const *keys, bool changed_only)
{
    struct weir_str text = { 0 };

    for (; *keys; keys++) {
        const struct weir_opt *row = weir_opt_row_of(rows, *keys);

        if (!row || (changed_only && is_default(row, values)))
            continue;
        weir_str_clear(&text);
        add_setting(row, values, &text);
        weir_report_line(r, SETTING "%s", *keys, weir_str_text(&text));
    }
    weir_report_free(r, &text);
}

/* In the form of a file of options, in which 'tasks' is skipped. Options that release 1.9.10 does not
 * show come only when they were changed. */
static void show_parameters(struct weir_run *run, const struct mib_test *t)
{
    static const struct {
        const char *key[8];
        bool changed_only;
    } groups[] = {
        { { "new", "remove", "testdir", "call_limit", "call_size", "time_limit" }, false },
        { { "write_only", "read_only", "profiles" }, false },
        { { "random_reads" }, true },
        { { "show_signon", "show_headers", "show_environment", "show_progress",
            "show_intermediate_values" },
          false },
        { { "use_node_aves", "force", "verify", "api", "log_dir" }, true },
    };

    for (size_t i = 0; i < sizeof(groups) / sizeof(*groups); i++) {
        if (i == 1)
            weir_report_line(&run->report, SETTING "%d", "tasks", run->world.size);
        show_options(&run->report, t->rows, t->o, groups[i].key, groups[i].changed_only);
    }
}

void mib_report_begin(struct weir_run *run, const struct mib_test *t)
{
    struct weir_report *r = &run->report;

    if (t->o->environment && t->fs.name)
        weir_report_line(r, "Testing a file system of type \"%s\" (f_type = %#lx)", t->fs.name,
                         t->fs.number);
    else if (t->o->environment && t->fs.number)
        weir_report_line(r, "Testing an unregistered file system with f_type = %#lx", t->fs.number);
    if (t->o->environment && t->o->no_mpi)
        weir_report_line(r, "Command line forbade the use of MPI");
    if (t->o->signon)
        show_signon(run);
    if (t->o->environment)
        show_parameters(run, t);
    weir_report_flush(r);
}

/* ---- a phase ---- */

/* One phase over all tasks, beside what the engine has of each phase. Bytes, ns, counts, MiB/s. */
struct row {
    const char *operation;
    int64_t test, iter, tasks, calls, short_calls, bytes;
    double rate, seconds, unlink_ns;
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
    COL_INT(struct row, short_calls, "shortCalls", "Calls that met the end of the file"),
    COL_REAL(struct row, unlink_ns, "unlinkTime", "Longest removal before it (-n), seconds",
             .unit = WEIR_NS_PER_S),
    WEIR_COL_END
};

static const struct weir_table table = { .key = "Results", .cols = cols, .readers = WEIR_FOR_DATA };

static void fill_row(struct weir_run *run, const struct mib_test *t,
                     const struct weir_phase_rec *rec, struct row *row)
{
    int64_t longest = (int64_t)t->unlink_ns;
    uint64_t short_calls = t->short_calls;

    weir_allmax_i64(&run->par, &longest, 1);
    weir_allsum_u64(&run->par, &short_calls, 1);
    *row = (struct row) {
        .operation = run->stage->key,
        .test = run->test->id,
        .iter = rec->repetition,
        .tasks = run->par.size,
        .calls = (int64_t)rec->sum.steps,
        .short_calls = (int64_t)short_calls,
        .bytes = (int64_t)rec->sum.bytes,
        .seconds = weir_phase_span(rec, WEIR_MARK_WORK, WEIR_MARK_WORKED),
        .unlink_ns = (double)longest,
    };
    row->rate = (double)row->bytes / WEIR_MIB / row->seconds;
}

static void show_end(struct weir_report *r, const struct weir_phase_rec *rec)
{
    static const enum weir_end ends[] = { WEIR_END_COUNT, WEIR_END_TIME, WEIR_END_WORK, WEIR_END_STEADY };
    static const char *const names[] = { "call limit", "time limit", "end of the file", "steady state" };
    struct weir_str text = { 0 };

    for (int i = 0; i < WEIR_ENDS; i++)
        if (rec->sum.ended[ends[i]] > 0)
            weir_str_addf(&text, "%s%s of %" PRIu64 " task%s", text.len ? ", " : "", names[i],
                          rec->sum.ended[ends[i]], rec->sum.ended[ends[i]] == 1 ? "" : "s");
    weir_report_line(r, "Ended by: %s", rec->interrupted ? "signal" : weir_str_text(&text));
    weir_report_free(r, &text);
}

static void show_values(struct weir_run *run, const struct mib_test *t,
                        const struct weir_phase_rec *rec, const struct row *row)
{
    struct weir_report *r = &run->report;
    const char *phase = row->operation;
    const char *done = run->stage->index == WEIR_DIR_WRITE ? "written" : "read";
    uint64_t own_ns = rec->mark[WEIR_MARK_CLOSED] - rec->mark[WEIR_MARK_OPEN];

    weir_report_line(r, "Call %" PRIu64 " was the last %s recorded", rec->max.steps, phase);
    weir_report_line(r, "\nAfter %" PRIu64 " calls and %f seconds", rec->max.steps,
                     (double)own_ns / WEIR_NS_PER_S);
    if (row->tasks > 1)
        weir_report_line(r, "%f MB %s in %f seconds", (double)row->bytes / WEIR_MIB, done,
                         row->seconds);
    if (row->short_calls)
        weir_report_line(r, "%" PRId64 " short %ss", row->short_calls, phase);
    if (t->o->profiles)
        weir_report_line(r, "Table of %" PRId64 " tasks with up to %" PRIu64 " system calls",
                         row->tasks, rec->max.steps + 1);
    weir_report_line(r, "Aggregate %s rate = %10.2f", phase, row->rate);
    show_end(r, rec);
}

/* Report the error of the lowest task with wrong data; the run goes on. */
static void report_wrong(struct weir_run *run, const struct mib_test *t)
{
    struct weir_err err = WEIR_ERR_INIT;
    uint64_t wrong = run->counters.wrong;
    int rc = 0;

    if (wrong > 0)
        rc = weir_refuse(&err, WEIR_EDATA,
                         "wrong data in %" PRIu64 " reads of '%s', first at offset %" PRIu64
                         " (was it written with --verify?)",
                         wrong, weir_str_text(&t->peer), t->wrong_at);
    if (weir_agree(&run->par, rc, &err) < 0)
        weir_run_refuse(run, &err);
}

void mib_report_phase(struct weir_run *run, struct mib_test *t, const struct weir_phase_rec *rec)
{
    struct row row;

    fill_row(run, t, rec, &row);
    t->rate[run->stage->index] = row.rate;
    weir_report_row(&run->report, &table, &row);
    if (t->o->intermediate)
        show_values(run, t, rec, &row);
    weir_report_flush(&run->report); /* the bar is whole before a message */
    if (rec->sum.ended[WEIR_END_WORK] > 0 && !rec->interrupted)
        weir_note(&run->log,
                  "%" PRIu64 " of %d tasks have read all of their file in %" PRIu64
                  " calls or fewer; reads end there",
                  rec->sum.ended[WEIR_END_WORK], run->par.size, rec->max.steps);
    report_wrong(run, t);
    weir_observers_measured(run, &t->session, rec);
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
    bool large = o->call_size > (int64_t)WEIR_MIB;
    struct weir_str task = { 0 };
    char now[32];

    if (o->headers)
        show_head(&run->report, o->no_mpi);
    if (o->no_mpi)
        weir_str_addf(&task, "%6d ", t->task);
    weir_report_line(&run->report, "%s%s %6d %4" PRId64 "%c %5d %5.15g %10.2f %10.2f",
                     weir_str_text(&task), weir_banner_now(now, WEIR_BANNER_CTIME), run->par.size,
                     o->call_size / (int64_t)(large ? WEIR_MIB : 1024), large ? 'M' : 'k', o->call_limit,
                     o->run.deadline_s, t->rate[WEIR_DIR_WRITE], t->rate[WEIR_DIR_READ]);
    weir_report_flush(&run->report);
    weir_report_free(&run->report, &task);
    t->unreported = false;
}
