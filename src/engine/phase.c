/* SPDX-License-Identifier: BSD-3-Clause */
/* phase.c - the one driver loop */
#include "config.h"
#include "engine/phase.h"

#include <string.h>

#include "base/clock.h"
#include "engine/progress.h"
#include "par/agree.h"
#include "par/vote.h"

#define TICK_NS                                                                                    \
    (50 * 1000000u) /* how often a working rank looks for signals and failures of others */

/* One phase on this rank. */
struct phase_context {
    struct weir_run *run;
    const struct weir_timing *timing;
    const struct weir_phase *ph;
    void *state;
    struct weir_phase_rec *rec;
    struct weir_err *err;
    struct weir_watch watch;
    struct weir_progress progress;
    uint64_t pass;      /* steps of one pass */
    uint64_t target;    /* steps to do */
    uint64_t clock;     /* last clock read */
    uint64_t deadline;  /* local time, UINT64_MAX: none */
    uint64_t next_poll; /* when to poll */
    int rc;
    bool opened, told_to_stop, stonewalled;
    bool agreed; /* all ranks have the words of a failure already */
};

static void mark(struct phase_context *c, enum weir_mark m)
{
    c->rec->mark[m] = weir_now_ns();
}

static bool asks_to_stop(struct phase_context *c)
{
    if (weir_interrupt_poll(&c->run->interrupt))
        c->rec->interrupted = true;
    return c->rc < 0 || c->rec->interrupted;
}

/* For the watch, which asks while this rank waits for others. What they do not hear any more waits
 * for the next phase. */
static bool asks_while_waiting(void *arg)
{
    struct phase_context *c = arg;

    return weir_interrupt_poll(&c->run->interrupt);
}

static void begin_watch(struct phase_context *c)
{
    weir_watch_begin(&c->watch, &c->run->par);
    c->watch.asks = asks_while_waiting;
    c->watch.arg = c;
}

/* The deadline has passed, or it is time to see whether a signal or another rank's failure ends
 * the work. The clock is read again so that this is charged to no operation. */
static bool poll(struct phase_context *c)
{
    bool stop;

    if (c->clock >= c->deadline) {
        c->stonewalled = true;
        return true;
    }
    stop = weir_watch_tick(&c->watch, asks_to_stop(c));
    weir_progress_show(&c->progress, c->rec->steps, c->target, c->clock);
    c->told_to_stop |= stop;
    c->clock = weir_now_ns();
    c->next_poll = c->clock + TICK_NS;
    if (c->deadline < c->next_poll)
        c->next_poll = c->deadline;
    return stop || c->rec->interrupted;
}

/* Wait after a step, in pieces, so that what ends the phase ends the waiting. */
static void pause_alone(struct phase_context *c)
{
    uint64_t end = c->clock + c->timing->pause_ns;
    bool stop = false;

    while (c->clock < end && !stop) {
        weir_sleep_ns(end - c->clock < TICK_NS ? end - c->clock : TICK_NS);
        c->clock = weir_now_ns();
        if (c->clock < end) {
            stop = asks_to_stop(c);
            stop |= weir_watch_tick(&c->watch, stop);
        }
    }
}

/* The same in lock step, where everybody takes the same number of pieces. */
static void pause_together(struct phase_context *c)
{
    uint64_t left = c->timing->pause_ns, piece;
    int64_t stop = 0;

    for (; left > 0 && !stop; left -= piece) {
        piece = left < TICK_NS ? left : TICK_NS;
        stop = asks_to_stop(c);
        if (c->timing->pause_ns > TICK_NS)
            weir_allmax_i64(&c->run->par, &stop, 1);
        if (!stop)
            weir_sleep_ns(piece);
    }
    c->clock = weir_now_ns();
}

static void step_alone(struct phase_context *c)
{
    while (c->rec->steps < c->target) {
        if (c->ph->step(c->run, c->state, c->rec->steps, &c->clock, c->err) < 0) {
            c->rc = -1;
            return;
        }
        c->rec->steps++;
        if (c->timing->pause_ns)
            pause_alone(c);
        if (c->clock >= c->next_poll && poll(c))
            return;
    }
}

/* All ranks take the same number of steps; one that has failed or has less to do takes part with
 * nothing. */
static void step_together(struct phase_context *c)
{
    struct weir_vote vote = { 0 };
    int64_t longest = (int64_t)c->target;
    int64_t i;

    weir_allmax_i64(&c->run->par, &longest, 1);
    c->clock = weir_now_ns();
    for (i = (int64_t)c->rec->steps; i < longest && !weir_vote_take(&vote); i++) {
        if (c->rc == 0 && c->rec->steps < c->target) {
            c->rc = c->ph->step(c->run, c->state, c->rec->steps, &c->clock, c->err);
            if (c->rc == 0)
                c->rec->steps++;
        } else if (c->ph->idle && c->ph->idle(c->run, c->state, c->rc < 0 ? NULL : c->err) < 0) {
            c->rc = -1;
        }
        if (c->timing->pause_ns)
            pause_together(c);
        if (c->clock >= c->next_poll) {
            weir_progress_show(&c->progress, c->rec->steps, c->target, c->clock);
            c->stonewalled |= c->clock >= c->deadline;
            c->next_poll = c->clock + TICK_NS < c->deadline ? c->clock + TICK_NS : c->deadline;
        }
        weir_vote_post(&vote, &c->run->par, c->stonewalled || asks_to_stop(c));
    }
    if (weir_vote_take(&vote))
        c->stonewalled = true;
}

static void step_pass(struct phase_context *c)
{
    if (c->timing->lock_step)
        step_together(c);
    else
        step_alone(c);
}

/* minTimeDuration: whole passes until the time has passed; decided by the slowest when steps are
 * collective. */
static bool wants_another_pass(struct phase_context *c)
{
    int64_t again =
        c->rc == 0 && !c->stonewalled && !c->told_to_stop && !c->rec->interrupted && c->pass > 0 &&
        (double)(c->clock - c->rec->mark[WEIR_MARK_WORK]) < c->timing->min_time_s * WEIR_NS_PER_S;

    if (c->timing->max_steps && c->target >= c->timing->max_steps)
        again = 0;
    if (c->timing->lock_step)
        weir_allmax_i64(&c->run->par, &again, 1);
    return again != 0;
}

/* What steps have only begun is a part of them: before a time or a count is taken. */
static void drain_steps(struct phase_context *c)
{
    if (c->ph->drain && c->rc == 0 && c->ph->drain(c->run, c->state, &c->clock, c->err) < 0)
        c->rc = -1;
}

static void work(struct phase_context *c)
{
    const struct weir_timing *k = c->timing;

    c->deadline = UINT64_MAX;
    if ((c->ph->flags & WEIR_PHASE_STONEWALL) && k->deadline_s > 0)
        c->deadline = c->clock + (uint64_t)(k->deadline_s * WEIR_NS_PER_S);
    c->next_poll = c->clock + TICK_NS < c->deadline ? c->clock + TICK_NS : c->deadline;
    step_pass(c);
    if (!(c->ph->flags & WEIR_PHASE_STONEWALL) || k->min_time_s <= 0)
        return;
    while (wants_another_pass(c)) {
        c->target += c->pass;
        if (k->max_steps && c->target > k->max_steps)
            c->target = k->max_steps;
        step_pass(c);
    }
}

/* Everybody has stopped: learn how far the fastest came, keep what the stonewall saw, and go on to
 * that count. */
static void wear_out(struct phase_context *c)
{
    struct weir_phase_rec *rec = c->rec;
    uint64_t sum[2] = { c->run->counters.bytes, rec->steps };
    int64_t v[4] = { -(int64_t)rec->steps, (int64_t)rec->steps, -(int64_t)sum[0], 0 };

    if (c->run->par.rank == 0)
        v[3] = (int64_t)(c->clock - rec->mark[WEIR_MARK_WORK]);
    c->told_to_stop |= weir_watch_end(&c->watch, asks_to_stop(c));
    if (c->told_to_stop)
        return;
    weir_allmax_i64(&c->run->par, v, 4);
    weir_allsum_u64(&c->run->par, sum, 2);
    rec->stonewall.known = true;
    rec->stonewall.steps = rec->steps;
    rec->stonewall.steps_min = (uint64_t)-v[0];
    rec->stonewall.steps_max = (uint64_t)v[1];
    rec->stonewall.bytes_min = (uint64_t)-v[2];
    rec->stonewall.bytes_sum = sum[0];
    rec->stonewall.steps_sum = sum[1];
    rec->stonewall.time_ns = (uint64_t)v[3];
    begin_watch(c);
    c->target = c->pass > 0 ? (uint64_t)v[1] : 0;
    c->deadline = UINT64_MAX;
    c->stonewalled = false;
    c->clock = weir_now_ns();
    c->next_poll = c->clock + TICK_NS;
    step_pass(c);
    drain_steps(c);
}

/* A collective flush waits for every rank, so it is left out by all when one has stopped early. */
static bool may_flush(struct phase_context *c)
{
    if (!c->ph->flush || c->agreed)
        return false;
    if (c->timing->collective_open && !c->watch.over)
        c->told_to_stop |= weir_watch_end(&c->watch, asks_to_stop(c));
    return c->rc == 0 && !(c->timing->collective_open && c->told_to_stop);
}

static void timed_part(struct phase_context *c)
{
    const struct weir_phase *ph = c->ph;
    struct weir_run *run = c->run;
    bool barriers = c->timing->barriers && (ph->flags & WEIR_PHASE_BARRIERS);

    mark(c, WEIR_MARK_OPEN);
    c->rc = ph->open ? ph->open(run, c->state, c->err) : 0;
    c->opened = c->rc == 0;
    mark(c, WEIR_MARK_OPENED);
    if (c->timing->collective_open && weir_agree(&run->par, c->rc, c->err) < 0) {
        c->rc = -1;
        c->agreed = true;
        c->opened = false; /* closing would wait for ranks that have nothing open */
    }
    if (c->opened && ph->opened)
        ph->opened(run, c->state);
    if (barriers)
        weir_barrier(&run->par);
    mark(c, WEIR_MARK_WORK);
    c->clock = c->rec->mark[WEIR_MARK_WORK];
    if (c->rc == 0 ||
        c->timing->lock_step) /* in lock step a failed rank still keeps the others company */
        work(c);
    drain_steps(c);
    if (c->timing->wear_out && (ph->flags & WEIR_PHASE_STONEWALL))
        wear_out(c);
    if (may_flush(c))
        c->rc = ph->flush(run, c->state, c->err);
    mark(c, WEIR_MARK_WORKED);
    if (barriers && c->watch.over)
        weir_barrier(&run->par);
    else if (barriers) /* a barrier too, and one from which failures of others are seen */
        c->told_to_stop |= weir_watch_end(&c->watch, asks_to_stop(c));
    mark(c, WEIR_MARK_CLOSE);
    if (c->opened && ph->close && ph->close(run, c->state, c->rc < 0 ? NULL : c->err) < 0)
        c->rc = -1;
    mark(c, WEIR_MARK_CLOSED);
}

/* The last word on a phase. A signal counts as the rank's error only where nothing else went
 * wrong, and comes back as rec->interrupted on all ranks. */
static int all_ok(struct phase_context *c)
{
    if (!c->watch.over)
        c->told_to_stop |= weir_watch_end(&c->watch, asks_to_stop(c));
    else
        c->told_to_stop = true; /* -g: the watch ended before close, so ask again */
    if (c->agreed)
        return -1;
    if (!c->told_to_stop)
        return 0;
    asks_to_stop(c); /* a signal that came while waiting */
    if (c->rc == 0 && c->rec->interrupted)
        c->rc =
            weir_refuse(c->err, WEIR_EINTR, "interrupted by signal %d", c->run->interrupt.signal);
    if (weir_agree(&c->run->par, c->rc, c->err) == 0)
        return 0;
    c->rec->interrupted = c->err->code == WEIR_EINTR;
    return c->rec->interrupted ? 0 : -1;
}

static void merge(struct phase_context *c)
{
    struct weir_phase_rec *rec = c->rec;
    const struct weir_counters *t = &c->run->counters;
    int64_t ext[2 * WEIR_MARKS + 3];
    uint64_t sum[6] = { t->bytes,   t->wrong,
                        rec->steps, rec->mark[WEIR_MARK_WORKED] - rec->mark[WEIR_MARK_WORK],
                        t->fill_ns, t->verify_ns };

    for (int m = 0; m < WEIR_MARKS; m++) {
        int64_t at = weir_clock_common(&c->run->clock, NULL, rec->mark[m]);

        ext[2 * m] = -at;
        ext[2 * m + 1] = at;
    }
    ext[2 * WEIR_MARKS] = -(int64_t)rec->steps;
    ext[2 * WEIR_MARKS + 1] = (int64_t)rec->steps;
    ext[2 * WEIR_MARKS + 2] = (int64_t)t->end;
    weir_allmax_i64(&c->run->par, ext, 2 * WEIR_MARKS + 3);
    weir_allsum_u64(&c->run->par, sum, 6);
    for (int m = 0; m < WEIR_MARKS; m++) {
        rec->first[m] = -ext[2 * m];
        rec->last[m] = ext[2 * m + 1];
    }
    rec->steps_min = (uint64_t)-ext[2 * WEIR_MARKS];
    rec->steps_max = (uint64_t)ext[2 * WEIR_MARKS + 1];
    rec->end_max = (uint64_t)ext[2 * WEIR_MARKS + 2];
    rec->bytes_sum = sum[0];
    rec->wrong_sum = sum[1];
    rec->steps_sum = sum[2];
    rec->busy_ns_sum = sum[3];
    rec->fill_ns_sum = sum[4];
    rec->verify_ns_sum = sum[5];
}

int weir_phase_run(struct weir_run *run, const struct weir_phase *ph, void *state,
                   const struct weir_timing *timing, struct weir_phase_rec *rec,
                   struct weir_err *err)
{
    struct phase_context c = {
        .run = run, .timing = timing, .ph = ph, .state = state, .rec = rec, .err = err
    };

    weir_interrupt_hold(&run->interrupt);
    memset(rec, 0, sizeof(*rec));
    memset(&run->counters, 0, sizeof(run->counters));
    rec->phase = ph;
    rec->repetition = run->repetition;
    c.rc = ph->prepare ? ph->prepare(run, state, err) : 0;
    if (weir_agree(&run->par, c.rc, err) < 0) /* also the barrier in front of T0 */
        return -1;
    c.pass = ph->count(run, state);
    c.target = timing->max_steps && timing->max_steps < c.pass ? timing->max_steps : c.pass;
    begin_watch(&c);
    weir_progress_begin(&c.progress, run, ph->key);
    timed_part(&c);
    weir_progress_end(&c.progress);
    if (all_ok(&c) < 0)
        return -1;
    merge(&c);
    return 0;
}

int weir_phase_pause(struct weir_run *run, int seconds, struct weir_err *err)
{
    uint64_t end = weir_now_ns() + (uint64_t)seconds * WEIR_NS_PER_S;
    struct weir_watch watch;
    bool stop = false;

    weir_interrupt_hold(&run->interrupt);
    weir_watch_begin(&watch, &run->par);
    while (!stop && weir_now_ns() < end) {
        weir_sleep_ns(TICK_NS);
        stop = weir_watch_tick(&watch, weir_interrupt_poll(&run->interrupt));
    }
    if (!weir_watch_end(&watch, weir_interrupt_poll(&run->interrupt)))
        return 0;
    return weir_refuse(err, WEIR_EINTR, "interrupted in the delay before a phase");
}

double weir_phase_span(const struct weir_phase_rec *rec, enum weir_mark from, enum weir_mark to)
{
    int64_t ns = rec->last[to] - rec->first[from];

    return (double)(ns > 0 ? ns : 1) / WEIR_NS_PER_S;
}
