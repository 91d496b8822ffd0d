/* SPDX-License-Identifier: BSD-3-Clause */
/* phase.h - the one driver loop: barriers, clocks, stonewall, wear-out, agreement and merging, for
 * every benchmark */
#ifndef WEIR_ENGINE_PHASE_H
#define WEIR_ENGINE_PHASE_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/run.h"

/* The six time stamps of a phase. */
enum weir_mark {
    WEIR_MARK_OPEN,   /* T0: before open */
    WEIR_MARK_OPENED, /* T1 */
    WEIR_MARK_WORK,   /* T2: before the first step */
    WEIR_MARK_WORKED, /* T3: after the last step and flush */
    WEIR_MARK_CLOSE,  /* T4: before close */
    WEIR_MARK_CLOSED, /* T5 */
    WEIR_MARKS
};

enum {
    WEIR_PHASE_STONEWALL = 1u << 0, /* honours deadline, wear-out and minimum time */
    WEIR_PHASE_BARRIERS = 1u << 1,  /* honours -g */
    WEIR_PHASE_BYTES = 1u << 2      /* its rate is in bytes, whatever its steps are called */
};

/* How long a phase runs and what its ranks do together; set by the driver from its options. */
struct weir_timing {
    double deadline_s;  /* -D, 0: none */
    double min_time_s;  /* minTimeDuration, 0: none */
    uint64_t max_steps; /* stoneWallingWearOutIterations, 0: none */
    uint64_t pause_ns;  /* to wait after each step, inside the measured time */
    bool wear_out;      /* after the deadline all tasks go on to the count of the fastest */
    bool barriers;      /* -g */
    /* Steps are collective: all ranks take the same number of rounds. A rank that has failed or has
     * less to do idles in a round; its own steps are only counted. */
    bool lock_step;
    /* The ranks that are in lock step with this one, NULL: all. Groups of ranks then go at their
     * own pace, and hear of each other's failures and signals as ranks that work alone do. */
    const struct weir_par *lock_par;
    /* With lock_step: all ranks have the same number of steps, and these agree on failures and on
     * signals themselves (weir_interrupt_poll, WEIR_EINTR), so the engine asks for no votes. */
    bool agrees;
    bool collective_open;  /* open and close are collective */
    bool collective_flush; /* and so is flush, which has something to do */
};

/* A phase is a row; the state is the driver's. Functions may be NULL but for count and step. Each
 * returns 0, or -1 with err filled; a rank may fail alone, the engine makes it known to all. None
 * of them but open, opened, idle and close may call a collective, and these only where the timing
 * says so. */
struct weir_phase {
    const char *key;
    const char *unit; /* what steps are called, in the plural; NULL: "transfers" */
    unsigned flags;
    /* Before the clock starts. */
    int (*prepare)(struct weir_run *, void *state, struct weir_err *);
    /* Steps of one pass of this rank; 0 is fine. Asked after prepare. */
    uint64_t (*count)(struct weir_run *, void *state);
    /* Operations that this rank has done in its steps so far; NULL: one in each. Local, asked
     * after steps, outside their time. */
    uint64_t (*done)(struct weir_run *, const void *state, uint64_t steps);
    /* Operations of one pass of this rank that are recorded (engine/records.h); NULL: as many as
     * steps. Asked after prepare. */
    uint64_t (*operations)(struct weir_run *, void *state);
    /* Timed: T0..T1. */
    int (*open)(struct weir_run *, void *state, struct weir_err *);
    /* Between T1 and T2, outside open and transfer time: look at what was opened. */
    void (*opened)(struct weir_run *, void *state);
    /* Timed: step i of this rank. *clock_ns is the time now and must be the time at its end on
     * return. Allocates nothing, logs nothing, formats nothing (but to fill err). */
    int (*step)(struct weir_run *, void *state, uint64_t i, uint64_t *clock_ns, struct weir_err *);
    /* With timing.lock_step: take part in a round of the others without moving anything, in the
     * place of step. 'round' counts the rounds of all ranks from 0; err is NULL when this rank has
     * failed before, else it has less to do than others. *clock_ns as in step. */
    int (*idle)(struct weir_run *, void *state, uint64_t round, uint64_t *clock_ns,
                struct weir_err *);
    /* Timed with the steps, also with those before a stonewall: wait for what steps have only
     * begun. *clock_ns as in step. Not called after a failure. */
    int (*drain)(struct weir_run *, void *state, uint64_t *clock_ns, struct weir_err *);
    /* Some 20 times a second between two steps, outside of both: this rank's steps so far, and
     * seconds since the first one began. For a program with a progress bar of its own. */
    void (*look)(struct weir_run *, void *state, uint64_t steps, double seconds);
    /* Timed with the steps: fsync and the like. Not called after a failure. */
    int (*flush)(struct weir_run *, void *state, struct weir_err *);
    /* Timed: T4..T5. Called on every rank whose open succeeded. Where open is collective and
     * failed on another rank, it must not wait for that rank (backend.h: a file that is lost). */
    int (*close)(struct weir_run *, void *state, struct weir_err *);
};

/* What ended the steps of a rank. */
enum weir_end {
    WEIR_END_WORK,  /* there was no more to do */
    WEIR_END_COUNT, /* as many as timing.max_steps allows were done */
    WEIR_END_TIME,  /* the deadline had passed */
    WEIR_ENDS
};

/* What was done when the deadline came. */
struct weir_stonewall {
    bool known; /* wear-out was asked for: the rest is measured */
    uint64_t steps_sum, steps_min, steps_max;
    uint64_t done_sum, done_min, done_max; /* operations */
    uint64_t steps; /* own */
    uint64_t bytes_sum, bytes_min;
    uint64_t time_ns; /* rank 0's time in the loop when it stopped */
};

/* What a phase did; the same on all ranks but for the fields marked "own". Times in ns. */
struct weir_phase_rec {
    const struct weir_phase *phase;
    int repetition;
    int64_t first[WEIR_MARKS],
        last[WEIR_MARKS];      /* earliest and latest over the ranks, on rank 0's clock */
    uint64_t clock_error_ns;   /* how wrong times of different ranks may be to each other */
    uint64_t mark[WEIR_MARKS]; /* own, local clock */
    uint64_t steps;            /* own */
    uint64_t steps_sum, steps_min, steps_max;
    uint64_t done_sum, done_min, done_max; /* operations in these steps */
    uint64_t bytes_sum, wrong_sum;
    uint64_t busy_ns_sum; /* T3 - T2 summed over the ranks */
    uint64_t own_ns_min, own_ns_max; /* of a rank in open, work and close together */
    uint64_t end_max;     /* highest counters.end */
    uint64_t fill_ns_sum, verify_ns_sum;
    uint64_t ended[WEIR_ENDS]; /* ranks for which this was the end; no meaning when interrupted */
    uint64_t records_sum, dropped_sum; /* operations that are in records, that had no room there */
    struct weir_stonewall stonewall;
    bool interrupted; /* a signal ended it early; the values here are nevertheless measured */
};

/* How long this rank was in open, work and close together. Local. */
uint64_t weir_phase_own_ns(const struct weir_phase_rec *rec);

/* Run one phase, timed as *timing says (the same on all ranks). Collective over run->par. Returns
 * 0, or -1 on every rank with the agreed err (the lowest failing rank's words). A signal is no
 * failure: rec->interrupted is set. */
int weir_phase_run(struct weir_run *run, const struct weir_phase *ph, void *state,
                   const struct weir_timing *timing, struct weir_phase_rec *rec,
                   struct weir_err *err);

/* The same for a phase that is no stage of a test; a signal is a failure (WEIR_EINTR). */
int weir_phase_aside(struct weir_run *run, const struct weir_phase *ph, void *state,
                     const struct weir_timing *timing, struct weir_phase_rec *rec,
                     struct weir_err *err);
/* Of a phase that a signal has ended. Local. -1 and err. */
int weir_phase_interrupted(const struct weir_run *run, const char *key, struct weir_err *err);

/* Estimate the clocks again, and say once in a test when one has stepped. Collective over
 * run->par. */
void weir_phase_renew_clock(struct weir_run *run);

/* Wait that many seconds between phases. Collective over run->par. Returns 0, or -1 and err
 * (WEIR_EINTR) on every rank when a signal came to any of them. */
int weir_phase_pause(struct weir_run *run, double seconds, struct weir_err *err);

/* Seconds from the earliest 'from' to the latest 'to' over the ranks: the rule of every time
 * column. At least 1 ns, so that rates are finite. */
double weir_phase_span(const struct weir_phase_rec *rec, enum weir_mark from, enum weir_mark to);

#endif
