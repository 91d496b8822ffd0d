/* SPDX-License-Identifier: BSD-3-Clause */
/* collect-phase.c - the inputs of a phase, gathered after it */
#include "config.h"
#include "engine/check/checks.h"

#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "engine/check/series.h"
#include "engine/phase.h"
#include "engine/program.h"
#include "par/agree.h"

/* User time is taken in ticks of the kernel: a phase needs many of them. */
#define CPU_LEAST_S 0.1

#define LEAST_ROOM 0.05 /* of the bytes: that were not in the page cache, to judge what comes in */

void weir_checks_applied(struct weir_run *run, struct weir_session *s, struct weir_file *f)
{
    struct weir_applied applied = { .independent = -1, .other_layout = -1 };
    const struct weir_checks *t = weir_checks_of(run);
    struct weir_inputs *inputs = t ? t->inputs : NULL;

    if (!inputs || !s->be || !s->be->applied || !s->started || s->access.dry_run)
        return;
    s->be->applied(s, f, &applied);
    if (s->access.collective && applied.independent > inputs->independent)
        inputs->independent = applied.independent;
    if (applied.other_layout > inputs->other_layout)
        inputs->other_layout = applied.other_layout;
}

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

/* Notes the facts of the phase that programs get, too. */
static void note_seen(const struct weir_checks_sums *s, struct weir_phase_rec *rec)
{
    if (s->looked == 0 || s->cache_unknown > 0)
        return;
    rec->cache_looked = (double)s->looked;
    rec->cache_resident = (double)s->resident;
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
    if (reads && !isnan(f->file_bytes))
        f->foreign = (double)s->size != (double)s->lookers * f->file_bytes;
}

/* The bytes that a phase with direct I/O has brought into the page cache. A write drops what was
 * there, a read leaves it: of a file that was there already nothing can be said. */
static void note_direct(const struct weir_checks_sums *s, struct weir_inputs *f,
                        struct weir_inputs_phase *p)
{
    double before = p->moves == WEIR_MOVES_IN ? (double)s->before : 0;
    double room = (double)s->looked - before;

    if (room > LEAST_ROOM * (double)s->looked)
        MOST(left, fmax(0, ((double)s->resident - before) / room));
    else
        f->cache_why = "the files were in the page cache before they were read";
}

/* A rank that has nothing to do in the phase knows nothing, which is no gap. */
static void note_cache(const struct weir_run *run, const struct weir_checks_sums *s,
                       struct weir_inputs *f, struct weir_inputs_phase *p)
{
    double looked = (double)s->looked;

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
    else if (p->moves == WEIR_MOVES_IN)
        MOST(cached, (double)s->resident / looked);
    if (p->moves == WEIR_MOVES_OUT && s->dirty_unknown == 0)
        MOST(dirty, (double)s->dirty / looked);
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

static void note_phase(const struct weir_run *run, const struct weir_phase_rec *rec,
                       const struct weir_checks_sums *s, struct weir_inputs *f,
                       struct weir_inputs_phase *p)
{
    double total = weir_phase_span(rec, WEIR_MARK_OPEN, WEIR_MARK_CLOSED), tasks = run->par.size;
    double work = weir_phase_span(rec, WEIR_MARK_WORK, WEIR_MARK_WORKED);
    bool moves = p->moves != WEIR_MOVES_NOTHING;
    double ends = fmax(total - work, (double)s->ends_ns / tasks / 1e9); /* tasks may overlap */
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
    f->retries = (isnan(f->retries) ? 0 : f->retries) + (double)s->retries;
    if (p->nrates < WEIR_INPUTS_RATES)
        p->rates[p->nrates++] = rate;
    if (!moves)
        return;
    note_cache(run, s, f, p);
    MOST(rate, rate);
    MOST(ends, fmin(1, (ends + (double)s->sync_ns / tasks / 1e9) / total));
}

/* The share of a read that will come from memory. NaN: not known before. */
static double expect_cached(const struct weir_run_options *o, const struct weir_inputs *f)
{
    bool stays = f->direct == 0 && !o->drop_cache && f->stores == 1 &&
                 f->planned_bytes / f->nodes < f->memory;

    return stays && weir_inputs_have(f, WEIR_MOVES_OUT) ? f->own_node : NAN;
}

/* A dry run measures nothing: what is known is what was meant. */
static void note_plan(const struct weir_run *run, const char *key, enum weir_moves moves,
                      struct weir_inputs *f)
{
    struct weir_inputs_phase *p = weir_inputs_phase_of(f, key);
    double bytes = f->planned_bytes, rate = (double)run->test->plan.options->assume_rate;

    if (!p || moves == WEIR_MOVES_NOTHING)
        return;
    f->planned = true;
    p->moves = moves;
    p->n++;
    MOST(bytes, bytes);
    if (rate > 0)
        LEAST(shortest_s, bytes / rate);
    if (p->moves == WEIR_MOVES_IN)
        MOST(cached, expect_cached(run->test->plan.options, f));
}

void weir_collect_phase(struct weir_run *run, struct weir_phase_rec *rec, enum weir_moves moves)
{
    const struct weir_checks_sums *s = (const struct weir_checks_sums *)rec->sum;
    const struct weir_stage *stage = rec->stage;
    struct weir_inputs *f = weir_checks_of(run)->inputs;
    struct weir_inputs_phase *p;

    if (run->test->plan.options->dry_run) {
        note_plan(run, stage->key, moves, f);
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
