/* SPDX-License-Identifier: BSD-3-Clause */
/* phase.h - the one loop of all programs: barriers, clocks, stonewall, wear-out, agreement and merging, for
 * every benchmark */
#pragma once

#include "engine/program.h"

/* Return the time of this rank in open, work and close together, in ns. Local. */
uint64_t weir_phase_own_ns(const struct weir_phase_rec *rec);

/* Run the phase of a stage, timed as *timing says. again: outside of the stage (rec->stage is
 * NULL), within these limits instead of those of the options. A rank that is idle is then called
 * only for an open, a flush and a close that are collective, and for prepare where open is. All of
 * it is the same on all ranks. Collective over run->par.
 * Returns 0, or -1 on every rank with the agreed err of the lowest failing rank: rec->failed is set,
 * or else an observer has failed with the phase. A signal is no failure: rec->interrupted is
 * set. */
int weir_phase_run(struct weir_run *run, const struct weir_stage *stage, void *state,
                   const struct weir_timing *timing, const struct weir_again *again,
                   struct weir_phase_rec *rec, struct weir_err *err);

/* As weir_phase_run, for an extra phase, which no stage has and no option limits. A signal is a
 * failure (WEIR_EINTR). */
int weir_phase_extra(struct weir_run *run, const struct weir_phase *ph, void *state,
                     const struct weir_timing *timing, struct weir_phase_rec *rec,
                     struct weir_err *err);
/* Fill err for a phase that a signal has ended. Local. Returns -1. */
int weir_phase_interrupted(const struct weir_run *run, const char *key, struct weir_err *err);

/* Estimate the clocks again; one that has stepped is reported once. Collective over run->par. */
void weir_phase_renew_clock(struct weir_run *run);

/* Wait that many seconds between phases. Collective over run->par. Returns 0, or -1 and err
 * (WEIR_EINTR) on every rank when a signal came to any of them. */
int weir_phase_pause(struct weir_run *run, double seconds, struct weir_err *err);

/* Seconds from the earliest 'from' to the latest 'to' over the ranks: the rule of every time
 * column. At least 1 ns, so that rates are finite. */
double weir_phase_span(const struct weir_phase_rec *rec, enum weir_mark from, enum weir_mark to);
