/* SPDX-License-Identifier: BSD-3-Clause */
/* stages.c - the stages of a test, in each of its repetitions */
#include "engine/test.h"

#include "base/clock.h"
#include "engine/observer.h"
#include "engine/phase.h"

/* ---- a stage ---- */

bool weir_stage_wanted(const struct weir_test *t, const struct weir_stage *s)
{
    return !s->wanted || s->wanted(t->state, s);
}

/* The time of rank 0 decides for all, so that no rank enters a phase alone. */
bool weir_stages_time_is_up(struct weir_run *run)
{
    const struct weir_test *t = run->test;
    uint64_t limit_ns = (uint64_t)(t->plan.options->max_minutes * 60 * WEIR_NS_PER_S);
    int64_t up = run->par.rank == 0 && weir_now_ns() - t->begin_ns > limit_ns;

    if (limit_ns == 0)
        return false;
    weir_bcast(&run->par, &up, sizeof(up), 0);
    return up != 0;
}

/* On all ranks, so that a signal to any of them ends it. */
static int wait_before(struct weir_run *run, const struct weir_test *t, struct weir_err *err)
{
    double delay_s = t->plan.options->delay_s;

    if (delay_s <= 0 || t->plan.options->dry_run)
        return 0;
    if (run->log.verbose >= 1)
        weir_report_line(&run->report, "delaying %.15g seconds . . .", delay_s);
    weir_report_flush(&run->report);
    return weir_phase_pause(run, delay_s, err);
}

struct weir_timing weir_stage_timing(const struct weir_test *t, const struct weir_stage *s)
{
    bool together = (s->flags & WEIR_STAGE_TOGETHER) != 0;
    struct weir_timing timing = {
        .barriers = t->plan.options->barriers,
        .collective_steps = together,
        .collective_open = together,
    };

    if (s->timing)
        s->timing(t->state, s, &timing);
    return timing;
}

int weir_stages_subset(const struct weir_test *t, const struct weir_stage **out, int most)
{
    int n = 0;

    for (const struct weir_stage *s = t->program->stages; s && s->key; s++)
        if (s->subset && n < most && weir_stage_wanted(t, s) &&
            (!s->subset->can || s->subset->can(t->state, s)))
            out[n++] = s;
    return n;
}

int weir_stages_again(struct weir_run *run, const struct weir_stage *s,
                      const struct weir_again *again, struct weir_phase_rec *rec,
                      struct weir_err *err)
{
    struct weir_test *t = run->test;
    struct weir_timing timing = weir_stage_timing(t, s);
    struct weir_again limits = { again->turn, again->load,
                                 s->subset->complete ? 0 : again->seconds };
    bool records = run->records.wanted;
    int rc;

    if (s->subset->before &&
        weir_agree_same(run, s->subset->before(run, t->state, s, err), err) < 0)
        return -1;
    run->records.wanted = false; /* files of operations hold those of the phase of all ranks */
    rc = weir_phase_run(run, s, t->state, &timing, &limits, rec, err);
    run->records.wanted = records;
    rec->timing = NULL;
    rec->again = NULL;
    if (rc < 0)
        return -1;
    if (rec->interrupted)
        return weir_phase_interrupted(run, s->phase->key, err);
    if (s->subset->after)
        rc = s->subset->after(run, t->state, s, rec, err);
    t->wrong += weir_phase_wrong(rec);
    return weir_agree_same(run, rc, err);
}

/* Reports a phase where the program has no rows of its own. */
static void report_phase(struct weir_run *run, const struct weir_stage *s,
                         const struct weir_phase_rec *rec)
{
    double seconds = weir_phase_span(rec, WEIR_MARK_OPEN, WEIR_MARK_CLOSED);

    weir_report_line(&run->report, "%-12s %12.2f MiB/s %14.2f ops/s %12.6f s", s->key,
                     (double)rec->sum.bytes / seconds / WEIR_MIB, (double)rec->sum.done / seconds,
                     seconds);
}

/* The program reports a phase, of which observers returned rc. The first error wins. */
static int emit_phase(struct weir_run *run, struct weir_test *t, const struct weir_stage *s,
                      struct weir_phase_rec *rec, int rc, struct weir_err *err)
{
    if (!s->after)
        report_phase(run, s, rec);
    else if (s->after(run, t->state, s, rec, rc < 0 ? weir_run_second(run) : err) < 0)
        rc = -1;
    t->wrong += weir_phase_wrong(rec);
    weir_report_flush(&run->report); /* what is killed later leaves the phase */
    return weir_agree_same(run, rc, err);
}

static int run_phase(struct weir_run *run, struct weir_test *t, const struct weir_stage *s,
                     struct weir_err *err)
{
    struct weir_timing timing = weir_stage_timing(t, s);
    struct weir_phase_rec rec;
    int rc;

    rc = weir_phase_run(run, s, t->state, &timing, NULL, &rec, err);
    if (rec.failed)
        return -1;
    rc = emit_phase(run, t, s, &rec, rc, err);
    if (rc < 0 || !rec.interrupted)
        return rc;
    return weir_phase_interrupted(run, s->key, err);
}

static int run_stage(struct weir_run *run, struct weir_test *t, const struct weir_stage *s,
                     struct weir_err *err)
{
    int rc;

    if (s->flags & WEIR_STAGE_EXTRA)
        return run->repetition == 0 ? weir_observers_extra(run, err) : 0;
    if (!weir_stage_wanted(t, s))
        return 0;
    if (weir_stages_time_is_up(run)) {
        if (s->skipped)
            s->skipped(run, t->state, s);
        return 0;
    }
    if ((s->flags & WEIR_STAGE_DELAY) && wait_before(run, t, err) < 0)
        return -1;
    run->stage = s;
    rc = s->before ? weir_agree_same(run, s->before(run, t->state, s, err), err) : 0;
    if (rc == 0 && s->phase)
        rc = run_phase(run, t, s, err);
    run->stage = NULL;
    return rc;
}

static int run_stages(struct weir_run *run, struct weir_test *t, unsigned when,
                      struct weir_err *err)
{
    const unsigned turns = WEIR_STAGE_FIRST | WEIR_STAGE_LAST;
    const struct weir_stage *s = t->program->stages;
    int rc = 0;

    for (; s && s->key && rc == 0; s++)
        if ((s->flags & turns) == when)
            rc = run_stage(run, t, s, err);
    return rc;
}

/* ---- repetitions ---- */

/* The files that a repetition made are removed after it, also after one that failed. Every phase
 * ends with a reduction, so no rank still has it open. */
static int remove_made(struct weir_run *run, struct weir_test *t, struct weir_err *err)
{
    const struct weir_test_files *m = t->program->files;
    uint64_t begin_ns = weir_now_ns();
    double seconds;

    if (!m || !m->remove || (m->keeps && m->keeps(t->state)))
        return 0;
    if (weir_local(run, m->remove, t->state, err) < 0)
        return -1;
    seconds = (double)(weir_now_ns() - begin_ns) / WEIR_NS_PER_S;
    if (m->removed)
        m->removed(run, t->state, seconds);
    else if (run->repetition == 0)
        weir_report_real(&run->report, WEIR_FOR_DATA, "removeTime", seconds);
    return 0;
}

/* Phases notice signals, but all of them may be skipped. A rank that was interrupted has begun the
 * repetition like the others: what is gathered at the end has the same size on all. */
static int begin_repetition(struct weir_run *run, void *state, struct weir_err *err)
{
    const struct weir_program *p = run->test->program;
    int rc = weir_observers_repetition(run, err);

    if (p->repetition && p->repetition(run, state, rc < 0 ? NULL : err) < 0)
        rc = -1;
    if (rc == 0 && weir_interrupt_poll(&run->interrupt))
        rc = weir_refuse(err, WEIR_EINTR, "interrupted before repetition %d", run->repetition);
    return rc;
}

static int run_repetition(struct weir_run *run, struct weir_test *t, struct weir_err *err)
{
    int rc = weir_local(run, begin_repetition, t->state, err);

    if (rc == 0)
        rc = run_stages(run, t, 0, err);
    if (remove_made(run, t, rc < 0 ? weir_run_second(run) : err) < 0)
        rc = -1; /* the first error wins */
    return rc;
}

/* Repetitions without any stage are not run. */
static bool has_stages(const struct weir_test *t)
{
    const unsigned others = WEIR_STAGE_FIRST | WEIR_STAGE_LAST | WEIR_STAGE_EXTRA;

    for (const struct weir_stage *s = t->program->stages; s && s->key; s++)
        if (!(s->flags & others) && weir_stage_wanted(t, s))
            return true;
    return false;
}

int weir_stages_run(struct weir_run *run, struct weir_test *t, struct weir_err *err)
{
    int n = has_stages(t) ? t->max_repetitions : 0, rc;
    bool enough = false;

    run->repetition = 0;
    rc = run_stages(run, t, WEIR_STAGE_FIRST, err);
    while (rc == 0 && run->repetition < n && !enough) {
        rc = run_repetition(run, t, err);
        run->repetition += rc == 0;
        enough = rc == 0 && run->repetition < n && weir_observers_enough(run);
    }
    if (enough)
        t->done = run->repetition;
    return rc < 0 ? rc : run_stages(run, t, WEIR_STAGE_LAST, err);
}
