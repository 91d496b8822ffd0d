/* SPDX-License-Identifier: BSD-3-Clause */
/* schedule.h - when the operations of a task are due at a rate: an open loop. Numbers only */
#ifndef WEIR_ENGINE_STEPS_SCHEDULE_H
#define WEIR_ENGINE_STEPS_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

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

/* Read --rate of this form: "P%" or "P%..Q%:N", from 0.1 to 1000 percent, N from 2 to 1000. False: it is
 * neither. */
bool weir_load_parse_points(const char *text, struct weir_load_points *out);

/* The i-th of them, from 0, in percent. */
static inline double weir_load_point(const struct weir_load_points *p, int i)
{
    return p->n > 1 ? p->from + (p->to - p->from) * i / (p->n - 1) : p->from;
}

/* Read --burst: "N:PAUSE", operations and seconds. Sets burst and pause_ns. False: it is not that. */
bool weir_load_parse_burst(const char *text, struct weir_load *out);

#endif
