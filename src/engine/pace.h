/* SPDX-License-Identifier: BSD-3-Clause */
/* pace.h - the operations of a phase at a rate (--rate, --burst): when the next one is due, and the
 * times from there */
#ifndef WEIR_ENGINE_PACE_H
#define WEIR_ENGINE_PACE_H

#include "base/hist.h"
#include "base/schedule.h"
#include "engine/options.h"
#include "par/clock.h"

/* An operation that begins later than this after it was due is late: waiting is as exact as that. */
#define WEIR_PACE_LATE_NS 100000u

/* The pace of this rank in the phase that runs. run->pace is NULL in a phase without one. */
struct weir_pace {
    struct weir_schedule plan; /* with a rate; else plan.n counts alone */
    /* Of each operation of the program: due to end, begin to end. */
    struct weir_hist *response, *service;
    int kinds;         /* how many of each */
    uint64_t start_ns; /* of the schedule, local clock */
    uint64_t due_ns;   /* of the operation that comes next, or runs; local clock */
    uint64_t gap_ns;   /* and so long after the one before it: the same on all ranks in lock step */
    bool rounds;       /* in lock step: an operation of all ranks in each round */
    bool rests;        /* without a rate: a pause comes first, after all that is in flight */
    bool over;         /* the phase ends: the rest of the step is done at once, and not counted */
    uint64_t flown_ns; /* when the operation that has just come out of a queue was due; 0: none has */
    uint64_t late, most_late_ns; /* operations that were late; by how much at most */
    uint64_t last_begin_ns, last_late_ns; /* of the operation that was begun last */
    uint64_t slept_ns, spun_ns;                /* of waiting: without and with a processor */
    void (*wait)(void *arg, uint64_t *clock_ns); /* the engine's: until the next operation is due */
    void *arg;
};

/* Is there a rate, or are there bursts? Local, the same on all ranks. */
static inline bool weir_pace_wanted(const struct weir_run_options *o)
{
    return o->rate || o->rate_total || o->burst;
}

/* Read --rate, --rate-total, --arrivals and --burst, for one of so many tasks. Where the rate is in
 * percent, these are in points, and the rate of out is 0. Local, the same on all ranks. 0, or -1 and
 * err (WEIR_EUSAGE). */
int weir_pace_parse(const struct weir_run_options *o, int tasks, struct weir_load *out,
                    struct weir_load_points *points, struct weir_err *err);

/* Forget the last phase; all ranks have agreed on load. p->response and p->service are there, with
 * 'kinds' histograms each. Local. */
void weir_pace_begin(struct weir_pace *p, int kinds, const struct weir_load *load, int task,
                     int tasks, int repetition);

/* All ranks begin at one time, a millisecond after the last of them has come here. Collective. */
void weir_pace_start(struct weir_pace *p, const struct weir_par *par, const struct weir_clock *clock);

/* When the next operation is due, in p->due_ns; at now_ns without a rate. Local. */
void weir_pace_next(struct weir_pace *p, uint64_t now_ns);

/* Wait a little, until 'until_ns' at most, and read the clock. flying: something is in flight, whose end
 * is to be seen soon. Local. */
void weir_pace_rest(struct weir_pace *p, uint64_t until_ns, bool flying, uint64_t *clock_ns);

/* The operation that was due has begun in a queue, and moves so many bytes: the next one is next. Returns
 * when it was due. Local, some ns. */
uint64_t weir_pace_take(struct weir_pace *p, uint64_t len);

/* In lock step a round is over, with an operation of so many bytes, also on ranks that had none. Local. */
void weir_pace_round(struct weir_pace *p, uint64_t len);

/* Before an operation that is not the first of its step: wait until it is due. Local. */
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
