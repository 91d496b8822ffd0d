/* SPDX-License-Identifier: BSD-3-Clause */
/* rate.c - steps wait: for their time at a rate or between bursts (--rate, --burst), or after
 * each of them (interIODelay). The schedule and the measured times of a rate are in run->ratelimit */
#include "engine/steps/limits.h"

#include <sched.h>
#include <string.h>

#include "base/clock.h"
#include "engine/ratelimit.h"

#define SPIN_NS 100000u  /* before an operation is due: a sleep may end so much too late */
#define NAP_NS 200000u   /* a shorter sleep is not worth it while something is in flight */
#define NAP_SHARE 64     /* of the shortest service time: no histogram shows such an error */
#define MARGIN_NS 1000000u

/* ---- waiting ---- */

/* Return the shortest service time in ns of an operation of this phase; 0: there is none. */
static uint64_t shortest_service(const struct weir_ratelimit *p)
{
    uint64_t least = UINT64_MAX;

    for (int i = 0; i < p->kinds; i++)
        if (p->service[i].n > 0 && p->service[i].min_ns < least)
            least = p->service[i].min_ns;
    return least == UINT64_MAX ? 0 : least;
}

static void wait_until_due(struct weir_phase_context *c, uint64_t until_ns, bool flying)
{
    struct weir_ratelimit *p = c->run->ratelimit;
    uint64_t begin_ns = c->clock, left_ns = until_ns - begin_ns;
    uint64_t nap_ns = left_ns > SPIN_NS ? left_ns - SPIN_NS : 0;
    uint64_t most_ns = flying ? shortest_service(p) / NAP_SHARE : nap_ns;

    if (nap_ns > most_ns)
        nap_ns = most_ns;
    if (flying && nap_ns < NAP_NS)
        nap_ns = 0;
    if (nap_ns > 0)
        weir_sleep_ns(nap_ns);
    else if (flying)
        sched_yield(); /* threads of a queue may need the processor */
    c->clock = weir_now_ns();
    *(nap_ns > 0 ? &p->slept_ns : &p->spun_ns) += c->clock - begin_ns;
}

/* Wait within a step, for the program. A reason to stop ends the phase after the step. */
static void wait_in_step(void *arg, uint64_t *clock_ns)
{
    struct weir_phase_context *c = arg;

    if (c->run->ratelimit->over)
        return;
    c->clock = *clock_ns;
    weir_steps_wait(c);
    c->run->ratelimit->over = c->end != WEIR_END_NONE;
    *clock_ns = c->clock;
}

/* ---- rate ---- */

/* The load of the phase. False: none. */
static bool load_of(const struct weir_phase_context *c, struct weir_load *load)
{
    const struct weir_run_options *o = c->run->test->plan.options;
    const unsigned none = WEIR_STAGE_UNTIMED | WEIR_STAGE_FIRST | WEIR_STAGE_LAST |
                          WEIR_STAGE_FULL_SPEED;
    struct weir_load_points points;

    if (c->again) {
        *load = c->again->load ? *c->again->load : (struct weir_load) { 0 };
        return c->again->load != NULL;
    }
    if (!c->stage || (c->stage->flags & none) || !weir_ratelimit_wanted(o))
        return false;
    return weir_ratelimit_parse(o, c->run->test->plan.tasks, load, &points, NULL) == 0 && points.n == 0;
}

/* Allocate histograms for 'kinds' kinds of operations, and memory for their extremes in all ranks. */
static bool take_memory(struct weir_phase_context *c, struct weir_ratelimit *p, size_t kinds)
{
    struct weir_arena *a = &c->run->arena;

    if (!p->response)
        p->response = weir_arena_alloc(a, 2 * kinds * sizeof(*p->response), c->err);
    if (p->response && !p->ends)
        p->ends = weir_arena_alloc(a, 4 * kinds * sizeof(*p->ends), c->err);
    if (!p->ends)
        c->rc = -1;
    return p->ends != NULL;
}

/* In collective steps all ranks have the same schedule. */
static bool begin_rate(struct weir_phase_context *c, void *state)
{
    int kinds = weir_operations_count(c->run->program) + 1;
    const struct weir_par *par = &c->run->par;
    bool same = c->timing->collective_steps;
    int task = same ? 0 : par->rank, tasks = same ? 1 : par->size;
    struct weir_ratelimit *p = state;
    struct weir_load load;

    if (!load_of(c, &load) || !take_memory(c, p, (size_t)kinds))
        return false;
    *p = (struct weir_ratelimit) { .response = p->response,
                                   .service = p->response + kinds,
                                   .kinds = kinds,
                                   .ends = p->ends,
                                   .rounds = same,
                                   .wait = wait_in_step,
                                   .arg = c };
    memset(p->response, 0, 2 * sizeof(*p->response) * (size_t)kinds);
    weir_schedule_begin(&p->plan, &load, task, tasks, c->run->repetition);
    c->run->ratelimit = p;
    c->wait = wait_until_due;
    c->each_counts = true;
    return true;
}

/* All ranks begin at one time, a millisecond after the last of them has come here. */
static void start_rate(struct weir_phase_context *c, void *state)
{
    struct weir_ratelimit *p = state;
    int64_t start = weir_clock_common(&c->run->clock, weir_now_ns()) + MARGIN_NS;

    weir_allmax_i64(&c->run->par, &start, 1);
    p->start_ns = weir_clock_local(&c->run->clock, start);
    c->clock = p->start_ns; /* of all times from here */
}

/* When the next operation is due, in p->due_ns. */
static void find_due(struct weir_ratelimit *p, uint64_t now_ns)
{
    uint64_t last_ns = p->plan.n > 0 ? p->due_ns : p->start_ns;

    if (p->plan.load.rate > 0) {
        p->due_ns = p->start_ns + weir_schedule_due(&p->plan);
        p->gap_ns = p->due_ns - last_ns;
        return;
    }
    p->gap_ns = p->rests ? p->plan.load.pause_ns : 0;
    p->due_ns = (p->plan.n > 0 ? now_ns : p->start_ns) + p->gap_ns;
    p->rests = false;
}

/* In collective steps a round is over, with an operation also of ranks that had none. */
static uint64_t due_at_rate(struct weir_phase_context *c, void *state, uint64_t *gap_ns)
{
    struct weir_ratelimit *p = state;

    if (c->round > p->round)
        weir_ratelimit_advance(p, c->timing->op_bytes);
    p->round = c->round;
    if (!c->more)
        return 0;
    if (c->ph->ready && !p->rounds)
        c->ph->ready(c->run, c->state, &c->clock);
    if (p->rests)
        weir_steps_drain(c);
    p->over = false;
    find_due(p, c->clock);
    *gap_ns = p->gap_ns;
    return p->due_ns;
}

const struct weir_limit weir_limit_rate = { .name = "rate",
                                            .state_size = sizeof(struct weir_ratelimit),
                                            .begin = begin_rate,
                                            .start = start_rate,
                                            .due = due_at_rate };

/* ---- pause: not where data are only checked ---- */

struct pause {
    uint64_t ns, after; /* after: number of steps at which it was taken */
};

static bool begin_pause(struct weir_phase_context *c, void *state)
{
    struct pause *p = state;

    *p = (struct pause) { .ns = (uint64_t)(c->run->test->plan.options->pause_us * 1000) };
    return c->stage && !(c->stage->flags & WEIR_STAGE_CHECKS) && p->ns > 0;
}

/* In collective steps also after a round in which this rank had nothing to do. */
static uint64_t due_after_pause(struct weir_phase_context *c, void *state, uint64_t *gap_ns)
{
    struct pause *p = state;
    uint64_t steps = c->timing->collective_steps ? c->round : c->rec->steps;

    if (steps == p->after)
        return 0;
    p->after = steps;
    *gap_ns = p->ns;
    return c->clock + p->ns;
}

const struct weir_limit weir_limit_pause = { .name = "pause",
                                             .state_size = sizeof(struct pause),
                                             .begin = begin_pause,
                                             .due = due_after_pause };
