/* SPDX-License-Identifier: BSD-3-Clause */
/* sweep.c - --sweep: the phases of a test again, each by one group of nodes, pairs of nodes or
 * ranks alone, to find the slow ones.
 *
 * A phase of a group (struct weir_turn) is one of all ranks in which ranks outside of the group
 * have nothing to do. So failures, signals and collective calls are as in every phase. Each
 * rank keeps its work. After a round the leaders of the units send it to rank 0, which chooses
 * the groups of the next round (sweep-rounds.c). */
#include "engine/observe/sweep.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "engine/observe/all.h"
#include "engine/phase.h"
#include "engine/test.h"
#include "par/agree.h"

enum units { NODES, PAIRS, RANKS };

/* The work of a rank in a phase. */
struct done {
    uint64_t amount, ns; /* bytes or operations; in open, work and close */
};

struct state {
    const struct weir_stage *op[WEIR_SWEEP_OPS];
    struct done joint[WEIR_SWEEP_OPS], alone[WEIR_SWEEP_OPS]; /* own */
    int ops;
    bool on; /* there is something to compare */
    struct weir_leaders leaders; /* units and their leaders */
    int unit;                /* own */
    struct weir_sweep_round round;
    struct weir_turn turn;
    char name[64]; /* of the round */
    struct weir_sweep_table table; /* results on rank 0 */
};

static int units_of(const struct weir_run *run)
{
    return weir_opt_choice(weir_sweep_units, run->test->plan.options->sweep);
}

/* ---- options ---- */

static int check(const struct weir_run_options *o, struct weir_files *files, struct weir_err *err)
{
    if (!weir_program_has(files->program, WEIR_STAGE_EXTRA))
        return !o->sweep ? 0
                         : weir_refuse(err, WEIR_EUSAGE,
                                       "option --sweep: %s has no phase that a subset of the ranks "
                                       "can run", files->program->name);
    if (o->sweep && o->sweep_s <= 0)
        return weir_refuse(err, WEIR_EUSAGE, "option --sweep-time must be more than 0 seconds");
    if (o->sweep || !(o->rerun_suspects || o->sweep_s != 1 || o->sweep_turns != 32))
        return 0;
    return weir_refuse(err, WEIR_EUSAGE, "option %s needs --sweep",
                       o->rerun_suspects   ? "--rerun-suspects"
                       : o->sweep_s != 1 ? "--sweep-time"
                                           : "--sweep-turns");
}

/* Where transfers are collective, ranks that have nothing to do take part in each. */
static int check_stages(const struct weir_run *run, const struct state *s, struct weir_err *err)
{
    const struct weir_test *t = run->test;

    for (int i = 0; i < s->ops; i++)
        if (weir_stage_timing(t, s->op[i]).collective_steps)
            return weir_refuse(err, WEIR_EUSAGE,
                               "option --sweep: the %s phase has collective transfers, so other "
                               "nodes move a part of the data of the measured node; use "
                               "independent transfers", s->op[i]->key);
    return 0;
}

static void note_one(struct weir_run *run)
{
    if (units_of(run) == RANKS || run->par.size == 1)
        weir_note(&run->log, "--sweep: there is only one rank, so no ranks can be compared");
    else
        weir_note(&run->log, "--sweep=%s: all ranks are on %s, so no nodes can be compared; "
                             "--sweep=ranks compares the ranks", run->test->plan.options->sweep,
                             units_of(run) == PAIRS ? "one pair of nodes" : "one node");
}

/* The schedule, for a run that does nothing. */
static void note_plan(struct weir_run *run, const struct state *s)
{
    const struct weir_run_options *o = run->test->plan.options;
    const int units[] = { run->par.nodes, (run->par.nodes + 1) / 2, run->par.size };
    int n = units[units_of(run)], later;
    struct weir_sweep_round r;
    char more[96] = "";

    if (n == 1) {
        note_one(run);
        return;
    }
    weir_sweep_begin(&r, n, o->sweep_turns);
    later = weir_sweep_rounds(n, o->sweep_turns) - 1 + o->rerun_suspects;
    if (later > 0)
        snprintf(more, sizeof(more), "; if one is slow, %d more round%s of at most %d turns", later,
                 later == 1 ? "" : "s", WEIR_SWEEP_CONTROLS + 1);
    weir_note(&run->log,
              "--sweep: %d %s in %d turns after one warm-up turn, at most %d at a time; %d phase%s "
              "of at most %.6g s in each turn: %.6g s in all%s",
              n, weir_sweep_units[units_of(run)], r.turns, weir_sweep_together(&r), s->ops,
              s->ops == 1 ? "" : "s", o->sweep_s, o->sweep_s * s->ops * (r.turns + 1), more);
}

static int test_start(struct weir_run *run, void *state, struct weir_err *err)
{
    struct state *s = state;

    s->ops = weir_stages_subset(run->test, s->op, WEIR_SWEEP_OPS);
    if (check_stages(run, s, err) < 0)
        return -1;
    if (s->ops == 0)
        weir_note(&run->log, "--sweep: this test has no phase that a subset of the ranks can run");
    else if (run->test->plan.options->dry_run)
        note_plan(run, s);
    return 0;
}

/* ---- this rank ---- */

static struct done measure(const struct weir_run *run, const struct weir_stage *stage,
                           const struct weir_phase_rec *rec)
{
    const struct weir_phase *ph = stage->phase;
    uint64_t ops = ph->done ? ph->done((struct weir_run *)run, run->test->state, rec->steps) : rec->steps;

    return (struct done) { weir_sweep_moves_bytes(stage) ? run->counters.bytes : ops,
                           weir_phase_own_ns(rec) };
}

/* The phase of all ranks. */
static int after(struct weir_run *run, void *state, struct weir_phase_rec *rec,
                 struct weir_err *err)
{
    struct state *s = state;

    for (int i = 0; i < s->ops && !rec->failed && run->repetition == 0; i++)
        if (s->op[i] == rec->stage)
            s->joint[i] = measure(run, rec->stage, rec);
    return 0;
}

/* ---- a turn ---- */

/* All phases of a group. */
static int run_turn(struct weir_run *run, struct state *s, int i, uint64_t begin_ns,
                    struct weir_err *err)
{
    const struct weir_again again = { .turn = &s->turn,
                                      .seconds = run->test->plan.options->sweep_s };
    struct weir_phase_rec rec;

    s->turn = (struct weir_turn) { .idle = !weir_sweep_runs(&s->round, i, s->unit),
                                   .name = s->name,
                                   .done = i * s->ops,
                                   .all = s->round.turns * s->ops,
                                   .begin_ns = begin_ns };
    for (int k = 0; k < s->ops; k++, s->turn.done++) {
        if (weir_stages_again(run, s->op[k], &again, &rec, err) < 0)
            return -1;
        if (!s->turn.idle)
            s->alone[k] = measure(run, s->op[k], &rec);
    }
    return 0;
}

/* Run the phases of a sweep. The first runs twice, and its second run counts, because only the
 * first finds caches cold. Then *done is the number that ended well, until the time of the test
 * was up. */
static int run_turns(struct weir_run *run, struct state *s, int *done, struct weir_err *err)
{
    uint64_t begin_ns = weir_now_ns();

    *done = 0;
    if (snprintf(s->name, sizeof(s->name), "sweep of %d %s, round %d", s->table.field.units, s->table.by,
                 s->round.number + 1) < 0)
        s->name[0] = '\0';
    if (s->round.number == 0 && run_turn(run, s, 0, begin_ns, err) < 0)
        return weir_err_within(err, "%s, before its first turn", s->name);
    memset(s->alone, 0, sizeof(s->alone));
    for (; *done < s->round.turns && !weir_stages_time_is_up(run); ++*done)
        if (run_turn(run, s, *done, begin_ns, err) < 0)
            return weir_err_within(err, "%s, turn %d of %d", s->name, *done + 1, s->round.turns);
    return 0;
}

/* ---- a round ---- */

/* The rates of our unit: the work of its ranks over the time of the slowest. */
static void find_rates(const struct state *s, const struct done *own, double *rate)
{
    uint64_t amount[WEIR_SWEEP_OPS];
    int64_t ns[WEIR_SWEEP_OPS];

    for (int k = 0; k < s->ops; k++) {
        amount[k] = own[k].amount;
        ns[k] = (int64_t)own[k].ns;
    }
    weir_allsum_u64(&s->leaders.group, amount, s->ops);
    weir_allmax_i64(&s->leaders.group, ns, s->ops);
    for (int k = 0; k < s->ops; k++)
        rate[k] = ns[k] > 0 && amount[k] > 0
                      ? (double)amount[k] / (double)ns[k] * WEIR_NS_PER_S
                      : NAN;
}

/* The rates of all units, *all on rank 0, which frees it; from their leaders. */
static int gather_rates(struct weir_run *run, const struct state *s, const struct done *own,
                        double **all, struct weir_err *err)
{
    double rate[WEIR_SWEEP_OPS];
    int rc = 0;

    *all = NULL;
    find_rates(s, own, rate);
    if (s->leaders.is_leader)
        *all = weir_gather_new(&s->leaders.peers, rate, sizeof(*rate) * (size_t)s->ops);
    if (run->par.rank == 0 && !*all)
        rc = weir_fail(err, WEIR_ESETUP, "memory for the rates of %d %s", s->table.field.units,
                       s->table.by);
    return weir_agree(&run->par, rc, err);
}

/* Rank 0 learns of the round, and decides whether there is another one. turns: that it had. */
static int end_round(struct weir_run *run, struct state *s, int turns, bool *more,
                     struct weir_err *err)
{
    struct weir_sweep_table *t = &s->table;
    bool whole = turns == s->round.turns && s->round.number + 1 < WEIR_SWEEP_ROUNDS;
    double *rate;

    if (gather_rates(run, s, s->alone, &rate, err) < 0)
        return -1;
    *more = false;
    if (run->par.rank == 0) {
        weir_sweep_keep(&t->field, &s->round, rate);
        t->round[t->rounds++] = (struct weir_sweep_counts) { turns, weir_sweep_together(&s->round),
                                                             t->field.suspects };
        *more = whole && weir_sweep_next(&t->field, &s->round,
                                         run->test->plan.options->rerun_suspects);
    }
    free(rate);
    weir_bcast(&run->par, more, sizeof(*more), 0);
    weir_bcast(&run->par, &s->round, sizeof(s->round), 0);
    return 0;
}

/* ---- the sweep ---- */

/* On rank 0. */
static int take_memory(struct weir_sweep_table *t, struct weir_arena *a, struct weir_err *err)
{
    if (!t->unit)
        return weir_fail(err, WEIR_ESETUP, "memory for the names of %d %s", t->field.units, t->by);
    if (weir_sweep_field_begin(&t->field, a, err) < 0)
        return -1;
    for (int u = 0; u < t->field.units; u++)
        t->field.tasks[u] = t->unit[u].tasks;
    return 0;
}

/* The units of all ranks, and their leaders. */
static int find_units(struct weir_run *run, struct state *s, struct weir_err *err)
{
    const struct weir_par *par = &run->par;
    const int color[] = { par->node, par->node / 2, par->rank };
    struct weir_sweep_unit mine = { .rank = par->rank };
    int rc = 0;

    s->table.by = weir_sweep_units[units_of(run)];
    if (weir_test_leaders(run, &s->leaders, color[units_of(run)], err) < 0)
        return -1;
    s->unit = s->leaders.peers.rank;
    s->table.field.units = s->leaders.peers.size;
    s->table.field.ops = s->ops;
    weir_bcast(&s->leaders.group, &s->unit, sizeof(s->unit), 0);
    weir_bcast(par, &s->table.field.units, sizeof(s->table.field.units), 0);
    mine.tasks = s->leaders.group.size;
    if (snprintf(mine.host, sizeof(mine.host), "%s", par->host) < 0)
        mine.host[0] = '\0';
    if (s->leaders.is_leader)
        s->table.unit = weir_gather_new(&s->leaders.peers, &mine, sizeof(mine));
    if (par->rank == 0)
        rc = take_memory(&s->table, &run->test->arena, err);
    if (weir_agree(par, rc, err) < 0)
        return -1;
    return gather_rates(run, s, s->joint, &s->table.joint, err);
}

/* Where a turn fails, the results of those before it are kept. */
static int run_rounds(struct weir_run *run, struct state *s, struct weir_err *err)
{
    uint64_t begin_ns = weir_now_ns();
    bool more = true;
    int turns, rc = 0;

    while (more && rc == 0) {
        rc = run_turns(run, s, &turns, err);
        if (rc == 0 && turns < s->round.turns)
            weir_note(&run->log, "--sweep: the time limit of the test (-T) was reached after %d of "
                                 "%d turns of round %d",
                      turns, s->round.turns, s->round.number + 1);
        if ((rc == 0 || turns > 0) && end_round(run, s, turns, &more, rc == 0 ? err : weir_run_second(run)) < 0)
            rc = -1;
    }
    s->table.seconds = (double)(weir_now_ns() - begin_ns) / WEIR_NS_PER_S;
    s->on = s->table.rounds > 0;
    return rc;
}

static int extra(struct weir_run *run, void *state, struct weir_err *err)
{
    const struct weir_run_options *o = run->test->plan.options;
    struct state *s = state;

    if (s->ops == 0 || o->dry_run)
        return 0;
    if (find_units(run, s, err) < 0)
        return -1;
    if (s->table.field.units == 1) {
        note_one(run);
        return 0;
    }
    s->table.turn_s = o->sweep_s;
    memcpy(s->table.op, s->op, sizeof(s->op));
    weir_sweep_begin(&s->round, s->table.field.units, o->sweep_turns);
    return run_rounds(run, s, err);
}

static void test_end(struct weir_run *run, void *state)
{
    const struct state *s = state;

    if (s->on && run->par.rank == 0)
        weir_sweep_report(run, &s->table);
}

static void test_free(struct weir_run *run, void *state)
{
    struct state *s = state;

    free(s->table.unit);
    free(s->table.joint);
    *s = (struct state) { .ops = 0 };
}

const struct weir_observer weir_sweep = {
    .name = "sweep",
    .state_size = sizeof(struct state),
    .option = offsetof(struct weir_run_options, sweep),
    .check = check,
    .test_start = test_start,
    .extra = extra,
    .test_end = test_end,
    .test_free = test_free,
    .after = after,
};
