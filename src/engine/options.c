/* SPDX-License-Identifier: BSD-3-Clause */
/* options.c - the options that every program has: their rows, and a program's table with them */
#include "engine/options.h"

#include <string.h>

#include "base/gpu/gpu.h"
#include "base/steady.h"
#include "engine/report/report.h"

const char *const weir_existing_ways[] = { "replace", "reuse", "fail", NULL };
const char *const weir_progress_modes[] = { "auto", "always", "never", NULL };
static const char *const all_findings[] = { "all", NULL };
const char *const weir_rule_sets[] = { "default", "jupiter", "io500", "snia", "mlperf", "none", NULL };

const char *const weir_arrivals[] = { "even", "shifted", "poisson", NULL };
const char *const weir_sweep_units[] = { "nodes", "pairs", "ranks", NULL };

static const char *const existing_no_reuse[] = { "replace", "fail", NULL };
static const char *const report_forms[] = { WEIR_FORM_VALUES };
static const char *const until_words[] = { "steady", NULL };
static const char *const gpu_ids[] = { "-1", "near", NULL };

#define R struct weir_run_options
#define NEUTRAL .flags = WEIR_OPT_NEUTRAL

/* In the order in which they follow the rows of a program. Those without a name are only in
 * programs that give them one; their help is the program's. */
static const struct weir_opt run_rows[] = {
    OPT_STR(0, NULL, NULL, R, api, NULL, "NAME", NULL, NEUTRAL, OPT_FIRST(FILES)),
    OPT_FLAG(0, NULL, NULL, R, wear_out, NULL, OPT_IN(TIME)),
    OPT_FLAG(0, NULL, NULL, R, dry_run, NULL, OPT_IN(OUTPUT)),
    OPT_INT(0, NULL, NULL, R, depth, "0", "N",
            "Queue depth of tasks, for backends with a queue (0: their default)",
            .min = 0, .max = 1 << 20, OPT_IN(ORDER)),
    OPT_INT('i', "repetitions", NULL, R, repetitions, "1", "N", "Repetitions of the test", .min = 1,
            .max = INT32_MAX, NEUTRAL, OPT_FIRST(TIME)),
    OPT_STR(0, "existing", "existing", R, existing, NULL, "WAY",
            "Existing files of others: replaced, or an error",
            .choices = existing_no_reuse, NEUTRAL, OPT_IN(FILES)),
    OPT_REAL('D', "deadline", NULL, R, deadline_s, "0", "SECONDS",
             "Time of a phase after which nothing more is started, seconds", .min = 0,
             .max = INT32_MAX, OPT_FIRST(TIME)),
    OPT_REAL('d', "delay", NULL, R, delay_s, "0", "SECONDS", "Wait before each phase, seconds",
             .min = 0, .max = INT32_MAX, OPT_IN(TIME)),
    OPT_REAL('T', "max-time-duration", NULL, R, max_minutes, "0", "MINUTES",
             "Time of the test after which no phase begins, minutes", .min = 0,
             .max = INT32_MAX / 60, NEUTRAL, OPT_IN(TIME)),
    OPT_COUNT('v', "verbose", NULL, R, verbose, "More output; repeat for still more", .min = 0,
              .max = 5, NEUTRAL, OPT_IN(OUTPUT)),
    OPT_FLAG(0, "warning-as-errors", NULL, R, warnings_are_errors, "Warnings are errors", NEUTRAL,
             OPT_IN(OUTPUT)),
    OPT_STR(0, "rank-csv", NULL, R, rank_csv, NULL, "FILE",
            "File with the times of every task after each phase", .flags = WEIR_OPT_ADDS,
            OPT_IN(OUTPUT)),
    OPT_STR(0, "op-csv", NULL, R, op_csv, NULL, "PREFIX",
            "Files PREFIX-<task>.csv with every operation",
            .flags = WEIR_OPT_NEUTRAL | WEIR_OPT_PRIVATE, OPT_IN(OUTPUT)),

    /* Records of single operations. */
    OPT_STR(0, "timeline", NULL, R, timeline, NULL, "FILE.npy[,WORD=VALUE...]",
            "File of operations for NumPy and weir-plot; fewer with sample=1/N (seed=N), "
            "ranks=LIST (0-63,128, or leaders), slowest=K (per rank and phase)",
            .ends = ".npy", .example = "--timeline=run.npy,sample=1/100",
            .flags = WEIR_OPT_ARGV_ONLY | WEIR_OPT_WRITES, OPT_IN(OUTPUT)),
    OPT_SIZE(0, "timeline-limit", "timelineLimit", R, timeline_limit, "1m", "N",
             "Maximum recorded operations per task and phase, 40 bytes each",
             .min = 1, .max = INT64_MAX / 64, NEUTRAL, OPT_IN(OUTPUT)),
    OPT_STR(0, "interval", NULL, R, interval, NULL, "SECONDS",
            "Width of intervals for rates and latency (p99, maximum), seconds",
            .example = "--interval=0.5", NEUTRAL, OPT_IN(OUTPUT)),
    OPT_STR(0, "progress", NULL, R, progress, "auto", "WHEN",
            "Progress after 3 s: on a terminal, or lines every 30 s (always: 10 s)",
            .choices = weir_progress_modes, NEUTRAL, OPT_IN(OUTPUT)),

    /* Checks of the results. */
    OPT_STR(0, "rules", "rules", R, rules, NULL, "NAME",
            "Rule set that judges the results (default: WEIR_RULES in the environment, or default)",
            .choices = weir_rule_sets, NEUTRAL, OPT_IN(TRUST)),
    OPT_STR(0, "limit", "limit", R, limits, NULL, "ID:NUMBER,...",
            "Limits instead of the rule set's: H01:30,H25:80 (in scripts joined by +)",
            .flags = WEIR_OPT_NEUTRAL | WEIR_OPT_APPEND, OPT_IN(TRUST)),
    OPT_SIZE(0, "peak", "peak", R, peak, "0", "SIZE",
             "Highest possible rate of the storage, bytes a second; more is INVALID", .min = 0,
             .max = INT64_MAX, .example = "--peak=100g", NEUTRAL, OPT_IN(TRUST)),
    OPT_STR(0, "findings", "findings", R, findings, NULL, "all",
            "Findings of each test with their remedies: the eight worst, or all",
            .suggestions = all_findings, .example = "--findings=all",
            .flags = WEIR_OPT_NEUTRAL | WEIR_OPT_OPTARG, OPT_IN(TRUST)),
    OPT_FLAG(0, "strict", "strict", R, strict,
             "Exit status 5 when a test is INVALID by its rule set", NEUTRAL, OPT_IN(TRUST)),
    OPT_STR(0, "until", "until", R, until, NULL, "PERCENT|steady[,WORD=VALUE...]",
            "Repetitions until the 95 % interval of each median rate is within PERCENT of it; "
            "'steady': phases until rate and p99 are steady (SNIA), with round=SECONDS (60), "
            "window=N (5 rounds), excursion=P% (20), slope=P% (10), of=rate, p99 or both, "
            "most=SECONDS (-D, or 25 rounds)",
            .example = "--until=5 --until-max=20", NEUTRAL | WEIR_OPT_NONE,
            .suggestions = until_words, OPT_IN(TIME)),
    OPT_INT(0, "until-max", "untilMax", R, until_max, "0", "N",
            "Maximum repetitions with --until (0: --repetitions, or 100 if that is 1)",
            .min = 0, .max = 1000000, NEUTRAL, OPT_IN(TIME)),
    OPT_REAL(0, "until-time", "untilTime", R, until_time_s, "0", "SECONDS",
             "Time after which --until begins no repetition, seconds (0: no limit)", .min = 0,
             .max = INT32_MAX, NEUTRAL, OPT_IN(TIME)),

    /* Operations at a rate. */
    OPT_STR(0, "rate", "rate", R, rate, NULL, "RATE",
            "Rate of each task, an open loop: 100m (bytes/s), 500ops (operations/s), or P%..Q%:N, "
            "N rates from P to Q percent of the first repetition's maximum (none: no rate)",
            .example = "--rate=500ops", .flags = WEIR_OPT_NONE, OPT_IN(ORDER)),
    OPT_REAL(0, "rate-time", "rateTime", R, rate_s, "5", "SECONDS",
             "Time of each phase at each rate of --rate in percent, seconds", .min = 0,
             .max = INT32_MAX, OPT_IN(ORDER)),
    OPT_STR(0, "rate-total", "rateTotal", R, rate_total, NULL, "RATE",
            "Rate of all tasks together, as --rate; each has an equal part", .flags = WEIR_OPT_NONE,
            OPT_IN(ORDER)),
    OPT_STR(0, "arrivals", "arrivals", R, arrivals, NULL, "HOW",
            "Arrivals at a rate: together (even), in turn (shifted), random (poisson)",
            .choices = weir_arrivals, OPT_IN(ORDER)),
    OPT_STR(0, "burst", "burst", R, burst, NULL, "N:PAUSE",
            "Pause after each N operations, seconds (1:PAUSE is a think time)",
            .example = "--burst=100:0.5", .flags = WEIR_OPT_NONE, OPT_IN(ORDER)),

    OPT_STR(0, "sweep", "sweep", R, sweep, NULL, "UNITS",
            "Slow nodes, pairs or ranks: each measured after the first repetition",
            .choices = weir_sweep_units, NEUTRAL | WEIR_OPT_NONE, OPT_IN(TRUST)),
    OPT_REAL(0, "sweep-time", "sweepTime", R, sweep_s, "1", "SECONDS",
             "Time of each phase of each unit of --sweep, seconds", .min = 0, .max = INT32_MAX,
             NEUTRAL, OPT_IN(TRUST)),
    OPT_INT(0, "sweep-turns", "sweepTurns", R, sweep_turns, "32", "N",
            "Maximum turns of --sweep; with more units, several share a turn",
            .min = 1, .max = INT32_MAX, NEUTRAL, OPT_IN(TRUST)),
    OPT_FLAG(0, "rerun-suspects", "rerunSuspects", R, rerun_suspects,
             "Second measurement of slow units of --sweep, before they are named",
             NEUTRAL, OPT_IN(TRUST)),
    OPT_FLAG(0, "anonymous", NULL, R, anonymous,
             "No names of hosts, users and files in JSON, CSV and timelines",
             .flags = WEIR_OPT_NEUTRAL | WEIR_OPT_ARGV_ONLY, OPT_IN(OUTPUT)),

    /* Checks and actions before the first byte. */
    OPT_FLAG(0, "no-space-check", "noSpaceCheck", R, no_space_check,
             "No check for free space before the run", NEUTRAL,
             OPT_IN(FILES)),
    OPT_FLAG(0, "drop-cache", "dropCache", R, drop_cache,
             "Cold page cache before each read phase, untimed", OPT_FIRST(DATA)),
    OPT_INT(0, "io-timeout", "ioTimeout", R, io_timeout_s, "0", "SECONDS",
            "Time after which a hang ends the job, seconds (0: no limit)",
            .min = 0, .max = INT32_MAX, NEUTRAL, OPT_IN(TIME)),
    OPT_STR(0, "report", NULL, R, reports, NULL, "FORMAT:PATH,...", "Results: " WEIR_FORMS_HELP,
            .flags = WEIR_OPT_NEUTRAL | WEIR_OPT_ARGV_ONLY | WEIR_OPT_PRIVATE,
            .suggestions = report_forms, OPT_FIRST(OUTPUT)),
    OPT_INT(0, "gpu-memory", "allocateBufferOnGPU", R, gpu_memory, "0", "N",
            "Buffer memory: 0 host, 1 managed, 2 managed, data on the GPU, 3 GPU",
            .min = 0, .max = WEIR_MEMORIES - 1, .flags = WEIR_OPT_OPTARG | WEIR_OPT_NEXT,
            OPT_IN(DATA)),
    OPT_STR(0, "gpu-id", "GPUid", R, gpu_id, "-1", "N|near",
            "GPU of each task (-1: in turn; near: on its NUMA node)",
            .suggestions = gpu_ids, OPT_IN(DATA)),
    OPT_FLAG(0, "gpu-direct", "GPUDirect", R, gpu_direct,
             "Transfers between files and a GPU by cuFile or hipFile, as --gpu-path=direct",
             OPT_IN(DATA)),
    OPT_STR(0, "gpu-path", "gpuPath", R, gpu_path, NULL, "WAY",
            "GPU path: cuFile or hipFile (direct), buffer and copy (staged), pointer (mapped)",
            .choices = weir_gpu_paths, OPT_IN(DATA)),
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

const struct weir_opt *weir_options_merge(const struct weir_opt *own, bool whole, bool minimal,
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
    if (!minimal)
        add_up_to(&t, SIZE_MAX);
    t.row[t.n] = (struct weir_opt)OPT_END;
    return t.row;
}

int weir_run_options_most(const struct weir_run_options *o)
{
    if (!o->until || weir_steady_asked(o->until))
        return o->repetitions;
    return o->until_max ? o->until_max : o->repetitions > 1 ? o->repetitions : WEIR_UNTIL_MAX;
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
    int way = weir_opt_choice(weir_existing_ways, o->existing);

    return way >= 0 ? 1u << way : 0;
}
