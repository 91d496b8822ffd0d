/* SPDX-License-Identifier: BSD-3-Clause */
/* checks.c - the row of the checks: what each rank measures around a phase and adds to its sums, and
 * the inputs that come of it */
#include "config.h"
#include "engine/check/checks.h"

#include <math.h>

#include "base/clock.h"
#include "base/stats.h"
#include "base/steady.h"
#include "engine/observe/all.h"
#include "engine/pace.h"
#include "engine/phase.h"
#include "engine/place/pagecache.h"

static enum weir_moves moves_of(const struct weir_stage *s)
{
    return (enum weir_moves)((s->flags & WEIR_STAGE_READS ? WEIR_MOVES_IN : 0) |
                             (s->flags & WEIR_STAGE_WRITES ? WEIR_MOVES_OUT : 0));
}

static bool is_measured(const struct weir_run *run, const struct weir_stage *s)
{
    return weir_checks_of(run)->inputs && s->phase && !(s->flags & WEIR_STAGE_UNTIMED);
}

static int check(const struct weir_run_options *o, struct weir_files *files,
                 struct weir_err *err)
{
    struct weir_limits limits;

    (void)files;
    return weir_limits_parse(&limits, o->limits, err);
}

/* The tables of --findings, after the summaries. A line has its own break. */
static void summary(struct weir_run *run, void *state)
{
    struct weir_str *text = &((struct weir_checks *)state)->tables;

    if (text->len > 0)
        weir_report_line(&run->report, "%.*s", (int)text->len - 1, text->text);
    weir_report_free(&run->report, text);
}

/* ---- a phase ---- */

static int before(struct weir_run *run, void *state, struct weir_phase_rec *rec,
                  struct weir_err *err)
{
    struct weir_checks *t = state;
    uint64_t begin_ns = weir_now_ns();
    bool reads;

    (void)err;
    t->stage = NULL; /* the last phase may have failed */
    if (!rec->stage || !is_measured(run, rec->stage))
        return 0;
    reads = moves_of(rec->stage) & WEIR_MOVES_IN;
    if (reads)
        weir_pagecache_sample(run, rec->stage, &t->cache, &t->cache_why);
    t->resident_before = reads && !t->cache_why ? t->cache.resident : 0;
    t->dirty_before = reads && !t->cache_why ? t->cache.dirty : 0;
    weir_others_before(run);
    t->stage = run->test->plan.options->dry_run ? NULL : rec->stage;
    t->spent_ns += weir_now_ns() - begin_ns;
    return 0;
}

/* The preparation of a phase is no part of its use of the processor. */
static void start(struct weir_run *run, void *state, const struct weir_phase_rec *rec)
{
    struct weir_checks *t = state;

    (void)run;
    (void)rec;
    if (t->stage)
        weir_machine_use(&t->before, moves_of(t->stage) != WEIR_MOVES_NOTHING);
}

/* ---- the sums of a phase ---- */

/* In which part of the phase has this rank done its work? */
static int part_of(const struct weir_run *run, const struct weir_phase_rec *rec)
{
    int64_t end = weir_clock_common(&run->clock, rec->mark[WEIR_MARK_WORKED]);
    double span = (double)(rec->last[WEIR_MARK_WORKED] - rec->first[WEIR_MARK_WORK]);
    double done = (double)(end - rec->first[WEIR_MARK_WORK]);
    double part = span > 0 ? WEIR_CHECKS_PARTS * done / span : 0;

    return part < 0 ? 0 : part < WEIR_CHECKS_PARTS ? (int)part : WEIR_CHECKS_PARTS - 1;
}

static void add_sessions(const struct weir_test *t, struct weir_checks_sums *s)
{
    for (int i = 0; i < t->sessions; i++) {
        const struct weir_session_stats *stats = t->session[i]->stats;

        if (!stats) /* a session of other ranks */
            continue;
        s->retries += stats->short_transfers + stats->retries;
        s->sync_ns += stats->hist[WEIR_OP_SYNC].sum_ns;
        s->syncs += stats->hist[WEIR_OP_SYNC].n;
    }
}

/* Bytes; 0 where they are not known, and *unknown is 1 then. */
static uint64_t known_bytes(double bytes, uint64_t *unknown)
{
    *unknown = isnan(bytes);
    return *unknown ? 0 : (uint64_t)bytes;
}

static void add_cache(const struct weir_checks *t, struct weir_checks_sums *s)
{
    uint64_t unknown;

    s->looked = (uint64_t)t->cache.looked;
    s->size = (uint64_t)t->cache.size;
    s->allocated = (uint64_t)t->cache.allocated;
    s->lookers = s->looked > 0;
    s->resident = (uint64_t)t->cache.resident;
    s->dirty = known_bytes(t->cache.dirty, &s->dirty_unknown);
    s->written = known_bytes(t->cache.written, &s->written_unknown);
    s->compressed = (uint64_t)t->cache.compressed;
    s->before = (uint64_t)t->resident_before;
    s->dirty_before = known_bytes(t->dirty_before, &unknown);
    s->dirty_unknown |= unknown;
    s->cache_unknown = t->cache_why != NULL;
    s->cache_hidden = t->cache.hides != NULL;
}

/* Of this rank: opening and closing. */
static uint64_t ends_of(const struct weir_phase_rec *rec)
{
    return (rec->mark[WEIR_MARK_OPENED] - rec->mark[WEIR_MARK_OPEN]) +
           (rec->mark[WEIR_MARK_CLOSED] - rec->mark[WEIR_MARK_CLOSE]);
}

/* Waiting until an operation is due is no work. */
static uint64_t own_use(const struct weir_run *run, uint64_t user_ns)
{
    uint64_t spun_ns = run->pace ? run->pace->spun_ns : 0;

    return user_ns > spun_ns ? user_ns - spun_ns : 0;
}

static void add(struct weir_run *run, void *state, const struct weir_phase_rec *rec, uint64_t *sum)
{
    struct weir_checks *t = state;
    struct weir_checks_sums *s = (struct weir_checks_sums *)sum;
    uint64_t begin_ns = weir_now_ns();
    struct weir_machine_use now;
    enum weir_moves moves;

    if (!t->stage) /* nothing is judged, or a phase of no stage */
        return;
    moves = moves_of(t->stage);
    if ((moves & WEIR_MOVES_OUT) || t->inputs->direct == 1)
        weir_pagecache_sample(run, t->stage, &t->cache, &t->cache_why);
    weir_machine_use(&now, moves != WEIR_MOVES_NOTHING);
    s->user_ns = own_use(run, now.user_ns - t->before.user_ns);
    s->io_unknown = !now.io_known || !t->before.io_known;
    s->reached = (moves & WEIR_MOVES_IN ? now.read - t->before.read : 0) +
                 (moves & WEIR_MOVES_OUT ? now.written - t->before.written : 0);
    if (moves != WEIR_MOVES_NOTHING)
        weir_others_add(run, &now, moves, s);
    s->ends_ns = ends_of(rec);
    add_sessions(run->test, s);
    weir_service_add(run->test, s);
    add_cache(t, s);
    s->ended[part_of(run, rec)] = 1;
    t->spent_ns += weir_now_ns() - begin_ns;
}

/* ---- the inputs of a phase ---- */

/* User time is taken in ticks of the kernel: a phase needs many of them. */
#define CPU_LEAST_S 0.1

#define LEAST_ROOM 0.05 /* of the bytes: that were not in the page cache, to judge what comes in */

/* How much of the phase is after 9 of 10 tasks were done? */
static double tail_of(const struct weir_checks_sums *s, int tasks)
{
    uint64_t most = (uint64_t)tasks * 9 / 10, done = 0;

    for (int i = 0; i < WEIR_CHECKS_PARTS; i++)
        if ((done += s->ended[i]) >= (most > 0 ? most : 1))
            return 1 - (i + 1) / (double)WEIR_CHECKS_PARTS;
    return 0;
}

#define MOST(field, value) (p->field = fmax(p->field, (value)))
#define LEAST(field, value) (p->field = fmin(p->field, (value)))

/* Bytes that were in the page cache for the reads of a phase. One that writes, too, was looked at again. */
static double found_cached(const struct weir_checks_sums *s, enum weir_moves moves)
{
    return (double)(moves == WEIR_MOVES_BOTH ? s->before : s->resident);
}

/* Notes the facts of the phase that programs get, too. */
static void note_seen(const struct weir_checks_sums *s, struct weir_phase_rec *rec)
{
    if (s->looked == 0 || s->cache_unknown > 0)
        return;
    rec->cache_looked = (double)s->looked;
    rec->cache_resident = found_cached(s, moves_of(rec->stage));
    rec->cache_dirty = s->dirty_unknown ? NAN : (double)s->dirty;
}

/* The number of blocks is that of a file that was flushed; a file of another size is one of another
 * run. */
static void note_files(const struct weir_checks_sums *s, struct weir_inputs *f, enum weir_moves moves)
{
    bool reads = moves == WEIR_MOVES_IN;

    if (s->size == 0)
        return;
    if (f->durable == 1 || (reads && !weir_inputs_have(f, WEIR_MOVES_OUT)))
        f->allocated = fmin(f->allocated, (double)s->allocated / (double)s->size);
    if ((f->durable == 1 || reads) && s->written_unknown == 0)
        f->written = fmin(f->written, (double)s->written / (double)s->looked);
    f->compressed = fmax(f->compressed, (double)s->compressed / (double)s->looked);
    if ((moves & WEIR_MOVES_IN) && !isnan(f->file_bytes))
        f->foreign = (double)s->size != (double)s->lookers * f->file_bytes;
}

/* The bytes that a phase with direct I/O has brought into the page cache. A write drops what was
 * there, a read leaves it: of a file that was there already nothing can be said. */
static void note_direct(const struct weir_checks_sums *s, struct weir_inputs *f,
                        struct weir_inputs_phase *p)
{
    double before = p->moves & WEIR_MOVES_IN ? (double)s->before : 0;
    double room = (double)s->looked - before;

    if (room > LEAST_ROOM * (double)s->looked)
        MOST(left, fmax(0, ((double)s->resident - before) / room));
    else
        f->cache_why = "the files were in the page cache before they were read";
}

/* The share of what was written that is dirty. A mixed phase writes a part of what is looked at; what was
 * dirty before it cannot be told apart. NaN: not known. */
static double dirty_share(const struct weir_phase_rec *rec, const struct weir_checks_sums *s,
                          const struct weir_inputs *f, enum weir_moves moves)
{
    double looked = (double)s->looked, part;

    if (s->dirty_unknown > 0)
        return NAN;
    if (moves == WEIR_MOVES_OUT || s->dirty == 0)
        return (double)s->dirty / looked;
    part = (double)rec->half[WEIR_DIR_WRITE].bytes_sum / f->planned_bytes;
    if ((double)s->dirty_before > LEAST_ROOM * looked || !(part > 0))
        return NAN;
    return fmin(1, (double)s->dirty / (looked * fmin(1, part)));
}

/* The share of what was read that was in the page cache before. Further passes read again what came into it
 * in the first one: where little was there before, the share is not known. */
static void note_cached(const struct weir_phase_rec *rec, const struct weir_checks_sums *s,
                        struct weir_inputs *f, struct weir_inputs_phase *p)
{
    double share = found_cached(s, p->moves) / (double)s->looked;

    if (weir_checks_repeats(rec, f) && share <= LEAST_ROOM)
        f->cache_why = "passes after the first one read again what was moved before";
    else
        MOST(cached, share);
}

/* A rank that has nothing to do in the phase knows nothing, which is no gap. */
static void note_cache(const struct weir_run *run, const struct weir_phase_rec *rec,
                       const struct weir_checks_sums *s, struct weir_inputs *f,
                       struct weir_inputs_phase *p)
{
    if (f->objects)
        return;
    if (s->looked == 0 || s->cache_unknown > 0) {
        f->cache_why = weir_checks_of(run)->cache_why ? weir_checks_of(run)->cache_why
                                            : "some ranks could not look at their files";
        p->unseen |= s->cache_unknown > 0 && run->test->program->judged->range;
        return;
    }
    note_files(s, f, p->moves);
    if (s->cache_hidden > 0)
        f->cache_hides = weir_checks_of(run)->cache.hides ? weir_checks_of(run)->cache.hides
                                                : "some ranks have files that other caches hold";
    if (f->direct == 1)
        note_direct(s, f, p);
    else if (p->moves & WEIR_MOVES_IN)
        note_cached(rec, s, f, p);
    if (p->moves & WEIR_MOVES_OUT)
        MOST(dirty, dirty_share(rec, s, f, p->moves));
}

/* From the sums of --interval, which rank 0 has now. */
static double unsteady_of(const struct weir_run *run, double seconds, bool moves)
{
    const struct weir_intervals *s = run->records.intervals;

    if (!s || s->used == 0)
        return NAN;
    return weir_series_unsteady(moves ? s->bytes : s->ops, s->used, (double)s->width_ns / 1e9,
                                fmax(seconds, (s->used - 0.5) * (double)s->width_ns / 1e9));
}

static void note_steady(const struct weir_steady_verdict *v, struct weir_inputs_phase *p)
{
    double past = weir_steady_past(v);

    if (past <= p->past_steady)
        return;
    p->past_steady = past;
    weir_steady_why(v, p->steadiness);
}

static void note_rate(const struct weir_phase_rec *rec, struct weir_inputs_phase *p)
{
    double missed = 1 - rec->rate_reached / rec->rate_asked;

    if (isnan(missed) || p->rate_missed >= missed)
        return;
    p->rate_missed = fmax(0, missed);
    p->rate_asked = rec->rate_asked;
    p->rate_late = rec->late_share;
    p->rate_bytes = rec->rate_bytes;
}

/* How much of its time a phase of data was in open, close and sync, of which those of tasks may overlap. */
static double ends_share(const struct weir_phase_rec *rec, const struct weir_checks_sums *s, double tasks)
{
    double total = weir_phase_span(rec, WEIR_MARK_OPEN, WEIR_MARK_CLOSED);
    double ends = fmax(total - weir_phase_span(rec, WEIR_MARK_WORK, WEIR_MARK_WORKED), (double)s->ends_ns / tasks / 1e9);

    return fmin(1, (ends + (double)s->sync_ns / tasks / 1e9) / total);
}

static void note_phase(const struct weir_run *run, const struct weir_phase_rec *rec,
                       const struct weir_checks_sums *s, struct weir_inputs *f,
                       struct weir_inputs_phase *p)
{
    double total = weir_phase_span(rec, WEIR_MARK_OPEN, WEIR_MARK_CLOSED), tasks = run->par.size;
    double work = weir_phase_span(rec, WEIR_MARK_WORK, WEIR_MARK_WORKED);
    bool moves = p->moves != WEIR_MOVES_NOTHING;
    double rate = (double)(moves ? rec->bytes_sum : rec->done_sum) / total;

    p->n++;
    LEAST(shortest_s, total);
    MOST(bytes, (double)rec->bytes_sum);
    LEAST(busy_s, (double)rec->busy_ns_sum / tasks / 1e9);
    MOST(tail, tail_of(s, run->par.size));
    if (total >= CPU_LEAST_S)
        MOST(cpu, (double)s->user_ns / tasks / 1e9 / total);
    MOST(unsteady, unsteady_of(run, work, moves));
    MOST(data, (double)(rec->fill_ns_sum + rec->verify_ns_sum) / tasks / 1e9 / work);
    if (run->par.size > 1)
        MOST(clock, (double)rec->clock_error_ns / 1e9 / total);
    if (rec->steady)
        note_steady(rec->steady, p);
    note_rate(rec, p);
    weir_service_note(s, f);
    f->retries = (isnan(f->retries) ? 0 : f->retries) + (double)s->retries;
    if (p->nrates < WEIR_INPUTS_RATES)
        p->rates[p->nrates++] = rate;
    if (!moves)
        return;
    note_cache(run, rec, s, f, p);
    MOST(rate, rate);
    MOST(ends, ends_share(rec, s, tasks));
}

/* All ranks have measured the phase; a dry run means to do it. */
static void collect(struct weir_run *run, struct weir_phase_rec *rec, enum weir_moves moves)
{
    const struct weir_checks_sums *s = (const struct weir_checks_sums *)rec->sum;
    const struct weir_stage *stage = rec->stage;
    struct weir_inputs *f = weir_checks_of(run)->inputs;
    struct weir_inputs_phase *p;

    if (run->test->plan.options->dry_run) {
        weir_checks_expect(run, rec, moves);
        return;
    }
    weir_stragglers_note(run, rec, stage->key);
    for (int i = 0; i < run->test->sessions; i++)
        weir_checks_applied(run, run->test->session[i], NULL);
    if (run->par.rank != 0 || rec->steps_sum == 0)
        return;
    f->evicted = run->test->evicted;
    note_seen(s, rec);
    if (!(p = weir_inputs_phase_of(f, stage->key)))
        return;
    p->moves = moves;
    p->makes = stage->flags & WEIR_STAGE_MAKES;
    p->once = stage->flags & (WEIR_STAGE_FIRST | WEIR_STAGE_LAST);
    note_phase(run, rec, s, f, p);
    weir_others_note(run, rec, f, p);
}

static enum weir_moves moved_by(const struct weir_phase_rec *rec)
{
    return rec->stage->flags & WEIR_STAGE_CHECKS ? WEIR_MOVES_IN : moves_of(rec->stage);
}

static double bytes_read(const struct weir_phase_rec *rec)
{
    return (double)(moves_of(rec->stage) == WEIR_MOVES_BOTH ? rec->half[WEIR_DIR_READ].bytes_sum : rec->bytes_sum);
}

static int after(struct weir_run *run, void *state, struct weir_phase_rec *rec,
                 struct weir_err *err)
{
    struct weir_checks *t = state;
    uint64_t begin_ns = weir_now_ns();

    (void)err;
    t->stage = NULL;
    if (rec->failed || !rec->stage)
        return 0;
    if (t->inputs && run->par.rank == 0)
        weir_service_note_data(rec, moved_by(rec), bytes_read(rec), t->inputs);
    if (is_measured(run, rec->stage))
        collect(run, rec, moves_of(rec->stage));
    if (t->inputs && run->par.rank == 0)
        weir_verdict_for_rows(run);
    t->spent_ns += weir_now_ns() - begin_ns;
    return 0;
}

const struct weir_observer weir_checks = {
    .name = "checks",
    .state_size = sizeof(struct weir_checks),
    .maxima = 1,
    .sums = sizeof(struct weir_checks_sums) / sizeof(uint64_t),
    .help = weir_checks_help,
    .check = check,
    .run_begin = weir_checks_run_begin,
    .summary = summary,
    .test_start = weir_checks_test_start,
    .test_end = weir_checks_test_end,
    .before = before,
    .start = start,
    .most = weir_others_most,
    .add = add,
    .after = after,
};
