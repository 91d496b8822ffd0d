/* SPDX-License-Identifier: BSD-3-Clause */
/* steady.c - phases that end when their rate and their latency are steady (--until=steady)
 *
 * Rounds begin with the work of each rank. At the first poll after a round a rank adds its rate
 * and the times of its operations to a sum of all ranks, and goes on without a wait. A round is
 * longer where a rank was in an operation, and each rank divides by its own time. The judgement
 * follows from the sums alone, so it is the same on all ranks. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/steady.h"
#include "engine/observe/all.h"
#include "engine/observe/sweep.h"
#include "engine/ratelimit.h"
#include "engine/test.h"
#include "par/rollsum.h"

#define FINE 1000 /* rates are summed in parts of a byte or operation */

/* The numbers of a sum: ranks that have given theirs, their rates, bins of the histogram. */
enum { RANKS, RATE, BINS, NUMBERS = BINS + WEIR_HIST_BINS };

struct state {
    struct weir_rollsum rollsum;
    struct weir_hist *hist; /* times of this rank's operations in the phase: until the last round, and now */
    struct weir_steady series;
    struct weir_steady_verdict verdict;
    uint64_t edge_ns[WEIR_STEADY_WINDOW_MAX + 1]; /* of the rounds of the window, by this rank's clock */
    struct weir_str text;                        /* rank 0: the table of the test for people */
    bool on, moves, ended;        /* the phase is watched; its work is bytes; it was steady long enough */
    const struct weir_phase_rec *rec; /* of the phase that runs */
    uint64_t begin_ns, first_ns, last_ns; /* begin of the phase, of its work, end of the last round */
    uint64_t due_ns;              /* when the next round ends, after the begin of the work */
    uint64_t work;                /* of this rank until the last round */
};

/* ---- options ---- */

static bool wanted(const struct weir_test *t)
{
    return weir_steady_asked(t->plan.options->until) && !t->plan.options->dry_run;
}

static int check(const struct weir_run_options *o, struct weir_files *files, struct weir_err *err)
{
    struct weir_steady_choice c;
    double bound, least;

    if (!weir_steady_asked(o->until))
        return 0;
    if (weir_steady_read(o->until, &c, err) < 0)
        return -1;
    bound = weir_steady_bound(&c, o->deadline_s);
    least = (double)c.window * c.round_s;
    if (bound >= least)
        return 0;
    return weir_refuse(err, WEIR_EUSAGE,
                       "option --until=steady: %" PRId64 " rounds of %g s take %g s, but %s ends a phase after %g s; "
                       "make the rounds shorter (round=SECONDS), or the phase longer",
                       c.window, c.round_s, least, c.max_s == bound ? "most" : "the deadline", bound);
}

/* ---- a test ---- */

static int test_begin(struct weir_run *run, void *state, struct weir_err *err)
{
    struct state *s = state;

    *s = (struct state) { .on = false };
    if (weir_steady_read(run->test->plan.options->until, &s->series.choice, err) < 0)
        return -1;
    s->hist = weir_arena_alloc(&run->test->arena, 2 * sizeof(*s->hist), err);
    return s->hist ? 0 : -1;
}

static bool can_end(const struct weir_run *run)
{
    for (const struct weir_stage *s = run->test->program->stages; s && s->key; s++)
        if (s->phase && (s->phase->flags & WEIR_PHASE_STONEWALL) && weir_stage_wanted(run->test, s))
            return true;
    return false;
}

static int test_start(struct weir_run *run, void *state, struct weir_err *err)
{
    struct state *s = state;

    if (can_end(run))
        return weir_rollsum_begin(&s->rollsum, &run->par, NUMBERS, err);
    return weir_refuse(err, WEIR_EUSAGE,
                       "option --until=steady: this test has no phase that can end early; only "
                       "phases that move data or create items can");
}

static void test_free(struct weir_run *run, void *state)
{
    struct state *s = state;

    weir_rollsum_free(&s->rollsum);
    *s = (struct state) { .on = false };
}

/* ---- rounds ---- */

/* The times of all operations of this rank in the phase until now. Those of data are transfers; at a rate
 * they count from when an operation was due. */
static void collect(const struct weir_run *run, bool moves, struct weir_hist *out)
{
    const struct weir_hist *each = run->ratelimit ? run->ratelimit->response : run->records.hist;
    const struct weir_test *t = run->test;
    bool calls = moves && !run->ratelimit;

    memset(out, 0, sizeof(*out));
    for (int i = 0; i < t->sessions && calls; i++)
        if (t->session[i]->stats)
            weir_hist_merge(out, &t->session[i]->stats->hist[WEIR_OP_XFER]);
    for (int i = 0; i < weir_operations_count(run->program) && !calls; i++)
        weir_hist_merge(out, &each[i]);
}

/* Send the work of this rank since the last round. */
static void give_round(const struct weir_run *run, struct state *s, uint64_t now_ns)
{
    struct weir_hist *now = &s->hist[1];
    uint64_t *mine = s->rollsum.mine, work;

    collect(run, s->moves, now);
    work = s->moves ? run->counters.bytes : now->n;
    mine[RANKS] = 1;
    mine[RATE] = (uint64_t)((double)(work - s->work) * FINE * WEIR_NS_PER_S / (double)(now_ns - s->last_ns));
    weir_hist_since(&s->hist[0], now, mine + BINS);
    s->work = work;
    s->last_ns = now_ns;
    weir_rollsum_start(&s->rollsum);
}

static double p99_of(const uint64_t *bins)
{
    struct weir_hist h = { 0 };

    weir_hist_add_bins(&h, bins);
    return h.n > 0 ? (double)weir_hist_quantile(&h, 0.99) / WEIR_NS_PER_S : NAN;
}

/* The sum of a round has come. One in which not all ranks took part is the rest of a phase. */
static void add_round(const struct weir_run *run, struct state *s)
{
    const uint64_t *sum = s->rollsum.sum;
    int64_t window = s->series.choice.window, at = s->series.rounds < window ? s->series.rounds + 1 : window;

    if (sum[RANKS] != (uint64_t)run->par.size)
        return;
    if (s->series.rounds >= window)
        memmove(s->edge_ns, s->edge_ns + 1, sizeof(*s->edge_ns) * (size_t)at);
    s->edge_ns[at] = s->last_ns;
    weir_steady_add(&s->series, (double)sum[RATE] / FINE, p99_of(sum + BINS));
    weir_steady_judge(&s->series, &s->verdict);
}

/* Not before minTimeDuration, in rounds, which are the same on all ranks. */
static bool is_enough(const struct weir_run *run, const struct state *s)
{
    return s->verdict.steady &&
           (double)s->verdict.rounds * s->series.choice.round_s >= run->test->plan.options->min_time_s;
}

static void start(struct weir_run *run, void *state, const struct weir_phase_rec *rec)
{
    struct state *s = state;

    s->on = rec->bounds.observed;
    s->moves = s->on && weir_sweep_moves_bytes(rec->stage);
    s->ended = false;
    s->begin_ns = weir_now_ns();
    s->rec = rec;
    s->first_ns = s->work = 0;
    memset(s->hist, 0, sizeof(*s->hist));
    s->due_ns = (uint64_t)(s->series.choice.round_s * WEIR_NS_PER_S);
    s->series.rounds = 0;
    s->rollsum.started = 0;
    weir_steady_judge(&s->series, &s->verdict);
}

static bool tick(struct weir_run *run, void *state, const struct weir_ranks_progress *progress,
                 uint64_t now_ns)
{
    struct state *s = state;
    uint64_t round_ns = (uint64_t)(s->series.choice.round_s * WEIR_NS_PER_S);

    if (!s->on || s->ended)
        return s->on;
    if (s->first_ns == 0)
        s->first_ns = s->last_ns = s->edge_ns[0] = s->rec->mark[WEIR_MARK_WORK];
    if (weir_rollsum_poll(&s->rollsum)) {
        add_round(run, s);
        s->ended = is_enough(run, s);
    } else if (!s->rollsum.pending && now_ns - s->first_ns >= s->due_ns) {
        give_round(run, s, now_ns);
        s->due_ns = ((now_ns - s->first_ns) / round_ns + 1) * round_ns;
    }
    return s->ended;
}

/* ---- what is reported ---- */

struct row {
    const char *operation, *unit, *steady, *worst;
    int64_t test, iter, rounds;
    double begin, end, rate, p99, excursion[WEIR_STEADY_SERIES], slope[WEIR_STEADY_SERIES], value, limit;
};

#define ROW struct row
#define PERCENT(f, k, h, title) COL_REAL(ROW, f, k, h ", percent", .unit = 0.01, .head = (title), .none = "-", .width = 6, .prec = 1, .gap = 1)
#define SECONDS(f, k, h, title, digits) COL_REAL(ROW, f, k, h ", seconds", .unit = WEIR_NS_PER_S, .head = (title), .none = "-", .width = 9, .prec = (digits), .gap = 1)

static const struct weir_col cols[] = {
    COL_INT(ROW, test, "test", "Number of the test, from 0"),
    COL_STR(ROW, operation, "operation", "Phase", .head = "phase", .width = -21, .gap = 1),
    COL_INT(ROW, iter, "iter", "Repetition, from 0", .head = "iter", .width = 4, .gap = 1),
    COL_STR(ROW, steady, "steady", "yes: the last window was steady; no: none was", .head = "steady", .width = -6, .gap = 1),
    COL_INT(ROW, rounds, "rounds", "Rounds of the phase", .head = "rounds", .width = 6, .gap = 1),
    SECONDS(begin, "begin", "Begin of the last window after that of the phase", "begin(s)", 3),
    SECONDS(end, "end", "Its end", "end(s)", 3),
    COL_REAL(ROW, rate, "rate", "Mean rate of its rounds, of all tasks", .head = "rate", .none = "-", .width = 12, .digits = 6, .gap = 1),
    COL_STR(ROW, unit, "unit", "Of the rate: bytes/s or ops/s", .head = "unit", .width = -5, .gap = 1),
    PERCENT(excursion[WEIR_STEADY_RATE], "rateExcursion", "Largest less smallest rate of a round, of the mean", "excur%"),
    PERCENT(slope[WEIR_STEADY_RATE], "rateSlope", "Change of the best line through the rates over the window, of the mean", "slope%"),
    SECONDS(p99, "p99", "Mean of the rounds' times below which 99 % of the operations are", "p99(s)", 6),
    PERCENT(excursion[WEIR_STEADY_P99], "p99Excursion", "As rateExcursion, of p99", "excur%"),
    PERCENT(slope[WEIR_STEADY_P99], "p99Slope", "As rateSlope, of p99", "slope%"),
    COL_STR(ROW, worst, "worst", "The criterion that is the largest part of its limit", .head = "worst", .none = "-"),
    COL_REAL(ROW, value, "worstValue", "Its value, percent", .unit = 0.01),
    COL_REAL(ROW, limit, "worstLimit", "The most that is steady, percent", .unit = 0.01),
    WEIR_COL_END
};

static const struct weir_table table = { .key = "steadyState", .cols = cols, .readers = WEIR_FOR_DATA };

static void fill_row(const struct weir_run *run, const struct state *s, const struct weir_phase_rec *rec, struct row *row)
{
    const struct weir_steady_verdict *v = &s->verdict;

    *row = (struct row) { .operation = rec->phase->key, .unit = s->moves ? "bytes/s" : "ops/s",
                          .steady = v->steady ? "yes" : "no", .worst = v->worst, .test = run->test->id,
                          .iter = rec->repetition, .rounds = v->rounds, .begin = NAN, .end = NAN,
                          .rate = v->fit[WEIR_STEADY_RATE].mean,
                          .p99 = v->fit[WEIR_STEADY_P99].mean * WEIR_NS_PER_S,
                          .value = v->value, .limit = v->limit };
    for (int k = 0; k < WEIR_STEADY_SERIES; k++) {
        row->excursion[k] = v->fit[k].excursion;
        row->slope[k] = v->fit[k].slope;
    }
    if (v->whole) {
        row->begin = (double)(s->edge_ns[0] - s->begin_ns);
        row->end = (double)(s->edge_ns[s->series.choice.window] - s->begin_ns);
    }
}

/* Notes for people that it was steady, or why not. */
static void note(const struct weir_run *run, const struct state *s, const struct weir_phase_rec *rec)
{
    const struct weir_steady_verdict *v = &s->verdict;
    char why[WEIR_STEADY_TEXT];

    if (v->steady)
        weir_note(&run->log, "--until=steady: the %s phase was steady after %" PRId64 " rounds in %.3g s%s; the rates of the "
                  "tables are those of the whole phase",
                  rec->phase->key, v->rounds, (double)(s->last_ns - s->begin_ns) / WEIR_NS_PER_S,
                  rec->sum.ended[WEIR_END_STEADY] > 0 ? ", and ended" : "");
    else
        weir_note(&run->log, "--until=steady: the %s phase was never steady: %s", rec->phase->key,
                  weir_steady_why(v, why));
}

static int after(struct weir_run *run, void *state, struct weir_phase_rec *rec, struct weir_err *err)
{
    struct state *s = state;
    struct row row;

    if (!s->on)
        return 0;
    s->on = false;
    if (weir_rollsum_finish(&s->rollsum))
        add_round(run, s);
    if (rec->failed)
        return 0;
    rec->steady = &s->verdict;
    if (run->par.rank != 0)
        return 0;
    fill_row(run, s, rec, &row);
    weir_report_row(&run->report, &table, &row);
    if (s->moves) {
        row.rate /= WEIR_MIB;
        row.unit = "MiB/s";
    }
    weir_col_keep(&s->text, "Steady state, last window of each phase", cols, &row);
    note(run, s, rec);
    return 0;
}

const struct weir_observer weir_steady_state = {
    .name = "steady",
    .state_size = sizeof(struct state),
    .wanted = wanted,
    .check = check,
    .test_begin = test_begin,
    .test_start = test_start,
    .start = start,
    .tick = tick,
    .after = after,
    .text = offsetof(struct state, text),
    .test_free = test_free,
};
