/* SPDX-License-Identifier: BSD-3-Clause */
/* limits.h - a phase on this rank, and the limits: the reasons why its steps wait or end. It is
 * between phase.c, steps.c and the files of the limits, which are in the list below.
 *
 * Nothing else of the engine, and no program, knows a limit by name, but for the check of free space
 * (place/usage.c), where a number of steps needs less of it. Before a phase those in play
 * are chosen. A step then compares the clock with the next time at which they must be asked. In
 * collective steps the answers of all ranks are joined by a vote. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/program.h"
#include "par/agree.h"

/* A limit that is in play in this phase, and its state. */
#define WEIR_LIMITS_MAX 16
struct weir_limit;
struct weir_limit_in_play {
    const struct weir_limit *row;
    void *state;
};

/* One phase on this rank. */
struct weir_phase_context {
    struct weir_run *run;
    const struct weir_timing *timing;
    const struct weir_phase *ph;
    const struct weir_stage *stage; /* the stage of the phase; NULL: none */
    const struct weir_again *again; /* settings of a repeated phase; NULL: those of the options */
    void *state;
    struct weir_phase_rec *rec;
    struct weir_err *err;
    struct weir_watch watch;
    struct weir_rounds rounds; /* in collective steps */
    struct weir_limit_in_play play[WEIR_LIMITS_MAX];
    int n;               /* number of limits in play */
    uint64_t pass;       /* steps of one pass */
    uint64_t target;     /* steps to do */
    uint64_t max_steps; /* of this rank, by the limits; UINT64_MAX: any number */
    uint64_t round;      /* collective steps: rounds taken, the same on all ranks */
    uint64_t clock;      /* last clock read */
    uint64_t ask_ns;     /* the first time at which a limit must be asked; UINT64_MAX: none */
    uint64_t next_poll;  /* when to poll */
    /* Waits until a local time at the latest, and reads the clock. flying: transfers are in flight,
     * and their end must be noticed soon. NULL: sleeps. */
    void (*wait)(struct weir_phase_context *c, uint64_t until_ns, bool flying);
    bool waits;        /* limits are asked before the first step and after each */
    bool each;         /* in collective steps all ranks vote after each round */
    bool passes;       /* limits are asked for another pass */
    bool more;         /* limits are asked when a step is due: there is a next step */
    bool idle;         /* no step on this rank, and no call that is not collective */
    bool each_counts;  /* records count each operation */
    enum weir_end end; /* why the steps are over: in collective steps any rank knows it */
    enum weir_end why; /* the first reason, where steps went on */
    int rc;
    bool opened;
    bool enough;       /* an observer ends the phase */
    bool stop_received; /* the watch has reported a rank that must stop */
    bool wears_out;    /* nothing but the count, a failure or a signal ends the steps */
    bool stop_requested; /* a rank has failed or had a signal */
    bool agreed;       /* all ranks have the error already */
};

/* Functions may be NULL, but for begin. state: state_size bytes of this row, zeroed when the test
 * begins, and kept between its phases. */
struct weir_limit {
    const char *name;
    size_t state_size;
    enum weir_end end; /* the reason when 'over' is true */
    /* Local, the same on all ranks, before the phase is prepared: true when it is in play. It
     * then puts its numbers into c and c->rec->bounds. An error is put into c->rc and c->err. */
    bool (*begin)(struct weir_phase_context *c, void *state);
    /* Collective, the last thing before the first step; c->clock is the time now. */
    void (*start)(struct weir_phase_context *c, void *state);
    /* Local: return the local time at which the next step may begin; 0: at once. Sets *gap_ns to
     * the time from the step before until then, the same on all ranks in collective steps. */
    uint64_t (*due)(struct weir_phase_context *c, void *state, uint64_t *gap_ns);
    /* Local, at c->clock: true when the steps of this rank are over. each: it is asked after
     * each step or round, and not only by time. */
    bool (*over)(struct weir_phase_context *c, void *state);
    bool each;
    /* Local: return true for another pass, when all steps of one were taken. */
    bool (*again)(struct weir_phase_context *c, void *state);
    /* Collective: the steps of all ranks have ended, and their time has not. May let them go on. */
    void (*ended)(struct weir_phase_context *c, void *state);
    /* Pure: return the option with which it may end a phase before its last step; NULL: none. */
    const char *(*asked)(const struct weir_run_options *o);
};

/* True when a time ends the phase. Local. */
static inline bool weir_limit_by_time(const struct weir_phase_context *c)
{
    return (c->ph->flags & WEIR_PHASE_STONEWALL) || c->again;
}

/* ---- the list ---- */

/* In the order of the ends: of two that come at once the first one counts. A limit that delays
 * the first step stands before those that count from there. */
#define WEIR_LIMITS(ROW)                                                                           \
    ROW(subset)   /* ranks without a step (--sweep) */                                             \
    ROW(rate)     /* --rate, --burst */                                                            \
    ROW(pause)    /* a wait after each step */                                                     \
    ROW(stop)     /* a rank has failed, or a signal came */                                        \
    ROW(observed) /* an observer has enough (--until=steady) */                                    \
    ROW(deadline) /* -D */                                                                         \
    ROW(count)    /* a number of steps */                                                      \
    ROW(least)    /* pass after pass for a time (minTimeDuration) */                               \
    ROW(wear_out) /* after the deadline on to the count of the fastest */

#define WEIR_LIMIT_DECLARE(name) extern const struct weir_limit weir_limit_##name;
WEIR_LIMITS(WEIR_LIMIT_DECLARE)

/* Choose those that are in play, and begin them. Local; what failed is in c->rc. */
void weir_limits_begin(struct weir_phase_context *c);

/* Return why the steps of this rank have ended; no meaning after a failure or a signal. Local. */
enum weir_end weir_limits_end(const struct weir_phase_context *c);

/* ---- the steps of a phase ---- */

/* Time between two polls of an independent rank for signals and failures of others. */
#define WEIR_TICK_NS (50 * 1000000u)

/* True when this rank has a reason to stop: a failure, or a signal. Local. */
bool weir_phase_asks_to_stop(struct weir_phase_context *c);

/* Watch the other ranks from now on. Local. */
void weir_phase_begin_watch(struct weir_phase_context *c);

/* Wait until all ranks have come here, and receive what they report. Collective over watch_comm. */
void weir_phase_end_watch(struct weir_phase_context *c);

/* Take all passes, up to the count or the first reason to stop, and drain operations in flight.
 * A rank that has failed does nothing, unless it takes part in the rounds of others. Sets
 * WEIR_MARK_WORK. Errors are in c->rc. Collective over run->par in collective steps, and with
 * limits that start or end together. */
void weir_phase_work(struct weir_phase_context *c);

/* Put the numbers of this rank into a maximum of 2 * WEIR_PHASE_NUMBERS. Local. */
static inline void weir_phase_put_ends(const struct weir_phase_numbers *own, int64_t *max)
{
    const uint64_t *n = (const uint64_t *)own;

    for (size_t i = 0; i < WEIR_PHASE_NUMBERS; i++) {
        max[i] = -(int64_t)n[i];
        max[WEIR_PHASE_NUMBERS + i] = (int64_t)n[i];
    }
}

/* Take the least and the most of all ranks out of it. Local. */
static inline void weir_phase_take_ends(const int64_t *max, struct weir_phase_numbers *least,
                                        struct weir_phase_numbers *most)
{
    for (size_t i = 0; i < WEIR_PHASE_NUMBERS; i++) {
        ((uint64_t *)least)[i] = (uint64_t)-max[i];
        ((uint64_t *)most)[i] = (uint64_t)max[WEIR_PHASE_NUMBERS + i];
    }
}

/* Return the operations of this rank in its steps so far. Local. */
uint64_t weir_phase_own_done(const struct weir_phase_context *c);

/* For limits. Continue the steps up to this count; only a failure or a signal ends them before.
 * Errors and collective calls as in weir_phase_work. */
void weir_steps_go_on(struct weir_phase_context *c, uint64_t target);
/* Wait within a step until the next operation is due, polling as between steps. Local. */
void weir_steps_wait(struct weir_phase_context *c);
/* End the operations that steps have begun, before a time or a count is taken. Local. */
void weir_steps_drain(struct weir_phase_context *c);
