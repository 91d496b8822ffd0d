/* SPDX-License-Identifier: BSD-3-Clause */
/* options.c - the options that every program has: their rows, and a program's table with them */
#include "config.h"
#include "engine/options.h"

#include <string.h>
#include <strings.h>

#include "base/options/option.h"
#include "base/steady.h"

const char *const weir_existing_ways[] = { "replace", "reuse", "fail", NULL };
const char *const weir_progress_modes[] = { "auto", "always", "never", NULL };
const char *const weir_rule_sets[] = { "default", "jupiter", "io500", "snia", "mlperf", "none", NULL };

const char *const weir_arrivals[] = { "even", "shifted", "poisson", NULL };
const char *const weir_sweep_units[] = { "nodes", "pairs", "ranks", NULL };

static const char *const existing_no_reuse[] = { "replace", "fail", NULL };
static const char *const report_forms[] = { "text:-", "text-3.3:", "json:", "jsonl:", "csv:",
                                           "csv-intervals:", "csv-load:", "openmetrics:", NULL };
static const char *const only_zero[] = { "0", NULL };
static const char *const only_minus_one[] = { "-1", NULL };

#define R struct weir_run_options
#define APART .flags = WEIR_OPT_APART

/* In the order in which they follow the rows of a program. Those without a name are only in
 * programs that give them one; their help is the program's. */
static const struct weir_opt run_rows[] = {
    OPT_STR(0, NULL, NULL, R, api, NULL, "NAME", NULL, APART, OPT_FIRST(FILES)),
    OPT_FLAG(0, NULL, NULL, R, wear_out, NULL, OPT_IN(TIME)),
    OPT_FLAG(0, NULL, NULL, R, dry_run, NULL, OPT_IN(OUTPUT)),
    OPT_INT(0, NULL, NULL, R, depth, "0", "N",
            "Transfers of a task that are in flight at most, with a backend that has a queue; 0: as "
            "the backend does",
            .min = 0, .max = 1 << 20, .example = "32", OPT_IN(ORDER)),
    OPT_INT('i', "repetitions", NULL, R, repetitions, "1", "N", "Repetitions of the test", .min = 1,
            .max = INT32_MAX, APART, OPT_FIRST(TIME)),
    OPT_STR(0, "existing", "existing", R, existing, NULL, "WAY",
            "Files that are there and that this run did not make: write new ones in their place, "
            "or end with an error",
            .choices = existing_no_reuse, APART, OPT_IN(FILES)),
    OPT_REAL('D', "deadline", NULL, R, deadline_s, "0", "SECONDS",
             "Start nothing after this many seconds of a phase", .min = 0, .max = INT32_MAX,
             OPT_FIRST(TIME)),
    OPT_REAL('d', "delay", NULL, R, delay_s, "0", "SECONDS",
             "Wait this many seconds before each phase", .min = 0, .max = INT32_MAX, OPT_IN(TIME)),
    OPT_REAL('T', "max-time-duration", NULL, R, max_minutes, "0", "MINUTES",
             "Start no phase after this many minutes of the test", .min = 0,
             .max = INT32_MAX / 60, APART, OPT_IN(TIME)),
    OPT_COUNT('v', "verbose", NULL, R, verbose, "Print more; repeat for still more", .min = 0,
              .max = 5, APART, OPT_IN(OUTPUT)),
    OPT_FLAG(0, "warning-as-errors", NULL, R, warnings_are_errors,
             "Treat every warning as an error", APART, OPT_IN(OUTPUT)),
    OPT_STR(0, "rank-csv", NULL, R, rank_csv, NULL, "FILE",
            "Write the times of every task after each phase", .flags = WEIR_OPT_ADDS,
            .example = "ranks.csv", OPT_IN(OUTPUT)),
    OPT_STR(0, "op-csv", NULL, R, op_csv, NULL, "PREFIX",
            "Write every operation to PREFIX-<task>.csv",
            .flags = WEIR_OPT_APART | WEIR_OPT_PRIVATE, OPT_IN(OUTPUT)),

    /* Records of single operations. */
    OPT_STR(0, "timeline", NULL, R, timeline, NULL, "FILE.npy[,WORD=VALUE...]",
            "Write begin, end, place and bytes of every operation of all tasks, for NumPy and "
            "weir-plot; or of some: sample=1/N (drawn at random; seed=N), ranks=LIST (0-63,128, or "
            "leaders), slowest=K (of each rank in each phase, with the operations before and after)",
            .ends = ".npy", .example = "run.npy,sample=1/100", .flags = WEIR_OPT_ARGV_ONLY | WEIR_OPT_WRITES, OPT_IN(OUTPUT)),
    OPT_SIZE(0, "timeline-limit", "timelineLimit", R, timeline_limit, "1m", "N",
             "Operations of a task in a phase that are recorded at most, 40 bytes each; the rest "
             "are counted",
             .min = 1, .max = INT64_MAX / 64, APART, OPT_IN(OUTPUT)),
    OPT_STR(0, "interval", NULL, R, interval, NULL, "SECONDS",
            "Show bandwidth, operations and their latency (p99, longest) of all tasks in intervals of "
            "this width",
            .example = "0.5", APART, OPT_IN(OUTPUT)),
    OPT_STR(0, "progress", NULL, R, progress, "auto", "WHEN",
            "Show how far a phase of more than 3 s is: on the terminal, also through mpirun or "
            "srun, and elsewhere a line every 30 s; with --interval also the p99 of the latency; always: a line every "
            "10 s; never",
            .choices = weir_progress_modes, APART, OPT_IN(OUTPUT)),

    /* Checks of the results. */
    OPT_STR(0, "rules", "rules", R, rules, NULL, "NAME",
            "Rule set by which the results are judged; none: not at all. Without the option that "
            "of the environment variable WEIR_RULES, else default",
            .choices = weir_rule_sets, APART, OPT_IN(TRUST)),
    OPT_STR(0, "limit", "limit", R, limits, NULL, "ID:NUMBER,...",
            "Change limits of the rule set, like H01:30; in scripts joined by +",
            .flags = WEIR_OPT_APART | WEIR_OPT_JOINS, OPT_IN(TRUST)),
    OPT_SIZE(0, "peak", "peak", R, peak, "0", "SIZE",
             "Bytes a second that the storage can do at most; more is INVALID", .min = 0,
             .max = INT64_MAX, .example = "100g", APART, OPT_IN(TRUST)),
    OPT_FLAG(0, "findings", "findings", R, findings,
             "Show the findings of each test with their remedies", APART, OPT_IN(TRUST)),
    OPT_FLAG(0, "strict", "strict", R, strict,
             "End with status 5 when a test is INVALID by its rule set", APART, OPT_IN(TRUST)),
    OPT_STR(0, "until", "until", R, until, NULL, "PERCENT|steady[,WORD=VALUE...]",
            "Repeat until the 95 % interval of the median of each rate is that narrow (half of "
            "it, of the median). steady: end each phase, which begins again where it can, when its "
            "rate and p99 are steady over a window of rounds (SNIA): round=SECONDS (60), window=N "
            "(5 rounds), excursion=P% (20) and slope=P% (10) of the mean at most, of=rate, p99 or "
            "both, most=SECONDS of a phase (-D, or 25 rounds)",
            .example = "5", APART | WEIR_OPT_NONE, OPT_IN(TIME)),
    OPT_INT(0, "until-max", "untilMax", R, until_max, "0", "N",
            "With --until, repetitions at most; 0: the number of repetitions, or 100 where that "
            "is 1",
            .min = 0, .max = 1000000, .example = "20", APART, OPT_IN(TIME)),
    OPT_REAL(0, "until-time", "untilTime", R, until_time_s, "0", "SECONDS",
             "With --until, begin no repetition after this many seconds; 0: no limit", .min = 0,
             .max = INT32_MAX, APART, OPT_IN(TIME)),

    /* Operations at a rate. */
    OPT_STR(0, "rate", "rate", R, rate, NULL, "RATE",
            "Begin the operations of each task at this rate, SIZE bytes or Nops operations a second: "
            "each is due at its time, whether the one before it has ended or not, and its response time "
            "counts from there. P%..Q%:N: measure the maximum after the phases of the first repetition, "
            "and N rates from P to Q percent of it; none: no rate",
            .example = "500ops", .flags = WEIR_OPT_NONE, OPT_IN(ORDER)),
    OPT_REAL(0, "rate-time", "rateTime", R, rate_s, "5", "SECONDS",
             "With --rate in percent, measure each phase at each rate for so long", .min = 0,
             .max = INT32_MAX, OPT_IN(ORDER)),
    OPT_STR(0, "rate-total", "rateTotal", R, rate_total, NULL, "RATE",
            "The same for all tasks of the test together: each has an equal part", .example = "1g",
            .flags = WEIR_OPT_NONE, OPT_IN(ORDER)),
    OPT_STR(0, "arrivals", "arrivals", R, arrivals, NULL, "HOW",
            "With a rate: operations come in equal distances on all tasks at once (even), in equal "
            "distances with the tasks taking turns (shifted), or at random, the same in each run "
            "(poisson)",
            .choices = weir_arrivals, OPT_IN(ORDER)),
    OPT_STR(0, "burst", "burst", R, burst, NULL, "N:PAUSE",
            "After each N operations of a task pause for so many seconds: after the last has ended, or "
            "with a rate as a part of its schedule; 1:PAUSE is a time to think",
            .example = "100:0.5", .flags = WEIR_OPT_NONE, OPT_IN(ORDER)),

    OPT_STR(0, "sweep", "sweep", R, sweep, NULL, "UNITS",
            "After the phases of the first repetition measure each node alone, or each pair of "
            "neighbouring nodes, or each rank, and name the slow ones",
            .choices = weir_sweep_units, APART | WEIR_OPT_NONE, OPT_IN(TRUST)),
    OPT_REAL(0, "sweep-time", "sweepTime", R, sweep_s, "1", "SECONDS",
             "With --sweep, measure each phase of each of them for so long", .min = 0,
             .max = INT32_MAX, APART, OPT_IN(TRUST)),
    OPT_INT(0, "sweep-turns", "sweepTurns", R, sweep_turns, "32", "N",
            "With --sweep, measure all of them in so many turns at most, several at a time where "
            "there are more; those that are slow then again in smaller groups, and alone",
            .min = 1, .max = INT32_MAX, .example = "128", APART, OPT_IN(TRUST)),
    OPT_FLAG(0, "rerun-suspects", "rerunSuspects", R, rerun_suspects,
             "With --sweep, measure those that are slow once more, and some of the others for "
             "comparison, before they are named",
             APART, OPT_IN(TRUST)),
    OPT_FLAG(0, "anonymous", NULL, R, anonymous,
             "Leave names of hosts, users and files out of JSON, CSV and the document of a "
             "timeline",
             .flags = WEIR_OPT_APART | WEIR_OPT_ARGV_ONLY, OPT_IN(OUTPUT)),

    /* Checks and actions before the first byte. */
    OPT_FLAG(0, "no-space-check", "noSpaceCheck", R, no_space_check,
             "Go on where the file system has too little room for what was asked", APART,
             OPT_IN(FILES)),
    OPT_FLAG(0, "drop-cache", "dropCache", R, drop_cache,
             "Before each read phase write the files back and drop them from the page cache of "
             "their nodes, outside the measured time",
             OPT_IN(DATA)),
    OPT_INT(0, "io-timeout", "ioTimeout", R, io_timeout_s, "0", "SECONDS",
            "End the job when a call does not return or a rank stands still for this many "
            "seconds, and say which; 0: no limit",
            .min = 0, .max = INT32_MAX, APART, OPT_IN(TIME)),
    OPT_STR(0, "report", NULL, R, reports, NULL, "FORMAT:PATH,...",
            "Write results as text:-, text-3.3:FILE, json:FILE, jsonl:FILE, csv:FILE, "
            "csv-intervals:FILE, csv-load:FILE, openmetrics:FILE",
            .flags = WEIR_OPT_APART | WEIR_OPT_ARGV_ONLY | WEIR_OPT_PRIVATE,
            .suggestions = report_forms, OPT_FIRST(OUTPUT)),
    OPT_STR(0, "gpu-memory", NULL, R, gpu_memory, "0", "N",
            "Only 0: this build has no GPU memory", .choices = only_zero, APART, OPT_IN(DATA)),
    OPT_STR(0, "gpu-id", NULL, R, gpu_id, "-1", "N", "Only -1: this build has no GPU memory",
            .choices = only_minus_one, APART, OPT_IN(DATA)),
    OPT_STR(0, "gpu-direct", NULL, R, gpu_direct, "0", "N",
            "Only 0: this build has no GPU memory", .choices = only_zero, APART, OPT_IN(DATA)),
};
#define RUN_ROWS (sizeof(run_rows) / sizeof(*run_rows))

/* Rows that differ where a repetition is done as a whole. Such programs use libraries in which
 * the ranks can wait for one that has failed, so a call ends after half an hour at the latest. */
static const struct weir_opt whole_rows[] = {
    OPT_RUN(deadline_s, 'D', "deadline", NULL, .help = "Only 0: a repetition is done as a whole",
            OPT_IN(TIME)),
    OPT_RUN(io_timeout_s, 0, "io-timeout", "ioTimeout", .def = "1800"),
    OPT_END
};

/* The table of a program that is being made, and how far the rows of all programs are in it. */
struct table {
    const struct weir_opt *own;
    bool whole;
    struct weir_opt *row;
    size_t n, next;
};

static struct weir_opt changed(const struct weir_opt *row, const struct weir_opt *by)
{
    struct weir_opt out = *row;

    out.letter = by->letter;
    out.name = by->name;
    out.key = by->key;
    out.flags |= by->flags;
    out.help = by->help ? by->help : row->help;
    out.def = by->def ? by->def : row->def;
    out.choices = by->choices ? by->choices : row->choices;
    if (by->min || by->max) {
        out.min = by->min;
        out.max = by->max;
    }
    if (by->topic) {
        out.topic = by->topic;
        out.first = by->first;
    }
    return out;
}

/* The row of 'by' that changes a row; NULL: none. */
static const struct weir_opt *change_of(const struct weir_opt *by, const struct weir_opt *row)
{
    for (; !weir_opt_is_end(by); by++)
        if ((by->type == WEIR_OPT_SHARED && by->offset == row->offset) ||
            (by->type == WEIR_OPT_GONE && by->name && strcmp(by->name, row->name) == 0))
            return by;
    return NULL;
}

/* The rows that the program does not name, up to that of a field, which may be none of them. */
static void add_up_to(struct table *t, size_t offset)
{
    const struct weir_opt *row = NULL, *by;

    while (t->next < RUN_ROWS && !(row && row->offset == offset)) {
        row = &run_rows[t->next++];
        if (!row->name || change_of(t->own, row))
            continue;
        by = t->whole ? change_of(whole_rows, row) : NULL;
        t->row[t->n++] = by ? changed(row, by) : *row;
    }
}

static int add_named(struct table *t, const struct weir_opt *by, struct weir_err *err)
{
    for (size_t i = 0; i < RUN_ROWS; i++)
        if (run_rows[i].offset == by->offset) {
            t->row[t->n++] = changed(&run_rows[i], by);
            return 0;
        }
    return weir_refuse(err, WEIR_EBUG, "no option of all programs has the field at %zu", by->offset);
}

const struct weir_opt *weir_options_merge(const struct weir_opt *own, bool whole, bool few,
                                          struct weir_arena *arena, struct weir_err *err)
{
    struct table t = { .own = own, .whole = whole };
    size_t rows = RUN_ROWS + 1;

    while (!weir_opt_is_end(&own[rows - RUN_ROWS - 1]))
        rows++;
    t.row = weir_arena_alloc(arena, rows * sizeof(*t.row), err);
    if (!t.row)
        return NULL;
    for (; !weir_opt_is_end(own); own++) {
        if (own->type == WEIR_OPT_SHARED_UP_TO)
            add_up_to(&t, own->offset);
        else if (own->type != WEIR_OPT_SHARED)
            t.row[t.n++] = *own;
        else if (add_named(&t, own, err) < 0)
            return NULL;
    }
    if (!few)
        add_up_to(&t, SIZE_MAX);
    t.row[t.n] = (struct weir_opt)OPT_END;
    return t.row;
}

int weir_run_options_most(const struct weir_run_options *o)
{
    if (!o->until || weir_steady_asked(o->until))
        return o->repetitions;
    return o->until_max ? o->until_max : o->repetitions > 1 ? o->repetitions : WEIR_UNTIL_MOST;
}

double weir_run_options_bound(const struct weir_run_options *o)
{
    struct weir_steady_choice steady;

    if (!weir_steady_asked(o->until) || weir_steady_read(o->until, &steady, NULL) < 0)
        return o->deadline_s;
    return weir_steady_bound(&steady, o->deadline_s);
}

void weir_run_options_log(const struct weir_run_options *o, struct weir_log *log)
{
    log->verbose = o->verbose;
    log->warnings_are_errors = o->warnings_are_errors;
}

unsigned weir_existing(const struct weir_run_options *o)
{
    for (int i = 0; o->existing && weir_existing_ways[i]; i++)
        if (strcasecmp(o->existing, weir_existing_ways[i]) == 0)
            return 1u << i;
    return 0;
}
