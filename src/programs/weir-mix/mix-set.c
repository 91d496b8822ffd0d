/* SPDX-License-Identifier: BSD-3-Clause */
/* mix-set.c - some groups at once: a common start, the end, and the rates while all of them ran.
 *
 * The leaders of the groups (their lowest ranks, which are in every test) exchange numbers: which
 * group is ready, has begun, has ended. A reason to stop travels between all ranks (weir_watch).
 * Ranks take part in both from the function in which a job asks whether it is to end. So no group
 * waits in MPI for another one. */
#include "programs/weir-mix/mix-run.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "engine/phase.h"

#define START_NS 20000000    /* from the agreement on a start to the start: all have received it */
#define ASK_NS 5000000       /* between two looks at the other groups */
#define NAP_NS 200000u       /* of a leader that waits for a start */
#define LONG_NAP_NS 2000000u /* and for anything else */

/* ---- the rolling maximum of the numbers of all leaders ---- */

static int begin_rollmax(struct mix_rollmax *w, const struct weir_par *par, int n,
                         struct weir_err *err)
{
    size_t each = (size_t)n + 1; /* the last one: does a rank work? */

    *w = (struct mix_rollmax) { .par = par, .n = n, .request = MPI_REQUEST_NULL };
    w->mine = calloc(4 * each, sizeof(*w->mine));
    if (!w->mine)
        return weir_fail(err, WEIR_ESETUP, "memory for %d numbers of all ranks", n);
    w->all = w->mine + each;
    w->sent = w->all + each;
    w->got = w->sent + each;
    return 0;
}

/* Progress: true when one more round has ended, and 'all' is new. Every leader takes part in every round
 * and sees the same ones, so what is decided by a round is decided by all alike. They tick, now and then,
 * until 'over'. Local, non-blocking. */
static bool tick_rollmax(struct mix_rollmax *w, bool working)
{
    int complete = 0;

    if (w->over)
        return false;
    if (!w->pending) {
        w->mine[w->n] = working;
        memcpy(w->sent, w->mine, sizeof(*w->mine) * ((size_t)w->n + 1));
        weir_mpi_must(w->par,
                      MPI_Iallreduce(w->sent, w->got, w->n + 1, MPI_INT64_T, MPI_MAX,
                                     w->par->watch_comm, &w->request),
                      "MPI_Iallreduce");
        w->pending = true;
    }
    weir_mpi_must(w->par, MPI_Test(&w->request, &complete, MPI_STATUS_IGNORE), "MPI_Test");
    if (!complete)
        return false;
    w->pending = false;
    memcpy(w->all, w->got, sizeof(*w->all) * ((size_t)w->n + 1));
    w->over = w->all[w->n] == 0;
    return true;
}

/* ---- a rank ---- */

static int64_t common_now(const struct mix_side *s)
{
    return weir_clock_common(&s->run->clock, weir_now_ns());
}

/* A number of our group: ours is newer than what the others have received. */
static int64_t *own(struct mix_side *s, int number)
{
    return &s->numbers.mine[mix_at(s->t->group, number)];
}

static const struct mix_group *group_of(const struct mix_side *s)
{
    return &s->t->plan.group[s->t->group];
}

/* Return the start of our group here: one that waits for a group outside of the set does not wait. */
static enum mix_start start_of(const struct mix_side *s, const struct mix_group *g)
{
    if (s->with == MIX_ALONE || (g->start == MIX_AFTER_PHASE && !s->in[g->after]))
        return MIX_AT_ONCE;
    return g->start;
}

/* ---- progress of all ranks ---- */

/* Report which groups have not ended, once one has. Rank 0. */
static void report_waiting(struct mix_side *s)
{
    struct weir_str names = { 0 };
    int done = 0;

    for (int g = 0; g < s->t->plan.n; g++)
        done += s->in[g] && s->numbers.all[mix_at(g, MIX_DONE)] > 0;
    if (done > s->done && !mix_side_done(s, &names) && !s->stopped) {
        weir_report_line(&s->run->report, "%3d  waiting for %s", s->run->repetition,
                         weir_str_words(&names));
        weir_report_flush(&s->run->report);
    }
    s->done = done;
    weir_report_free(&s->run->report, &names);
}

/* Roots only. All of them see the same rounds, so they agree on the start. */
static void poll_leaders(struct mix_side *s, bool working)
{
    s->numbers.mine[MIX_NOW] = common_now(s);
    if (!tick_rollmax(&s->numbers, working))
        return;
    if (s->start_ns == 0 && s->numbers.all[MIX_BUSY] == 0)
        s->start_ns = s->numbers.all[MIX_NOW] + START_NS;
    if (s->run->par.rank == 0 && s->end != MIX_END_FIRST)
        report_waiting(s);
}

static bool stop_requested(struct mix_side *s, bool working)
{
    bool stop = weir_watch_tick(&s->watch, s->stopped || weir_interrupt_poll(&s->run->interrupt));

    if (s->is_leader) {
        s->numbers.mine[MIX_STOP] = stop;
        poll_leaders(s, working);
        stop = stop || s->numbers.all[MIX_STOP];
    }
    s->stopped = stop;
    return stop;
}

/* True when as many groups of the set have ended a whole run as the end needs. Leaders only. */
static bool is_over(struct mix_side *s)
{
    int ended = 0, all = 0;

    for (int g = 0; g < s->t->plan.n; g++) {
        int64_t done = g == s->t->group ? *own(s, MIX_DONE) : s->numbers.all[mix_at(g, MIX_DONE)];

        all += s->in[g];
        ended += s->in[g] && done > 0;
    }
    if (s->end == MIX_END_FIRST)
        return ended > 0;
    return s->end == MIX_END_REPEAT && ended == all;
}

/* ---- what a job calls ---- */

/* Not more often than the others have something new; what this rank has done is kept each time. */
static int ask(void *arg, const struct weir_progress *now)
{
    struct mix_side *s = arg;
    int64_t now_ns = common_now(s);

    if (now->phase)
        weir_worklog_add(&s->series, now_ns, now->bytes, now->operations);
    if (now_ns - s->asked_ns < ASK_NS)
        return 0;
    s->asked_ns = now_ns;
    if (stop_requested(s, true))
        return 1;
    s->ended_by_rule = s->is_leader && is_over(s);
    return s->ended_by_rule;
}

/* The leaders of all groups that start at once meet here, when their jobs are ready for the first phase. The other
 * ranks of a group wait for their leader before the clock of the phase. */
static void meet(struct mix_side *s)
{
    int64_t left;

    s->numbers.mine[MIX_BUSY] = 0;
    while (s->start_ns == 0 && !stop_requested(s, true))
        weir_sleep_ns(NAP_NS);
    left = s->start_ns - common_now(s);
    if (!s->stopped && left > 0)
        weir_sleep_ns((uint64_t)left);
}

/* Publish a phase for which other groups may wait. */
static void show_phase(struct mix_side *s, const char *phase, int64_t now_ns)
{
    weir_str_addf(&s->phases, "%s'%s'", s->phases.len ? ", " : "", phase);
    for (int g = 0; g < s->t->plan.n; g++) {
        const struct mix_group *other = &s->t->plan.group[g];

        if (other->start == MIX_AFTER_PHASE && other->after == s->t->group &&
            strcmp(other->phase, phase) == 0)
            s->numbers.mine[mix_at(g, MIX_MET)] = 1;
    }
    if (*own(s, MIX_BEGAN) == 0)
        *own(s, MIX_BEGAN) = now_ns;
    poll_leaders(s, true);
}

static void before_phase(void *arg, const char *phase)
{
    struct mix_side *s = arg;
    int64_t now_ns;

    if (!s->has_begun && s->is_leader && start_of(s, group_of(s)) == MIX_AT_ONCE)
        meet(s);
    s->has_begun = true;
    now_ns = common_now(s);
    weir_worklog_begin(&s->series, now_ns);
    if (s->is_leader)
        show_phase(s, phase, now_ns);
}

static void keep_result(void *arg, const struct weir_result *result)
{
    struct mix_side *s = arg;

    if (!weir_mem_reserve(&s->results, (size_t)s->n_results, &s->capacity, sizeof(*s->results))) {
        s->lost = true;
        return;
    }
    s->results[s->n_results++] = (struct mix_phase_result) { s->series.n - 1, *result };
}

/* Print a note on the leader of a group when it comes, the first time. Warnings come to rank 0
 * with the end of the set, which is late for a rate at which nothing seems to happen. */
static void note_once(struct mix_side *s, const char *text)
{
    struct weir_log own = s->run->log;
    size_t before = s->t->reported.n;

    own.rank = 0;
    weir_set_add(&s->t->reported, text, strlen(text));
    if (s->t->reported.n > before)
        weir_note(&own, "group '%s': %s", group_of(s)->name, text);
}

static void keep_message(void *arg, const char *kind, const char *text)
{
    struct mix_side *s = arg;

    if (strcmp(kind, "note") == 0 && s->n_results == 0)
        note_once(s, text);
    if (strcmp(kind, "warning") == 0)
        weir_str_addf(&s->messages, "group '%s': %s%c", group_of(s)->name, text, 0);
    if (s->t->text)
        fprintf(s->t->text, "%s: %s\n", kind, text);
}

/* ---- a group ---- */

/* True when the group may begin, or never will. On a leader that waits. */
static bool is_turn(struct mix_side *s, const struct mix_group *g)
{
    const int64_t *all = s->numbers.all;

    if (is_over(s))
        return true;
    if (start_of(s, g) == MIX_AFTER_SECONDS)
        return s->start_ns && common_now(s) >= s->start_ns + (int64_t)(g->after_s * WEIR_NS_PER_S);
    return all[mix_at(s->t->group, MIX_MET)] || all[mix_at(g->after, MIX_OVER)];
}

static bool asks_while_waiting(void *arg)
{
    return weir_interrupt_poll(&((struct mix_side *)arg)->run->interrupt);
}

/* A group that does not start at once waits as a whole, and goes on or not as a whole: its ranks sleep. A signal to one
 * of them ends the wait of its leader. */
static bool wait_turn(struct mix_side *s)
{
    const struct mix_group *g = group_of(s);
    struct weir_watch together;

    if (start_of(s, g) == MIX_AT_ONCE)
        return true;
    weir_watch_begin(&together, &s->t->leaders.group);
    together.asks = asks_while_waiting;
    together.arg = s;
    while (s->is_leader && !stop_requested(s, true) && !is_turn(s, g) &&
           !weir_watch_tick(&together, false))
        weir_sleep_ns(LONG_NAP_NS);
    s->ended_by_rule = s->is_leader && is_over(s);
    if (s->is_leader && !s->stopped && !together.stop && !s->ended_by_rule &&
        start_of(s, g) == MIX_AFTER_PHASE && !s->numbers.all[mix_at(s->t->group, MIX_MET)])
        s->status = WEIR_EUSAGE; /* without an error of the job: mix-gather.c has the words */
    return !weir_watch_end(&together, s->stopped || s->ended_by_rule || s->status != 0);
}

/* One run of the job. The status is that of the group but where we have ended it. */
static void run_job(struct mix_side *s)
{
    int status;

    weir_job_before(s->t->job, before_phase, s);
    weir_job_until(s->t->job, ask, s);
    weir_job_watch(s->t->job, keep_result, keep_message, s);
    weir_job_stream(s->t->job, s->t->text);
    status = weir_job_run(s->t->job);
    if (status == 0 && s->is_leader && ++*own(s, MIX_DONE) == 1)
        *own(s, MIX_ENDED) = s->series.n ? weir_worklog_end(&s->series, s->series.n - 1) : common_now(s);
    if (status == WEIR_EINTR && !s->stopped && !s->ended_by_rule && !s->is_leader)
        return; /* its leader knows */
    if (status == 0 || (status == WEIR_EINTR && (s->stopped || s->ended_by_rule)))
        return;
    s->status = status;
    s->error = weir_job_error(s->t->job);
    s->stopped = true;
}

/* True when the group runs once more. Its leader decides for all its ranks. */
static bool runs_again(struct mix_side *s)
{
    int again = s->is_leader && s->end == MIX_END_REPEAT && s->status == 0 && !stop_requested(s, true) &&
                !is_over(s);

    if (s->end == MIX_END_REPEAT)
        weir_bcast(&s->t->leaders.group, &again, sizeof(again), 0);
    return again != 0;
}

/* Until all groups have ended. Collective. */
static void wait_for_all(struct mix_side *s)
{
    if (s->is_leader) {
        s->numbers.mine[MIX_BUSY] = 0;
        if (s->active)
            *own(s, MIX_OVER) = 1;
        s->stopped |= s->status != 0;
        while (!s->numbers.over) {
            stop_requested(s, false);
            weir_sleep_ns(LONG_NAP_NS);
        }
    }
    s->watch.asks = asks_while_waiting;
    s->watch.arg = s;
    s->stopped = weir_watch_end(&s->watch, s->stopped || s->status != 0);
}

/* ---- the set ---- */

/* The shortest time in which all groups ran, and the skew of the groups that start at once. */
static void keep_times(struct mix_side *s)
{
    int64_t first = INT64_MAX, last = 0, window[2];
    double skew, shared;
    int at_once = 0;

    if (s->with == MIX_ALONE)
        return;
    mix_side_window(s, window);
    shared = (double)(window[1] - window[0]) / WEIR_NS_PER_S;
    if (s->with == MIX_ALL && !(s->t->common_s <= shared))
        s->t->common_s = shared;

    for (int g = 0; g < s->t->plan.n; g++) {
        int64_t began = s->numbers.all[mix_at(g, MIX_BEGAN)];

        if (!s->in[g] || !began || start_of(s, &s->t->plan.group[g]) != MIX_AT_ONCE)
            continue;
        first = began < first ? began : first;
        last = began > last ? began : last;
        at_once++;
    }
    skew = last > first ? (double)(last - first) / WEIR_NS_PER_S : 0;
    if (at_once > 1 && !(s->t->skew_s >= skew))
        s->t->skew_s = skew;
}

static int begin(struct mix_side *s, struct weir_err *err)
{
    const int group = s->t->group;
    int rc = 0;

    s->active = group >= 0 && s->in[group];
    s->is_leader = s->t->leaders.is_leader;
    if (s->is_leader)
        rc = begin_rollmax(&s->numbers, &s->t->leaders.peers,
                           MIX_NUMBERS + s->t->plan.n * MIX_OF_GROUP, err);
    if (weir_agree(&s->run->par, rc, err) < 0)
        return -1;
    if (s->is_leader)
        s->numbers.mine[MIX_BUSY] = s->active && start_of(s, group_of(s)) == MIX_AT_ONCE;
    weir_watch_begin(&s->watch, &s->run->par);
    return 0;
}

static void write_heading(const struct mix_side *s)
{
    struct weir_str how = { 0 };

    if (!s->active || !s->t->text)
        return;
    mix_side_words(s, s->t->group, &how);
    fprintf(s->t->text, "=== group %s, repetition %d, %s\n", group_of(s)->name, s->run->repetition,
            weir_str_text(&how));
    weir_str_free(&how);
}

int mix_set_run(struct weir_run *run, struct mix_test *t, const bool *in, int with,
                struct weir_err *err)
{
    struct mix_side s = { .t = t, .run = run, .in = in, .with = with,
                          .end = with == MIX_ALONE ? MIX_END_ALL : t->end };
    int rc = begin(&s, err);

    if (rc == 0) {
        weir_interrupt_hold(&run->interrupt);
        weir_phase_renew_clock(run);
        write_heading(&s);
        for (bool runs = s.active && wait_turn(&s); runs; runs = runs_again(&s))
            run_job(&s);
        wait_for_all(&s);
        mix_side_warn(&s);
        rc = mix_side_judge(&s, err);
    }
    if (rc == 0 && s.is_leader)
        keep_times(&s);
    if (rc == 0)
        rc = mix_side_gather(&s, err);
    free(s.numbers.mine);
    weir_worklog_free(&s.series);
    free(s.results);
    weir_str_free(&s.messages);
    weir_str_free(&s.phases);
    return rc;
}
