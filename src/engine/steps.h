/* SPDX-License-Identifier: BSD-3-Clause */
/* steps.h - what a phase is on this rank, and its steps: between phase.c and steps.c
 * only */
#ifndef WEIR_ENGINE_STEPS_H
#define WEIR_ENGINE_STEPS_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/program.h"
#include "par/agree.h"

/* How often a rank that works alone looks for signals and failures of others. */
#define WEIR_TICK_NS (50 * 1000000u)

/* One phase on this rank. */
struct weir_phase_context {
    struct weir_run *run;
    const struct weir_timing *timing;
    const struct weir_phase *ph;
    void *state;
    struct weir_phase_rec *rec;
    struct weir_err *err;
    struct weir_watch watch;
    struct weir_rounds rounds; /* in lock step */
    uint64_t pass;      /* steps of one pass */
    uint64_t target;    /* steps to do */
    uint64_t round;     /* in lock step: rounds taken, the same on all ranks */
    uint64_t clock;     /* last clock read */
    uint64_t deadline;  /* local time, UINT64_MAX: none */
    uint64_t next_poll; /* when to poll */
    bool waits;         /* between steps: a pause, or until the next one is due */
    int rc;
    bool opened;
    bool stonewalled;  /* the deadline has passed; in lock step on any rank */
    bool enough;       /* an observer ends the phase; in lock step it is known on any rank */
    bool wears_out;    /* the stonewall is over: nothing but the count ends the steps */
    bool told_to_stop; /* a rank has failed or had a signal */
    bool agreed;       /* all ranks have the words of a failure already */
};

/* Has this rank a reason to stop: has it failed, or had a signal? Local. */
bool weir_phase_asks_to_stop(struct weir_phase_context *c);

/* Watch the other ranks from now on. Local. */
void weir_phase_begin_watch(struct weir_phase_context *c);

/* Wait until all ranks have come here, and receive what they report. Collective over watch_comm. */
void weir_phase_end_watch(struct weir_phase_context *c);

/* All passes, up to the count, the deadline or the first reason to stop, and the drain of
 * operations that steps have only begun. In lock step collective over run->par, else local. What
 * failed is in c->rc. */
void weir_phase_work(struct weir_phase_context *c);

/* Operations of this rank in its steps so far. Local. */
uint64_t weir_phase_own_done(const struct weir_phase_context *c);

/* Once all ranks have stopped: keep how far each came, and go on to the count of the fastest.
 * Nothing after a failure or a signal. Collective over run->par. */
void weir_phase_wear_out(struct weir_phase_context *c);

#endif
