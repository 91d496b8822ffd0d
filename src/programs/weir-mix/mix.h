/* SPDX-License-Identifier: BSD-3-Clause */
/* mix.h - unlike jobs at once: the plan, its ranks, and the work of a group over time */
#ifndef WEIR_PROGRAMS_WEIR_MIX_MIX_H
#define WEIR_PROGRAMS_WEIR_MIX_MIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"

/* ---- the plan (mix-plan.c) ---- */

#define MIX_GROUPS 64

enum mix_ranks { /* how the ranks of a group are named, in the order in which groups get them */
    MIX_LIST,     /* these */
    MIX_NODES,    /* those of these nodes that are free */
    MIX_PER_NODE, /* so many of each node, or of these */
    MIX_COUNT,    /* so many */
    MIX_REST
};

enum mix_start { MIX_AT_ONCE, MIX_AFTER_SECONDS, MIX_AFTER_PHASE };

struct mix_group {
    const char *name;
    unsigned long line; /* of the plan, where it begins */
    bool has_ranks, has_start;
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

/* ---- the work of a rank over time (mix-series.c) ---- */

/* The work of a rank in a phase until a time. */
struct mix_sample {
    int64_t at_ns;
    uint64_t bytes, operations;
};

#define MIX_SAMPLES 64 /* of a phase, at most */

struct mix_phase {
    int64_t begin_ns, gap_ns; /* gap: at least so much between two samples */
    struct mix_sample *sample;
    int n;
    size_t room;
};

/* Zero-initialise; release with mix_series_free. */
struct mix_series {
    struct mix_phase *phase;
    int n;
    size_t room;
    bool failed; /* memory ran out: something is missing */
};

/* A phase begins. What the rank has done in it, later and later. Local. */
void mix_series_begin(struct mix_series *s, int64_t at_ns);
void mix_series_add(struct mix_series *s, int64_t at_ns, uint64_t bytes, uint64_t operations);
void mix_series_free(struct mix_series *s);

/* Its last sample; or its begin where it has none. */
int64_t mix_series_end(const struct mix_series *s, int phase);

/* Its work between two times, and all of it; between two samples it is even. */
struct mix_work {
    uint64_t bytes, operations, all_bytes, all_operations;
};
struct mix_work mix_series_work(const struct mix_series *s, int phase, int64_t from_ns, int64_t to_ns);

/* The share of its time between two times: 0 to 1; 1 of a phase without any length that lies between them. */
double mix_series_share(const struct mix_series *s, int phase, int64_t from_ns, int64_t to_ns);

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
    size_t room;
};
int mix_rates_add(struct mix_rates *all, const struct mix_rate *more, int n); /* -1: no memory */

/* The median and its 95 % interval (NaN where there are too few). */
struct mix_center {
    double median, low, high;
    int n;
};
struct mix_center mix_center_of(double *v, int n);

/* An operation of a group beside others, over all repetitions that have it. What is not known is NaN. */
struct mix_row {
    struct mix_center alone, together, slowdown; /* rates; slowdown: of each repetition alone / together */
    struct mix_center p99_alone, p99_together, p99_slowdown; /* together / alone */
    double shared; /* the share of its time in which all groups ran */
    bool bytes;
};
struct mix_row mix_rates_row(const struct mix_rates *all, int group, int with, const char *operation,
                             int repetitions);

/* The slowdown of all operations of a group: its time together over the time that the same work takes
 * alone. */
struct mix_center mix_rates_group(const struct mix_rates *all, int group, int with, int repetitions);

#endif
