/* SPDX-License-Identifier: BSD-3-Clause */
/* mix-rates.c - rates alone and together, and their quotients over repetitions */
#include "programs/weir-mix/mix.h"

#include <stdlib.h>
#include <string.h>

#include "base/stats.h"

double mix_rate_of(const struct mix_rate *r)
{
    return r->seconds > 0 ? r->amount / r->seconds : NAN;
}

int mix_rates_add(struct mix_rates *all, const struct mix_rate *more, int n)
{
    if (!weir_mem_reserve(&all->rate, (size_t)(all->n + n), &all->capacity, sizeof(*all->rate)))
        return -1;
    if (n > 0)
        memcpy(all->rate + all->n, more, sizeof(*more) * (size_t)n);
    all->n += n;
    return 0;
}

struct mix_center mix_center_of(double *v, int n)
{
    struct mix_center c = { .median = NAN, .low = NAN, .high = NAN };

    for (int i = 0; i < n; i++)
        if (!isnan(v[i]))
            v[c.n++] = v[i];
    if (c.n == 0)
        return c;
    c.median = weir_median(v, (size_t)c.n); /* sorts */
    weir_median_interval(v, c.n, &c.low, &c.high);
    return c;
}

static const struct mix_rate *find(const struct mix_rates *all, int group, int with, const char *operation,
                                   int repetition)
{
    for (int i = 0; i < all->n; i++) {
        const struct mix_rate *r = &all->rate[i];

        if (r->group == group && r->with == with && r->repetition == repetition &&
            strcmp(r->operation, operation) == 0)
            return r;
    }
    return NULL;
}

/* The numbers of a repetition, of which there are centers. */
enum { ALONE, TOGETHER, SLOWDOWN, P99_ALONE, P99_TOGETHER, P99_SLOWDOWN, NUMBERS };

static void take(const struct mix_rate *alone, const struct mix_rate *with, double out[NUMBERS])
{
    out[ALONE] = alone ? mix_rate_of(alone) : NAN;
    out[TOGETHER] = with ? mix_rate_of(with) : NAN;
    out[SLOWDOWN] = out[TOGETHER] > 0 ? out[ALONE] / out[TOGETHER] : NAN;
    out[P99_ALONE] = alone ? alone->p99 : NAN;
    out[P99_TOGETHER] = with ? with->p99 : NAN;
    out[P99_SLOWDOWN] = out[P99_ALONE] > 0 ? out[P99_TOGETHER] / out[P99_ALONE] : NAN;
}

struct mix_row mix_rates_row(const struct mix_rates *all, int group, int with, const char *operation,
                             int repetitions)
{
    double *v = calloc((size_t)repetitions * NUMBERS, sizeof(*v)), seconds = 0, whole = 0, one[NUMBERS];
    struct mix_row row = { .shared = NAN };
    double least = INFINITY;
    struct mix_center *to[NUMBERS] = { &row.alone,     &row.together,     &row.slowdown,
                                       &row.p99_alone, &row.p99_together, &row.p99_slowdown };

    for (int rep = 0; v && rep < repetitions; rep++) {
        const struct mix_rate *alone = find(all, group, MIX_ALONE, operation, rep);
        const struct mix_rate *r = find(all, group, with, operation, rep);

        take(alone, r, one);
        for (int k = 0; k < NUMBERS; k++)
            v[k * repetitions + rep] = one[k];
        row.bytes |= (r && r->bytes) || (alone && alone->bytes);
        seconds += r ? r->seconds : 0;
        whole += r ? r->whole_seconds : 0;
        least = alone && r ? fmin(least, fmin(alone->operations, r->operations)) : least;
    }
    for (int k = 0; k < NUMBERS; k++) {
        *to[k] = mix_center_of(v + k * repetitions, v ? repetitions : 0);
        to[k]->min_ops = least;
    }
    if (whole > 0)
        row.shared = seconds / whole;
    free(v);
    return row;
}

/* Return the slowdown of one repetition; NaN: the group has no operation both alone and together. */
static double slowdown_of(const struct mix_rates *all, int group, int with, int repetition,
                          double *least)
{
    double together = 0, as_alone = 0, operations = 0;

    for (int i = 0; i < all->n; i++) {
        const struct mix_rate *r = &all->rate[i], *alone;

        if (r->group != group || r->with != with || r->repetition != repetition)
            continue;
        alone = find(all, group, MIX_ALONE, r->operation, repetition);
        if (!alone || !(mix_rate_of(alone) > 0) || !(r->seconds > 0))
            continue;
        together += r->seconds;
        as_alone += r->amount / mix_rate_of(alone);
        operations += fmin(r->operations, alone->operations);
    }
    *least = fmin(*least, operations);
    return as_alone > 0 ? together / as_alone : NAN;
}

struct mix_center mix_rates_group(const struct mix_rates *all, int group, int with, int repetitions)
{
    double *v = calloc((size_t)repetitions, sizeof(*v));
    double least = INFINITY;
    struct mix_center c;

    for (int rep = 0; v && rep < repetitions; rep++)
        v[rep] = slowdown_of(all, group, with, rep, &least);
    c = mix_center_of(v, v ? repetitions : 0);
    c.min_ops = least;
    free(v);
    return c;
}
