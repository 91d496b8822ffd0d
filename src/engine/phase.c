/* SPDX-License-Identifier: BSD-3-Clause */
/* phase.c - a phase from prepare to merge; its steps are in steps.c */
#include "config.h"
#include "engine/phase.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "engine/observe/interval.h"
#include "engine/steps.h"

static void mark(struct weir_phase_context *c, enum weir_mark m)
{
    c->rec->mark[m] = weir_now_ns();
}

/* A collective flush waits for every rank, so it is left out by all when one has stopped early. */
static bool may_flush(struct weir_phase_context *c)
{
    if (!c->ph->flush || c->agreed)
        return false;
    if (c->timing->collective_flush && !c->watch.over)
        weir_phase_end_watch(c);
    return c->rc == 0 && !(c->timing->collective_flush && c->told_to_stop);
}

static void timed_part(struct weir_phase_context *c)
{
    const struct weir_phase *ph = c->ph;
    struct weir_run *run = c->run;
    bool barriers = c->timing->barriers && (ph->flags & WEIR_PHASE_BARRIERS);

    mark(c, WEIR_MARK_OPEN);
    c->rc = ph->open ? ph->open(run, c->state, c->err) : 0;
    c->opened = c->rc == 0;
    mark(c, WEIR_MARK_OPENED);
    if (c->timing->collective_open && ph->open && weir_agree(&run->par, c->rc, c->err) < 0) {
        c->rc = -1;
        c->agreed = true;
    }
    if (c->rc == 0 && ph->opened)
        ph->opened(run, c->state);
    if (barriers)
        weir_barrier(&run->par);
    mark(c, WEIR_MARK_WORK);
    c->clock = c->rec->mark[WEIR_MARK_WORK];
    /* In lock step a rank that has failed takes part in the rounds of the others. */
    if (c->rc == 0 || (c->timing->lock_step && !c->agreed))
        weir_phase_work(c);
    if (c->timing->wear_out && (ph->flags & WEIR_PHASE_STONEWALL))
        weir_phase_wear_out(c);
    if (may_flush(c))
        c->rc = ph->flush(run, c->state, c->err);
    mark(c, WEIR_MARK_WORKED);
    if (barriers && c->watch.over)
        weir_barrier(&run->par);
    else if (barriers || (c->timing->collective_open && !c->watch.over))
        weir_phase_end_watch(c); /* a barrier too, and one from which failures of others are seen */
    mark(c, WEIR_MARK_CLOSE);
    /* Also after a failed agreement: what is left of a file that others could not open is closed
     * without them. */
    if (c->opened && ph->close && ph->close(run, c->state, c->rc < 0 ? NULL : c->err) < 0)
        c->rc = -1;
    mark(c, WEIR_MARK_CLOSED);
}

/* The final result of a phase. A signal counts as the rank's error only where nothing else went
 * wrong, and comes back as rec->interrupted on all ranks. */
static int all_ok(struct weir_phase_context *c)
{
    if (!c->watch.over)
        weir_phase_end_watch(c);
    else
        c->told_to_stop = true; /* -g: the watch ended before close, so ask again */
    if (c->agreed)
        return -1;
    if (!c->told_to_stop)
        return 0;
    weir_phase_asks_to_stop(c); /* a signal that came while waiting */
    if (c->rc == 0 && c->rec->interrupted)
        c->rc =
            weir_refuse(c->err, WEIR_EINTR, "interrupted by signal %d", c->run->interrupt.signal);
    if (weir_agree(&c->run->par, c->rc, c->err) == 0)
        return 0;
    c->rec->interrupted = c->err->code == WEIR_EINTR;
    return c->rec->interrupted ? 0 : -1;
}

/* The largest step of all ranks and whose it is. Two clocks cannot tell which of
 * them it was. Said at once, for what was measured since the last estimate is uncertain by as much.
 * Collective. */
static void tell_step(struct weir_run *run)
{
    struct weir_log log = run->log;
    int64_t step_ns = llabs(weir_clock_step(&run->clock));
    int rank = weir_allmax_rank(&run->par, &step_ns);

    if (step_ns < 1000 || run->clock.told)
        return;
    run->clock.told = true;
    log.warnings_are_errors = false;
    weir_warn(&log, NULL,
              "the clocks of ranks 0 and %d have moved by %.6g s against each other: one was set, "
              "or runs wrongly; times of this test are uncertain by as much",
              rank, (double)step_ns / WEIR_NS_PER_S);
}

void weir_phase_renew_clock(struct weir_run *run)
{
    if (run->par.size == 1)
        return;
    weir_clock_renew(&run->par, &run->clock);
    tell_step(run);
}

/* Earliest and latest times of all ranks, on rank 0's clock. After a while the offset of this
 * rank's clock may be another: it is estimated again, and interpolated. All ranks decide the same.
 * Collective. */
static void merge_times(struct weir_run *run, struct weir_phase_rec *rec)
{
    int64_t ext[2 * WEIR_MARKS + 1];

    for (int again = 0; again < 2; again++) {
        for (int m = 0; m < WEIR_MARKS; m++) {
            ext[2 * m + 1] = weir_clock_common(&run->clock, rec->mark[m]);
            ext[2 * m] = -ext[2 * m + 1];
        }
        ext[2 * WEIR_MARKS] = (int64_t)weir_clock_error(&run->clock, rec->mark[WEIR_MARK_CLOSED]);
        weir_allmax_i64(&run->par, ext, 2 * WEIR_MARKS + 1);
        if (again || !weir_clock_is_old(&run->clock, ext[2 * WEIR_MARK_CLOSED + 1]))
            break;
        weir_phase_renew_clock(run);
    }
    for (int m = 0; m < WEIR_MARKS; m++) {
        rec->first[m] = -ext[2 * m];
        rec->last[m] = ext[2 * m + 1];
    }
    rec->clock_error_ns = (uint64_t)ext[2 * WEIR_MARKS];
}

/* A stonewall counts also where the ranks went on after it to wear out. */
static enum weir_end own_end(const struct weir_phase_context *c)
{
    const struct weir_phase_rec *rec = c->rec;
    uint64_t steps = rec->stonewall.known ? rec->stonewall.steps : rec->steps;
    uint64_t all = rec->stonewall.known ? c->pass : c->target;

    if (c->timing->max_steps && steps >= c->timing->max_steps)
        return WEIR_END_COUNT;
    return steps >= all ? WEIR_END_WORK : WEIR_END_TIME;
}

uint64_t weir_phase_own_ns(const struct weir_phase_rec *rec)
{
    const uint64_t *mark = rec->mark;

    return mark[WEIR_MARK_OPENED] - mark[WEIR_MARK_OPEN] + mark[WEIR_MARK_WORKED] -
           mark[WEIR_MARK_WORK] + mark[WEIR_MARK_CLOSED] - mark[WEIR_MARK_CLOSE];
}

static void merge(struct weir_phase_context *c)
{
    struct weir_phase_rec *rec = c->rec;
    const struct weir_counters *t = &c->run->counters;
    int64_t own = (int64_t)weir_phase_own_ns(rec), done = (int64_t)weir_phase_own_done(c);
    int64_t ext[8] = { -(int64_t)rec->steps, (int64_t)rec->steps, (int64_t)t->end, -own, own,
                       -done, done };
    struct {
        uint64_t n[9 + WEIR_ENDS];
        struct weir_trust_sums facts;
    } sum = { .n = { t->bytes, t->wrong, rec->steps,
                     rec->mark[WEIR_MARK_WORKED] - rec->mark[WEIR_MARK_WORK], t->fill_ns,
                     t->verify_ns, c->run->records.n, c->run->records.dropped, (uint64_t)done } };

    sum.n[9 + own_end(c)] = 1;
    merge_times(c->run, rec);
    if (c->rc == 0)
        weir_trust_own(c->run, rec, &sum.facts);
    ext[7] = c->run->trust.processors.share;
    weir_allmax_i64(&c->run->par, ext, 8);
    weir_allsum_u64(&c->run->par, (uint64_t *)&sum, sizeof(sum) / sizeof(uint64_t));
    c->run->trust.sums = sum.facts;
    c->run->trust.processors.most = ext[7];
    rec->steps_min = (uint64_t)-ext[0];
    rec->steps_max = (uint64_t)ext[1];
    rec->end_max = (uint64_t)ext[2];
    rec->own_ns_min = (uint64_t)-ext[3];
    rec->own_ns_max = (uint64_t)ext[4];
    rec->done_min = (uint64_t)-ext[5];
    rec->done_max = (uint64_t)ext[6];
    rec->bytes_sum = sum.n[0];
    rec->wrong_sum = sum.n[1];
    rec->steps_sum = sum.n[2];
    rec->busy_ns_sum = sum.n[3];
    rec->fill_ns_sum = sum.n[4];
    rec->verify_ns_sum = sum.n[5];
    rec->records_sum = sum.n[6];
    rec->dropped_sum = sum.n[7];
    rec->done_sum = sum.n[8];
    memcpy(rec->ended, sum.n + 9, sizeof(rec->ended));
}

/* minTimeDuration repeats the pattern an unknown number of times: then as many as are allowed. */
static uint64_t count_operations(const struct weir_phase_context *c)
{
    bool repeats = (c->ph->flags & WEIR_PHASE_STONEWALL) && c->timing->min_time_s > 0;
    uint64_t once = c->ph->operations ? c->ph->operations(c->run, c->state) : c->pass;

    return repeats && once > 0 ? UINT64_MAX : once;
}

static int prepare(struct weir_phase_context *c)
{
    if (c->ph->prepare && c->ph->prepare(c->run, c->state, c->err) < 0)
        return -1;
    c->pass = c->ph->count(c->run, c->state);
    if (c->timing->max_steps && c->timing->max_steps < c->pass)
        c->pass = c->timing->max_steps;
    return weir_records_reserve(&c->run->records, count_operations(c), c->err);
}

/* Forget the times of the last phase: of operations, and of the calls in the sessions. */
static void reset_times(struct weir_run *run)
{
    const struct weir_test *t = run->test;

    for (int i = 0; i < t->sessions; i++)
        if (t->session[i]->be)
            weir_session_reset(t->session[i]);
    memset(run->op_hist, 0, sizeof(*run->op_hist) * (size_t)weir_operations_count(t->driver));
    run->op_summed = false;
}

/* Warn when the phase had more operations than there was room for. */
static int check_records(const struct weir_run *run, const struct weir_phase_rec *rec,
                         struct weir_err *err)
{
    if (rec->dropped_sum == 0)
        return 0;
    return weir_warn(&run->log, err,
                     "there is no room for all operations of the %s phase: %" PRIu64
                     " are recorded, %" PRIu64 " are not; --timeline-limit gives each task more",
                     rec->phase->key, rec->records_sum, rec->dropped_sum);
}

int weir_phase_run(struct weir_run *run, const struct weir_phase *ph, void *state,
                   const struct weir_timing *timing, struct weir_phase_rec *rec,
                   struct weir_err *err)
{
    struct weir_phase_context c = {
        .run = run, .timing = timing, .ph = ph, .state = state, .rec = rec, .err = err
    };

    weir_interrupt_hold(&run->interrupt);
    if (run->hooks)
        run->hooks->before(run->hooks->arg, ph->key);
    memset(rec, 0, sizeof(*rec));
    memset(&run->counters, 0, sizeof(run->counters));
    reset_times(run);
    rec->phase = ph;
    rec->repetition = run->repetition;
    c.rc = prepare(&c);
    if (weir_agree(&run->par, c.rc, err) < 0) /* also the barrier in front of T0 */
        return -1;
    c.target = c.pass;
    weir_trust_start(run);
    weir_phase_begin_watch(&c);
    weir_interval_begin(run);
    weir_phase_begin_progress(&c);
    timed_part(&c);
    c.rc = all_ok(&c);
    weir_phase_end_progress(&c);
    merge(&c);
    if (c.rc == 0)
        weir_interval_end(run, rec);
    weir_timeline_phase(run, rec, c.rc < 0);
    return c.rc < 0 ? -1 : check_records(run, rec, err);
}

int weir_phase_pause(struct weir_run *run, double seconds, struct weir_err *err)
{
    uint64_t end = weir_now_ns() + (uint64_t)(seconds * WEIR_NS_PER_S);
    struct weir_watch watch;
    bool stop = false;

    weir_interrupt_hold(&run->interrupt);
    weir_watch_begin(&watch, &run->par);
    while (!stop && weir_now_ns() < end) {
        weir_sleep_ns(WEIR_TICK_NS);
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

int weir_phase_interrupted(const struct weir_run *run, const char *key, struct weir_err *err)
{
    return weir_refuse(err, WEIR_EINTR, "interrupted in the %s phase of repetition %d", key,
                       run->repetition);
}

int weir_phase_aside(struct weir_run *run, const struct weir_phase *ph, void *state,
                     const struct weir_timing *timing, struct weir_phase_rec *rec,
                     struct weir_err *err)
{
    if (weir_phase_run(run, ph, state, timing, rec, err) < 0)
        return -1;
    return rec->interrupted ? weir_phase_interrupted(run, ph->key, err) : 0;
}
