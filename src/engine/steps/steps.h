/* SPDX-License-Identifier: BSD-3-Clause */
/* steps.h - the steps of a phase: for phase.c and the limits */
#ifndef WEIR_ENGINE_STEPS_STEPS_H
#define WEIR_ENGINE_STEPS_STEPS_H

#include "engine/steps/limit.h"

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

/* Return the operations of this rank in its steps so far. Local. */
uint64_t weir_phase_own_done(const struct weir_phase_context *c);

/* For limits. Continue the steps up to this count; only a failure or a signal ends them before.
 * Errors and collective calls as in weir_phase_work. */
void weir_steps_go_on(struct weir_phase_context *c, uint64_t target);
/* Wait within a step until the next operation is due, polling as between steps. Local. */
void weir_steps_wait(struct weir_phase_context *c);
/* End the operations that steps have begun, before a time or a count is taken. Local. */
void weir_steps_drain(struct weir_phase_context *c);

#endif
