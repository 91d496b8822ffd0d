/* SPDX-License-Identifier: BSD-3-Clause */
/* mix-run.h - a mix as a test: its options, groups of ranks with a job each, and runs of some groups at once */
#pragma once

#include <stdio.h>

#include "base/shape/worklog.h"
#include "base/text/set.h"
#include "engine/program.h"
#include "par/agree.h"
#include "par/group.h"
#include "programs/weir-mix/mix.h"
#include "weir.h"

enum mix_end { MIX_END_FIRST, MIX_END_ALL, MIX_END_REPEAT };

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
    int leader_of[MIX_GROUPS];  /* the lowest rank of each group */
    struct weir_leaders leaders;  /* its group is ours; those in no group make one of their own */
    struct weir_job *job;     /* of our group */
    FILE *text;               /* for the text of the job, on the leader of a group; NULL: none */
    struct weir_str path;     /* of it */
    struct mix_rates rates;   /* rank 0 */
    struct weir_set reported; /* messages of jobs that were printed: rank 0, leaders */
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

/* Run the groups g with in[g] from a common start to the end, and keep their rates on rank 0.
 * 'with' is that of struct mix_rate; for a pair it is the sum of both numbers. Collective over
 * run->par. Returns 0, or -1 and the same err on all ranks: the group that failed, or the signal. */
int mix_set_run(struct weir_run *run, struct mix_test *t, const bool *in, int with,
                struct weir_err *err);

/* ---- what is reported (mix-report.c) ---- */

/* Print a line about rates that have just been measured: n of one group. Rank 0. */
void mix_report_rates(struct weir_run *run, const struct mix_test *t, const struct mix_rate *rate, int n);
/* Report the groups with their ranks (plan), and all results (all). Rank 0 shows them, others do
 * nothing. */
int mix_report_plan(struct weir_run *run, void *state, struct weir_err *err);
void mix_report_all(struct weir_run *run, const struct mix_test *t, int repetitions);

/* ---- a rank while some groups run: between mix-set.c and mix-gather.c only ---- */

/* Numbers that leaders show each other while each goes its own way: a rolling maximum. One agreement at a
 * time is in flight on par->watch_comm, which is reserved from begin until 'over'. */
struct mix_rollmax {
    const struct weir_par *par;
    MPI_Request request;
    int n;
    int64_t *mine; /* n numbers of this rank, 0 at first: set before a tick */
    int64_t *all;  /* their maxima over the ranks, as of the last round; 0 at first */
    int64_t *sent, *got; /* of the round on its way */
    bool pending;
    bool over; /* in the last round no rank worked, and there is no other */
};

/* Numbers that leaders show each other; then those of each group. */
enum { MIX_BUSY, MIX_NOW, MIX_STOP, MIX_NUMBERS };
enum {
    MIX_MET,   /* the phase for which the group waits has begun */
    MIX_DONE,  /* a number of whole runs */
    MIX_BEGAN, /* its first phase, on the common clock; 0: not yet */
    MIX_ENDED, /* its first whole run */
    MIX_OVER,  /* no more runs */
    MIX_OF_GROUP
};

/* The place of a number of a group. */
static inline int mix_at(int group, int number)
{
    return MIX_NUMBERS + group * MIX_OF_GROUP + number;
}

/* A result, and the phase that it is of. */
struct mix_phase_result {
    int phase;
    struct weir_result result;
};

/* This rank, while some groups run. */
struct mix_side {
    struct mix_test *t;
    struct weir_run *run;
    const bool *in; /* as for mix_set_run */
    int with;
    enum mix_end end;
    bool active, is_leader; /* of the own group */
    struct weir_watch watch;
    struct mix_rollmax numbers; /* of leaders */
    struct weir_worklog series;
    struct mix_phase_result *results; /* on a leader */
    int n_results;
    size_t capacity;
    struct weir_str messages, phases; /* the same */
    int64_t start_ns, asked_ns;       /* common clock; 0: not known, never */
    int done;                         /* groups that were, when it was last reported; rank 0 */
    bool has_begun, ended_by_rule, stopped, lost;
    int status;
    const char *error;
};

/* Append how the group g runs: "alone", or "beside 'b', 'c'". */
void mix_side_words(const struct mix_side *s, int g, struct weir_str *out);

/* Returns whether all groups of the set have ended a run, and adds "'a', 'b' (not begun)" of those
 * that have not. On a leader. */
bool mix_side_done(const struct mix_side *s, struct weir_str *out);

/* Return the time in which all groups ran, on the common clock; on a leader. Nothing where one of
 * them has not begun; of a group alone all of its time. */
void mix_side_window(const struct mix_side *s, int64_t window[2]);

/* Print the warnings of the jobs on rank 0, once each; find which group has failed. Collective.
 * judge: returns 0, or -1 and the same err on all ranks. */
void mix_side_warn(struct mix_side *s);
int mix_side_judge(struct mix_side *s, struct weir_err *err);

/* Collect the rates of all groups of the set on rank 0. Collective. Returns 0, or -1 and the same err on all ranks. */
int mix_side_gather(struct mix_side *s, struct weir_err *err);
