/* SPDX-License-Identifier: BSD-3-Clause */
/* sweep.h - what --sweep has measured, on rank 0: between sweep.c, which measures, and
 * sweep-report.c */
#ifndef WEIR_ENGINE_OBSERVE_SWEEP_H
#define WEIR_ENGINE_OBSERVE_SWEEP_H

#include "engine/observe/sweep-rounds.h"
#include "engine/program.h"

#define WEIR_SWEEP_OPS 12   /* stages that some ranks can do alone */
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

#endif
