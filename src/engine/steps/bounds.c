/* SPDX-License-Identifier: BSD-3-Clause */
/* bounds.c - steps end at a time or a count that was known before: the deadline, the number of
 * steps; and passes follow each other until a time */
#include "config.h"
#include "engine/steps/limits.h"

#include "base/clock.h"
#include "base/steady.h"

/* ---- deadline: -D, the longest time of --until=steady, or that of a phase done again ---- */

struct deadline {
    uint64_t at_ns; /* local time */
};

static bool begin_deadline(struct weir_phase_context *c, void *state)
{
    double seconds = c->timing->deadline_s;

    if (c->again)
        seconds = c->again->seconds;
    else if (c->stage && seconds == 0)
        seconds = weir_run_options_bound(c->run->test->plan.options);
    c->rec->bounds.most_s = weir_limit_by_time(c) ? seconds : 0;
    return c->rec->bounds.most_s > 0;
}

static void start_deadline(struct weir_phase_context *c, void *state)
{
    struct deadline *d = state;

    d->at_ns = c->clock + (uint64_t)(c->rec->bounds.most_s * WEIR_NS_PER_S);
    if (d->at_ns < c->ask_ns)
        c->ask_ns = d->at_ns;
}

static bool is_late(struct weir_phase_context *c, void *state)
{
    return c->clock >= ((const struct deadline *)state)->at_ns;
}

static const char *deadline_option(const struct weir_run_options *o)
{
    return o->deadline_s > 0 ? "-D" : NULL;
}

const struct weir_limit weir_limit_deadline = { .name = "deadline",
                                                .state_size = sizeof(struct deadline),
                                                .end = WEIR_END_TIME,
                                                .begin = begin_deadline,
                                                .start = start_deadline,
                                                .over = is_late,
                                                .asked = deadline_option };

/* ---- count: stoneWallingWearOutIterations, or a limit of the program's own. It has no 'over':
 * the loops take no more steps than c->most_steps ---- */

static bool begin_count(struct weir_phase_context *c, void *state)
{
    uint64_t most = c->timing->max_steps;

    if (c->stage && most == 0)
        most = (uint64_t)c->run->test->plan.options->max_steps;
    if (most > 0)
        c->most_steps = most;
    return most > 0;
}

static const char *count_option(const struct weir_run_options *o)
{
    return o->max_steps > 0 ? "stoneWallingWearOutIterations" : NULL;
}

const struct weir_limit weir_limit_count = {
    .name = "count", .begin = begin_count, .asked = count_option
};

/* ---- least: minTimeDuration. With --until=steady a phase is repeated to the deadline where it can
 * be. In lock step the slowest rank decides ---- */

static bool begin_least(struct weir_phase_context *c, void *state)
{
    const unsigned data = WEIR_STAGE_WRITES | WEIR_STAGE_READS;
    const struct weir_run_options *o = c->run->test->plan.options;
    double seconds = o->min_time_s;

    if (!c->stage || !weir_limit_by_time(c))
        return false;
    if (c->again)
        seconds = c->stage->flags & data ? c->again->seconds : 0;
    else if (weir_steady_asked(o->until) && (c->ph->flags & WEIR_PHASE_REPEATS))
        seconds = weir_run_options_bound(o);
    c->rec->bounds.least_s = seconds;
    return seconds > 0;
}

static bool is_short(struct weir_phase_context *c, void *state)
{
    double worked_ns = (double)(c->clock - c->rec->mark[WEIR_MARK_WORK]);

    return c->pass > 0 && worked_ns < c->rec->bounds.least_s * WEIR_NS_PER_S &&
           c->target < c->most_steps;
}

const struct weir_limit weir_limit_least = {
    .name = "least", .begin = begin_least, .again = is_short
};
