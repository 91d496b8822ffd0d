/* SPDX-License-Identifier: BSD-3-Clause */
/* mix-run.h - a mix as a test: its options, groups of ranks with a job each, and runs of some groups at once */
#ifndef WEIR_PROGRAMS_WEIR_MIX_MIX_RUN_H
#define WEIR_PROGRAMS_WEIR_MIX_MIX_RUN_H

#include <stdio.h>

#include "base/text/set.h"
#include "engine/program.h"
#include "par/group.h"
#include "programs/weir-mix/mix.h"
#include "weir.h"

enum mix_end { MIX_END_FIRST, MIX_END_ALL, MIX_END_REPEAT };
extern const char *const mix_ends[];

struct mix_options {
    struct weir_run_options run; /* first: the engine reads it */
    const char *plan, *end, *output;
    bool alone, pairs, shared_files;
};

struct mix_test {
    const struct mix_options *o;
    enum mix_end end;
    struct mix_plan plan;
    int group;                /* own; -1: none */
    int root_of[MIX_GROUPS];  /* the lowest rank of each group */
    struct weir_roots roots;  /* its group is ours; those in no group make one of their own */
    struct weir_job *job;     /* of our group */
    FILE *text;               /* for the text of the job, on the root of a group; NULL: none */
    struct weir_str path;     /* of it */
    struct mix_rates rates;   /* rank 0 */
    struct weir_set said;     /* messages of jobs that were told: rank 0, roots */
    double skew_s;            /* of common starts, the most; NaN: there was none */
    double common_s;          /* the shortest time in which all groups ran; NaN: not known */
};

/* ---- before anything starts (mix-check.c) ---- */

/* Check the command line of each group, and that no two groups use the same files. Collective over run->world, the
 * same on all ranks. Returns 0, or -1 and err (WEIR_EUSAGE). */
int mix_check_groups(struct weir_run *run, const struct mix_test *t, struct weir_err *err);

/* The program of a command line: the last part of its first word. */
const char *mix_program_of(const struct mix_group *g);

/* ---- some groups at once (mix-set.c) ---- */

struct mix_set {
    struct mix_test *t;
    struct weir_run *run;
    const bool *in; /* which groups */
    int with;       /* as in struct mix_rate; of a pair the sum of their numbers */
    enum mix_end end;
};

/* Run them from a common start to the end, and keep their rates on rank 0. Collective over run->par. Returns 0, or
 * -1 and the same err on all ranks: which group has failed, or the signal. */
int mix_set_run(const struct mix_set *set, struct weir_err *err);

/* ---- what is reported (mix-report.c) ---- */

/* A line about rates that have just been measured: n of one group. Rank 0. */
void mix_report_rates(struct weir_run *run, const struct mix_test *t, const struct mix_rate *rate, int n);
/* The groups with their ranks, as report of struct weir_words; and all results. Rank 0 shows them,
 * others do nothing. */
int mix_report_plan(struct weir_run *run, void *state, struct weir_err *err);
void mix_report_all(struct weir_run *run, const struct mix_test *t, int repetitions);

#endif
