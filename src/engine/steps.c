/* SPDX-License-Identifier: BSD-3-Clause */
/* steps.c - the steps of a phase: each rank for itself, or all in lock step */
#include "config.h"
#include "engine/steps.h"

#include "base/clock.h"
#include "engine/observer.h"
#include "engine/pace.h"
#include "engine/transfer.h"

/* In lock step: when a phase is long enough for others to be told how far it is. */
#define LONG_NS (3 * (uint64_t)WEIR_NS_PER_S / 2)

/* The words of a rank in a vote; the highest of all ranks holds. */
enum { GO_ON, STONEWALLED, ENOUGH, STOPPED };

/* ---- reasons to stop ---- */

/* A function that is asked knows how far this rank is. */
static bool is_interrupted(struct weir_phase_context *c)
{
    c->run->counters.done = weir_phase_own_done(c);
    return weir_interrupt_poll(&c->run->interrupt);
}

bool weir_phase_asks_to_stop(struct weir_phase_context *c)
{
    if (is_interrupted(c))
        c->rec->interrupted = true;
    return c->rc < 0 || c->rec->interrupted;
}

/* ---- news ---- */

enum { STEPS, BYTES, TARGET }; /* what a rank tells the others */

static void post_news(struct weir_phase_context *c)
{
    c->watch.news[STEPS] = (int64_t)c->rec->steps;
    c->watch.news[BYTES] = (int64_t)c->run->counters.bytes;
    c->watch.news[TARGET] = (int64_t)c->target;
}

/* Of all ranks as far as their numbers were received; a rank alone knows itself. */
static void tick(struct weir_phase_context *c, uint64_t now_ns)
{
    const struct weir_watch *w = &c->watch;
    const int64_t *n = c->run->par.size > 1 ? w->received : w->news;
    const struct weir_news news = { .steps = (uint64_t)n[STEPS],
                                    .bytes = (uint64_t)n[BYTES],
                                    .target = (uint64_t)n[TARGET],
                                    .done = c->run->par.size - w->working,
                                    .tasks = c->run->par.size };

    c->enough |= weir_observers_tick(c->run, &news, now_ns) && !c->wears_out;
}

/* For the watch, which asks while this rank waits for others. What they do not receive any more waits
 * for the next phase. */
static bool asks_while_waiting(void *arg)
{
    struct weir_phase_context *c = arg;

    tick(c, weir_now_ns());
    return is_interrupted(c);
}

void weir_phase_begin_watch(struct weir_phase_context *c)
{
    weir_watch_begin(&c->watch, &c->run->par);
    c->watch.asks = asks_while_waiting;
    c->watch.arg = c;
}

void weir_phase_end_watch(struct weir_phase_context *c)
{
    post_news(c);
    c->told_to_stop |= weir_watch_end(&c->watch, weir_phase_asks_to_stop(c));
}

static bool has_ended(const struct weir_phase_context *c)
{
    return c->stonewalled || c->told_to_stop;
}

/* ---- each rank for itself ---- */

static void plan_poll(struct weir_phase_context *c)
{
    c->next_poll = c->clock + WEIR_TICK_NS < c->deadline ? c->clock + WEIR_TICK_NS : c->deadline;
}

/* How far this rank is, for the program, and all ranks, for observers. */
static void look(struct weir_phase_context *c)
{
    if (c->ph->look)
        c->ph->look(c->run, c->state, c->rec->steps,
                    (double)(c->clock - c->rec->mark[WEIR_MARK_WORK]) / WEIR_NS_PER_S);
    tick(c, c->clock);
}

/* The deadline has passed, or it is time to see whether a signal or another rank's failure ends
 * the work. The clock is read again so that this is charged to no operation. */
static void poll(struct weir_phase_context *c)
{
    c->stonewalled = c->clock >= c->deadline;
    if (c->stonewalled && !c->timing->until_steady)
        return;
    post_news(c);
    c->told_to_stop |= weir_watch_tick(&c->watch, weir_phase_asks_to_stop(c));
    look(c);
    c->stonewalled |= c->enough && !c->wears_out;
    c->clock = weir_now_ns();
    plan_poll(c);
}

/* Wait after a step, in pieces, so that a failure or a signal ends the waiting, too. */
static void pause_alone(struct weir_phase_context *c)
{
    uint64_t end = c->clock + c->timing->pause_ns;

    while (c->clock < end && !c->told_to_stop) {
        weir_sleep_ns(end - c->clock < WEIR_TICK_NS ? end - c->clock : WEIR_TICK_NS);
        c->clock = weir_now_ns();
        if (c->clock < end)
            c->told_to_stop |= weir_watch_tick(&c->watch, weir_phase_asks_to_stop(c));
    }
}

/* ---- at a rate ---- */

static struct weir_flow flow_of(const struct weir_phase_context *c)
{
    return c->ph->flow ? c->ph->flow(c->state) : (struct weir_flow) { .queue = NULL };
}

/* Ends the operations that steps have begun, before a time or a count is taken. */
static void drain_steps(struct weir_phase_context *c)
{
    const struct weir_flow flow = flow_of(c);

    if (flow.queue && c->rc == 0)
        c->rc = weir_flow_drain(c->run, &flow, &c->clock, c->err);
}

/* Takes back what has ended, and waits a little, until a local time at most. */
static void rest_until(struct weir_phase_context *c, uint64_t until)
{
    const struct weir_flow flow = flow_of(c);
    int flying = flow.queue ? weir_flow_reap(c->run, &flow, &c->clock, c->err) : 0;

    if (flying < 0)
        c->rc = -1;
    if (c->clock < until)
        weir_pace_rest(c->run->pace, until, flying > 0, &c->clock);
}

/* Until the next operation is due. Signals, failures of others and the deadline end the waiting. */
static void wait_for_next(struct weir_phase_context *c)
{
    struct weir_pace *p = c->run->pace;

    if (p->rests)
        drain_steps(c);
    weir_pace_next(p, c->clock);
    while (c->clock < p->due_ns && !has_ended(c) && c->rc == 0)
        if (c->clock >= c->next_poll)
            poll(c);
        else
            rest_until(c, p->due_ns < c->next_poll ? p->due_ns : c->next_poll);
    p->over = has_ended(c);
}

/* Within a step: for the program. What ends the waiting ends the phase after the step. */
static void wait_in_step(void *arg, uint64_t *clock_ns)
{
    struct weir_phase_context *c = arg;

    if (c->run->pace->over)
        return;
    c->clock = *clock_ns;
    wait_for_next(c);
    *clock_ns = c->clock;
}

/* The next step, where there is one. c->rc. */
static int await_step(struct weir_phase_context *c)
{
    if (!c->run->pace || c->rec->steps >= c->target || has_ended(c))
        return 0;
    if (c->ph->ready)
        c->ph->ready(c->run, c->state, &c->clock);
    wait_for_next(c);
    return c->rc;
}

static int wait_alone(struct weir_phase_context *c)
{
    if (c->timing->pause_ns)
        pause_alone(c);
    return await_step(c);
}

static void pass_alone(struct weir_phase_context *c)
{
    if (c->waits && await_step(c) < 0)
        return;
    while (c->rec->steps < c->target && !has_ended(c)) {
        if (c->ph->step(c->run, c->state, c->rec->steps, &c->clock, c->err) < 0) {
            c->rc = -1;
            return;
        }
        c->rec->steps++;
        if (c->waits && wait_alone(c) < 0)
            return;
        if (c->clock >= c->next_poll)
            poll(c);
    }
}

/* ---- in lock step ---- */

/* Some 20 times a second what other ranks say: with groups that go at their own pace whether to
 * stop, too. Where all are in lock step that is decided by votes, for what the watch says of it is
 * not the same for all after one round; only in a long phase are numbers of others received. */
static bool poll_others(struct weir_phase_context *c)
{
    bool stop = weir_phase_asks_to_stop(c), due = c->clock >= c->next_poll, others;
    bool is_long = c->timing->until_steady || c->clock - c->rec->mark[WEIR_MARK_OPEN] > LONG_NS;

    if (c->timing->lock_par ? !due && !stop : !due || !is_long)
        return stop;
    post_news(c);
    others = weir_watch_tick(&c->watch, c->timing->lock_par && stop);
    look(c);
    plan_poll(c);
    return stop || (c->timing->lock_par && others);
}

/* Do all go on? Every rank calls this after the same round. */
static void vote(struct weir_phase_context *c, bool late)
{
    bool stops = poll_others(c);
    int wanted = stops ? STOPPED : c->enough && !c->wears_out ? ENOUGH : late ? STONEWALLED : GO_ON;
    int said = weir_rounds_vote(&c->rounds, wanted);

    c->enough |= said == ENOUGH;
    c->stonewalled |= said == STONEWALLED || said == ENOUGH;
    c->told_to_stop |= said == STOPPED;
}

/* As pause_alone; all ranks wait in the same number of pieces. */
static void pause_together(struct weir_phase_context *c)
{
    uint64_t left = c->timing->pause_ns, piece;

    for (; left > 0 && !c->told_to_stop; left -= piece) {
        piece = left < WEIR_TICK_NS ? left : WEIR_TICK_NS;
        weir_sleep_ns(piece);
        if (left > piece)
            vote(c, false);
    }
    c->clock = weir_now_ns();
}

static const struct weir_par *locked(const struct weir_phase_context *c)
{
    return c->timing->lock_par ? c->timing->lock_par : &c->run->par;
}

/* Also a rank that has failed waits, for the others do. */
static void wait_until(struct weir_phase_context *c, uint64_t until)
{
    while (c->clock < until)
        if (c->rc == 0)
            rest_until(c, until);
        else
            weir_pace_rest(c->run->pace, until, false, &c->clock);
}

/* The schedules of all ranks are the same, and so are the numbers of votes: where the next round is
 * far away, one in each 50 ms, so that a failure or a signal ends the waiting. */
static void wait_together(struct weir_phase_context *c)
{
    struct weir_pace *p = c->run->pace;
    uint64_t pieces;

    if (p->rests)
        drain_steps(c);
    weir_pace_next(p, c->clock);
    for (pieces = p->gap_ns / WEIR_TICK_NS; pieces > 0 && !has_ended(c); pieces--) {
        wait_until(c, p->due_ns - pieces * WEIR_TICK_NS);
        vote(c, c->clock >= c->deadline);
        c->clock = weir_now_ns();
    }
    if (!has_ended(c))
        wait_until(c, p->due_ns);
    p->over = has_ended(c);
}

/* A rank that has failed or has less to do takes part with nothing. */
static void take_round(struct weir_phase_context *c)
{
    const struct weir_phase *ph = c->ph;

    if (c->rc == 0 && c->rec->steps < c->target) {
        c->rc = ph->step(c->run, c->state, c->rec->steps, &c->clock, c->err);
        if (c->rc == 0)
            c->rec->steps++;
    } else if (ph->idle &&
               ph->idle(c->run, c->state, c->round, &c->clock, c->rc < 0 ? NULL : c->err) < 0) {
        c->rc = -1;
    }
    if (c->run->pace)
        weir_pace_round(c->run->pace, c->timing->op_bytes);
    c->round++;
}

/* As many rounds as the rank with the most to do has steps. */
static void pass_together(struct weir_phase_context *c)
{
    int64_t rounds = (int64_t)(c->target - c->rec->steps);
    uint64_t begin;

    if (!c->timing->agrees)
        weir_allmax_i64(locked(c), &rounds, 1);
    c->clock = weir_now_ns();
    for (; rounds > 0 && !has_ended(c); rounds--) {
        if (c->run->pace)
            wait_together(c);
        if (has_ended(c))
            break;
        begin = c->clock;
        take_round(c);
        if (c->timing->pause_ns)
            pause_together(c);
        if (c->timing->agrees) {
            poll_others(c); /* for the progress line */
        } else if (weir_rounds_count(&c->rounds, c->clock - begin)) {
            vote(c, c->clock >= c->deadline);
            c->clock = weir_now_ns();
        }
    }
}

/* ---- passes ---- */

static void take_pass(struct weir_phase_context *c)
{
    if (c->timing->lock_step)
        pass_together(c);
    else
        pass_alone(c);
}

/* minTimeDuration: whole passes until the time has passed; in lock step the slowest decides, and a
 * reason to stop that came after the last vote counts. */
static bool wants_another_pass(struct weir_phase_context *c)
{
    double worked_ns = (double)(c->clock - c->rec->mark[WEIR_MARK_WORK]);
    int64_t again;

    if (c->timing->lock_step && !has_ended(c))
        vote(c, false);
    if (has_ended(c) || (c->rc < 0 && !c->timing->lock_step))
        return false;
    again = c->pass > 0 && worked_ns < c->timing->min_time_s * WEIR_NS_PER_S &&
            (c->timing->max_steps == 0 || c->target < c->timing->max_steps);
    if (c->timing->lock_step)
        weir_allmax_i64(locked(c), &again, 1);
    return again != 0;
}

void weir_phase_work(struct weir_phase_context *c)
{
    const struct weir_timing *k = c->timing;
    bool stonewall = c->ph->flags & WEIR_PHASE_STONEWALL;

    c->waits = k->pause_ns > 0 || c->run->pace;
    if (c->run->pace) {
        c->run->pace->rounds = k->lock_step;
        c->run->pace->wait = wait_in_step;
        c->run->pace->arg = c;
    }
    c->deadline = UINT64_MAX;
    if (stonewall && k->deadline_s > 0)
        c->deadline = (c->run->pace ? c->run->pace->start_ns : c->clock) +
                      (uint64_t)(k->deadline_s * WEIR_NS_PER_S);
    plan_poll(c);
    weir_rounds_begin(&c->rounds, locked(c));
    take_pass(c);
    while (stonewall && k->min_time_s > 0 && wants_another_pass(c)) {
        c->target += c->pass;
        if (k->max_steps && c->target > k->max_steps)
            c->target = k->max_steps;
        take_pass(c);
    }
    drain_steps(c);
}

uint64_t weir_phase_own_done(const struct weir_phase_context *c)
{
    return c->ph->done ? c->ph->done(c->run, c->state, c->rec->steps) : c->rec->steps;
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

void weir_phase_wear_out(struct weir_phase_context *c)
{
    weir_phase_end_watch(c);
    if (c->told_to_stop)
        return;
    keep_stonewall(c);
    weir_phase_begin_watch(c);
    c->wears_out = true;
    c->target = c->pass > 0 ? c->rec->stonewall.steps_max : 0;
    c->deadline = UINT64_MAX;
    c->stonewalled = false;
    c->clock = weir_now_ns();
    plan_poll(c);
    take_pass(c);
    drain_steps(c);
}
