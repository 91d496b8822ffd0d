/* SPDX-License-Identifier: BSD-3-Clause */
/* ratelimit.h - the operations of a phase at a rate (--rate, --burst): when the next one is due, and
 * the times from there */
#pragma once

#include "base/hist.h"
#include "engine/options.h"

/* The distances of operations: all the same; the same, with the tasks one after the other in
 * each; or at random, as those of many independent users. */
enum weir_arrivals { WEIR_ARRIVE_EVEN, WEIR_ARRIVE_SHIFTED, WEIR_ARRIVE_POISSON };

/* The rate of the operations of a task. Zero: each begins when the one before it has ended. */
struct weir_load {
    double rate;   /* operations or bytes a second; 0: no rate */
    bool bytes;    /* it is in bytes */
    enum weir_arrivals arrivals;
    uint64_t burst;    /* operations between two pauses; 0: no pauses */
    uint64_t pause_ns; /* with a rate a part of the schedule, else after the last one has ended */
};

/* The schedule of a task. */
struct weir_schedule {
    struct weir_load load; /* with a rate */
    double shift;          /* of WEIR_ARRIVE_SHIFTED: 0 to below 1, of a distance */
    uint64_t key;          /* of WEIR_ARRIVE_POISSON */
    uint64_t n;            /* operations before the next one */
    uint64_t base_ns;      /* whole seconds and pauses before it */
    double units;          /* and units of the rate since then: less than come in a second */
};

/* Begin a schedule: task 'task' of 'tasks' follows load, whose rate is more than 0. Tasks and
 * repetitions have keys of their own, the same in each run. Local. */
void weir_schedule_begin(struct weir_schedule *s, const struct weir_load *load, int task, int tasks,
                         int repetition);

/* Return when the next operation is due, ns since the begin of the schedule. Exact to a ns for
 * months at any rate, because whole seconds are counted apart. Local. */
uint64_t weir_schedule_due(const struct weir_schedule *s);

/* Account for the next operation of len bytes, and go on to the one after it. Local, some ns. */
void weir_schedule_take(struct weir_schedule *s, uint64_t len);

/* The rate with the pauses in it, for operations of len bytes each; without a rate the most that pauses leave. */
double weir_load_mean(const struct weir_load *load, double len);

/* Read --rate: SIZE with a unit ("100m", "100b", bytes a second) or a number and "ops" ("500ops", "0.2ops"), more than 0.
 * Sets rate and bytes. False: it is neither. */
bool weir_load_parse_rate(const char *text, struct weir_load *out);

/* Rates from 'from' to 'to' percent of a maximum, n of them in equal distances. */
struct weir_load_points {
    double from, to;
    int n; /* 0: there are none */
};

/* Read --rate "P%" or "P%..Q%:N", from 0.1 to 1000 percent, N from 2 to 1000. False: neither. */
bool weir_load_parse_points(const char *text, struct weir_load_points *out);

/* The i-th of them, from 0, in percent. */
static inline double weir_load_point(const struct weir_load_points *p, int i)
{
    return p->n > 1 ? p->from + (p->to - p->from) * i / (p->n - 1) : p->from;
}

/* Read --burst: "N:PAUSE", operations and seconds. Sets burst and pause_ns. False: it is not that. */
bool weir_load_parse_burst(const char *text, struct weir_load *out);

/* ---- a phase at a rate ---- */

/* An operation that begins later than this after it was due is late: waiting is as exact as that. */
#define WEIR_RATELIMIT_LATE_NS 100000u

/* The rate limiter of this rank in the current phase; run->ratelimit is NULL where it has none. */
struct weir_ratelimit {
    struct weir_schedule plan; /* with a rate; else plan.n counts alone */
    /* Times of each operation of the program: due to end, begin to end. */
    struct weir_hist *response, *service;
    int kinds;         /* number of each; those of service follow those of response */
    int64_t *ends;     /* memory for two numbers of each: the extremes over all ranks */
    uint64_t start_ns; /* of the schedule, local clock */
    uint64_t due_ns;   /* of the operation that comes next, or runs; local clock */
    uint64_t gap_ns;   /* from the operation before to that one: equal on all ranks with rounds */
    bool rounds;       /* collective steps: an operation of all ranks in each round */
    uint64_t round;    /* rounds so far, in collective steps */
    bool rests;        /* without a rate: a pause comes first, after all that is in flight */
    bool over;         /* the phase ends: the rest of the step is done at once, and not counted */
    uint64_t flown_ns; /* when the operation that has just come out of a queue was due; 0: none has */
    uint64_t late, max_late_ns; /* number of late operations; the largest delay */
    uint64_t last_begin_ns, last_late_ns; /* of the operation that was begun last */
    uint64_t slept_ns, spun_ns;                /* of waiting: without and with a processor */
    void (*wait)(void *arg, uint64_t *clock_ns); /* the engine's: until the next operation is due */
    void *arg;
};

/* True when there is a rate, or are bursts. Local, the same on all ranks. */
static inline bool weir_ratelimit_wanted(const struct weir_run_options *o)
{
    return o->rate || o->rate_total || o->burst;
}

/* Read --rate, --rate-total, --arrivals and --burst, for one of 'tasks' tasks. Where the rate
 * is in percent, these are in points, and the rate of out is 0. Local, the same on all ranks.
 * 0, or -1 and err (WEIR_EUSAGE). */
int weir_ratelimit_parse(const struct weir_run_options *o, int tasks, struct weir_load *out,
                         struct weir_load_points *points, struct weir_err *err);

/* Account for the due operation, which has begun in a queue with len bytes, and go on to the
 * next one. Returns when it was due. Local, some ns. */
uint64_t weir_ratelimit_take(struct weir_ratelimit *p, uint64_t len);

/* Account for the due operation of len bytes, and go on to the next one. Local, some ns. */
void weir_ratelimit_advance(struct weir_ratelimit *p, uint64_t len);

/* Wait until an operation is due that is not the first of its step. Local. */
static inline void weir_ratelimit_wait(struct weir_ratelimit *p, uint64_t *clock_ns)
{
    if (__builtin_expect(p != NULL, 0))
        p->wait(p->arg, clock_ns);
}

/* An operation is over: that of p->flown_ns, or the one that was next. Returns how long after it was due it
 * began. Local, some ns. */
uint64_t weir_ratelimit_count(struct weir_ratelimit *p, int op, uint64_t begin_ns, uint64_t end_ns,
                              uint64_t len);

static inline uint64_t weir_ratelimit_ended(struct weir_ratelimit *p, int op, uint64_t begin_ns,
                                            uint64_t end_ns, uint64_t len)
{
    return __builtin_expect(p != NULL, 0) ? weir_ratelimit_count(p, op, begin_ns, end_ns, len) : 0;
}
