/* SPDX-License-Identifier: BSD-3-Clause */
/* limit.h - a phase on this rank, and a limit: one reason why its steps wait or end. Between
 * phase.c, steps.c and the files of the limits, which limits.h lists
 *
 * Nothing else of the engine, and no program, knows a limit by name, but for the check of free space
 * (place/usage.c), where a number of steps needs less of it. Before a phase those in play
 * are chosen. A step then compares the clock with the next time at which they must be asked. In
 * lock step the answers of all ranks are joined by a vote. */
#ifndef WEIR_ENGINE_STEPS_LIMIT_H
#define WEIR_ENGINE_STEPS_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/program.h"
#include "par/agree.h"

/* A limit that is in play in this phase, and its state. */
#define WEIR_LIMITS_MOST 16
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
    const struct weir_stage *stage; /* of which it is the phase; NULL: of none */
    const struct weir_again *again; /* how it is done again; NULL: as the options say */
    void *state;
    struct weir_phase_rec *rec;
    struct weir_err *err;
    struct weir_watch watch;
    struct weir_rounds rounds; /* in lock step */
    struct weir_limit_in_play play[WEIR_LIMITS_MOST];
    int n;               /* of these */
    uint64_t pass;       /* steps of one pass */
    uint64_t target;     /* steps to do */
    uint64_t most_steps; /* of this rank, by the limits; UINT64_MAX: any number */
    uint64_t round;      /* in lock step: rounds taken, the same on all ranks */
    uint64_t clock;      /* last clock read */
    uint64_t ask_ns;     /* the first time at which a limit must be asked; UINT64_MAX: none */
    uint64_t next_poll;  /* when to poll */
    /* Wait until a local time at most, and read the clock. flying: something is in flight,
     * whose end is to be seen soon. NULL: sleeps. */
    void (*rest)(struct weir_phase_context *c, uint64_t until_ns, bool flying);
    bool waits;        /* limits are asked before the first step and after each */
    bool each;         /* in lock step all ranks vote after each round */
    bool passes;       /* limits are asked for another pass */
    bool more;         /* while they are asked when a step is due: there is one */
    bool idle;         /* no step on this rank, and no call that is not collective */
    bool each_counts;  /* records count each operation */
    enum weir_end end; /* why the steps are over: in lock step it is known on any rank */
    enum weir_end why; /* the first of these, where steps went on */
    int rc;
    bool opened;
    bool enough;       /* an observer ends the phase */
    bool heard;        /* the watch has told of a rank that must stop */
    bool wears_out;    /* nothing but the count, a failure or a signal ends the steps */
    bool told_to_stop; /* a rank has failed or had a signal */
    bool agreed;       /* all ranks have the error already */
};

/* Functions may be NULL, but for begin. state: state_size bytes of this row, zeroed when the test
 * begins, and kept between its phases. */
struct weir_limit {
    const char *name;
    size_t state_size;
    enum weir_end end; /* what 'over' says */
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

#endif
