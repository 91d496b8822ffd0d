/* SPDX-License-Identifier: BSD-3-Clause */
/* ior-results.h - what the repetitions measured, and their rows */
#ifndef WEIR_PROGRAMS_IOR_IOR_RESULTS_H
#define WEIR_PROGRAMS_IOR_IOR_RESULTS_H

#include "base/stats.h"
#include "engine/phase.h"

#define IOR_DEVIATION WEIR_DEVIATION_POPULATION

struct ior_test;
struct weir_stage;
struct weir_test;

/* What the repetitions of one operation measured. */
struct ior_series {
    struct weir_stats bw, ops, time, bytes;
    double wall_s, wall_bytes; /* sums over the repetitions with wear-out */
    int walls;
};

struct ior_results {
    struct ior_series write, read;
    /* Transfers that this rank wrote in this repetition, UINT64_MAX: no write phase. */
    uint64_t written;
    bool wrote_short;      /* the write phase ended early on some rank */
    uint64_t first_steps;  /* transfers of a task in the write phase of the first repetition */
    bool wore_out;         /* it had a stonewall with wear-out */
    uint64_t status_steps; /* for the status file: transfers of a task in the files that are left */
    bool knows_status;     /* some write phase has ended */
};

/* ior-results.c: rows. report_phase is collective over run->par. */
void ior_report_head(struct weir_run *run);
void ior_report_phase(struct weir_run *run, struct ior_test *t, const struct weir_phase_rec *rec,
                      struct ior_series *s);
void ior_report_skipped(struct weir_run *run, void *state, const struct weir_stage *s);
void ior_report_remove(struct weir_run *run, double seconds);
void ior_report_max(struct weir_run *run, struct ior_test *t);

/* ior-results.c: the rows of one test, without a head; the summary of n tests. Rank 0. */
void ior_summarise(struct weir_run *run, const struct ior_test *t);
void ior_report_summary(struct weir_run *run, const struct weir_test *tests, int n);

#endif
