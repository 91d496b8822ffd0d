/* SPDX-License-Identifier: BSD-3-Clause */
/* phase.c - a phase from prepare to merge; its steps are in steps.c */
#include "engine/phase.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "engine/observer.h"
#include "engine/steps/limits.h"

static void mark(struct weir_phase_context *c, enum weir_mark m)
{
    c->rec->mark[m] = weir_now_ns();
}

/* A collective flush waits for every rank, so it is left out by all when one has stopped early. */
static bool may_flush(struct weir_phase_context *c)
{
    if (!c->ph->flush || c->agreed || (c->idle && !c->timing->collective_flush))
        return false;
    if (c->timing->collective_flush && !c->watch.over)
        weir_phase_end_watch(c);
    return c->rc == 0 && !(c->timing->collective_flush && c->stop_requested);
}

static void timed_open(struct weir_phase_context *c)
{
    const struct weir_phase *ph = c->ph;
    bool opens = !c->idle || c->timing->collective_open;

    mark(c, WEIR_MARK_OPEN);
    c->rc = ph->open && opens ? ph->open(c->run, c->state, c->err) : 0;
    c->opened = c->rc == 0 && opens;
    mark(c, WEIR_MARK_OPENED);
    if (c->timing->collective_open && ph->open && weir_agree(&c->run->par, c->rc, c->err) < 0) {
        c->rc = -1;
        c->agreed = true;
    }
    if (c->rc == 0 && ph->opened && !c->again)
        ph->opened(c->run, c->state);
}

/* From T0 to T5. */
static void timed_part(struct weir_phase_context *c)
{
    const struct weir_phase *ph = c->ph;
    struct weir_run *run = c->run;
    bool barriers = c->timing->barriers && (ph->flags & WEIR_PHASE_BARRIERS);

    timed_open(c);
    if (barriers)
        weir_barrier(&run->par);
    weir_phase_work(c);
    if (may_flush(c))
        c->rc = ph->flush(run, c->state, c->err);
    mark(c, WEIR_MARK_WORKED);
    if (barriers && c->watch.over)
        weir_barrier(&run->par);
    else if (barriers || (c->timing->collective_open && !c->watch.over))
        weir_phase_end_watch(c); /* a barrier too, and one from which failures of others are seen */
    mark(c, WEIR_MARK_CLOSE);
    /* Close also after a failed agreement: a file that other ranks could not open is closed
     * without them. */
    if (c->opened && ph->close && ph->close(run, c->state, c->rc < 0 ? NULL : c->err) < 0)
        c->rc = -1;
    mark(c, WEIR_MARK_CLOSED);
}

/* The final result of a phase. A signal counts as the rank's error only where nothing else went
 * wrong, and comes back as rec->interrupted on all ranks. */
static int all_ok(struct weir_phase_context *c)
{
    char cause[WEIR_INTERRUPT_TEXT];

    if (!c->watch.over)
        weir_phase_end_watch(c);
    else
        c->stop_requested = true; /* -g: the watch ended before close, so ask again */
    if (c->agreed)
        return -1;
    if (!c->stop_requested)
        return 0;
    weir_phase_asks_to_stop(c); /* a signal that came while waiting */
    if (c->rc == 0 && c->rec->interrupted)
        c->rc = weir_refuse(c->err, WEIR_EINTR, "interrupted by %s",
                            weir_interrupt_cause(&c->run->interrupt, cause));
    if (weir_agree(&c->run->par, c->rc, c->err) == 0)
        return 0;
    c->rec->interrupted = c->err->code == WEIR_EINTR;
    return c->rec->interrupted ? 0 : -1;
}

/* The largest step of all ranks and whose it is. Two clocks cannot tell which of
 * them it was. Said at once, for what was measured since the last estimate is uncertain by as much.
 * Collective. */
static void warn_of_step(struct weir_run *run)
{
    struct weir_log log = run->log;
    int64_t step_ns = llabs(weir_clock_step(&run->clock));
    int rank = weir_allmax_rank(&run->par, &step_ns);

    if (step_ns < 1000 || run->clock.reported)
        return;
    run->clock.reported = true;
    log.warnings_are_errors = false;
    weir_warn(&log, NULL, "the clocks of ranks 0 and %d have moved by %.6g s against each other "
                          "(one was set, or is wrong); the times of this test have this "
                          "uncertainty", rank, (double)step_ns / WEIR_NS_PER_S);
}

void weir_phase_renew_clock(struct weir_run *run)
{
    if (run->par.size == 1)
        return;
    weir_clock_renew(&run->par, &run->clock);
    warn_of_step(run);
}

uint64_t weir_phase_own_ns(const struct weir_phase_rec *rec)
{
    const uint64_t *mark = rec->mark;

    return mark[WEIR_MARK_OPENED] - mark[WEIR_MARK_OPEN] + mark[WEIR_MARK_WORKED] -
           mark[WEIR_MARK_WORK] + mark[WEIR_MARK_CLOSED] - mark[WEIR_MARK_CLOSE];
}

_Static_assert(sizeof(((struct weir_phase_numbers *)0)->by_dir) ==
                   WEIR_DIRS * sizeof(struct weir_dir_work), "run.h");

/* Places in the maximum of a phase: of each time stamp the first, which is negative, and the last.
 * Then the numbers of the ranks: the least, which are negative, and the most. */
enum {
    FIRST,
    LAST = FIRST + WEIR_MARKS,
    CLOCK_ERROR = LAST + WEIR_MARKS,
    TIMES, /* number of times, which a new estimate of the clocks changes */
    APART = TIMES, /* ns by which a counter and the kernel's clock differ */
    DISAGREES,     /* not 0: by too much */
    NUMBERS,
    MAXIMA = NUMBERS + 2 * WEIR_PHASE_NUMBERS
};

/* The maximum and the sum of all ranks: the numbers of the core, then those of the observers. */
struct merged {
    int64_t max[MAXIMA + WEIR_MAXIMA_MAX];
    uint64_t sum[WEIR_PHASE_NUMBERS + WEIR_SUMS_MAX];
};

static uint64_t own_rate(uint64_t bytes, uint64_t ns)
{
    double rate = ns > 0 ? (double)bytes * WEIR_NS_PER_S / (double)ns : 0;

    return bytes > 0 && ns > 0 && rate < 0x1p62 ? (uint64_t)rate : INT64_MAX;
}

/* The numbers of this rank that its steps do not count. */
static void fill_record(struct weir_phase_context *c)
{
    struct weir_phase_numbers *n = &c->run->counters;
    struct weir_phase_rec *rec = c->rec;

    n->steps = rec->steps;
    n->done = weir_phase_own_done(c);
    n->own_ns = weir_phase_own_ns(rec);
    n->work_ns = rec->mark[WEIR_MARK_WORKED] - rec->mark[WEIR_MARK_WORK];
    n->rate = own_rate(n->bytes, n->own_ns);
    n->ended[weir_limits_end(c)] = 1;
    n->records = c->run->records.n;
    n->dropped = c->run->records.dropped;
    rec->min = rec->max = rec->sum = *n;
}

static void fill_times(const struct weir_run *run, const struct weir_phase_rec *rec, int64_t *max)
{
    for (int m = 0; m < WEIR_MARKS; m++) {
        max[LAST + m] = weir_clock_common(&run->clock, rec->mark[m]);
        max[FIRST + m] = -max[LAST + m];
    }
    max[CLOCK_ERROR] = (int64_t)weir_clock_error(&run->clock, rec->mark[WEIR_MARK_CLOSED]);
}

/* A counter that goes wrong on one rank is left by all. Collective. */
static void leave_counters(struct weir_run *run, const int64_t *max)
{
    if (!max[DISAGREES])
        return;
    weir_clock_leave();
    weir_warn(&run->log, NULL, "the time-stamp counter and the kernel's clock differ by up to %.6g "
                               "s; the times of this phase have this uncertainty, and later phases "
                               "use the kernel's clock", (double)max[APART] / WEIR_NS_PER_S);
}

/* After a while the offset of this rank's clock may be another: it is estimated again, and
 * interpolated. All ranks decide the same. Collective. */
static void find_extremes(struct weir_run *run, struct weir_phase_rec *rec, int64_t *max)
{
    int n = MAXIMA + weir_observers_max(run, rec, max + MAXIMA);
    uint64_t apart_ns;

    max[DISAGREES] = !weir_clock_compare(&apart_ns);
    max[APART] = (int64_t)apart_ns;
    fill_times(run, rec, max);
    weir_phase_put_ends(&rec->sum, max + NUMBERS);
    weir_allmax_i64(&run->par, max, n);
    leave_counters(run, max);
    if (weir_clock_is_old(&run->clock, max[LAST + WEIR_MARK_CLOSED])) {
        weir_phase_renew_clock(run);
        fill_times(run, rec, max);
        weir_allmax_i64(&run->par, max, TIMES);
    }
    for (int m = 0; m < WEIR_MARKS; m++) {
        rec->first[m] = -max[FIRST + m];
        rec->last[m] = max[LAST + m];
    }
    rec->clock_error_ns = weir_clock_between(&run->par, (uint64_t)(max[CLOCK_ERROR] + max[APART]));
    weir_phase_take_ends(max + NUMBERS, &rec->min, &rec->max);
}

static void sum_up(struct weir_run *run, struct weir_phase_rec *rec, uint64_t *sum)
{
    int n = WEIR_PHASE_NUMBERS + weir_observers_add(run, rec, sum + WEIR_PHASE_NUMBERS);

    memcpy(sum, &rec->sum, sizeof(rec->sum));
    weir_allsum_u64(&run->par, sum, n);
    memcpy(&rec->sum, sum, sizeof(rec->sum));
}

/* With an unknown number of passes as many as are allowed. */
static uint64_t count_operations(const struct weir_phase_context *c)
{
    uint64_t once = c->ph->operations ? c->ph->operations(c->run, c->state) : c->pass;

    return c->passes && once > 0 ? UINT64_MAX : once;
}

static int prepare(struct weir_phase_context *c)
{
    c->pass = 0;
    if (c->idle && !c->timing->collective_open)
        return weir_records_reserve(&c->run->records, 0, c->err);
    if (c->ph->prepare && c->ph->prepare(c->run, c->state, c->err) < 0)
        return -1;
    if (!c->idle)
        c->pass = c->ph->count(c->run, c->state);
    if (c->max_steps < c->pass)
        c->pass = c->max_steps;
    if (weir_records_reserve(&c->run->records, count_operations(c), c->err) < 0)
        return -1;
    c->run->records.kept |= c->each_counts;
    return 0;
}

/* Forget the times of the last phase, and of the preparation: of operations, and of the calls in the sessions. */
static void reset_times(struct weir_run *run)
{
    const struct weir_test *t = run->test;

    for (int i = 0; i < t->sessions; i++)
        if (t->session[i]->be)
            weir_session_reset(t->session[i]);
    memset(run->records.hist, 0, sizeof(*run->records.hist) * (size_t)weir_operations_count(t->program));
    run->records.summed = false;
}

/* Warn when the phase had more operations than the buffer holds. */
static int check_records(const struct weir_run *run, const struct weir_phase_rec *rec,
                         struct weir_err *err)
{
    if (rec->sum.dropped == 0)
        return 0;
    return weir_warn(&run->log, err,
                     "the buffer of operations is too small for the %s phase: %" PRIu64
                     " are recorded, %" PRIu64 " are not; give a larger --timeline-limit",
                     rec->phase->key, rec->sum.records, rec->sum.dropped);
}

static void begin_record(struct weir_phase_context *c)
{
    struct weir_run *run = c->run;

    memset(c->rec, 0, sizeof(*c->rec));
    memset(&run->counters, 0, sizeof(run->counters));
    run->records.mixed = c->ph->mixed;
    c->rec->phase = c->ph;
    c->rec->stage = c->again ? NULL : c->stage;
    c->rec->timing = c->timing;
    c->rec->repetition = run->repetition;
    c->rec->again = c->again;
    c->rec->failed = true; /* until it has run */
}

/* Reduces the work of all ranks, with one maximum and one sum, and calls the observers. */
static int conclude(struct weir_phase_context *c, struct weir_err *err)
{
    struct merged m;

    fill_record(c);
    find_extremes(c->run, c->rec, m.max);
    sum_up(c->run, c->rec, m.sum);
    c->rec->maxima = m.max + MAXIMA;
    c->rec->sums = m.sum + WEIR_PHASE_NUMBERS;
    return weir_observers_after(c->run, c->rec, c->rec->failed ? weir_run_second(c->run) : err);
}

/* Profilers may show each phase apart: those that know it take 1 and a name as the begin of a region,
 * and -1 and the name as its end. */
static void mark_region(const struct weir_phase_context *c, int level)
{
    if (!c->run->par.without_mpi)
        MPI_Pcontrol(level, c->ph->key);
}

static int run_phase(struct weir_phase_context *c)
{
    struct weir_run *run = c->run;
    uint64_t ignored; /* what goes wrong between phases is seen at the end of the next */
    int rc;

    weir_interrupt_hold(&run->interrupt);
    weir_clock_compare(&ignored);
    begin_record(c);
    c->max_steps = c->ask_ns = UINT64_MAX;
    c->end = c->why = WEIR_END_NONE;
    weir_limits_begin(c);
    if (weir_observers_before(run, c->rec, c->rc < 0 ? weir_run_second(run) : c->err) < 0)
        return -1;
    if (c->rc == 0)
        c->rc = prepare(c);
    reset_times(run);
    if (weir_agree(&run->par, c->rc, c->err) < 0) /* also the barrier in front of T0 */
        return -1;
    c->target = c->pass;
    weir_phase_begin_watch(c);
    weir_observers_start(run, c->rec);
    mark_region(c, 1);
    timed_part(c);
    c->rec->failed = all_ok(c) < 0;
    rc = conclude(c, c->err);
    mark_region(c, -1);
    if (c->rec->failed || rc < 0)
        return -1;
    return check_records(run, c->rec, c->err);
}

int weir_phase_run(struct weir_run *run, const struct weir_stage *stage, void *state,
                   const struct weir_timing *timing, const struct weir_again *again,
                   struct weir_phase_rec *rec, struct weir_err *err)
{
    struct weir_phase_context c = { .run = run, .timing = timing, .ph = stage->phase,
                                    .stage = stage, .again = again, .state = state,
                                    .rec = rec, .err = err };

    return run_phase(&c);
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

int weir_phase_extra(struct weir_run *run, const struct weir_phase *ph, void *state,
                     const struct weir_timing *timing, struct weir_phase_rec *rec,
                     struct weir_err *err)
{
    struct weir_phase_context c = {
        .run = run, .timing = timing, .ph = ph, .state = state, .rec = rec, .err = err
    };

    if (run_phase(&c) < 0)
        return -1;
    return rec->interrupted ? weir_phase_interrupted(run, ph->key, err) : 0;
}
