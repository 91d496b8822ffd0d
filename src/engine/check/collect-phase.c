/* SPDX-License-Identifier: BSD-3-Clause */
/* collect-phase.c - the inputs of a phase, by the sums of all ranks */
#include "engine/check/parts.h"

#include <math.h>

#include "base/stats.h"
#include "base/steady.h"
#include "engine/phase.h"

/* User time is taken in ticks of the kernel: a phase needs many of them. */
#define CPU_LEAST_S 0.1

#define UNCACHED_MIN 0.05 /* of the bytes were not in the page cache: enough to judge a phase */

/* Return the fraction of the phase after 9 of 10 tasks were done. */
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

void weir_collect_seen(struct weir_cached *cached, struct weir_phase_rec *rec)
{
    const struct weir_checks_sums *s = (const struct weir_checks_sums *)rec->sums;

    if (s->looked == 0 || s->cache_unknown > 0)
        return;
    cached->looked = (double)s->looked;
    cached->resident = found_cached(s, weir_stage_moves(rec->stage));
    cached->dirty = s->dirty_unknown ? NAN : (double)s->dirty;
    rec->cached = cached;
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
    double uncached = (double)s->looked - before;

    if (uncached > UNCACHED_MIN * (double)s->looked)
        MOST(left, fmax(0, ((double)s->resident - before) / uncached));
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
    part = (double)rec->sum.by_dir[WEIR_DIR_WRITE].bytes / f->planned_bytes;
    if ((double)s->dirty_before > UNCACHED_MIN * looked || !(part > 0))
        return NAN;
    return fmin(1, (double)s->dirty / (looked * fmin(1, part)));
}

/* The share of what was read that was in the page cache before. Further passes read again what came into it
 * in the first one: where little was there before, the share is not known. */
static void note_cached(const struct weir_phase_rec *rec, const struct weir_checks_sums *s,
                        struct weir_inputs *f, struct weir_inputs_phase *p)
{
    double share = found_cached(s, p->moves) / (double)s->looked;

    if (weir_checks_repeats(rec, f) && share <= UNCACHED_MIN)
        f->cache_why = "passes after the first one read again what was moved before";
    else
        MOST(cached, share);
}

/* A rank that has nothing to do in the phase knows nothing, which is no gap. */
static void note_cache(const struct weir_run *run, const struct weir_phase_rec *rec,
                       const struct weir_cache_stat *own, struct weir_inputs *f,
                       struct weir_inputs_phase *p)
{
    const struct weir_checks_sums *s = (const struct weir_checks_sums *)rec->sums;

    if (f->objects || f->intercepted)
        return;
    if (s->looked == 0 || s->cache_unknown > 0) {
        f->cache_why = own->why ? own->why : "some ranks could not look at their files";
        p->unseen |= s->cache_unknown > 0 && run->test->program->checks->range;
        return;
    }
    note_files(s, f, p->moves);
    if (s->cache_hidden > 0)
        f->cache_hides = own->seen.hides ? own->seen.hides
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

#define FAR 9.99 /* also where there is no criterion */

/* The worst criterion over its limit: above 1 the phase is not steady. */
static void note_steady(const struct weir_steady_verdict *v, struct weir_inputs_phase *p)
{
    double past = v->worst ? fmin(v->value / v->limit, FAR) : FAR;

    if (past <= p->past_steady)
        return;
    p->past_steady = past;
    weir_steady_why(v, p->steadiness);
}

static void note_rate(const struct weir_phase_rec *rec, struct weir_inputs_phase *p)
{
    const struct weir_rate_reached *r = rec->rate;
    double missed = r ? 1 - r->reached / r->asked : NAN;

    if (isnan(missed) || p->rate_missed >= missed)
        return;
    p->rate_missed = fmax(0, missed);
    p->at = *r;
}

/* Return the fraction of its time that a phase of data was in open, close and sync (may overlap). */
static double ends_share(const struct weir_phase_rec *rec, const struct weir_checks_sums *s, double tasks)
{
    double total = weir_phase_span(rec, WEIR_MARK_OPEN, WEIR_MARK_CLOSED);
    double ends = fmax(total - weir_phase_span(rec, WEIR_MARK_WORK, WEIR_MARK_WORKED), (double)s->ends_ns / tasks / 1e9);

    return fmin(1, (ends + (double)s->sync_ns / tasks / 1e9) / total);
}

void weir_collect_phase(const struct weir_run *run, const struct weir_phase_rec *rec,
                        const struct weir_cache_stat *own, struct weir_inputs *f,
                        struct weir_inputs_phase *p)
{
    const struct weir_checks_sums *s = (const struct weir_checks_sums *)rec->sums;
    double total = weir_phase_span(rec, WEIR_MARK_OPEN, WEIR_MARK_CLOSED), tasks = run->par.size;
    double work = weir_phase_span(rec, WEIR_MARK_WORK, WEIR_MARK_WORKED);
    bool moves = p->moves != WEIR_MOVES_NOTHING;
    double rate = (double)(moves ? rec->sum.bytes : rec->sum.done) / total;

    p->n++;
    LEAST(shortest_s, total);
    MOST(bytes, (double)rec->sum.bytes);
    LEAST(busy_s, (double)rec->sum.work_ns / tasks / 1e9);
    MOST(tail, tail_of(s, run->par.size));
    if (total >= CPU_LEAST_S)
        MOST(cpu, (double)s->user_ns / tasks / 1e9 / total);
    MOST(unsteady, unsteady_of(run, work, moves));
    MOST(data, (double)(rec->sum.fill_ns + rec->sum.verify_ns) / tasks / 1e9 / work);
    if (run->par.size > 1)
        MOST(clock, (double)rec->clock_error_ns / 1e9 / total);
    if (rec->steady)
        note_steady(rec->steady, p);
    note_rate(rec, p);
    f->service.sent += (double)s->sent;
    f->service.refused += (double)s->refused;
    f->service.lost += (double)s->lost;
    if (s->stored > 0 && p->moves == WEIR_MOVES_OUT) {
        f->stored = (double)s->stored;
        f->filtered = f->stored / fmin((double)rec->sum.bytes, f->planned_bytes); /* of one pass */
    }
    f->retries = (isnan(f->retries) ? 0 : f->retries) + (double)s->retries;
    if (p->nrates < WEIR_INPUTS_RATES)
        p->rates[p->nrates++] =
            f->by_slowest && rec->min.rate < INT64_MAX ? (double)rec->min.rate : rate;
    if (!moves)
        return;
    note_cache(run, rec, own, f, p);
    MOST(rate, rate);
    MOST(ends, ends_share(rec, s, tasks));
}

/* Objects that are written have not been read. */
void weir_collect_objects(const struct weir_phase_rec *rec, struct weir_inputs *f)
{
    struct weir_inputs_service *v = &f->service;
    enum weir_moves moves = weir_stage_moves(rec->stage);
    double all = f->planned_bytes;
    double bytes = (double)(moves == WEIR_MOVES_BOTH ? rec->sum.by_dir[WEIR_DIR_READ].bytes
                                                     : rec->sum.bytes);

    if (rec->stage->flags & WEIR_STAGE_CHECKS)
        moves = WEIR_MOVES_IN;
    if (!f->objects || moves == WEIR_MOVES_NOTHING)
        return;
    if (moves & WEIR_MOVES_OUT) {
        v->written = true;
        v->read_since = 0;
    }
    if (!(moves & WEIR_MOVES_IN) || bytes <= 0)
        return;
    v->working_set = fmax(v->working_set, all > 0 ? fmin(bytes, all) : bytes);
    v->read_since += bytes;
    if (all > 0)
        v->reread = fmax(v->reread, v->read_since / all);
    if (rec->sum.verify_ns > 0 && v->written && v->of_others == 1)
        v->stale = (isnan(v->stale) ? 0 : v->stale) + (double)weir_phase_wrong(rec);
}
