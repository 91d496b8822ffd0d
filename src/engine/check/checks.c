/* SPDX-License-Identifier: BSD-3-Clause */
/* checks.c - the row of the checks: what each rank measures around a phase, and adds to its sums */
#include "config.h"
#include "engine/check/checks.h"

#include <math.h>

#include "base/clock.h"
#include "engine/observe/all.h"
#include "engine/place/pagecache.h"

static enum weir_moves moves_of(const struct weir_stage *s)
{
    return s->flags & WEIR_STAGE_WRITES  ? WEIR_MOVES_OUT
           : s->flags & WEIR_STAGE_READS ? WEIR_MOVES_IN
                                         : WEIR_MOVES_NOTHING;
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
    struct weir_checks *t = weir_checks_of(run);
    uint64_t begin_ns = weir_now_ns();
    bool reads;

    (void)state;
    (void)err;
    t->stage = NULL; /* the last phase may have failed */
    if (!rec->stage || !is_measured(run, rec->stage))
        return 0;
    reads = moves_of(rec->stage) == WEIR_MOVES_IN;
    if (reads)
        weir_pagecache_look(run, rec->stage, &t->cache, &t->cache_why);
    t->resident_before = reads && !t->cache_why ? t->cache.resident : 0;
    weir_others_before(run);
    t->stage = run->test->plan.options->dry_run ? NULL : rec->stage;
    t->spent_ns += weir_now_ns() - begin_ns;
    return 0;
}

/* The preparation of a phase is no part of its use of the processor. */
static void start(struct weir_run *run, void *state, const struct weir_phase_rec *rec)
{
    (void)state;
    (void)rec;
    if (weir_checks_of(run)->stage)
        weir_machine_use(&weir_checks_of(run)->before, moves_of(weir_checks_of(run)->stage) != WEIR_MOVES_NOTHING);
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
    s->looked = (uint64_t)t->cache.looked;
    s->size = (uint64_t)t->cache.size;
    s->allocated = (uint64_t)t->cache.allocated;
    s->lookers = s->looked > 0;
    s->resident = (uint64_t)t->cache.resident;
    s->dirty = known_bytes(t->cache.dirty, &s->dirty_unknown);
    s->written = known_bytes(t->cache.written, &s->written_unknown);
    s->compressed = (uint64_t)t->cache.compressed;
    s->before = (uint64_t)t->resident_before;
    s->cache_unknown = t->cache_why != NULL;
    s->cache_hidden = t->cache.hides != NULL;
}

/* Of this rank: opening and closing. */
static uint64_t ends_of(const struct weir_phase_rec *rec)
{
    return (rec->mark[WEIR_MARK_OPENED] - rec->mark[WEIR_MARK_OPEN]) +
           (rec->mark[WEIR_MARK_CLOSED] - rec->mark[WEIR_MARK_CLOSE]);
}

static void add(struct weir_run *run, void *state, const struct weir_phase_rec *rec, uint64_t *sum)
{
    struct weir_checks *t = weir_checks_of(run);
    struct weir_checks_sums *s = (struct weir_checks_sums *)sum;
    uint64_t begin_ns = weir_now_ns();
    struct weir_machine_use now;
    enum weir_moves moves;

    (void)state;
    if (!t->stage) /* nothing is judged, or a phase of no stage */
        return;
    moves = moves_of(t->stage);
    if (moves == WEIR_MOVES_OUT || t->inputs->direct == 1)
        weir_pagecache_look(run, t->stage, &t->cache, &t->cache_why);
    weir_machine_use(&now, moves != WEIR_MOVES_NOTHING);
    s->user_ns = now.user_ns - t->before.user_ns;
    s->io_unknown = !now.io_known || !t->before.io_known;
    s->reached = moves == WEIR_MOVES_IN ? now.read - t->before.read : now.written - t->before.written;
    if (moves != WEIR_MOVES_NOTHING)
        weir_others_add(run, &now, moves == WEIR_MOVES_IN, s);
    s->ends_ns = ends_of(rec);
    add_sessions(run->test, s);
    add_cache(t, s);
    s->ended[part_of(run, rec)] = 1;
    t->spent_ns += weir_now_ns() - begin_ns;
}

static int after(struct weir_run *run, void *state, struct weir_phase_rec *rec,
                 struct weir_err *err)
{
    uint64_t begin_ns = weir_now_ns();

    (void)state;
    (void)err;
    weir_checks_of(run)->stage = NULL;
    if (rec->failed || !rec->stage)
        return 0;
    if (is_measured(run, rec->stage))
        weir_collect_phase(run, rec, moves_of(rec->stage));
    if (weir_checks_of(run)->inputs && run->par.rank == 0)
        weir_verdict_for_rows(run);
    weir_checks_of(run)->spent_ns += weir_now_ns() - begin_ns;
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
