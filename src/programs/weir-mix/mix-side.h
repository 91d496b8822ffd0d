/* SPDX-License-Identifier: BSD-3-Clause */
/* mix-side.h - a rank while some groups run: between mix-set.c and mix-gather.c only */
#ifndef WEIR_PROGRAMS_WEIR_MIX_MIX_SIDE_H
#define WEIR_PROGRAMS_WEIR_MIX_MIX_SIDE_H

#include "base/shape/worklog.h"
#include "par/agree.h"
#include "programs/weir-mix/mix-board.h"
#include "programs/weir-mix/mix-run.h"

/* Numbers that roots show each other; then those of each group. */
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
struct mix_told {
    int phase;
    struct weir_result result;
};

/* This rank, while some groups run. */
struct mix_side {
    const struct mix_set *set;
    struct mix_test *t;
    struct weir_run *run;
    bool active, is_root; /* of the own group */
    struct weir_watch watch;
    struct mix_board board; /* of roots */
    struct weir_worklog series;
    struct mix_told *told; /* on a root */
    int n_told;
    size_t room;
    struct weir_str messages, phases; /* the same */
    int64_t start_ns, asked_ns;       /* common clock; 0: not known, never */
    int done;                         /* groups that were, when it was last reported; rank 0 */
    bool has_begun, ended_by_rule, stopped, lost;
    int status;
    const char *error;
};

/* "alone", or "beside 'b', 'c'": how the group g runs. */
void mix_side_words(const struct mix_side *s, int g, struct weir_str *out);

/* Returns whether all groups of the set have ended a run, and adds "'a', 'b' (not begun)" of those
 * that have not. On a root. */
bool mix_side_done(const struct mix_side *s, struct weir_str *out);

/* The time in which all groups ran, on the common clock; on a root. Nothing where one of them has not begun; of a
 * group alone all of its time. */
void mix_side_window(const struct mix_side *s, int64_t window[2]);

/* Warnings of the jobs on rank 0, once each; and which group has failed. Collective. judge: returns 0, or -1 and
 * the same err on all ranks. */
void mix_side_tell(struct mix_side *s);
int mix_side_judge(struct mix_side *s, struct weir_err *err);

/* The rates of all groups of the set, on rank 0. Collective. Returns 0, or -1 and the same err on all ranks. */
int mix_side_gather(struct mix_side *s, struct weir_err *err);

#endif
