/* SPDX-License-Identifier: BSD-3-Clause */
/* pace.h - the operations of a phase at a rate (--rate, --burst): when the next one is due, and the
 * times from there */
#ifndef WEIR_ENGINE_PACE_H
#define WEIR_ENGINE_PACE_H

#include "base/hist.h"
#include "engine/options.h"
#include "engine/steps/schedule.h"
#include "par/clock.h"

/* An operation that begins later than this after it was due is late: waiting is as exact as that. */
#define WEIR_PACE_LATE_NS 100000u

/* The pace of this rank in the phase that runs. run->pace is NULL in a phase without one. */
struct weir_pace {
    struct weir_schedule plan; /* with a rate; else plan.n counts alone */
    /* Times of each operation of the program: due to end, begin to end. */
    struct weir_hist *response, *service;
    int kinds;         /* how many of each, those of service behind those of response */
    int64_t *ends;     /* room to find the extremes of each in all ranks */
    uint64_t start_ns; /* of the schedule, local clock */
    uint64_t due_ns;   /* of the operation that comes next, or runs; local clock */
    uint64_t gap_ns;   /* and so long after the one before it: the same on all ranks in lock step */
    bool rounds;       /* in lock step: an operation of all ranks in each round */
    uint64_t round;    /* that were taken then */
    bool rests;        /* without a rate: a pause comes first, after all that is in flight */
    bool over;         /* the phase ends: the rest of the step is done at once, and not counted */
    uint64_t flown_ns; /* when the operation that has just come out of a queue was due; 0: none has */
    uint64_t late, most_late_ns; /* operations that were late; by how much at most */
    uint64_t last_begin_ns, last_late_ns; /* of the operation that was begun last */
    uint64_t slept_ns, spun_ns;                /* of waiting: without and with a processor */
    void (*wait)(void *arg, uint64_t *clock_ns); /* the engine's: until the next operation is due */
    void *arg;
};

/* True when there is a rate, or are bursts. Local, the same on all ranks. */
static inline bool weir_pace_wanted(const struct weir_run_options *o)
{
    return o->rate || o->rate_total || o->burst;
}

/* Read --rate, --rate-total, --arrivals and --burst, for one of 'tasks' tasks. Where the rate
 * is in percent, these are in points, and the rate of out is 0. Local, the same on all ranks.
 * 0, or -1 and err (WEIR_EUSAGE). */
int weir_pace_parse(const struct weir_run_options *o, int tasks, struct weir_load *out,
                    struct weir_load_points *points, struct weir_err *err);

/* Forget the last phase. p->response has 2 * 'kinds' histograms, p->ends two numbers for each. load
 * is the same on all ranks. Local. */
void weir_pace_begin(struct weir_pace *p, int kinds, const struct weir_load *load, int task,
                     int tasks, int repetition);

/* Account for the due operation, which has begun in a queue with len bytes, and go on to the
 * next one. Returns when it was due. Local, some ns. */
uint64_t weir_pace_take(struct weir_pace *p, uint64_t len);

/* Account for the due operation of len bytes, and go on to the next one. Local, some ns. */
void weir_pace_advance(struct weir_pace *p, uint64_t len);

/* Wait until an operation is due that is not the first of its step. Local. */
static inline void weir_pace_wait(struct weir_pace *p, uint64_t *clock_ns)
{
    if (__builtin_expect(p != NULL, 0))
        p->wait(p->arg, clock_ns);
}

/* An operation is over: that of p->flown_ns, or the one that was next. Returns how long after it was due it
 * began. Local, some ns. */
uint64_t weir_pace_count(struct weir_pace *p, int op, uint64_t begin_ns, uint64_t end_ns,
                         uint64_t len);

static inline uint64_t weir_pace_ended(struct weir_pace *p, int op, uint64_t begin_ns,
                                       uint64_t end_ns, uint64_t len)
{
    return __builtin_expect(p != NULL, 0) ? weir_pace_count(p, op, begin_ns, end_ns, len) : 0;
}

#endif
