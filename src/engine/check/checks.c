/* SPDX-License-Identifier: BSD-3-Clause */
/* checks.c - the row of the checks: owns their state, measures around a phase, calls the parts */
#include "engine/check/parts.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/node/environment.h"
#include "engine/check/rules.h"
#include "engine/observe/all.h"
#include "engine/ratelimit.h"
#include "engine/place/pagecache.h"
#include "par/agree.h"

/* State of a run, on every rank. */
struct checks {
    struct weir_inputs *inputs; /* of the test that runs; NULL: nothing is judged */
    enum weir_rule_set rules;   /* of tests without --rules */
    struct weir_limits limits;  /* of the test that runs */
    struct weir_inputs inputs_memory;    /* for them */
    uint64_t spent_ns;          /* gathering them */
    struct weir_machine_use before; /* the phase that runs */
    const struct weir_stage *stage; /* of that phase; NULL: nothing is gathered */
    struct weir_cached cached;      /* of its record */
    struct weir_cache_stat cache;
    double resident_before, dirty_before; /* of this rank's bytes: before a phase that reads */
    struct weir_others others;
    struct weir_collect_machine machine;
    struct weir_collect_reads reads; /* rank 0 */
    struct weir_judged_test judgement; /* the last one; rank 0 */
    struct weir_str tables; /* for people, after the summaries; each ends with a line break */
};

static int check(const struct weir_run_options *o, struct weir_files *files,
                 struct weir_err *err)
{
    struct weir_limits limits;

    if (weir_findings_shown(o->findings) < 0)
        return weir_refuse(err, WEIR_EUSAGE, "option --findings: '%s' is not 'all'", o->findings);
    return weir_limits_parse(&limits, o->limits, err);
}

/* ---- the run ---- */

/* The rule set of WEIR_RULES, for tests without --rules. */
static int read_environment(struct checks *t, struct weir_err *err)
{
    const char *name = getenv("WEIR_RULES");
    int set = name && *name ? weir_opt_choice(weir_rule_sets, name) : WEIR_RULES_DEFAULT;

    if (set < 0)
        return weir_refuse(err, WEIR_EUSAGE,
                           "environment variable WEIR_RULES is '%s'; rule sets are default, "
                           "jupiter, io500, snia, mlperf and none",
                           name);
    t->rules = (enum weir_rule_set)set;
    return 0;
}

static enum weir_rule_set rules_of(const struct checks *t, const struct weir_run_options *o)
{
    return o->rules ? (enum weir_rule_set)weir_opt_choice(weir_rule_sets, o->rules) : t->rules;
}

/* A program that reports nothing about its tests has no verdict: SOUND would be a guess. */
static bool is_judged(const struct checks *t, const struct weir_test *test)
{
    return test->program->checks && rules_of(t, test->plan.options) != WEIR_RULES_NONE;
}

static int warn_of_nodes(const struct weir_run *run, struct weir_err *err)
{
    const struct weir_par *par = &run->world;

    if (!par->differs || par->given)
        return 0;
    return weir_warn(&run->log, err,
                     "nodes reported by MPI: %d; kernels that the tasks run on: %d%s. Cache rules "
                     "use the kernels (H36). If the kernels are wrong, set IOR_FAKE_NODES to the "
                     "nodes, and IOR_FAKE_TASK_PER_NODES to the tasks per node",
                     par->nodes, par->kernels,
                     par->nodes == par->kernels ? ", but with other tasks on each" : "");
}

static void note_interception(const struct weir_run *run)
{
    struct weir_str libraries = { 0 };

    weir_environment_interception(&libraries);
    if (libraries.len > 0)
        weir_note(&run->log,
                  "interception library loaded: %s; findings about the page cache are not judged",
                  weir_str_text(&libraries));
    weir_str_free(&libraries);
}

/* Measure the machine. cores: those of the tasks of this node, on its first rank; else INT_MAX.
 * Collective over run->world: one agreement. */
static struct weir_collect_machine measure_machine(const struct weir_run *run, int cores)
{
    double memory = weir_par_asks(&run->world) ? weir_machine_memory() : NAN;
    int64_t least[2] = { isnan(memory) ? INT64_MIN : -(int64_t)memory, -(int64_t)cores };

    weir_allmax_i64(&run->world, least, 2); /* of the smallest node */
    return (struct weir_collect_machine) {
        .memory = least[0] > INT64_MIN ? -(double)least[0] : NAN,
        .cores = least[1] < 0 ? (double)-least[1] : NAN,
        .links = run->world.rank == 0 ? weir_links_rate("/sys") : NAN,
        .copy = run->world.rank == 0 ? weir_machine_copy() : NAN,
        .step = weir_machine_clock_step()
    };
}

static int run_begin(struct weir_run *run, void *state, struct weir_test *tests, int n,
                     struct weir_err *err)
{
    struct checks *t = state;
    uint64_t begin_ns;
    bool any = false;

    if (weir_agree(&run->world, run->world.rank == 0 ? read_environment(t, err) : 0, err) < 0)
        return -1;
    weir_bcast(&run->world, &t->rules, sizeof(t->rules), 0);
    begin_ns = weir_now_ns();
    for (int i = 0; i < n && !any; i++)
        any = is_judged(t, &tests[i]);
    if (any) {
        t->machine = measure_machine(run, weir_others_find(run, &t->others));
        weir_report_verdict(&run->report, "", "");
        note_interception(run);
    }
    t->spent_ns = weir_now_ns() - begin_ns;
    return warn_of_nodes(run, err);
}

/* The tables of --findings, after the summaries. A line has its own break. */
static void summary(struct weir_run *run, void *state)
{
    struct weir_str *text = &((struct checks *)state)->tables;

    if (text->len > 0)
        weir_report_line(&run->report, "%.*s", (int)text->len - 1, text->text);
    weir_report_free(&run->report, text);
}

/* ---- a test ---- */

static int test_start(struct weir_run *run, void *state, struct weir_err *err)
{
    struct checks *t = state;
    uint64_t begin_ns = weir_now_ns();

    run->test->missing = run->report.missing;
    t->inputs = NULL;
    if (run->report.verdict.name)
        weir_report_verdict(&run->report, "", "");
    if (!is_judged(t, run->test) ||
        weir_limits_parse(&t->limits, run->test->plan.options->limits, NULL) < 0)
        return 0;
    t->inputs = &t->inputs_memory;
    weir_collect_test(run, &t->machine, &t->reads, t->inputs);
    t->inputs->by_slowest = rules_of(t, run->test->plan.options) == WEIR_RULES_MLPERF;
    weir_others_begin(run, &t->others, t->inputs);
    t->spent_ns += weir_now_ns() - begin_ns;
    return 0;
}

/* By what is known until now. Rank 0. */
static void judge(const struct weir_run *run, struct checks *t)
{
    if (run->report.details) /* else not read */
        t->inputs->missing = run->test->missing;
    weir_verdict_judge(t->inputs, rules_of(t, run->test->plan.options), &t->limits, &t->judgement);
}

/* Give rows of CSV the verdict of what is known until now. Rank 0. */
static void report_rows(struct weir_run *run, const struct weir_judged_test *v)
{
    struct weir_str ids = { 0 };

    for (int i = 0; i < v->found_n - v->notes; i++)
        weir_str_addf(&ids, "%s%s", i > 0 ? " " : "", v->found[i]->rule->id);
    weir_report_verdict(&run->report, weir_verdict_name(v->worst), weir_str_text(&ids));
    weir_report_free(&run->report, &ids);
}

/* Returns the verdict. Rank 0. */
static enum weir_severity conclude(struct weir_run *run, struct checks *t)
{
    const struct weir_inputs *f = t->inputs;
    bool is_measured = f->phases > 0 || f->found.excess;
    uint64_t begin_ns = weir_now_ns();

    if (!f->objects)
        weir_collect_space(run, t->inputs);
    if (!isnan(f->stored))
        weir_report_int(&run->report, WEIR_FOR_ALL, "storedBytes", (int64_t)f->stored);
    judge(run, t);
    weir_verdict_report(run, &t->judgement, is_measured, t->spent_ns + weir_now_ns() - begin_ns);
    if (is_measured && !run->test->failed)
        weir_verdict_keep(run, &t->judgement, &t->tables);
    weir_collect_read(run, f, &t->reads);
    return is_measured ? t->judgement.worst : WEIR_SOUND;
}

static void test_end(struct weir_run *run, void *state)
{
    const struct weir_run_options *o = run->test->plan.options;
    struct checks *t = state;
    int64_t worst = WEIR_SOUND;

    if (!t->inputs)
        return;
    if (run->par.rank == 0)
        worst = conclude(run, t);
    t->inputs = NULL;
    t->spent_ns = 0;
    if (!o->strict)
        return;
    weir_bcast(&run->par, &worst, sizeof(worst), 0);
    if (worst == WEIR_INVALID)
        run->test->invalid_by = weir_rule_sets[rules_of(t, o)];
}

/* ---- a phase ---- */

/* The file of rank 0: it tells how far requests were applied to it. */
static void opened(struct weir_run *run, void *state, struct weir_session *s, struct weir_file *f)
{
    struct checks *t = state;

    if (t->inputs)
        weir_collect_applied(s, f, t->inputs);
}

static bool is_measured(const struct checks *t, const struct weir_stage *s)
{
    return t->inputs && s && s->phase && !(s->flags & WEIR_STAGE_UNTIMED);
}

static int before(struct weir_run *run, void *state, struct weir_phase_rec *rec,
                  struct weir_err *err)
{
    struct checks *t = state;
    uint64_t begin_ns = weir_now_ns();
    bool reads;

    t->stage = NULL; /* the last phase may have failed */
    if (!is_measured(t, rec->stage))
        return 0;
    reads = weir_stage_moves(rec->stage) & WEIR_MOVES_IN;
    if (reads)
        weir_pagecache_sample(run, rec->stage, &t->cache.seen, &t->cache.why);
    t->resident_before = reads && !t->cache.why ? t->cache.seen.resident : 0;
    t->dirty_before = reads && !t->cache.why ? t->cache.seen.dirty : 0;
    weir_others_before(run, &t->others);
    t->stage = run->test->plan.options->dry_run ? NULL : rec->stage;
    t->spent_ns += weir_now_ns() - begin_ns;
    return 0;
}

/* The preparation of a phase is no part of its use of the processor. */
static void start(struct weir_run *run, void *state, const struct weir_phase_rec *rec)
{
    struct checks *t = state;

    if (t->stage)
        weir_machine_use(&t->before, weir_stage_moves(t->stage) != WEIR_MOVES_NOTHING);
}

static void fill_max(struct weir_run *run, void *state, const struct weir_phase_rec *rec,
                     int64_t *max)
{
    struct checks *t = state;

    if (t->stage)
        weir_others_end(&t->others);
    *max = t->others.processors.share;
}

/* ---- the sums of a phase ---- */

/* Return the part of the phase in which this rank has done its work. */
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
        const struct weir_service_stats *service = t->session[i]->service;

        if (!stats) /* a session of other ranks */
            continue;
        if (service) {
            s->sent += service->count[WEIR_SENT];
            s->refused += service->count[WEIR_SENT_REFUSED];
            s->lost += service->count[WEIR_SENT_LOST];
        }
        s->retries += stats->short_transfers + stats->retries;
        s->sync_ns += stats->hist[WEIR_OP_SYNC].sum_ns;
        s->syncs += stats->hist[WEIR_OP_SYNC].n;
        s->stored += stats->stored;
    }
}

/* Bytes; 0 where they are not known, and *unknown is 1 then. */
static uint64_t known_bytes(double bytes, uint64_t *unknown)
{
    *unknown = isnan(bytes);
    return *unknown ? 0 : (uint64_t)bytes;
}

static void add_cache(const struct checks *t, struct weir_checks_sums *s)
{
    uint64_t unknown;

    s->looked = (uint64_t)t->cache.seen.looked;
    s->size = (uint64_t)t->cache.seen.size;
    s->allocated = (uint64_t)t->cache.seen.allocated;
    s->lookers = s->looked > 0;
    s->resident = (uint64_t)t->cache.seen.resident;
    s->dirty = known_bytes(t->cache.seen.dirty, &s->dirty_unknown);
    s->written = known_bytes(t->cache.seen.written, &s->written_unknown);
    s->compressed = (uint64_t)t->cache.seen.compressed;
    s->before = (uint64_t)t->resident_before;
    s->dirty_before = known_bytes(t->dirty_before, &unknown);
    s->dirty_unknown |= unknown;
    s->cache_unknown = t->cache.why != NULL;
    s->cache_hidden = t->cache.seen.hides != NULL;
}

static void add(struct weir_run *run, void *state, const struct weir_phase_rec *rec, uint64_t *sum)
{
    struct checks *t = state;
    struct weir_checks_sums *s = (struct weir_checks_sums *)sum;
    uint64_t begin_ns = weir_now_ns();
    struct weir_machine_use now;
    enum weir_moves moves;

    if (!t->stage) /* nothing is judged, or a phase of no stage */
        return;
    moves = weir_stage_moves(t->stage);
    if ((moves & WEIR_MOVES_OUT) || t->inputs->direct == 1)
        weir_pagecache_sample(run, t->stage, &t->cache.seen, &t->cache.why);
    weir_machine_use(&now, moves != WEIR_MOVES_NOTHING);
    s->user_ns = now.user_ns - t->before.user_ns;
    if (run->ratelimit) /* waiting until an operation is due is no work */
        s->user_ns -= s->user_ns < run->ratelimit->spun_ns ? s->user_ns : run->ratelimit->spun_ns;
    s->io_unknown = !now.io_known || !t->before.io_known;
    s->reached = (moves & WEIR_MOVES_IN ? now.read - t->before.read : 0) +
                 (moves & WEIR_MOVES_OUT ? now.written - t->before.written : 0);
    if (moves != WEIR_MOVES_NOTHING)
        weir_others_add(run, &t->others, &now, moves, s);
    s->ends_ns = (rec->mark[WEIR_MARK_OPENED] - rec->mark[WEIR_MARK_OPEN]) +
                 (rec->mark[WEIR_MARK_CLOSED] - rec->mark[WEIR_MARK_CLOSE]);
    add_sessions(run->test, s);
    add_cache(t, s);
    s->ended[part_of(run, rec)] = 1;
    t->spent_ns += weir_now_ns() - begin_ns;
}

/* ---- after a phase ---- */

/* All ranks have measured the phase. */
static void collect(struct weir_run *run, struct checks *t, struct weir_phase_rec *rec)
{
    const struct weir_stage *stage = rec->stage;
    struct weir_inputs *f = t->inputs;
    struct weir_inputs_phase *p;
    char words[WEIR_STRAGGLER_TEXT];
    double share = weir_stragglers_report(run, rec, words);

    for (int i = 0; i < run->test->sessions; i++)
        weir_collect_applied(run->test->session[i], NULL, f);
    if (run->par.rank != 0 || rec->sum.steps == 0)
        return;
    f->evicted = run->test->evicted;
    weir_collect_seen(&t->cached, rec);
    if (!(p = weir_inputs_phase_of(f, stage->key)))
        return;
    if (share > 0 && !(p->slow >= share)) {
        p->slow = share;
        snprintf(p->stragglers, sizeof(p->stragglers), "%s", words);
    }
    p->moves = weir_stage_moves(stage);
    p->makes = stage->flags & WEIR_STAGE_MAKES;
    p->once = stage->flags & (WEIR_STAGE_FIRST | WEIR_STAGE_LAST);
    weir_collect_phase(run, rec, &t->cache, f, p);
    weir_others_note(&t->others, rec, f, p);
}

static int after(struct weir_run *run, void *state, struct weir_phase_rec *rec,
                 struct weir_err *err)
{
    struct checks *t = state;
    uint64_t begin_ns = weir_now_ns();

    t->stage = NULL;
    if (rec->failed || !rec->stage || !t->inputs)
        return 0;
    if (run->par.rank == 0)
        weir_collect_objects(rec, t->inputs);
    if (is_measured(t, rec->stage) && run->test->plan.options->dry_run)
        weir_collect_expected(run, rec, t->inputs);
    else if (is_measured(t, rec->stage))
        collect(run, t, rec);
    if (run->par.rank == 0 && run->report.has_csv) {
        judge(run, t);
        report_rows(run, &t->judgement);
    }
    t->spent_ns += weir_now_ns() - begin_ns;
    return 0;
}

const struct weir_observer weir_checks = {
    .name = "checks",
    .state_size = sizeof(struct checks),
    .maxima = 1,
    .sums = sizeof(struct weir_checks_sums) / sizeof(uint64_t),
    .help = weir_verdict_help,
    .check = check,
    .run_begin = run_begin,
    .summary = summary,
    .test_start = test_start,
    .test_end = test_end,
    .before = before,
    .start = start,
    .max = fill_max,
    .add = add,
    .after = after,
    .opened = opened,
};
