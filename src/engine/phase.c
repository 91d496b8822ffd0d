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

/* One phase in flight on this rank. */
struct flight {
    struct weir_run *run;
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
    uint64_t next_look; /* when to look up from work */
    int rc;
    bool opened, told_to_stop, walled;
    bool agreed; /* all ranks have the words of a failure already */
};

static void mark(struct flight *f, enum weir_mark m)
{
    f->rec->mark[m] = weir_now_ns();
}

static bool asks_to_stop(struct flight *f)
{
    if (weir_interrupt_poll(&f->run->interrupt))
        f->rec->interrupted = true;
    return f->rc < 0 || f->rec->interrupted;
}

/* For the watch, which asks while this rank waits for others. What they do not hear any more waits
 * for the next phase. */
static bool asks_while_waiting(void *arg)
{
    struct flight *f = arg;

    return weir_interrupt_poll(&f->run->interrupt);
}

static void begin_watch(struct flight *f)
{
    weir_watch_begin(&f->watch, &f->run->par);
    f->watch.asks = asks_while_waiting;
    f->watch.arg = f;
}

/* The deadline has passed, or it is time to see whether a signal or another rank's failure ends
 * the work. The clock is read again so that this is charged to no operation. */
static bool look_up(struct flight *f)
{
    bool stop;

    if (f->clock >= f->deadline) {
        f->walled = true;
        return true;
    }
    stop = weir_watch_tick(&f->watch, asks_to_stop(f));
    weir_progress_show(&f->progress, f->rec->steps, f->target, f->clock);
    f->told_to_stop |= stop;
    f->clock = weir_now_ns();
    f->next_look = f->clock + TICK_NS;
    if (f->deadline < f->next_look)
        f->next_look = f->deadline;
    return stop || f->rec->interrupted;
}

/* Wait after a step, in pieces, so that what ends the phase ends the waiting. */
static void pause_alone(struct flight *f)
{
    uint64_t end = f->clock + f->run->knobs.pause_ns;
    bool stop = false;

    while (f->clock < end && !stop) {
        weir_sleep_ns(end - f->clock < TICK_NS ? end - f->clock : TICK_NS);
        f->clock = weir_now_ns();
        if (f->clock < end) {
            stop = asks_to_stop(f);
            stop |= weir_watch_tick(&f->watch, stop);
        }
    }
}

/* The same in lock step, where everybody takes the same number of pieces. */
static void pause_together(struct flight *f)
{
    uint64_t left = f->run->knobs.pause_ns, piece;
    int64_t stop = 0;

    for (; left > 0 && !stop; left -= piece) {
        piece = left < TICK_NS ? left : TICK_NS;
        stop = asks_to_stop(f);
        if (f->run->knobs.pause_ns > TICK_NS)
            weir_allmax_i64(&f->run->par, &stop, 1);
        if (!stop)
            weir_sleep_ns(piece);
    }
    f->clock = weir_now_ns();
}

static void step_alone(struct flight *f)
{
    while (f->rec->steps < f->target) {
        if (f->ph->step(f->run, f->state, f->rec->steps, &f->clock, f->err) < 0) {
            f->rc = -1;
            return;
        }
        f->rec->steps++;
        if (f->run->knobs.pause_ns)
            pause_alone(f);
        if (f->clock >= f->next_look && look_up(f))
            return;
    }
}

/* All ranks take the same number of steps; one that has failed or has less to do takes part with
 * nothing. */
static void step_together(struct flight *f)
{
    struct weir_vote vote = { 0 };
    int64_t longest = (int64_t)f->target;
    int64_t i;

    weir_allmax_i64(&f->run->par, &longest, 1);
    f->clock = weir_now_ns();
    for (i = (int64_t)f->rec->steps; i < longest && !weir_vote_take(&vote); i++) {
        if (f->rc == 0 && f->rec->steps < f->target) {
            f->rc = f->ph->step(f->run, f->state, f->rec->steps, &f->clock, f->err);
            if (f->rc == 0)
                f->rec->steps++;
        } else if (f->ph->idle && f->ph->idle(f->run, f->state, f->rc < 0 ? NULL : f->err) < 0) {
            f->rc = -1;
        }
        if (f->run->knobs.pause_ns)
            pause_together(f);
        if (f->clock >= f->next_look) {
            weir_progress_show(&f->progress, f->rec->steps, f->target, f->clock);
            f->walled |= f->clock >= f->deadline;
            f->next_look = f->clock + TICK_NS < f->deadline ? f->clock + TICK_NS : f->deadline;
        }
        weir_vote_post(&vote, &f->run->par, f->walled || asks_to_stop(f));
    }
    if (weir_vote_take(&vote))
        f->walled = true;
}

static void step_pass(struct flight *f)
{
    if (f->run->knobs.lock_step)
        step_together(f);
    else
        step_alone(f);
}

/* minTimeDuration: whole passes until the time has passed; decided by the slowest when steps are
 * collective. */
static bool wants_another_pass(struct flight *f)
{
    int64_t again = f->rc == 0 && !f->walled && !f->told_to_stop && !f->rec->interrupted &&
                    f->pass > 0 &&
                    (double)(f->clock - f->rec->mark[WEIR_MARK_WORK]) <
                        f->run->knobs.min_time_s * WEIR_NS_PER_S;

    if (f->run->knobs.max_steps && f->target >= f->run->knobs.max_steps)
        again = 0;
    if (f->run->knobs.lock_step)
        weir_allmax_i64(&f->run->par, &again, 1);
    return again != 0;
}

/* What steps have only begun is a part of them: before a time or a count is taken. */
static void settle_steps(struct flight *f)
{
    if (f->ph->settle && f->rc == 0 && f->ph->settle(f->run, f->state, &f->clock, f->err) < 0)
        f->rc = -1;
}

static void work(struct flight *f)
{
    const struct weir_knobs *k = &f->run->knobs;

    f->deadline = UINT64_MAX;
    if ((f->ph->flags & WEIR_PHASE_STONEWALL) && k->deadline_s > 0)
        f->deadline = f->clock + (uint64_t)(k->deadline_s * WEIR_NS_PER_S);
    f->next_look = f->clock + TICK_NS < f->deadline ? f->clock + TICK_NS : f->deadline;
    step_pass(f);
    if (!(f->ph->flags & WEIR_PHASE_STONEWALL) || k->min_time_s <= 0)
        return;
    while (wants_another_pass(f)) {
        f->target += f->pass;
        if (k->max_steps && f->target > k->max_steps)
            f->target = k->max_steps;
        step_pass(f);
    }
}

/* Everybody has stopped: learn how far the fastest came, keep what the stonewall saw, and go on to
 * that count. */
static void wear_out(struct flight *f)
{
    struct weir_phase_rec *rec = f->rec;
    uint64_t sum[2] = { f->run->tally.bytes, rec->steps };
    int64_t v[4] = { -(int64_t)rec->steps, (int64_t)rec->steps, -(int64_t)sum[0], 0 };

    if (f->run->par.rank == 0)
        v[3] = (int64_t)(f->clock - rec->mark[WEIR_MARK_WORK]);
    f->told_to_stop |= weir_watch_end(&f->watch, asks_to_stop(f));
    if (f->told_to_stop)
        return;
    weir_allmax_i64(&f->run->par, v, 4);
    weir_allsum_u64(&f->run->par, sum, 2);
    rec->wall.known = true;
    rec->wall.steps = rec->steps;
    rec->wall.steps_min = (uint64_t)-v[0];
    rec->wall.steps_max = (uint64_t)v[1];
    rec->wall.bytes_min = (uint64_t)-v[2];
    rec->wall.bytes_sum = sum[0];
    rec->wall.steps_sum = sum[1];
    rec->wall.time_ns = (uint64_t)v[3];
    begin_watch(f);
    f->target = f->pass > 0 ? (uint64_t)v[1] : 0;
    f->deadline = UINT64_MAX;
    f->walled = false;
    f->clock = weir_now_ns();
    f->next_look = f->clock + TICK_NS;
    step_pass(f);
    settle_steps(f);
}

/* A collective flush waits for every rank, so it is left out by all when one has stopped early. */
static bool may_flush(struct flight *f)
{
    if (!f->ph->flush || f->agreed)
        return false;
    if (f->run->knobs.collective_open && !f->watch.over)
        f->told_to_stop |= weir_watch_end(&f->watch, asks_to_stop(f));
    return f->rc == 0 && !(f->run->knobs.collective_open && f->told_to_stop);
}

static void timed_part(struct flight *f)
{
    const struct weir_phase *ph = f->ph;
    struct weir_run *run = f->run;
    bool barriers = run->knobs.barriers && (ph->flags & WEIR_PHASE_BARRIERS);

    mark(f, WEIR_MARK_OPEN);
    f->rc = ph->open ? ph->open(run, f->state, f->err) : 0;
    f->opened = f->rc == 0;
    mark(f, WEIR_MARK_OPENED);
    if (run->knobs.collective_open && weir_agree(&run->par, f->rc, f->err) < 0) {
        f->rc = -1;
        f->agreed = true;
        f->opened = false; /* closing would wait for ranks that have nothing open */
    }
    if (f->opened && ph->opened)
        ph->opened(run, f->state);
    if (barriers)
        weir_barrier(&run->par);
    mark(f, WEIR_MARK_WORK);
    f->clock = f->rec->mark[WEIR_MARK_WORK];
    if (f->rc == 0 ||
        run->knobs.lock_step) /* in lock step a failed rank still keeps the others company */
        work(f);
    settle_steps(f);
    if (run->knobs.wear_out && (ph->flags & WEIR_PHASE_STONEWALL))
        wear_out(f);
    if (may_flush(f))
        f->rc = ph->flush(run, f->state, f->err);
    mark(f, WEIR_MARK_WORKED);
    if (barriers && f->watch.over)
        weir_barrier(&run->par);
    else if (barriers) /* a barrier too, and one from which failures of others are seen */
        f->told_to_stop |= weir_watch_end(&f->watch, asks_to_stop(f));
    mark(f, WEIR_MARK_CLOSE);
    if (f->opened && ph->close && ph->close(run, f->state, f->rc < 0 ? NULL : f->err) < 0)
        f->rc = -1;
    mark(f, WEIR_MARK_CLOSED);
}

/* The last word on a phase. A signal counts as the rank's error only where nothing else went
 * wrong, and comes back as rec->interrupted on all ranks. */
static int settle(struct flight *f)
{
    if (!f->watch.over)
        f->told_to_stop |= weir_watch_end(&f->watch, asks_to_stop(f));
    else
        f->told_to_stop = true; /* -g: the watch ended before close, so ask again */
    if (f->agreed)
        return -1;
    if (!f->told_to_stop)
        return 0;
    asks_to_stop(f); /* a signal that came while waiting */
    if (f->rc == 0 && f->rec->interrupted)
        f->rc =
            weir_refuse(f->err, WEIR_EINTR, "interrupted by signal %d", f->run->interrupt.signal);
    if (weir_agree(&f->run->par, f->rc, f->err) == 0)
        return 0;
    f->rec->interrupted = f->err->code == WEIR_EINTR;
    return f->rec->interrupted ? 0 : -1;
}

static void merge(struct flight *f)
{
    struct weir_phase_rec *rec = f->rec;
    const struct weir_tally *t = &f->run->tally;
    int64_t ext[2 * WEIR_MARKS + 3];
    uint64_t sum[6] = { t->bytes,   t->wrong,
                        rec->steps, rec->mark[WEIR_MARK_WORKED] - rec->mark[WEIR_MARK_WORK],
                        t->fill_ns, t->verify_ns };

    for (int m = 0; m < WEIR_MARKS; m++) {
        int64_t at = weir_clock_common(&f->run->clock, NULL, rec->mark[m]);

        ext[2 * m] = -at;
        ext[2 * m + 1] = at;
    }
    ext[2 * WEIR_MARKS] = -(int64_t)rec->steps;
    ext[2 * WEIR_MARKS + 1] = (int64_t)rec->steps;
    ext[2 * WEIR_MARKS + 2] = (int64_t)t->end;
    weir_allmax_i64(&f->run->par, ext, 2 * WEIR_MARKS + 3);
    weir_allsum_u64(&f->run->par, sum, 6);
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
                   struct weir_phase_rec *rec, struct weir_err *err)
{
    struct flight f = { .run = run, .ph = ph, .state = state, .rec = rec, .err = err };

    memset(rec, 0, sizeof(*rec));
    memset(&run->tally, 0, sizeof(run->tally));
    rec->phase = ph;
    rec->repetition = run->repetition;
    f.rc = ph->prepare ? ph->prepare(run, state, err) : 0;
    if (weir_agree(&run->par, f.rc, err) < 0) /* also the barrier in front of T0 */
        return -1;
    f.pass = ph->count(run, state);
    f.target =
        run->knobs.max_steps && run->knobs.max_steps < f.pass ? run->knobs.max_steps : f.pass;
    begin_watch(&f);
    weir_progress_begin(&f.progress, run, ph->key);
    timed_part(&f);
    weir_progress_end(&f.progress);
    if (settle(&f) < 0)
        return -1;
    merge(&f);
    return 0;
}

int weir_phase_pause(struct weir_run *run, int seconds, struct weir_err *err)
{
    uint64_t end = weir_now_ns() + (uint64_t)seconds * WEIR_NS_PER_S;
    struct weir_watch watch;
    bool stop = false;

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
