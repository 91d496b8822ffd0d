/* SPDX-License-Identifier: BSD-3-Clause */
/* mix.h - unlike jobs at once: the plan, its ranks, and rates */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/mem.h"

/* ---- the plan (mix-plan.c) ---- */

#define MIX_GROUPS 64

enum mix_ranks { /* how the ranks of a group are named, in the order in which groups get them */
    MIX_LIST,     /* these */
    MIX_NODES,    /* those of these nodes that are free */
    MIX_PER_NODE, /* a number of each node, or of these */
    MIX_COUNT,    /* a number of ranks */
    MIX_REST
};

enum mix_start { MIX_AT_ONCE, MIX_AFTER_SECONDS, MIX_AFTER_PHASE };

struct mix_group {
    const char *name;
    unsigned long line; /* of the plan, where it begins */
    unsigned long start_line; /* of 'start = '; 0: there is none */
    bool has_ranks;
    enum mix_ranks by;
    int count;        /* PER_NODE, COUNT */
    const char *list; /* LIST, NODES, PER_NODE; NULL: none */
    const char *command; /* as it was written */
    int argc;            /* 0: none was given */
    char **argv;
    enum mix_start start;
    double after_s;
    const char *after_name, *phase; /* AFTER_PHASE */
    int after;                      /* the number of that group */
    int ranks;                      /* that it has got */
};

struct mix_plan {
    struct mix_group group[MIX_GROUPS];
    int n;
};

/* Read a plan of len bytes, whose texts the arena keeps. Zero the struct before. 'name' is for messages. Local. Returns 0,
 * or -1 and err (WEIR_EUSAGE) "FILE:LINE: ...". */
int mix_plan_read(const char *text, size_t len, const char *name, struct weir_arena *arena,
                  struct mix_plan *plan, struct weir_err *err);

/* ---- ranks (mix-ranks.c) ---- */

/* Give each of 'size' ranks its group: of[r] is the number of a group, or -1. node[r]: from 0 to nodes - 1.
 * The number of its ranks is put into each group. Local. Returns 0, or -1 and err (WEIR_EUSAGE). */
int mix_ranks_assign(struct mix_plan *plan, const int *node, int size, int nodes, int *of,
                     struct weir_err *err);

/* ---- rates (mix-rates.c) ---- */

#define MIX_ALONE (-1)
#define MIX_ALL (-2)
#define MIX_OPERATION 64

/* An operation of a group in one run of some groups: work and time while all of them ran. */
struct mix_rate {
    int group, with; /* with: MIX_ALONE, MIX_ALL, or the number of the one other group */
    int repetition;
    int bytes; /* not 0: the amount is bytes */
    char operation[MIX_OPERATION];
    double amount, seconds;
    double operations;    /* while all of them ran */
    double whole_seconds; /* also while others did not run */
    double p99;           /* seconds; NaN: not known for this time */
    double began_s;       /* its first phase, after the common start */
};

/* amount / seconds; NaN where there was no time. */
double mix_rate_of(const struct mix_rate *r);

/* All rates of a run of the program, on rank 0. Zero-initialise; free rate. */
struct mix_rates {
    struct mix_rate *rate;
    int n;
    size_t capacity;
};
int mix_rates_add(struct mix_rates *all, const struct mix_rate *more, int n); /* -1: no memory */

/* The median and its 95 % interval (NaN where there are too few). */
struct mix_center {
    double median, low, high;
    int n;
    double min_ops; /* the smallest number of operations that one of them was measured with */
};
struct mix_center mix_center_of(double *v, int n);

/* An operation of a group beside others, over all repetitions that have it. Unknown values are NaN. */
struct mix_row {
    struct mix_center alone, together, slowdown; /* rates; slowdown: of each repetition alone / together */
    struct mix_center p99_alone, p99_together, p99_slowdown; /* together / alone */
    double shared; /* fraction of its time in which all groups ran */
    bool bytes;
};
struct mix_row mix_rates_row(const struct mix_rates *all, int group, int with, const char *operation,
                             int repetitions);

/* True when two digits of a median are known: it has no interval, or is of single operations. */
static inline bool mix_center_is_rough(const struct mix_center *c)
{
    return isnan(c->low) || c->min_ops < 2;
}

/* The slowdown of a group: its time together over the time that the same work takes alone. */
struct mix_center mix_rates_group(const struct mix_rates *all, int group, int with, int repetitions);
