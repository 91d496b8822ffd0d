/* SPDX-License-Identifier: BSD-3-Clause */
/* h5ex-costs.h - what each operation of a repetition costs, where it is done once by all tasks
 * together */
#ifndef WEIR_PROGRAMS_H5EXERCISER_H5EX_COSTS_H
#define WEIR_PROGRAMS_H5EXERCISER_H5EX_COSTS_H

#include "base/stats.h"
#include "engine/run.h"

/* An operation of the program, in the order of its table. */
struct weir_cost {
    bool has;           /* is it done in this test? */
    const char *side;   /* in which half of a repetition */
    const char *column; /* key of the column of the program that shares its time; NULL: none */
    double bytes;       /* of all tasks */
};

/* The times of this task, each replaced by that of the slowest one. ns. Collective over
 * run->par. */
void weir_costs_slowest(struct weir_run *run, const uint64_t *ns, int n, double *slowest);

/* Rows "Results" for data readers: each operation in this repetition; slowest in ns. */
void weir_costs_report(struct weir_run *run, const struct weir_cost *cost, const double *slowest);

/* Rows "operations" for data readers: each over all repetitions; series has them in the same
 * order. */
void weir_costs_conclude(struct weir_run *run, const struct weir_cost *cost,
                         const struct weir_series *series);

#endif
