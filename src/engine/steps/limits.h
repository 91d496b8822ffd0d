/* SPDX-License-Identifier: BSD-3-Clause */
/* limits.h - the list of the limits */
#ifndef WEIR_ENGINE_STEPS_LIMITS_H
#define WEIR_ENGINE_STEPS_LIMITS_H

#include "engine/steps/limit.h"

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

#endif
