/* SPDX-License-Identifier: BSD-3-Clause */
/* io500-run.h - a rehearsal of IO500 as a test: its options, places, phases that were run, and what is said of them */
#pragma once

#include <math.h>
#include <string.h>

#include "base/text/set.h"
#include "engine/program.h"
#include "programs/weir-io500/io500.h"
#include "weir.h"

struct io500_options {
    struct weir_run_options run; /* first: the engine reads it */
    const char *config, *mode, *timestamp;
    bool list, cleanup, resume, forecast;
    double forecast_s; /* of each phase */
};

/* A phase that was run. */
struct io500_done {
    bool done, resumed, valid;
    int64_t began, ended;   /* seconds since 1970 */
    double seconds;         /* of the phase, as its line has it */
    double score;           /* GiB/s or kIOPS */
    double measured;        /* seconds that the score is of */
    uint64_t bytes, operations, wrong, found, total, errors;
    double
        stonewall_rate; /* until then, in the unit of the score; where it did not end the work, the score */
    double iteration1, iteration2,
        longest_s;          /* of md-workbench: scores, and the longest operation */
    double stonewall_s;     /* when it ended the work of the fastest; 0: it did not */
    double spread;          /* operations of the fastest rank at that time over the mean; 1 where it did not */
    double low, high;       /* interval of the score, by its slices; NaN: not known */
    const char *problem;    /* the first of these errors; NULL: there was none */
    char verdict[16];
    const char *command;    /* NULL: it has none */
};

/* A reason why a score is less than sound. INVALID by a check of IO500, without a rule, makes its phase and the score invalid; a finding
 * by the io500 rules of the suite is said beside it. */
struct io500_reason {
    int phase;              /* -1: the whole */
    const char *where;      /* its name, or "configuration"; set when the reason is added */
    const char *kind;       /* "INVALID", "WARNING", "SUSPECT", "NOTE" */
    const char *rule;       /* "H01"; "": a check of IO500 */
    const char *text, *remedy; /* remedy "": none */
};

/* A directory that the rehearsal works in. */
struct io500_made {
    bool ours;              /* it was not there before */
    uint64_t device, inode; /* 0: there is none */
};

struct io500 {
    const struct io500_options *o;
    struct io500_config config;
    char *text;             /* of the configuration, as it was read */
    bool extended;
    int64_t began;          /* seconds since 1970 */
    bool begun;             /* the directories are ready, and files are written */
    struct io500_place place;
    char stamp[32];         /* names directories; "2026.11.23-19.43.00" */
    const char *began_phase; /* of the run that is resumed: the one that had begun and not ended; NULL: none */
    struct io500_made made[IO500_FAMILIES + 1]; /* of the families, then the directory of all of them; rank 0 */
    struct io500_done done[IO500_PHASES];
    struct io500_reason *reason;
    int reasons;
    size_t reasons_capacity;
    struct weir_str summary; /* rank 0: the lines until now */
    int lock;               /* on the directory of the results, rank 0; -1: none */
    FILE *phase_text;       /* of the phase that runs, rank 0 */
    struct weir_worklog work; /* of this rank in the phase that runs */
    struct weir_set noted;  /* notes on options that a phase before has, rank 0 */
    bool ended;             /* all phases that are wanted have run: there is a score */
    bool whole;             /* all phases of the mode have */
    bool left;              /* a forecast that was killed has left its state: it is removed first */
};

/* ---- places (io500-places.c) ---- */

/* Names of the directories, from the configuration and the time of rank 0. Collective over run->world. Returns 0, or -1 and
 * the same err on all ranks: with --resume and --cleanup there must be a rehearsal. */
int io500_places_find(struct weir_run *run, struct io500 *t, struct weir_err *err);

/* Make the directory of the results, which no other run may work in, or those of the data. Rank 0 does, and all ranks have the outcome. Collective. */
int io500_places_results(struct weir_run *run, struct io500 *t, struct weir_err *err);
int io500_places_data(struct weir_run *run, struct io500 *t, struct weir_err *err);

/* A name that nothing has, in the directory of the data, or in the nearest one above it that is
 * there; in the arena of the run. Local. NULL and err: no memory. */
const char *io500_places_trial(struct weir_run *run, const struct io500 *t, struct weir_err *err);

/* The directory of a family; of IO500_FAMILIES that of all of them; in the arena of the run. Local.
 * NULL and err: no memory. */
const char *io500_places_name(struct weir_run *run, const struct io500 *t, int family,
                              struct weir_err *err);

/* ---- what was made is removed (io500-clean.c) ---- */

/* Remove the files of a family that the rehearsal has made, and with 'directory' the directory where it is ours. Files that do not look
 * like those of the family stay: their number is returned in *left. Collective over run->par. Returns 0, or -1 and the same
 * err on all ranks. */
int io500_clean_family(struct weir_run *run, struct io500 *t, int family, bool directory, uint64_t *left, struct weir_err *err);
/* Remove the files of all families. */
int io500_clean_all(struct weir_run *run, struct io500 *t, struct weir_err *err);

/* ---- what is kept between runs (io500-state.c) ---- */

/* Write the state, whole or not at all; with the phase that begins now, NULL: none. Rank 0, nothing elsewhere. Local. */
int io500_state_write(const struct io500 *t, int ranks, const char *begins, struct weir_err *err);

/* Read what a run has left: the numbers of its phases; and refuse another configuration, mode or number of ranks, unless
 * only what was made is wanted. Collective over run->world. Returns 0, or -1 and the same err on all ranks. */
int io500_state_read(struct weir_run *run, struct io500 *t, bool made_only, struct weir_err *err);

/* The file of it in a directory of results. */
#define IO500_STATE "rehearsal.state"

/* ---- phases (io500-run.c, io500-job.c) ---- */

/* Run all phases that are wanted and not done. Collective over run->par. Returns 0, or -1 and the same err. */
int io500_run_all(struct weir_run *run, struct io500 *t, struct weir_err *err);

/* Check that the benchmarks accept the command lines of all wanted phases, and that their backends exist.
 * Collective over run->world. Returns 0, or -1 and the same err on all ranks (WEIR_EUSAGE). */
int io500_job_check(struct weir_run *run, struct io500 *t, struct weir_err *err);

/* Run the benchmark of a phase, into *done. *errors: it found wrong data. Collective. */
int io500_job_run(struct weir_run *run, struct io500 *t, int phase, struct io500_done *done, struct weir_err *err);

/* ---- reasons (io500-judge.c) ---- */

/* Keep and show a reason, on all ranks alike. Local. Returns 0, or -1 and err: no memory. */
int io500_reason_add(struct weir_run *run, struct io500 *t, const struct io500_reason *reason, struct weir_err *err);
/* Judge the score: before the first phase, after each, and after all. */
int io500_judge_begin(struct weir_run *run, struct io500 *t, struct weir_err *err);
int io500_judge_phase(struct weir_run *run, struct io500 *t, int phase, struct weir_err *err);
bool io500_judge_all(const struct io500 *t);
/* True when the reason makes its phase invalid. */
static inline bool io500_reason_counts(const struct io500_reason *reason)
{
    return !reason->rule[0] && strcmp(reason->kind, "INVALID") == 0;
}
/* Print a line with the rules that have found something. */
void io500_judge_sum_up(struct weir_run *run, struct io500 *t);
/* Seconds that a phase which writes has to take. */
static inline double io500_minimum(const struct io500 *t)
{
    return io500_flag(&t->config, "global", "scc") ? IO500_MINIMUM_SCC_S : IO500_MINIMUM_S;
}

/* ---- results (io500-report.c) ---- */

/* Print a line for people and the summary. Rank 0. */
void io500_print(struct weir_run *run, struct io500 *t, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void io500_report_begin(struct weir_run *run, struct io500 *t);
void io500_report_phase(struct weir_run *run, struct io500 *t, int phase);
void io500_report_end(struct weir_run *run, struct io500 *t);
/* Print the command lines, for --dry-run. Collective. */
int io500_report_plan(struct weir_run *run, struct io500 *t, struct weir_err *err);
/* Write a text into a file of the results, whole or not at all. Local. Returns 0, or -1 and err. */
int io500_put(const struct io500 *t, const char *name, const struct weir_str *text,
              struct weir_err *err);
/* Write the files of the results: lines, numbers, the configuration. Rank 0, nothing elsewhere. Local. Returns 0, or -1 and err. */
int io500_report_files(const struct weir_run *run, const struct io500 *t, struct weir_err *err);

/* ---- a forecast (io500-foresee.c) ---- */

/* Run each phase shortly in directories of its own, print the forecast, and remove them. Collective. */
int io500_foresee(struct weir_run *run, struct io500 *t, struct weir_err *err);
