/* SPDX-License-Identifier: BSD-3-Clause */
/* wear_out.c - after the deadline all ranks go on to the count of the fastest
 * (stoneWallingWearOut); not where data are only checked */
#include "config.h"
#include "engine/steps/limits.h"

#include "engine/steps/steps.h"
#include "par/reduce.h"

static bool begin(struct weir_phase_context *c, void *state)
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
    struct weir_phase_rec *rec = c->rec;
    uint64_t sum[3] = { c->run->counters.bytes, rec->steps, weir_phase_own_done(c) };
    int64_t v[6] = { -(int64_t)rec->steps, (int64_t)rec->steps, -(int64_t)sum[0],
                     0,                    -(int64_t)sum[2],    (int64_t)sum[2] };

    if (c->run->par.rank == 0)
        v[3] = (int64_t)(c->clock - rec->mark[WEIR_MARK_WORK]);
    weir_allmax_i64(&c->run->par, v, 6);
    weir_allsum_u64(&c->run->par, sum, 3);
    rec->stonewall.known = true;
    rec->stonewall.steps = rec->steps;
    rec->stonewall.steps_min = (uint64_t)-v[0];
    rec->stonewall.steps_max = (uint64_t)v[1];
    rec->stonewall.bytes_min = (uint64_t)-v[2];
    rec->stonewall.bytes_sum = sum[0];
    rec->stonewall.steps_sum = sum[1];
    rec->stonewall.done_sum = sum[2];
    rec->stonewall.done_min = (uint64_t)-v[4];
    rec->stonewall.done_max = (uint64_t)v[5];
    rec->stonewall.time_ns = (uint64_t)v[3];
}

/* Nothing after a failure or a signal. */
static void ended(struct weir_phase_context *c, void *state)
{
    weir_phase_end_watch(c);
    if (c->told_to_stop)
        return;
    keep_stonewall(c);
    weir_phase_begin_watch(c);
    weir_steps_go_on(c, c->pass > 0 ? c->rec->stonewall.steps_max : 0);
}

const struct weir_limit weir_limit_wear_out = {
    .name = "wear-out", .begin = begin, .ended = ended
};
