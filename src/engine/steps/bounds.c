/* SPDX-License-Identifier: BSD-3-Clause */
/* bounds.c - why steps end: at a time or a count, for a failure or a signal on any rank, or because
 * an observer's condition is met */
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
    c->rec->bounds.max_s = weir_limit_by_time(c) ? seconds : 0;
    return c->rec->bounds.max_s > 0;
}

static void start_deadline(struct weir_phase_context *c, void *state)
{
    struct deadline *d = state;

    d->at_ns = c->clock + (uint64_t)(c->rec->bounds.max_s * WEIR_NS_PER_S);
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
 * the loops take no more steps than c->max_steps ---- */

static bool begin_count(struct weir_phase_context *c, void *state)
{
    uint64_t most = c->timing->max_steps;

    if (c->stage && most == 0)
        most = (uint64_t)c->run->test->plan.options->max_steps;
    if (most > 0)
        c->max_steps = most;
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
 * be. In collective steps the slowest rank decides ---- */

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
    c->rec->bounds.min_s = seconds;
    return seconds > 0;
}

static bool is_short(struct weir_phase_context *c, void *state)
{
    double worked_ns = (double)(c->clock - c->rec->mark[WEIR_MARK_WORK]);

    return c->pass > 0 && worked_ns < c->rec->bounds.min_s * WEIR_NS_PER_S &&
           c->target < c->max_steps;
}

const struct weir_limit weir_limit_least = {
    .name = "least", .begin = begin_least, .again = is_short
};

/* ---- stop ---- */

static bool always(struct weir_phase_context *c, void *state)
{
    return true;
}

/* In collective steps each rank answers for itself, and all vote. Otherwise the watch has reported
 * the answer. */
static bool must_stop(struct weir_phase_context *c, void *state)
{
    return c->stop_received || weir_phase_asks_to_stop(c);
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

/* ---- subset: ranks that are left out; also where open and close are collective, which these ranks take part in ---- */

static bool begin_subset(struct weir_phase_context *c, void *state)
{
    c->idle = c->again && c->again->turn && c->again->turn->idle;
    return c->again && c->again->turn;
}

const struct weir_limit weir_limit_subset = { .name = "subset", .begin = begin_subset };

/* ---- wear-out: after the deadline all ranks go on to the count of the fastest
 * (stoneWallingWearOut); not where data are only checked ---- */

static bool begin_wear_out(struct weir_phase_context *c, void *state)
{
    const struct weir_run_options *o = c->run->test->plan.options;
    bool is_timed = c->stage && !c->again && !(c->stage->flags & WEIR_STAGE_CHECKS);

    c->rec->bounds.wears_out = is_timed && (c->ph->flags & WEIR_PHASE_STONEWALL) && o->wear_out &&
                               weir_run_options_bound(o) > 0;
    return c->rec->bounds.wears_out;
}

/* Keeps the counters of the moment of the stonewall. */
static void keep_stonewall(struct weir_phase_context *c)
{
    const struct weir_par *par = &c->run->par;
    struct weir_stonewall *s = &c->rec->stonewall;
    int64_t max[2 * WEIR_PHASE_NUMBERS];

    s->sum = (struct weir_phase_numbers) { .steps = c->rec->steps,
                                           .done = weir_phase_own_done(c),
                                           .bytes = c->run->counters.bytes };
    if (par->rank == 0)
        s->sum.work_ns = c->clock - c->rec->mark[WEIR_MARK_WORK];
    weir_phase_put_ends(&s->sum, max);
    weir_allmax_i64(par, max, 2 * WEIR_PHASE_NUMBERS);
    weir_allsum_u64(par, (uint64_t *)&s->sum, WEIR_PHASE_NUMBERS);
    weir_phase_take_ends(max, &s->min, &s->max);
    s->known = true;
    s->steps = c->rec->steps;
    s->time_ns = s->sum.work_ns;
}

/* Nothing after a failure or a signal. */
static void wear_out(struct weir_phase_context *c, void *state)
{
    weir_phase_end_watch(c);
    if (c->stop_requested)
        return;
    keep_stonewall(c);
    weir_phase_begin_watch(c);
    weir_steps_go_on(c, c->pass > 0 ? c->rec->stonewall.max.steps : 0);
}

const struct weir_limit weir_limit_wear_out = {
    .name = "wear-out", .begin = begin_wear_out, .ended = wear_out
};
