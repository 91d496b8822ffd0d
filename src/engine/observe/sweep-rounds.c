/* SPDX-License-Identifier: BSD-3-Clause */
/* sweep-rounds.c - which of many units are slow: groups that run alone, and robust scores */
#include "engine/observe/sweep.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "base/stats.h"

/* ---- groups ---- */

#define SMALL 4 /* groups of fewer units differ too much in size: single units instead */

static int share_up(int n, int parts)
{
    return n / parts + (n % parts > 0);
}

void weir_sweep_begin(struct weir_sweep_round *r, int units, int most)
{
    *r = (struct weir_sweep_round) { .units = units };
    r->step = r->turns = share_up(units, share_up(units, most)); /* nearly all groups are full */
}

int weir_sweep_together(const struct weir_sweep_round *r)
{
    return share_up(r->units, r->step);
}

static int common_divisor(int a, int b)
{
    while (b) {
        int rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

/* Turn t of n takes a place two fifths of all after the last one, mod n; one further on where that
 * would come to a place again. From n = 5 on no two turns that follow each other are neighbours, the
 * last place being one of the first. */
static int scatter(int t, int n)
{
    int apart = n < 4 ? 1 : n < 8 ? 2 : 2 * n / 5;
    int cycle = n / common_divisor(n, apart);

    return (int)(((long long)t * apart + t / cycle) % n);
}

int weir_sweep_group(const struct weir_sweep_round *r, int turn)
{
    int place = scatter(turn, r->turns);

    return r->number == 0 ? place : r->group[place];
}

static bool is_in(const struct weir_sweep_round *r, int unit, int from, int to)
{
    for (int i = from; i < to; i++)
        if (r->group[i] == unit % r->step)
            return true;
    return false;
}

static int smaller_step(int units, int step)
{
    if (step > units / SMALL / WEIR_SWEEP_SPLIT)
        return units;
    return step * WEIR_SWEEP_SPLIT;
}

/* Groups evenly over all units. A step that shares no divisor with their number comes to each. */
static void add_controls(struct weir_sweep_round *r, const int *tasks, int wanted_tasks)
{
    int apart = r->units / (WEIR_SWEEP_CONTROLS + 1) + 1, unit = apart / 2;

    while (common_divisor(r->units, apart) != 1)
        apart++;
    for (int i = 0; i < r->units && r->turns < r->suspects + WEIR_SWEEP_CONTROLS; i++) {
        if (tasks[unit] == wanted_tasks && !is_in(r, unit, 0, r->turns))
            r->group[r->turns++] = unit % r->step;
        unit = (int)(((long long)unit + apart) % r->units);
    }
}

/* Groups for the suspects, the worst first, as many as fit, and controls. */
static void make_groups(struct weir_sweep_round *r, const struct weir_sweep_suspect *suspect, int n,
                        const int *tasks)
{
    r->turns = 0;
    for (int i = 0; i < n && r->turns < WEIR_SWEEP_SUSPECTS; i++)
        if (!is_in(r, suspect[i].unit, 0, r->turns))
            r->group[r->turns++] = suspect[i].unit % r->step;
    r->suspects = r->turns;
    add_controls(r, tasks, tasks[suspect[0].unit]);
}

int weir_sweep_rounds(int units, int most)
{
    struct weir_sweep_round r;
    int rounds = 1;

    weir_sweep_begin(&r, units, most);
    for (int step = r.step; step < units; rounds++)
        step = smaller_step(units, step);
    return rounds;
}

/* ---- scores ---- */

/* z = (ln rate - median) / max(1.4826 MAD, FLOOR). MAD is the median of the distances to the
 * median, and 1.4826 MAD estimates the standard deviation of normal values (Hampel 1974;
 * Iglewicz and Hoaglin 1993). Logarithms: half as fast is as far away as twice as fast. FLOOR
 * is 3 % of the rate: whatever is less than 10 % slower than the median is no outlier. */
#define NORMAL 1.4826
#define FLOOR 0.03

/* Return the score below which a value is an outlier, negated. One of n normal values exceeds
 * it in 1 of 100 cases, by simulation (repeated in testing/unit/test_sweep.c). The MAD is a
 * rough measure of few values. */
static double limit_of(int n)
{
    static const double few[] = { 56, 11.2, 13.6, 8, 8.7, 6.7, 7, 6.1 };
    const int known = (int)(sizeof(few) / sizeof(*few));

    if (n < WEIR_SWEEP_MIN)
        return INFINITY;
    return n - WEIR_SWEEP_MIN < known ? few[n - WEIR_SWEEP_MIN]
                                        : 2.9 + 0.2 * log(n) + 25.0 / n;
}

static bool is_measured(const struct weir_sweep_score *s)
{
    return s->rate > 0;
}

/* The next larger number of tasks of a unit that was measured; INT_MAX: there is none. */
static int next_class(const int *tasks, const struct weir_sweep_score *score, int units, int last)
{
    int next = INT_MAX;

    for (int i = 0; i < units; i++)
        if (is_measured(&score[i]) && tasks[i] > last && tasks[i] < next)
            next = tasks[i];
    return next;
}

/* Units of one class: *median and *scale of those that are compared with; returns how many. */
static int measure_class(const struct weir_sweep_round *r, const int *tasks, int class,
                         const struct weir_sweep_score *score, double *scratch, double *median,
                         double *scale)
{
    int n = 0;

    for (int i = 0; i < r->units; i++)
        if (tasks[i] == class && is_measured(&score[i]) &&
            (r->number == 0 || is_in(r, i, r->suspects, r->turns)))
            scratch[n++] = log(score[i].rate);
    *median = weir_median(scratch, (size_t)n);
    for (int i = 0; i < n; i++)
        scratch[i] = fabs(scratch[i] - *median);
    *scale = fmax(NORMAL * weir_median(scratch, (size_t)n), FLOOR);
    return n;
}

static void score_class(const struct weir_sweep_round *r, const int *tasks, int class,
                        struct weir_sweep_score *score, double *scratch)
{
    double median, scale;
    int n = measure_class(r, tasks, class, score, scratch, &median, &scale);

    for (int i = 0; i < r->units && n >= WEIR_SWEEP_MIN; i++)
        if (tasks[i] == class && is_measured(&score[i])) {
            score[i].median = exp(median);
            score[i].z = (log(score[i].rate) - median) / scale;
            score[i].low = score[i].z < -limit_of(n);
        }
}

static void score_units(const struct weir_sweep_round *r, const int *tasks,
                        struct weir_sweep_score *score, double *scratch)
{
    for (int i = 0; i < r->units; i++) {
        score[i].median = score[i].z = NAN;
        score[i].low = false;
    }
    for (int class = next_class(tasks, score, r->units, 0); class < INT_MAX;
         class = next_class(tasks, score, r->units, class))
        score_class(r, tasks, class, score, scratch);
}

/* ---- results of all rounds ---- */

int weir_sweep_field_begin(struct weir_sweep_field *f, struct weir_arena *a, struct weir_err *err)
{
    size_t n = (size_t)f->units;

    f->of = weir_arena_alloc(a, n * (size_t)f->ops * sizeof(*f->of), err);
    f->tasks = weir_arena_alloc(a, n * sizeof(*f->tasks), err);
    f->score = weir_arena_alloc(a, n * sizeof(*f->score), err);
    f->scratch = weir_arena_alloc(a, n * sizeof(*f->scratch), err);
    f->suspect = weir_arena_alloc(a, n * sizeof(*f->suspect), err);
    if (!f->of || !f->tasks || !f->score || !f->scratch || !f->suspect)
        return -1;
    for (size_t i = 0; i < n * (size_t)f->ops; i++)
        f->of[i].score = (struct weir_sweep_score) { NAN, NAN, NAN, false };
    return 0;
}

/* A unit that was no suspect keeps the result of the first round: all of these can be compared. */
static void keep_score(struct weir_sweep_result *f, const struct weir_sweep_round *r,
                       const struct weir_sweep_score *score)
{
    bool first = r->number == 0;

    if (!is_measured(score) || !(first || (f->suspect && !isnan(score->z))))
        return;
    f->round = r->number;
    f->together = weir_sweep_together(r);
    f->cleared = !first && !score->low;
    f->suspect = score->low;
    f->score = *score;
}

/* The lowest score of the operations for which unit u is a suspect; 0: none. */
static double worst_of(const struct weir_sweep_field *f, int u)
{
    double worst = 0;

    for (int k = 0; k < f->ops; k++)
        if (f->of[u * f->ops + k].suspect)
            worst = fmin(worst, f->of[u * f->ops + k].score.z);
    return worst;
}

static int compare_suspects(const void *a, const void *b)
{
    const struct weir_sweep_suspect *x = a, *y = b;

    return x->z != y->z ? (x->z > y->z) - (x->z < y->z) : (x->unit > y->unit) - (x->unit < y->unit);
}

void weir_sweep_keep(struct weir_sweep_field *f, const struct weir_sweep_round *r,
                     const double *rate)
{
    for (int k = 0; k < f->ops; k++) {
        for (int u = 0; u < f->units; u++)
            f->score[u].rate = rate[u * f->ops + k];
        score_units(r, f->tasks, f->score, f->scratch);
        for (int u = 0; u < f->units; u++)
            keep_score(&f->of[u * f->ops + k], r, &f->score[u]);
    }
    f->suspects = 0;
    for (int u = 0; u < f->units; u++) {
        struct weir_sweep_suspect one = { worst_of(f, u), u };

        if (one.z < 0)
            f->suspect[f->suspects++] = one;
    }
    qsort(f->suspect, (size_t)f->suspects, sizeof(*f->suspect), compare_suspects);
}

bool weir_sweep_next(struct weir_sweep_field *f, struct weir_sweep_round *r, bool rerun)
{
    bool alone = weir_sweep_is_single(r);

    if (f->suspects == 0 || (alone && (f->reran || !rerun)))
        return false;
    f->reran |= alone;
    r->number++;
    r->step = smaller_step(r->units, r->step);
    make_groups(r, f->suspect, f->suspects, f->tasks);
    return true;
}
