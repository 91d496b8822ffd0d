/* SPDX-License-Identifier: BSD-3-Clause */
/* options.h - the options that every program has, under the spellings of each
 *
 * The option struct of a program begins with struct weir_run_options. The rows of these fields stand
 * once, in options.c, and follow the program's own rows; its table names those that it changes or
 * that shall stand elsewhere. */
#pragma once

#include "base/log.h"
#include "base/options/option.h"

/* Values of the rows below; names and meaning stand there. */
struct weir_run_options {
    const char *api, *reports, *rank_csv, *op_csv, *timeline, *interval, *progress;
    const char *rules, *limits, *findings, *until, *existing, *sweep;
    const char *rate, *rate_total, *burst, *arrivals;
    const char *gpu_id, *gpu_path;
    int64_t max_steps, timeline_limit, peak, assume_rate;
    double delay_s, deadline_s, min_time_s, pause_us, max_minutes, outlier_s, until_time_s, sweep_s, rate_s;
    int verbose, repetitions, gpu_memory, io_timeout_s, until_max, depth, sweep_turns;
    bool warnings_are_errors, dry_run, wear_out, barriers, strict, drop_cache,
        no_space_check, anonymous, rerun_suspects, gpu_direct;
    struct weir_opt_typed typed; /* by the rows of struct weir_values */
};

/* Place the row of field F here in the table of a program, under these names. Help, default,
 * choices, range and topic that are given replace those of the row; flags are added. */
#define OPT_RUN(F, l, n, k, ...)                                                                   \
    {                                                                                              \
        .type = WEIR_OPT_SHARED, .letter = (l), .name = (n), .key = (k),                           \
        .offset = offsetof(struct weir_run_options, F), __VA_ARGS__                                \
    }
/* Place here all rows up to that of field F that the table does not name, and no earlier mark
 * of this kind has placed. Those that are left follow at the end. */
#define OPT_RUN_UP_TO(F)                                                                           \
    {                                                                                              \
        .type = WEIR_OPT_SHARED_UP_TO, .name = "", .offset = offsetof(struct weir_run_options, F)  \
    }
/* A row that the program does not have: it is refused for this reason, and help does not show it. */
#define OPT_RUN_GONE(n, k, why)                                                                    \
    {                                                                                              \
        .type = WEIR_OPT_GONE, .name = (n), .key = (k), .help = (why)                              \
    }
/* For a program that makes no files. */
#define OPT_RUN_MAKES_NO_FILES                                                                     \
    OPT_RUN_GONE("existing", "existing", "this program makes no files; leave it out")

/* For a program without a phase that some ranks can do alone. */
#define OPT_RUN_NO_SWEEP                                                                           \
    OPT_RUN_NO_SWEEP_ROW("sweep", "sweep"), OPT_RUN_NO_SWEEP_ROW("sweep-time", "sweepTime"),       \
        OPT_RUN_NO_SWEEP_ROW("sweep-turns", "sweepTurns"),                                         \
        OPT_RUN_NO_SWEEP_ROW("rerun-suspects", "rerunSuspects")
#define OPT_RUN_NO_SWEEP_ROW(n, k)                                                                 \
    OPT_RUN_GONE(n, k, "the phases of this program need all ranks; use ior or mdtest for a sweep")

/* For a program whose buffers are in memory of the host. */
#define OPT_RUN_NO_GPU                                                                             \
    OPT_RUN_NO_GPU_ROW("gpu-memory"), OPT_RUN_NO_GPU_ROW("gpu-id"),                                \
        OPT_RUN_NO_GPU_ROW("gpu-direct"), OPT_RUN_NO_GPU_ROW("gpu-path")
#define OPT_RUN_NO_GPU_ROW(n)                                                                      \
    OPT_RUN_GONE(n, n, "the buffers of this program are in memory of the host; ior, mdtest, "      \
                       "md-workbench, mib and model_checkpoint have GPUs")

/* For a program in whose operations ranks wait for each other. */
#define OPT_RUN_NO_RATE                                                                            \
    OPT_RUN_NO_RATE_ROW("rate", "rate"), OPT_RUN_NO_RATE_ROW("rate-total", "rateTotal"),           \
        OPT_RUN_NO_RATE_ROW("rate-time", "rateTime"),                                              \
        OPT_RUN_NO_RATE_ROW("arrivals", "arrivals"), OPT_RUN_NO_RATE_ROW("burst", "burst")
#define OPT_RUN_NO_RATE_ROW(n, k)                                                                  \
    OPT_RUN_GONE(n, k, "the tasks of this program wait for each other in each operation; ior, "    \
                       "mib, mdtest and md-workbench have rates")

/* The rows of a program, own, with those of all programs among them and, unless minimal, at the end.
 * whole: each repetition is done as a whole (struct weir_program). Local. Owned by the arena; NULL and err when
 * memory is out, or own names a row that there is not (WEIR_EBUG). */
const struct weir_opt *weir_options_merge(const struct weir_opt *own, bool whole, bool minimal,
                                          struct weir_arena *arena, struct weir_err *err);

/* The values of --existing; bits of what a program can do. */
enum {
    WEIR_EXISTING_REPLACE = 1u << 0,
    WEIR_EXISTING_REUSE = 1u << 1,
    WEIR_EXISTING_FAIL = 1u << 2,
    /* For a program that reports itself what it does with existing files. */
    WEIR_EXISTING_REPORTED = 1u << 3
};

/* The value of --existing; 0: as the program does without it. Local. */
unsigned weir_existing(const struct weir_run_options *o);

/* The values of --existing (in the order of WEIR_EXISTING_...), of --progress, of --rules (in the order
 * of enum weir_rule_set), of --arrivals (in the order of enum weir_arrivals), and of --sweep. Each
 * ends with NULL. */
extern const char *const weir_existing_ways[];
extern const char *const weir_progress_modes[];
extern const char *const weir_rule_sets[];
extern const char *const weir_arrivals[];
extern const char *const weir_sweep_units[];

#define WEIR_UNTIL_MAX 100 /* repetitions where the options name no number */

/* Return the repetitions of a test, with --until the maximum. Local. */
int weir_run_options_most(const struct weir_run_options *o);

/* Seconds after which a phase starts nothing, by the deadline and --until=steady; 0: none. Local. */
double weir_run_options_bound(const struct weir_run_options *o);

/* Return the option with which a phase may end before its last step, as the limits say
 * (steps/limits.c); NULL: none. Local. */
const char *weir_run_options_stops(const struct weir_run_options *o);

/* Apply -v and --warningAsErrors to messages. Local. */
void weir_run_options_log(const struct weir_run_options *o, struct weir_log *log);
