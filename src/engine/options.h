/* SPDX-License-Identifier: BSD-3-Clause */
/* options.h - the options that every program has, under the spellings of each
 *
 * The option struct of a program begins with struct weir_run_options; its table has the macros
 * below among its own rows. A macro is the one place for type, range, default and help of an
 * option; a program gives letter, long name and script key. */
#ifndef WEIR_ENGINE_OPTIONS_H
#define WEIR_ENGINE_OPTIONS_H

#include "base/log.h"
#include "base/options/option.h"
#include "engine/check/findings.h"

/* Values of the rows below; names and meaning stand there. */
struct weir_run_options {
    const char *api, *reports, *rank_csv, *op_csv, *timeline, *interval, *progress;
    const char *rules, *limits, *until, *existing;
    const char *gpu_memory, *gpu_id, *gpu_direct;
    int64_t max_steps, timeline_limit, peak, assume_rate;
    double delay_s, deadline_s, min_time_s, pause_us, max_minutes, outlier_s, until_time_s;
    int verbose, repetitions, io_timeout_s, until_max;
    bool warnings_are_errors, dry_run, wear_out, barriers, findings, strict, drop_cache,
        no_space_check, anonymous;
};

#define WEIR_R struct weir_run_options

#define WEIR_OPT_API(l, n, k, def, help)                                                           \
    OPT_STR(l, n, k, WEIR_R, api, def, "NAME", help, OPT_FIRST(FILES))
#define WEIR_OPT_VERBOSE(l, n, k, ...)                                                             \
    OPT_COUNT(l, n, k, WEIR_R, verbose, "Print more; repeat for still more", OPT_IN(OUTPUT), __VA_ARGS__)
#define WEIR_OPT_WARNINGS(n, k)                                                                    \
    OPT_FLAG(0, n, k, WEIR_R, warnings_are_errors, "Treat every warning as an error",              \
             OPT_IN(OUTPUT))
#define WEIR_OPT_REPETITIONS_DEFAULT(l, n, k, def, ...)                                            \
    OPT_INT(l, n, k, WEIR_R, repetitions, def, "N", "Repetitions of the test", .min = 1,           \
            .max = INT32_MAX, OPT_FIRST(TIME), __VA_ARGS__)
#define WEIR_OPT_REPETITIONS(l, n, k, ...) WEIR_OPT_REPETITIONS_DEFAULT(l, n, k, "1", __VA_ARGS__)
#define WEIR_OPT_DELAY(l, n, k, help, ...)                                                         \
    OPT_REAL(l, n, k, WEIR_R, delay_s, "0", "SECONDS", help, .min = 0, .max = INT32_MAX,           \
             OPT_IN(TIME), __VA_ARGS__)
#define WEIR_OPT_DEADLINE_DEFAULT(l, n, k, def, help)                                              \
    OPT_REAL(l, n, k, WEIR_R, deadline_s, def, "SECONDS", help, .min = 0, .max = INT32_MAX,        \
             OPT_FIRST(TIME))
#define WEIR_OPT_DEADLINE(l, n, k, help) WEIR_OPT_DEADLINE_DEFAULT(l, n, k, "0", help)
#define WEIR_OPT_WEAR_OUT(l, n, k, help) OPT_FLAG(l, n, k, WEIR_R, wear_out, help, OPT_IN(TIME))
#define WEIR_OPT_MAX_TIME(l, n, k)                                                                 \
    OPT_REAL(l, n, k, WEIR_R, max_minutes, "0", "MINUTES",                                         \
             "Start no phase after this many minutes of the test", .min = 0,                \
             .max = INT32_MAX / 60, OPT_IN(TIME))
#define WEIR_OPT_DRY_RUN(n, k, help) OPT_FLAG(0, n, k, WEIR_R, dry_run, help, OPT_IN(OUTPUT))
#define WEIR_OPT_ASSUME_RATE                                                                       \
    OPT_SIZE(0, "assume-rate", "assumeRate", WEIR_R, assume_rate, NULL, "SIZE",                    \
             "With a dry run, bytes a second from which the time of a phase is estimated",         \
             .min = 1, .example = "2g", OPT_IN(OUTPUT))
#define WEIR_OPT_RANK_CSV(n, k, help)                                                              \
    OPT_STR(0, n, k, WEIR_R, rank_csv, NULL, "FILE", help, .flags = WEIR_OPT_ADDS,                 \
            .example = "ranks.csv", OPT_IN(OUTPUT))
#define WEIR_OPT_OP_CSV(n, k, help)                                                                \
    OPT_STR(0, n, k, WEIR_R, op_csv, NULL, "PREFIX", help, .flags = WEIR_OPT_PRIVATE,        \
            OPT_IN(OUTPUT))
/* What is kept of single operations: every program has it under these names. */
#define WEIR_OPT_RECORDS                                                                           \
    OPT_STR(0, "timeline", NULL, WEIR_R, timeline, NULL, "FILE.npy",                               \
            "Write begin, end, place and bytes of every operation of all tasks, for NumPy and "    \
            "weir-plot",                                                                           \
            .flags = WEIR_OPT_ARGV_ONLY | WEIR_OPT_WRITES, OPT_IN(OUTPUT)),                        \
        OPT_SIZE(                                                                                  \
            0, "timeline-limit", "timelineLimit", WEIR_R, timeline_limit, "1m", "N",               \
            "Operations of a task in a phase that are recorded at most, 40 bytes each; the rest "  \
            "are counted",                                                                         \
            .min = 1, .max = INT64_MAX / 64, OPT_IN(OUTPUT)),                                      \
        OPT_STR(0, "interval", NULL, WEIR_R, interval, NULL, "SECONDS",                            \
                "Show the bandwidth and the operations of all tasks in intervals of this width",   \
                .example = "0.5", OPT_IN(OUTPUT)),                                                 \
        OPT_STR(0, "progress", NULL, WEIR_R, progress, "auto", "WHEN",                             \
                "Show how far a phase of more than 3 s is: on the terminal, also through mpirun or " \
                "srun, and elsewhere a line every 30 s; always: a line every 10 s; never",        \
                .choices = weir_progress_modes, OPT_IN(OUTPUT))
#define WEIR_OPT_REPORT(text)                                                                      \
    OPT_STR(0, "report", NULL, WEIR_R, reports, NULL, "FORMAT:PATH,...", text,                     \
            .flags = WEIR_OPT_ARGV_ONLY | WEIR_OPT_PRIVATE, .suggestions = weir_report_forms, OPT_FIRST(OUTPUT))
#define WEIR_REPORT_PHASES                                                                         \
    "Write the results in these forms instead: text:-, text-3.3:FILE, json:FILE, csv:FILE (a row " \
    "for each phase)"
#define WEIR_OPT_IO_TIMEOUT WEIR_OPT_IO_TIMEOUT_DEFAULT("0")
#define WEIR_OPT_IO_TIMEOUT_DEFAULT(def)                                                           \
    OPT_INT(0, "io-timeout", "ioTimeout", WEIR_R, io_timeout_s, def, "SECONDS",                    \
            "End the job when a call does not return or a rank stands still for this many "        \
            "seconds, and say which; 0: no limit",                                                 \
            .min = 0, .max = INT32_MAX, OPT_IN(TIME))
/* What the number is worth. */
#define WEIR_OPT_TRUST                                                                             \
    OPT_STR(0, "rules", "rules", WEIR_R, rules, NULL, "NAME",                                      \
            "Rule set by which the results are judged; none: not at all. Without the option that " \
            "of the environment variable WEIR_RULES, else default",                                \
            .choices = weir_rule_sets, .flags = WEIR_OPT_APART, OPT_IN(TRUST)),                                            \
        OPT_STR(0, "limit", "limit", WEIR_R, limits, NULL, "ID:NUMBER,...",                        \
                "Change limits of the rule set, like H01:30; in scripts joined by +",              \
                .flags = WEIR_OPT_APART | WEIR_OPT_JOINS, OPT_IN(TRUST)),                                                                   \
        OPT_SIZE(0, "peak", "peak", WEIR_R, peak, "0", "SIZE",                                     \
                 "Bytes a second that the storage can do at most; more is INVALID", .min = 0,      \
                 .max = INT64_MAX, .example = "100g", .flags = WEIR_OPT_APART, OPT_IN(TRUST)),                             \
        OPT_FLAG(0, "findings", "findings", WEIR_R, findings,                                      \
                 "Show the findings of each test with their remedies", .flags = WEIR_OPT_APART, OPT_IN(TRUST)),            \
        OPT_FLAG(0, "strict", "strict", WEIR_R, strict,                                            \
                 "End with status 5 when a test is INVALID by its rule set", .flags = WEIR_OPT_APART, OPT_IN(TRUST)),      \
        OPT_STR(0, "until", "until", WEIR_R, until, NULL, "PERCENT",                               \
                "Repeat until the 95 % interval of the median of each rate is that narrow (half "  \
                "of it, of the median)",                                                           \
                OPT_IN(TIME)),                                                                     \
        OPT_INT(0, "until-max", "untilMax", WEIR_R, until_max, "0", "N",                           \
                "With --until, repetitions at most; 0: the number of repetitions, or 100 where "   \
                "that is 1",                                                                       \
                .min = 0, .max = 1000000, .example = "20", OPT_IN(TIME)),                          \
        OPT_REAL(0, "until-time", "untilTime", WEIR_R, until_time_s, "0", "SECONDS",               \
                 "With --until, begin no repetition after this many seconds; 0: no limit",     \
                 .min = 0, .max = INT32_MAX, OPT_IN(TIME)),                           \
        OPT_FLAG(0, "anonymous", NULL, WEIR_R, anonymous,                                          \
                 "Leave names of hosts, users and files out of JSON, CSV and the document of a "   \
                 "timeline",                                                                       \
                 .flags = WEIR_OPT_ARGV_ONLY, OPT_IN(OUTPUT))
/* What is looked at, and done, before the first byte. */
#define WEIR_OPT_GUARDS                                                                            \
    OPT_FLAG(0, "no-space-check", "noSpaceCheck", WEIR_R, no_space_check,                          \
             "Go on where the file system has too little room for what was asked", OPT_IN(FILES)), \
        OPT_FLAG(0, "drop-cache", "dropCache", WEIR_R, drop_cache,                                 \
                 "Before each read phase write the files back and drop them from the page cache "  \
                 "of their nodes, outside the measured time",                                      \
                 OPT_IN(DATA))
/* What becomes of files that this run did not make: the choices are those that the program has. */
#define WEIR_OPT_EXISTING(ways, help)                                                              \
    OPT_STR(0, "existing", "existing", WEIR_R, existing, NULL, "WAY", help, .choices = ways,       \
            OPT_IN(FILES))
#define WEIR_OPT_MAKES_FILES                                                                       \
    WEIR_OPT_EXISTING(weir_existing_no_reuse,                                                      \
                      "Files that are there and that this run did not make: write new ones in "    \
                      "their place, or end with an error")
/* For a program that makes no files: the option is refused, and help does not show it. */
#define WEIR_OPT_MAKES_NO_FILES                                                                    \
    {                                                                                              \
        .type = WEIR_OPT_GONE, .name = "existing", .key = "existing", .meta = "WAY",               \
        .offset = WEIR_OPT_FIELD(const char *, WEIR_R, existing),                                  \
        .help = "this program makes no files; leave it out"                                        \
    }
/* All rows of a program that has no older spellings to keep. */
#define WEIR_OPT_RUN                                                                               \
    WEIR_OPT_REPETITIONS('i', "repetitions", NULL), WEIR_OPT_RUN_REST
#define WEIR_OPT_RUN_REST                                                                          \
    WEIR_OPT_DEADLINE('D', "deadline", NULL, "Start nothing after this many seconds of a phase"),          \
        WEIR_OPT_RUN_LETTERS('d', 'T', 'v', "1800")
/* The same for those that have another name for repetitions, and do each as a whole, without a
 * deadline (struct weir_driver). They use libraries in which the ranks can wait for one that has
 * failed, so a call ends after half an hour at the latest. */
#define WEIR_OPT_RUN_WHOLE WEIR_OPT_MAKES_FILES, WEIR_OPT_RUN_WHOLE_READ
/* The same for those that make no files. */
#define WEIR_OPT_RUN_WHOLE_NO_FILES WEIR_OPT_MAKES_NO_FILES, WEIR_OPT_RUN_WHOLE_READ
#define WEIR_OPT_RUN_WHOLE_READ                                                                    \
    OPT_REAL('D', "deadline", NULL, WEIR_R, deadline_s, "0", "SECONDS",                            \
             "Only 0: a repetition is done as a whole", .min = 0, .max = INT32_MAX, OPT_IN(TIME)), \
        WEIR_OPT_RUN_BUT_FILES('d', 'T', 'v', "1800")
/* And for those with another deadline, with other letters, or none (0), and another time of a
 * call. */
#define WEIR_OPT_RUN_LETTERS(delay, most, verbose, timeout)                                        \
    WEIR_OPT_MAKES_FILES, WEIR_OPT_RUN_BUT_FILES(delay, most, verbose, timeout)
#define WEIR_OPT_RUN_BUT_FILES(delay, most, verbose, timeout)                                      \
    WEIR_OPT_DELAY(delay, "delay", NULL, "Wait this many seconds before each phase"),                                \
        WEIR_OPT_MAX_TIME(most, "max-time-duration", NULL),                                        \
        WEIR_OPT_VERBOSE(verbose, "verbose", NULL, .min = 0, .max = 5),                            \
        WEIR_OPT_WARNINGS("warning-as-errors", NULL),                                              \
        WEIR_OPT_RANK_CSV("rank-csv", NULL, "Write the times of every task after each phase"),     \
        WEIR_OPT_OP_CSV("op-csv", NULL, "Write every operation to PREFIX-<task>.csv"),             \
        WEIR_OPT_COMMON(timeout),                                                                  \
        WEIR_OPT_GPU("gpu-memory", NULL, "gpu-id", NULL, "gpu-direct", NULL)
/* Rows that have one spelling in all programs whose results are phases. */
#define WEIR_OPT_COMMON(timeout)                                                                   \
    WEIR_OPT_RECORDS, WEIR_OPT_TRUST, WEIR_OPT_GUARDS, WEIR_OPT_IO_TIMEOUT_DEFAULT(timeout),       \
        WEIR_OPT_REPORT(WEIR_REPORT_PHASES)

#define WEIR_OPT_GPU(n1, k1, n2, k2, n3, k3)                                                       \
    OPT_STR(0, n1, k1, WEIR_R, gpu_memory, "0", "N", "Only 0: this build has no GPU memory",       \
            .choices = weir_only_zero, OPT_IN(DATA)),                                              \
        OPT_STR(0, n2, k2, WEIR_R, gpu_id, "-1", "N", "Only -1: this build has no GPU memory",     \
                .choices = weir_only_minus_one, OPT_IN(DATA)),                                     \
        OPT_STR(0, n3, k3, WEIR_R, gpu_direct, "0", "N", "Only 0: this build has no GPU memory",   \
                .choices = weir_only_zero, OPT_IN(DATA))

/* The forms of --report. */
extern const char *const weir_report_forms[];

/* guard.c: the values of --existing; where nothing can be used again. */
extern const char *const weir_existing_ways[], *const weir_existing_no_reuse[];

/* progress.c: the values of --progress. */
extern const char *const weir_progress_modes[];

/* The values of the options about GPU memory, which this build does not have. */
extern const char *const weir_only_zero[], *const weir_only_minus_one[];

/* The backend of WEIR_OPT_API: for struct weir_driver. Local. */
const char *weir_run_options_api(const void *o);

/* What -v and the taking of warnings for errors mean for messages. Local. */
void weir_run_options_log(const struct weir_run_options *o, struct weir_log *log);

/* Does the row belong to the configuration of a test: does its value change what is measured? Those
 * of struct weir_run_options that do are listed here; of a program's own rows, all but those with
 * WEIR_OPT_APART or WEIR_OPT_PLACES and names of files. is_program: not of a backend. Local. */
bool weir_option_is_configuration(const struct weir_opt *row, bool is_program);

/* Does the table have a row for each option that every program must have? Local. Returns 0, or -1
 * and err (WEIR_EBUG) that names the first missing one. For the tests. */
int weir_run_options_check(const struct weir_opt *rows, struct weir_err *err);

#endif
