/* SPDX-License-Identifier: BSD-3-Clause */
/* mdtest-measure.c - from the record of a phase to rates, times and latencies, of all and of
 * single ranks */
#include "config.h"
#include "programs/mdtest/mdtest.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "engine/observe/latency.h"
#include "engine/observe/gather.h"

#define MS 1e3 /* in a second */

#define ITEMS(op, k, t, moves)                                                                     \
    [op] = { .key = (k), .title = (t), .unit = "items", .moves_bytes = (moves) }

const struct weir_operation mdtest_operations[MDTEST_OPS + 1] = {
    ITEMS(MDTEST_DIR_CREATE, "directory create", "Directory creation", false),
    ITEMS(MDTEST_DIR_STAT, "directory stat", "Directory stat", false),
    ITEMS(MDTEST_DIR_READ, "directory read", "Directory read", false),
    ITEMS(MDTEST_DIR_RENAME, "directory rename", "Directory rename", false),
    ITEMS(MDTEST_DIR_REMOVE, "directory remove", "Directory removal", false),
    ITEMS(MDTEST_FILE_CREATE, "file create", "File creation", true),
    ITEMS(MDTEST_FILE_STAT, "file stat", "File stat", false),
    ITEMS(MDTEST_FILE_READ, "file read", "File read", true),
    ITEMS(MDTEST_FILE_REMOVE, "file remove", "File removal", false),
    ITEMS(MDTEST_TREE_CREATE, "tree create", "Tree creation", false),
    ITEMS(MDTEST_TREE_REMOVE, "tree remove", "Tree removal", false),
};

#undef ITEMS

/* ---- rates and times ---- */

/* This rank's own part, up to the end of its work: without the wait for others, the sync and the
 * command after it. */
static struct mdtest_mine measure_mine(const struct mdtest_test *t,
                                       const struct weir_phase_rec *rec, uint64_t things)
{
    uint64_t end = t->pass.worked_ns ? t->pass.worked_ns : rec->mark[WEIR_MARK_WORKED];
    int64_t ns = (int64_t)(end - rec->mark[WEIR_MARK_WORK]);
    struct mdtest_mine m = { 0 };

    if (rec->steps == 0)
        return m;
    m.seconds = (double)(ns > 0 ? ns : 1) / WEIR_NS_PER_S;
    m.rate = (double)(rec->steps * things) / m.seconds;
    return m;
}

/* Of the ranks that had something to do. */
static int measure_ranks(struct weir_run *run, struct mdtest_measure *m,
                         const struct mdtest_mine *mine, struct weir_err *err)
{
    bool works = mine->rate > 0;

    if (weir_ranks_stats(run, works ? mine->rate : NAN, &m->rank_rate, err) < 0 ||
        weir_ranks_stats(run, works ? MS / mine->rate : NAN, &m->rank_ms, err) < 0)
        return -1;
    if (m->rank_rate.n > 0)
        m->ms = m->seconds * MS * (double)m->rank_rate.n / (double)m->items;
    return 0;
}

/* The mean of means; the extremes are those of single tasks. */
static void keep_ranks(struct weir_stats *s, const struct weir_stats *ranks)
{
    weir_stats_add(s, ranks->mean);
    s->min = fmin(s->min, ranks->min);
    s->max = fmax(s->max, ranks->max);
}

static void keep_series(struct mdtest_series *s, const struct mdtest_measure *m)
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

/* Make room for the numbers of the iteration that begins. */
static int take_iteration(const struct weir_run *run, struct mdtest_test *t, struct weir_err *err)
{
    struct mdtest_results *r = &t->results;
    size_t need = t->o->all_procs ? (size_t)run->repetition + 1 : 1;
    struct mdtest_mine *mine;

    r->iterations = run->repetition + 1;
    if (need <= r->rooms)
        return 0;
    mine = realloc(r->mine, 2 * need * MDTEST_OPS * sizeof(*mine));
    if (!mine)
        return weir_fail(err, WEIR_ESETUP, "memory for the results of %zu iterations", 2 * need);
    r->mine = mine;
    r->rooms = 2 * need;
    return 0;
}

/* The measures of this rank in this iteration: MDTEST_OPS of them. */
static struct mdtest_mine *mine_of(const struct weir_run *run, const struct mdtest_test *t)
{
    return t->results.mine + (t->o->all_procs ? run->repetition * MDTEST_OPS : 0);
}

int mdtest_iteration(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mdtest_test *t = state;

    if (take_iteration(run, t, err) < 0)
        return -1;
    memset(mine_of(run, t), 0, sizeof(*t->results.mine) * MDTEST_OPS);
    t->ledger.started[MDTEST_DIRS] = t->ledger.started[MDTEST_FILES] = t->ledger.trees_started = 0;
    if (t->o->create)
        memcpy(t->ledger.count, t->ledger.planned, sizeof(t->ledger.count));
    mdtest_log(run, 1, "main: * iteration %d *", run->repetition + 1);
    return 0;
}

int mdtest_measure(struct weir_run *run, struct mdtest_test *t, const struct weir_phase_rec *rec,
                   double extra_s, struct mdtest_measure *m, struct weir_err *err)
{
    struct mdtest_mine *mine = mine_of(run, t) + t->pass.op;

    *m = (struct mdtest_measure) { .op = t->pass.op, .items = rec->done_sum };
    m->seconds = weir_phase_span(rec, WEIR_MARK_WORK, WEIR_MARK_WORKED) + extra_s;
    m->rate = (double)m->items / m->seconds;
    *mine = measure_mine(t, rec, mdtest_things_of_step(run, t));
    if (measure_ranks(run, m, mine, err) < 0)
        return -1;
    keep_series(&t->results.series[t->pass.op], m);
    return 0;
}

/* ---- latencies ---- */

const struct weir_call_names mdtest_calls[MDTEST_OPS] = {
    [MDTEST_DIR_CREATE] = { "mkdir", "write" },   [MDTEST_DIR_STAT] = { "stat", "write" },
    [MDTEST_DIR_RENAME] = { "rename", "write" },  [MDTEST_DIR_REMOVE] = { "rmdir", "write" },
    [MDTEST_FILE_CREATE] = { "create", "write" }, [MDTEST_FILE_STAT] = { "stat", "write" },
    [MDTEST_FILE_READ] = { "read", "read data" }, [MDTEST_FILE_REMOVE] = { "remove", "write" },
    [MDTEST_TREE_CREATE] = { "mkdir", "write" },  [MDTEST_TREE_REMOVE] = { "rmdir", "write" },
};

void mdtest_latency(struct weir_run *run, struct mdtest_test *t, const struct weir_phase_rec *rec)
{
    if (!run->report.details && !t->o->latency)
        return;
    weir_observers_measured(run, &t->fs.session, rec);
    weir_latency_report(run, &t->fs.session, t->pass.op, &mdtest_calls[t->pass.op], t->results.sum);
}

/* ---- the CSV of ranks ---- */

void mdtest_rank_head(struct weir_str *out)
{
    weir_str_addf(out, "rank,items");
    for (int op = 0; op < MDTEST_OPS; op++)
        weir_str_addf(out, ",rate-%s,time-%s", mdtest_operations[op].title,
                      mdtest_operations[op].title);
    weir_str_addc(out, '\n');
}

static void add_cell(struct weir_str *line, bool known, double rate, double seconds)
{
    if (known)
        weir_str_addf(line, ",%.10e,%.10e", rate, seconds);
    else
        weir_str_addf(line, ",,");
}

/* An operation of the iteration that has just ended; those that were not run have nothing to
 * tell. */
static bool was_run(const struct mdtest_test *t, int op)
{
    return t->results.series[op].rate.n > 0;
}

static void add_lines(const struct weir_run *run, const void *test, const void *all,
                      struct weir_str *lines)
{
    const struct mdtest_test *t = test;
    const struct mdtest_mine *mine = all;

    weir_str_addf(lines, "all,%" PRIu64,
                  t->ledger.count[t->ledger.kind[MDTEST_FILES] ? MDTEST_FILES : MDTEST_DIRS]);
    for (int op = 0; op < MDTEST_OPS; op++) {
        const struct mdtest_series *s = &t->results.series[op];

        add_cell(lines, was_run(t, op), s->seconds > 0 ? s->items / s->seconds : 0, s->seconds);
    }
    weir_str_addc(lines, '\n');
    for (int rank = 0; rank < run->par.size; rank++, mine += MDTEST_OPS) {
        weir_str_addf(lines, "%d,", rank);
        for (int op = 0; op < MDTEST_TREE_CREATE; op++)
            add_cell(lines, was_run(t, op), mine[op].rate, mine[op].seconds);
        weir_str_addc(lines, '\n');
    }
}

int mdtest_ranks_iteration(struct weir_run *run, void *state, const struct weir_stage *s,
                           struct weir_err *err)
{
    const struct mdtest_test *t = state;
    const struct mdtest_mine *mine = mine_of(run, t);

    (void)s;
    return weir_ranks_rows(run, mine, sizeof(*mine) * MDTEST_OPS, add_lines, t, err);
}

/* ---- the CSV of operations ---- */

bool mdtest_records(const void *state, int op, uint64_t *size)
{
    const struct mdtest_test *t = state;
    const struct mdtest_options *o = t->o;
    int64_t bytes = op == MDTEST_FILE_READ ? o->read_bytes : o->write_bytes;

    *size = op == MDTEST_FILE_STAT || bytes == 0 ? 1 : (uint64_t)bytes;
    return t->ledger.kind[MDTEST_FILES] &&
           ((op == MDTEST_FILE_CREATE && o->create) || (op == MDTEST_FILE_STAT && o->stat) ||
            (op == MDTEST_FILE_READ && o->read) || (op == MDTEST_FILE_REMOVE && o->remove));
}

/* ---- --print-all-procs ---- */

static void print_operation(struct weir_run *run, const struct mdtest_test *t, int iteration,
                            int op, bool times)
{
    const struct mdtest_results *r = &t->results;
    bool known = op < MDTEST_TREE_CREATE && (size_t)iteration < r->rooms; /* memory may be out */
    const struct mdtest_mine *m = known ? &r->mine[iteration * MDTEST_OPS + op] : NULL;
    double mine = !m ? 0 : times ? m->seconds : m->rate;
    double *all = weir_gather_new(&run->par, &mine, sizeof(mine));
    struct weir_str line = { 0 };

    run->report.lost |= run->par.rank == 0 && !all;
    weir_str_addf(&line, "Test %s", mdtest_operations[op].title);
    for (int rank = 0; all && rank < run->par.size; rank++)
        weir_str_addf(&line, "%c%e", rank ? ',' : ' ', all[rank]);
    weir_report_line(&run->report, "%s", weir_str_text(&line));
    weir_report_free(&run->report, &line);
    free(all);
}

/* Each task keeps its own numbers, of the iterations that were begun; rank 0 sees those of one
 * operation at a time. */
void mdtest_ranks_print(struct weir_run *run, const struct mdtest_test *t, bool times)
{
    int first = t->ledger.kind[MDTEST_DIRS]    ? MDTEST_DIR_CREATE
                : t->ledger.kind[MDTEST_FILES] ? MDTEST_FILE_CREATE
                                               : MDTEST_TREE_CREATE;

    weir_report_line(&run->report, "\nPer process result (%s):", times ? "time" : "rate");
    for (int i = 0; i < t->results.iterations; i++) {
        weir_report_line(&run->report, "iteration: %d", i);
        for (int op = first; op < MDTEST_OPS; op++)
            print_operation(run, t, i, op, times);
    }
}
