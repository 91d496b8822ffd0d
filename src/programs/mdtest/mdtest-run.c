/* SPDX-License-Identifier: BSD-3-Clause */
/* mdtest-run.c - the order of the phases, the ledger of existing items, and from the record of
 * a phase to its rates and times */
#include "programs/mdtest/mdtest.h"

#include <inttypes.h>
#include <math.h>

#include "base/clock.h"
#include "base/text/columns.h"
#include "engine/place/status.h"
#include "par/agree.h"
#include "par/reduce.h"

#define MS 1e3 /* in a second */

/* ---- rates and times ---- */

/* The results of a phase, on all ranks, and their row for programs. */
struct measure {
    const char *operation;
    int64_t test, iter, tasks, items;
    double seconds, rate, ms;
    struct weir_stats rank_rate, rank_ms; /* of the ranks that had something to do; on rank 0 */
};

#define M struct measure

static const struct weir_col measure_cols[] = {
    COL_STR(M, operation, "operation", "Operation"),
    COL_INT(M, test, "test", "Number of the test, from 0"),
    COL_INT(M, iter, "iter", "Iteration, from 0"),
    COL_INT(M, tasks, "tasks", "Tasks"),
    COL_INT(M, items, "items", "Items of all tasks"),
    COL_REAL(M, seconds, "time",
             "From the first item of any task to the end of the last, seconds"),
    COL_REAL(M, rate, "rate", "Items a second"),
    COL_REAL(M, ms, "msPerOp", "Time over the items of a task, ms"),
    COL_REAL(M, rank_rate.min, "rankRateMin",
             "Items a second of the slowest task, without waiting for others"),
    COL_REAL(M, rank_rate.max, "rankRateMax", "Items a second of the fastest task"),
    COL_REAL(M, rank_rate.mean, "rankRateMean", "Mean over the tasks"),
    COL_REAL(M, rank_ms.min, "rankMsPerOpMin", "ms an item of the fastest task"),
    COL_REAL(M, rank_ms.max, "rankMsPerOpMax", "ms an item of the slowest task"),
    WEIR_COL_END
};

static const struct weir_table measure_table = { .key = "Results",
                                                 .cols = measure_cols,
                                                 .readers = WEIR_FOR_DATA };

#undef M

/* This rank's own part, up to the end of its work: without the wait for others, the sync and the
 * command after it. */
static struct mdtest_mine measure_mine(const struct mdtest_test *t,
                                       const struct weir_phase_rec *rec)
{
    uint64_t end = t->pass.worked_ns ? t->pass.worked_ns : rec->mark[WEIR_MARK_WORKED];
    int64_t ns = (int64_t)(end - rec->mark[WEIR_MARK_WORK]);
    struct mdtest_mine m = { 0 };

    if (rec->steps == 0)
        return m;
    m.seconds = (double)(ns > 0 ? ns : 1) / WEIR_NS_PER_S;
    m.rate = (double)(rec->steps * t->pass.things) / m.seconds;
    return m;
}

/* Statistics on rank 0 of the ranks that had something to do. */
static struct weir_stats of_ranks(const struct weir_run *run, bool works, double mine)
{
    struct weir_stats s = { 0 };

    if (works)
        weir_stats_add(&s, mine);
    weir_merge_stats(&run->par, &s);
    return s;
}

/* The mean of means; the extremes are those of single tasks. */
static void keep_ranks(struct weir_stats *s, const struct weir_stats *ranks)
{
    weir_stats_add(s, ranks->mean);
    s->min = fmin(s->min, ranks->min);
    s->max = fmax(s->max, ranks->max);
}

static void keep_series(struct mdtest_series *s, const struct measure *m)
{
    weir_stats_add(&s->rate, m->rate);
    weir_stats_add(&s->ms, m->ms);
    weir_stats_add(&s->time, m->seconds);
    s->items = (double)m->items;
    s->seconds = m->seconds;
    if (m->items == 0)
        return;
    keep_ranks(&s->rank_rate, &m->rank_rate);
    keep_ranks(&s->rank_ms, &m->rank_ms);
}

static void measure(struct weir_run *run, struct mdtest_test *t, const struct weir_phase_rec *rec,
                    double extra_s)
{
    struct mdtest_mine *mine = mdtest_mine_of(run, t) + t->pass.op;
    struct measure m = {
        .operation = mdtest_operations[t->pass.op].title,
        .test = run->test->id,
        .iter = run->repetition,
        .tasks = run->par.size,
        .items = (int64_t)rec->sum.done,
        .seconds = weir_phase_span(rec, WEIR_MARK_WORK, WEIR_MARK_WORKED) + extra_s,
    };

    m.rate = (double)m.items / m.seconds;
    *mine = measure_mine(t, rec);
    m.rank_rate = of_ranks(run, mine->rate > 0, mine->rate);
    m.rank_ms = of_ranks(run, mine->rate > 0, MS / mine->rate);
    if (m.rank_rate.n > 0)
        m.ms = m.seconds * MS * (double)m.rank_rate.n / (double)m.items;
    keep_series(&t->results.series[t->pass.op], &m);
    weir_report_row(&run->report, &measure_table, &m);
    if (mdtest_facts[t->pass.op].is_tree)
        mdtest_trace_result(run, t, t->pass.op);
}

/* ---- phases ---- */

/* Fill in what the options make of a pass of the operation in progress. */
static void begin_pass(const struct weir_run *run, struct mdtest_test *t, bool own)
{
    const struct mdtest_fact *f = &mdtest_facts[t->pass.op];
    bool makes = f->makes && !own;
    bool for_all = t->o->collective && (makes || f->removes || f->is_tree);

    t->pass.own = own;
    t->pass.again = t->pass.op == MDTEST_FILE_CREATE && t->o->collective && !t->o->mknod && !own;
    t->pass.makes = makes;
    t->pass.alone = for_all || (f->is_tree && !t->o->unique) || (f->removes && t->o->shared);
    t->pass.things = for_all && (t->o->unique || !f->is_tree) ? (uint64_t)run->par.size
                     : f->call == WEIR_NAME_RENAME            ? 2 /* there and back */
                                                              : 1;
}

static void begin_phase(struct weir_run *run, struct mdtest_test *t, enum mdtest_op op, int shift)
{
    int64_t shifts = (int64_t)mdtest_facts[op].shifts * shift;
    bool visits = mdtest_facts[op].visits;

    t->pass.subset = false;
    t->pass.op = op;
    t->pass.of = mdtest_facts[op].of;
    begin_pass(run, t, false);
    t->pass.owner = t->o->shared && t->pass.of == MDTEST_FILES
                        ? MDTEST_SHARED
                        : (int)((run->par.rank + shifts) % run->par.size);
    /* When the tree is not complete, the items are those that were made first. */
    t->pass.made_order = !visits || t->ledger.count[t->pass.of] != t->tree.total;
    t->pass.shuffled = visits && t->o->random && mdtest_visits(t) > 1;
    if (t->pass.shuffled)
        weir_perm_init(&t->pass.perm, mdtest_visits(t),
                       (uint64_t)t->o->random_seed + (uint64_t)run->par.rank);
}

/* Ranks that work in the phase in progress. */
static uint64_t workers(const struct weir_run *run, const struct mdtest_test *t)
{
    return t->pass.alone ? 1 : (uint64_t)run->par.size;
}

static void report_wall(struct weir_run *run, struct mdtest_test *t,
                        const struct weir_phase_rec *rec)
{
    uint64_t n = workers(run, t);
    uint64_t min = n == 1 ? rec->stonewall.max.steps : rec->stonewall.min.steps;

    t->results.wall_s = 0;
    if (!rec->stonewall.known || rec->stonewall.sum.steps == t->ledger.planned * n)
        return;
    t->results.wall_items = (double)rec->stonewall.sum.steps;
    t->results.wall_s = (double)rec->stonewall.time_ns / WEIR_NS_PER_S;
    weir_report_line(&run->report,
                     "Continue stonewall hit min: %" PRIu64 " max: %" PRIu64 " avg: %.1f \n", min,
                     rec->stonewall.max.steps, (double)rec->stonewall.sum.steps / (double)n);
    mdtest_log(run, 1, "stonewall hit with %" PRIu64 " items", rec->stonewall.steps);
    if (run->log.verbose >= 1)
        mdtest_log(run, 1, "stonewall: %" PRIu64 " of %" PRIu64, rec->stonewall.steps,
                   rec->stonewall.max.steps);
}

/* Wrong data are counted, and end in the exit status. The lowest rank that saw some reports them. */
static void report_wrong(struct weir_run *run, struct mdtest_test *t,
                         const struct weir_phase_rec *rec)
{
    if (weir_phase_wrong(rec) > 0 &&
        weir_agree(&run->par, t->damage.code == WEIR_OK ? 0 : -1, &t->damage) < 0)
        weir_note(&run->log, "%s", t->damage.text);
    t->damage.code = WEIR_OK;
}

/* Compare a phase with the ledger: it has done all existing items, no more and no less. */
static int check_phase(struct weir_run *run, struct mdtest_test *t,
                       const struct weir_phase_rec *rec, struct weir_err *err)
{
    bool makes = t->pass.makes || mdtest_facts[t->pass.op].is_tree;
    uint64_t each = makes ? rec->max.steps : mdtest_visits(t);
    uint64_t expected = each * workers(run, t);

    if (t->pass.op == MDTEST_DIR_RENAME && each < 2)
        expected = 0;
    if (!rec->interrupted && rec->sum.steps != expected)
        return weir_refuse(err, WEIR_EIO, "%s processed %" PRIu64 " items instead of %" PRIu64,
                                          rec->phase->key, rec->sum.steps, expected);
    report_wrong(run, t, rec);
    return 0;
}

/* True when this phase writes the number of items for a later run. */
static bool has_status(const struct mdtest_test *t)
{
    return t->o->status_file && weir_run_options_bound(&t->o->run) > 0 && mdtest_facts[t->pass.op].makes &&
           (t->pass.of == MDTEST_FILES || !t->ledger.kind[MDTEST_FILES]);
}

/* After a create phase: add its items to the ledger. */
static int after_create(struct weir_run *run, struct mdtest_test *t,
                        const struct weir_phase_rec *rec, struct weir_err *err)
{
    report_wall(run, t, rec);
    t->ledger.count[t->pass.of] = rec->max.steps;
    if (rec->interrupted || !has_status(t))
        return 0;
    return weir_status_write(run, t->o->status_file, rec->max.steps, err);
}

/* -c: the second pass over the files. Its time is part of the creation. */
static int write_own(struct weir_run *run, struct mdtest_test *t, double *seconds,
                     struct weir_err *err)
{
    const struct weir_timing timing = { 0 };
    struct weir_phase_rec rec;

    begin_pass(run, t, true);
    if (weir_phase_extra(run, &mdtest_write_phase, t, &timing, &rec, err) < 0 ||
        check_phase(run, t, &rec, err) < 0)
        return -1;
    begin_pass(run, t, false);
    *seconds = weir_phase_span(&rec, WEIR_MARK_WORK, WEIR_MARK_WORKED);
    weir_observers_measured(run, &t->fs.session, &rec);
    return 0;
}

/* ---- stages ---- */

static bool wants_kind(const void *state, const struct weir_stage *s)
{
    return ((const struct mdtest_test *)state)->ledger.kind[s->index];
}

static bool wants_op(const void *state, const struct weir_stage *s)
{
    return mdtest_wants(state, s->index);
}

static int before_op(struct weir_run *run, void *state, const struct weir_stage *s,
                     struct weir_err *err)
{
    struct mdtest_test *t = state;

    begin_phase(run, t, (enum mdtest_op)s->index, t->shift);
    if (t->pass.op == MDTEST_FILE_READ)
        weir_small_files_learn_seed(&t->fs, run, t->out_len ? t->out_len : t->in_len, t->in_len,
                                    true, mdtest_name_read, t);
    return has_status(t) ? weir_status_forget(run, t->o->status_file, err) : 0;
}

static int after_op(struct weir_run *run, void *state, const struct weir_stage *s,
                    struct weir_phase_rec *rec, struct weir_err *err)
{
    enum mdtest_op op = (enum mdtest_op)s->index;
    struct mdtest_test *t = state;
    double extra_s = 0;

    if (check_phase(run, t, rec, err) < 0)
        return -1;
    mdtest_trace_phase(run, t, op, rec->steps);
    if (mdtest_facts[op].makes && after_create(run, t, rec, err) < 0)
        return -1;
    if (run->report.details || t->o->latency) {
        weir_observers_measured(run, &t->fs.session, rec);
        weir_latency_report(run, &t->fs.session, rec, op, &mdtest_calls[op], t->results.sum);
    }
    if (t->pass.again && !rec->interrupted && write_own(run, t, &extra_s, err) < 0)
        return -1;
    measure(run, t, rec, extra_s);
    return 0;
}

static int before_tree(struct weir_run *run, void *state, const struct weir_stage *s,
                       struct weir_err *err)
{
    if (s->index == MDTEST_TREE_CREATE && mdtest_make_tests(run, state, err) < 0)
        return -1;
    return before_op(run, state, s, err);
}

static int after_tree(struct weir_run *run, void *state, const struct weir_stage *s,
                      struct weir_phase_rec *rec, struct weir_err *err)
{
    if (after_op(run, state, s, rec, err) < 0)
        return -1;
    if (s->index == MDTEST_TREE_CREATE || rec->interrupted)
        return 0;
    return mdtest_remove_tests(run, state, err);
}

/* ---- some ranks alone (--sweep): their own items, made and removed again; or those that are there ---- */

static bool are_removed(const struct mdtest_test *t)
{
    return t->o->create && t->o->remove;
}

static bool can_alone(const void *state, const struct weir_stage *s)
{
    const struct mdtest_test *t = state;
    const struct mdtest_fact *f = &mdtest_facts[s->index];

    if (t->o->collective || (t->o->shared && f->of == MDTEST_FILES))
        return false;
    return are_removed(t) || (!t->o->remove && !f->makes);
}

static int before_subset(struct weir_run *run, void *state, const struct weir_stage *s,
                         struct weir_err *err)
{
    struct mdtest_test *t = state;

    /* The next phase of an option needs what this one makes, also where only some ranks work. */
    bool own = are_removed(t) || mdtest_facts[s->index].call;

    begin_phase(run, t, (enum mdtest_op)s->index, own ? 0 : t->shift);
    t->pass.subset = true;
    return 0;
}

/* Each rank has made what it could in the time. */
static int after_subset(struct weir_run *run, void *state, const struct weir_stage *s,
                        struct weir_phase_rec *rec, struct weir_err *err)
{
    struct mdtest_test *t = state;

    report_wrong(run, t, rec);
    if (t->pass.makes)
        t->ledger.count[t->pass.of] = rec->steps;
    return 0;
}

#define SUBSET(is_whole)                                                                           \
    {                                                                                              \
        .can = can_alone, .complete = (is_whole), .before = before_subset, .after = after_subset    \
    }
static const struct weir_subset subset_op = SUBSET(false), subset_complete = SUBSET(true);

/* ---- rows ---- */

#define OP(op, text, what, ...)                                                                    \
    {                                                                                              \
        .key = (text), .index = (op), .phase = &mdtest_phases[op], .wanted = wants_op,             \
        .before = before_##what, .after = after_##what, __VA_ARGS__                                \
    }
#define KIND(kind, text, f, act)                                                                   \
    {                                                                                              \
        .key = (text), .index = (kind), .flags = (f), .wanted = wants_kind, .before = (act)        \
    }

/* All of what makes links or attributes is done: the phases after it use them. */
#define MORE(key, title, call, name, option, shift, w)                                             \
    OP(MDTEST_##name, key, op,                                                                     \
       .subset = WEIR_NAME_##w <= WEIR_NAME_UNLINK || WEIR_NAME_##w == WEIR_NAME_SETXATTR          \
                     ? &subset_complete                                                            \
                     : &subset_op),

const struct weir_stage mdtest_stages[] = {
    /* Trees are made for the items, whatever the rate of these. */
    OP(MDTEST_TREE_CREATE, "tree create", tree, .flags = WEIR_STAGE_FULL_SPEED),
    { .key = "items", .before = mdtest_trace_items },
    KIND(MDTEST_DIRS, "directories", WEIR_STAGE_DELAY, mdtest_trace_kind),
    OP(MDTEST_DIR_CREATE, "directory create", op, .subset = &subset_op,
       .flags = WEIR_STAGE_MAKES),
    OP(MDTEST_DIR_STAT, "directory stat", op, .subset = &subset_op),
    { .key = "directory read",
      .index = MDTEST_DIR_READ,
      .wanted = wants_op,
      .before = mdtest_trace_dir_read },
    OP(MDTEST_DIR_RENAME, "directory rename", op, .subset = &subset_complete),
    MDTEST_MORE_DIRS(MORE)
    OP(MDTEST_DIR_REMOVE, "directory remove", op, .subset = &subset_complete),
    KIND(MDTEST_DIRS, "directories", 0, mdtest_trace_kind_end),
    KIND(MDTEST_FILES, "files", WEIR_STAGE_DELAY, mdtest_trace_kind),
    OP(MDTEST_FILE_CREATE, "file create", op, .subset = &subset_op,
       .flags = WEIR_STAGE_MAKES),
    OP(MDTEST_FILE_STAT, "file stat", op, .subset = &subset_op),
    OP(MDTEST_FILE_READ, "file read", op, .subset = &subset_op),
    MDTEST_MORE_FILES(MORE)
    OP(MDTEST_FILE_REMOVE, "file remove", op, .subset = &subset_complete),
    KIND(MDTEST_FILES, "files", 0, mdtest_trace_kind_end),
    { .key = "items", .before = mdtest_trace_items_end },
    { .key = "sweep", .flags = WEIR_STAGE_EXTRA },
    OP(MDTEST_TREE_REMOVE, "tree remove", tree, .flags = WEIR_STAGE_FULL_SPEED),
    { .key = "iteration", .before = mdtest_ranks_iteration },
    { .key = NULL }
};
