/* SPDX-License-Identifier: BSD-3-Clause */
/* stop.c - steps end for a reason from outside of this rank: a failure or a signal on any rank,
 * or an observer whose condition is met. Ranks that are left out have no steps */
#include "config.h"
#include "engine/steps/limits.h"

#include "base/steady.h"
#include "engine/steps/steps.h"

/* ---- stop ---- */

static bool always(struct weir_phase_context *c, void *state)
{
    return true;
}

/* In lock step each rank answers for itself, and the vote is for all; else the watch has told. */
static bool must_stop(struct weir_phase_context *c, void *state)
{
    return c->heard || weir_phase_asks_to_stop(c);
}

const struct weir_limit weir_limit_stop = {
    .name = "stop", .end = WEIR_END_STOP, .begin = always, .over = must_stop
};

/* ---- observed: --until=steady is the one option that lets an observer end a phase. Without it
 * none is asked, whatever it says ---- */

static bool begin_observed(struct weir_phase_context *c, void *state)
{
    c->rec->bounds.observed = c->stage && !c->again && weir_limit_by_time(c) &&
                              weir_steady_asked(c->run->test->plan.options->until);
    return c->rec->bounds.observed;
}

static bool has_enough(struct weir_phase_context *c, void *state)
{
    return c->enough;
}

static const char *observed_option(const struct weir_run_options *o)
{
    return weir_steady_asked(o->until) ? "--until" : NULL;
}

const struct weir_limit weir_limit_observed = { .name = "observed",
                                                .end = WEIR_END_STEADY,
                                                .begin = begin_observed,
                                                .over = has_enough,
                                                .asked = observed_option };

/* ---- subset: also where open and close are collective, which these ranks take part in ---- */

static bool begin_subset(struct weir_phase_context *c, void *state)
{
    c->idle = c->again && c->again->turn && c->again->turn->idle;
    return c->again && c->again->turn;
}

const struct weir_limit weir_limit_subset = { .name = "subset", .begin = begin_subset };
