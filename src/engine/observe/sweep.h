/* SPDX-License-Identifier: BSD-3-Clause */
/* sweep.h - the parts of --sweep: sweep.c measures, sweep-rounds.c finds the slow ones, and
 * sweep-report.c reports them */
#pragma once

#include "engine/program.h"

/* ---- sweep-rounds.c: which of many units (nodes, pairs of nodes, ranks) are slow: groups of units
 * that run alone in turns, and robust scores of the units. Numbers only
 *
 * A round has a step: group f is the units f, f + step, f + 2 step ..., so units of a group are far
 * apart. The first round has every unit in one group. A later one has smaller groups: those that
 * hold a unit that was slow before, and controls that hold none. When groups are single units, the
 * sweep ends. The number of rounds grows with the logarithm of the number of units. ---- */

#define WEIR_SWEEP_SPLIT 8     /* groups that a group becomes in the next round */
#define WEIR_SWEEP_SUSPECTS 64 /* groups with a suspect in a later round, at most */
#define WEIR_SWEEP_CONTROLS 12 /* without one, where there are this many */
#define WEIR_SWEEP_MIN 3     /* values among which one can be an outlier */

/* One round. Zero: none yet. */
struct weir_sweep_round {
    int number; /* from 0 */
    int units, step;
    int turns;    /* groups, each of which runs alone */
    int suspects; /* of the groups of a later round; the others are controls */
    int group[WEIR_SWEEP_SUSPECTS + WEIR_SWEEP_CONTROLS]; /* of a later round: suspects, then controls */
};

/* The score of a unit in a round. */
struct weir_sweep_score {
    double rate;   /* given: NaN or 0 where it was not measured */
    double median; /* of the rates that it is compared with; NaN: there are too few */
    double z;      /* robust score, below 0: slower; NaN as median */
    bool low;      /* it is an outlier on the slow side */
};

/* One operation of one unit after all rounds until now. */
struct weir_sweep_result {
    struct weir_sweep_score score; /* of the last round in which it counted */
    int round, together;           /* that round, and the units in its groups */
    bool suspect;                  /* it was an outlier in each round in which it was measured */
    bool cleared;                  /* it was one, and was none when it was measured again */
};

/* A unit that was an outlier, and the lowest of its scores. */
struct weir_sweep_suspect {
    double z;
    int unit;
};

/* All units and operations. Zero-initialise but for the first line. */
struct weir_sweep_field {
    int units, ops;
    int *tasks;                   /* of each unit, > 0: set by the caller after the begin */
    struct weir_sweep_result *of; /* of operation k of unit u: [u * ops + k] */
    struct weir_sweep_score *score;
    double *scratch;
    struct weir_sweep_suspect *suspect; /* the worst first */
    int suspects;
    bool reran;
};

/* Make the first round of 'units' in at most 'most' turns, both > 0. */
void weir_sweep_begin(struct weir_sweep_round *r, int units, int most);

/* Return the group of a turn; groups of consecutive turns are far apart, too. */
int weir_sweep_group(const struct weir_sweep_round *r, int turn);

/* True when the unit is in the group of this turn. */
static inline bool weir_sweep_runs(const struct weir_sweep_round *r, int turn, int unit)
{
    return unit % r->step == weir_sweep_group(r, turn);
}

/* True when each unit is alone in its turn. */
static inline bool weir_sweep_is_single(const struct weir_sweep_round *r)
{
    return r->step >= r->units;
}

/* Return the number of units in the largest group. */
int weir_sweep_together(const struct weir_sweep_round *r);

/* Return the number of rounds until units are alone, where one of 'units' is slow. */
int weir_sweep_rounds(int units, int most);

/* Allocate memory for the results, in an arena. Local. 0, or -1 and err. */
int weir_sweep_field_begin(struct weir_sweep_field *f, struct weir_arena *a, struct weir_err *err);

/* Keep the results of a round. rate: of operation k of unit u at [u * ops + k]; NaN or 0: it
 * was not measured. Units with the same number of tasks are compared: with all of these in the
 * first round, with the controls in a later one (sweep-rounds.c has it). A suspect is a unit
 * that was an outlier in each round. */
void weir_sweep_keep(struct weir_sweep_field *f, const struct weir_sweep_round *r,
                     const double *rate);

/* Make the round after *r: the groups of the suspects and controls, in groups WEIR_SWEEP_SPLIT times as
 * small, or single units below 4 in a group. Controls have as many tasks as the first suspect. With 'rerun'
 * suspects that were measured alone are measured so once more. False: there is none. */
bool weir_sweep_next(struct weir_sweep_field *f, struct weir_sweep_round *r, bool rerun);

/* ---- what --sweep has measured, on rank 0 ---- */

#define WEIR_SWEEP_OPS 32   /* stages that some ranks can do alone */
#define WEIR_SWEEP_ROUNDS 16

/* A unit: a node, a pair of nodes, a rank. */
struct weir_sweep_unit {
    int rank, tasks; /* its lowest rank, and how many it has */
    char host[64];   /* of that rank */
};

struct weir_sweep_counts {
    int turns, together, suspects; /* suspects: after the round */
};

/* All results of a sweep. */
struct weir_sweep_table {
    const char *by; /* "nodes", "pairs", "ranks" */
    const struct weir_stage *op[WEIR_SWEEP_OPS];
    struct weir_sweep_field field;
    struct weir_sweep_unit *unit;
    double *joint; /* rates in the phase of all ranks, as field.of; bytes or operations a second, NaN */
    struct weir_sweep_counts round[WEIR_SWEEP_ROUNDS];
    int rounds;
    double turn_s, seconds; /* of a phase of a turn at most; of the whole sweep */
};

/* True when the operations of a stage are counted in bytes. */
static inline bool weir_sweep_moves_bytes(const struct weir_stage *s)
{
    return (s->flags & (WEIR_STAGE_WRITES | WEIR_STAGE_READS)) != 0;
}

/* Report the table: facts and rows for programs, text for people, and a note for each unit that is
 * slow. Rank 0. */
void weir_sweep_report(struct weir_run *run, const struct weir_sweep_table *t);
