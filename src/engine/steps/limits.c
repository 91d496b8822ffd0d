/* SPDX-License-Identifier: BSD-3-Clause */
/* limits.c - which limits are in play in a phase */
#include "engine/steps/limits.h"

#define ENTRY(name) &weir_limit_##name,
static const struct weir_limit *const limits[] = { WEIR_LIMITS(ENTRY) };

#define LIMITS (int)(sizeof(limits) / sizeof(*limits))
_Static_assert(sizeof(limits) / sizeof(*limits) <= WEIR_LIMITS_MAX, "too many limits");

/* Bytes of the state of a row, so that the next one is aligned. */
static size_t size_of(const struct weir_limit *row)
{
    return (row->state_size + 15) / 16 * 16;
}

/* Allocate the states of all rows, one after the other, once in a test. NULL and c->rc: no memory. */
static char *states_of(struct weir_phase_context *c)
{
    struct weir_test *t = c->run->test;
    size_t size = 1;

    for (int i = 0; i < LIMITS; i++)
        size += size_of(limits[i]);
    if (!t->limits)
        t->limits = weir_arena_alloc(&c->run->arena, size, c->err);
    c->rc = t->limits ? 0 : -1;
    return t->limits;
}

void weir_limits_begin(struct weir_phase_context *c)
{
    char *state = states_of(c);

    c->n = 0;
    c->run->ratelimit = NULL; /* that of the phase before */
    for (int i = 0; i < LIMITS && c->rc == 0; i++) {
        const struct weir_limit *row = limits[i];

        if (row->begin(c, state)) {
            c->play[c->n++] = (struct weir_limit_in_play) { row, state };
            c->each |= row->each;
            c->waits |= row->due || row->each;
            c->passes |= row->again != NULL;
        }
        state += size_of(row);
    }
}

const char *weir_run_options_stops(const struct weir_run_options *o)
{
    const char *option = NULL;

    for (int i = 0; i < LIMITS && !option; i++)
        if (limits[i]->asked)
            option = limits[i]->asked(o);
    return option;
}

/* A stonewall counts also where the ranks went on after it to wear out. */
enum weir_end weir_limits_end(const struct weir_phase_context *c)
{
    const struct weir_phase_rec *rec = c->rec;
    uint64_t steps = rec->stonewall.known ? rec->stonewall.steps : rec->steps;
    uint64_t all = rec->stonewall.known ? c->pass : c->target;

    if (steps >= c->max_steps)
        return WEIR_END_COUNT;
    if (steps >= all && !(rec->bounds.observed && rec->bounds.min_s > 0 && c->pass > 0))
        return WEIR_END_WORK; /* else there is always more to do */
    return c->why < WEIR_ENDS ? c->why : WEIR_END_TIME;
}
