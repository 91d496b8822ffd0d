/* SPDX-License-Identifier: BSD-3-Clause */
/* steps.c - the steps of a phase: of each rank alone, or collective */
#include "engine/steps/limits.h"

#include "base/clock.h"
#include "engine/observer.h"
#include "engine/transfer.h"

/* Collective steps report the progress of ranks once a phase is as long as this. */
#define LONG_NS (3 * (uint64_t)WEIR_NS_PER_S / 2)

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

/* ---- progress of all ranks ---- */

enum { STEPS, BYTES, TARGET }; /* what a rank tells the others */

static void post_progress(struct weir_phase_context *c)
{
    c->watch.sent[STEPS] = (int64_t)c->rec->steps;
    c->watch.sent[BYTES] = (int64_t)c->run->counters.bytes;
    c->watch.sent[TARGET] = (int64_t)c->target;
}

/* Report the progress of all ranks, as last received. A single rank reports its own. */
static void tick(struct weir_phase_context *c, uint64_t now_ns)
{
    const struct weir_watch *w = &c->watch;
    const bool is_single = c->run->par.size == 1;
    const int64_t *n = is_single ? w->sent : w->received;
    const struct weir_ranks_progress progress = { .steps = (uint64_t)n[STEPS],
                                                  .bytes = (uint64_t)n[BYTES],
                                                  .target = (uint64_t)n[TARGET],
                                                  .done = c->run->par.size - w->working,
                                                  .tasks = c->run->par.size,
                                                  .at_ns = is_single ? now_ns : w->received_ns };

    c->enough |= weir_observers_tick(c->run, &progress, now_ns);
}

/* For the watch, which asks while this rank waits for others. A reason that they do not receive any
 * more waits for the next phase. */
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
    post_progress(c);
    c->stop_requested |= weir_watch_end(&c->watch, weir_phase_asks_to_stop(c));
}

static bool has_ended(const struct weir_phase_context *c)
{
    return c->end != WEIR_END_NONE;
}

/* ---- asking the limits ---- */

#define EACH(l) for (const struct weir_limit_in_play *l = c->play; l < c->play + c->n; l++)

/* The number of the first limit that says that the steps are over, higher for earlier ones; 0: none
 * does. each: of those that are asked after each step. */
static int find_over(struct weir_phase_context *c, bool each)
{
    EACH(l) {
        const struct weir_limit *row = l->row;

        if (row->over && (row->each || !each) && (!c->wears_out || row->end == WEIR_END_STOP) &&
            row->over(c, l->state))
            return (int)(c->play + c->n - l);
    }
    return 0;
}

/* The steps end as the limit of this number says; 0: they do not. */
static void end_by(struct weir_phase_context *c, int number)
{
    if (number == 0)
        return;
    c->end = c->play[c->n - number].row->end;
    if (c->why == WEIR_END_NONE)
        c->why = c->end;
    c->stop_requested |= c->end == WEIR_END_STOP;
}

/* When the next step may begin by all limits; *gap_ns is the longest of theirs. */
static uint64_t find_due(struct weir_phase_context *c, uint64_t *gap_ns)
{
    uint64_t due = 0, gap, one;

    *gap_ns = 0;
    EACH(l) {
        gap = 0;
        one = l->row->due ? l->row->due(c, l->state, &gap) : 0;
        due = one > due ? one : due;
        *gap_ns = gap > *gap_ns ? gap : *gap_ns;
    }
    return due;
}

/* ---- looking around between two steps ---- */

static void plan_poll(struct weir_phase_context *c)
{
    c->next_poll = c->clock + WEIR_TICK_NS < c->ask_ns ? c->clock + WEIR_TICK_NS : c->ask_ns;
}

/* Call poll of the program with the progress of this rank, and observers with that of all ranks. */
static void look(struct weir_phase_context *c)
{
    if (c->ph->poll && !c->again)
        c->ph->poll(c->run, c->state, c->rec->steps,
                    (double)(c->clock - c->rec->mark[WEIR_MARK_WORK]) / WEIR_NS_PER_S);
    tick(c, c->clock);
}

/* Steps that are over end at once: others learn of it where this rank waits for them. But an
 * observer that may end them sees all up to the deadline. The clock is read again so that looking
 * around is charged to no operation. */
static void poll(struct weir_phase_context *c)
{
    int over = find_over(c, false);

    if (over == 0 || c->rec->bounds.observed) {
        post_progress(c);
        c->stop_received |= weir_watch_tick(&c->watch, weir_phase_asks_to_stop(c));
        look(c);
        over = find_over(c, false);
        c->clock = weir_now_ns();
        plan_poll(c);
    }
    end_by(c, over);
}

/* Poll in collective steps, some 20 times a second. With groups at their own pace: have others
 * stopped? When all ranks are in step, votes decide that: the watch does not report the same to
 * all after one round. Then only the progress of others is received, in a long phase. */
static void poll_others(struct weir_phase_context *c)
{
    bool stop = weir_phase_asks_to_stop(c), due = c->clock >= c->next_poll, others;
    bool is_long = c->rec->bounds.observed || c->clock - c->rec->mark[WEIR_MARK_OPEN] > LONG_NS;

    if (c->timing->steps_par ? !due && !stop : !due || !is_long)
        return;
    post_progress(c);
    others = weir_watch_tick(&c->watch, c->timing->steps_par && stop);
    c->stop_received |= c->timing->steps_par && others;
    look(c);
    plan_poll(c);
}

/* Vote on going on. Every rank calls this after the same round. */
static void vote(struct weir_phase_context *c)
{
    poll_others(c);
    end_by(c, weir_rounds_vote(&c->rounds, find_over(c, false)));
    if (c->each)
        c->rounds.left = 1;
    c->clock = weir_now_ns();
}

/* ---- until the next step may begin ---- */

static struct weir_flow flow_of(const struct weir_phase_context *c)
{
    return c->ph->flow ? c->ph->flow(c->state) : (struct weir_flow) { .queue = NULL };
}

void weir_steps_drain(struct weir_phase_context *c)
{
    const struct weir_flow flow = flow_of(c);

    if (flow.queue && c->rc == 0)
        c->rc = weir_flow_drain(c->run, &flow, &c->clock, c->err);
}

/* Takes back what has ended, and waits a little, until a local time at most. */
static void wait_until(struct weir_phase_context *c, uint64_t until)
{
    const struct weir_flow flow = flow_of(c);
    int flying = flow.queue && c->rc == 0 ? weir_flow_reap(c->run, &flow, 0, &c->clock, c->err) : 0;

    if (flying < 0)
        c->rc = -1;
    if (c->clock >= until)
        return;
    if (c->wait) {
        c->wait(c, until, flying > 0);
        return;
    }
    weir_sleep_ns(until - c->clock);
    c->clock = weir_now_ns();
}

/* Signals, failures of others and the deadline end the waiting. */
void weir_steps_wait(struct weir_phase_context *c)
{
    uint64_t gap, due = find_due(c, &gap);

    while (c->clock < due && !has_ended(c) && c->rc == 0)
        if (c->clock >= c->next_poll)
            poll(c);
        else
            wait_until(c, due < c->next_poll ? due : c->next_poll);
}

/* Wait until 'until' in collective steps; a rank that has failed waits, too, since the others do. */
static void wait_until_together(struct weir_phase_context *c, uint64_t until)
{
    while (c->clock < until && !has_ended(c))
        wait_until(c, until);
}

/* All ranks wait as long, so the numbers of votes are the same: where the next round is far away,
 * one in each 50 ms. */
static void wait_together(struct weir_phase_context *c, bool more)
{
    uint64_t gap, due;

    c->more = more && !has_ended(c);
    due = find_due(c, &gap);
    for (uint64_t n = gap > 0 ? (gap - 1) / WEIR_TICK_NS : 0; n > 0 && !has_ended(c); n--) {
        wait_until_together(c, due - n * WEIR_TICK_NS);
        vote(c);
    }
    wait_until_together(c, due);
}

/* ---- each rank for itself ---- */

/* Wait between two steps, as the limits want it. Returns c->rc. */
static int wait_alone(struct weir_phase_context *c)
{
    end_by(c, find_over(c, true));
    c->more = c->rec->steps < c->target && !has_ended(c);
    weir_steps_wait(c);
    return c->rc;
}

static void pass_alone(struct weir_phase_context *c)
{
    if (c->waits && wait_alone(c) < 0)
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

/* ---- collective steps ---- */

static const struct weir_par *locked(const struct weir_phase_context *c)
{
    return c->timing->steps_par ? c->timing->steps_par : &c->run->par;
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
    c->round++;
}

/* Take the rounds of one pass: as many as the rank with the most to do has steps. */
static void pass_together(struct weir_phase_context *c)
{
    int64_t rounds = (int64_t)(c->target - c->rec->steps);
    uint64_t begin;

    if (!c->timing->agrees)
        weir_allmax_i64(locked(c), &rounds, 1);
    c->clock = begin = weir_now_ns();
    for (;;) {
        if (c->waits)
            wait_together(c, rounds > 0);
        if (rounds-- <= 0 || has_ended(c))
            break;
        take_round(c);
        if (c->timing->agrees)
            poll_others(c); /* for the progress line */
        else if (weir_rounds_count(&c->rounds, c->clock - begin))
            vote(c);
        begin = c->clock;
    }
}

/* ---- passes ---- */

static void take_pass(struct weir_phase_context *c)
{
    if (c->timing->collective_steps)
        pass_together(c);
    else
        pass_alone(c);
}

/* Whole passes. In collective steps the slowest rank decides, and a reason to stop after the last
 * vote counts. */
static bool wants_another_pass(struct weir_phase_context *c)
{
    int64_t again = 0;

    if (c->timing->collective_steps && !has_ended(c))
        vote(c);
    if (has_ended(c) || (c->rc < 0 && !c->timing->collective_steps))
        return false;
    EACH(l)
        again |= l->row->again && l->row->again(c, l->state);
    if (c->timing->collective_steps)
        weir_allmax_i64(locked(c), &again, 1);
    return again != 0;
}

static void take_passes(struct weir_phase_context *c)
{
    plan_poll(c);
    weir_rounds_begin(&c->rounds, locked(c));
    take_pass(c);
    while (c->passes && wants_another_pass(c)) {
        c->target += c->pass;
        if (c->target > c->max_steps)
            c->target = c->max_steps;
        take_pass(c);
    }
    weir_steps_drain(c);
}

void weir_phase_work(struct weir_phase_context *c)
{
    uint64_t *mark = &c->rec->mark[WEIR_MARK_WORK];

    c->clock = *mark = weir_now_ns();
    EACH(l)
        if (l->row->start)
            l->row->start(c, l->state);
    if (c->clock != *mark) /* the ranks have agreed on a later begin, from which limits count */
        *mark = weir_now_ns();
    c->clock = *mark;
    /* In collective steps a rank that has failed takes part in the rounds of the others. */
    if (c->rc == 0 || (c->timing->collective_steps && !c->agreed))
        take_passes(c);
    EACH(l)
        if (l->row->ended)
            l->row->ended(c, l->state);
}

uint64_t weir_phase_own_done(const struct weir_phase_context *c)
{
    return c->ph->done ? c->ph->done(c->run, c->state, c->rec->steps) : c->rec->steps;
}

void weir_steps_go_on(struct weir_phase_context *c, uint64_t target)
{
    c->wears_out = true;
    c->target = target;
    c->ask_ns = UINT64_MAX;
    c->end = WEIR_END_NONE;
    c->clock = weir_now_ns();
    plan_poll(c);
    take_pass(c);
    weir_steps_drain(c);
}
