/* SPDX-License-Identifier: BSD-3-Clause */
/* stats.c - mergeable moments of a series */
#include "base/stats.h"
#include "config.h"

#include <math.h>
#include <stdlib.h>

void weir_stats_add(struct weir_stats *s, double x)
{
    double before = x - s->mean;

    if (s->n == 0 || x < s->min)
        s->min = x;
    if (s->n == 0 || x > s->max)
        s->max = x;
    s->n++;
    s->mean += before / (double)s->n;
    s->m2 += before * (x - s->mean);
}

double weir_stats_sd(const struct weir_stats *s, enum weir_deviation d)
{
    if (s->n < 2 || s->m2 <= 0)
        return 0;
    return sqrt(s->m2 / (double)(s->n - (d == WEIR_DEVIATION_SAMPLE)));
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

double weir_median(double *v, size_t n)
{
    if (n == 0)
        return NAN;
    qsort(v, n, sizeof(*v), compare);
    return v[(n - 1) / 2] + (v[n / 2] - v[(n - 1) / 2]) / 2;
}

/* The median is between the values number k and n-1-k unless at most k of n fall on one side of it:
 * a binomial of 1/2. Its first terms are below the least double from n = 1075 on: logarithms. */
bool weir_median_interval(const double *sorted, int n, double *low, double *high)
{
    double log_term = n * log(0.5), below = exp(log_term);
    int k = 0;

    if (n < 1 || 2 * below > 0.05)
        return false;
    for (; k + 1 < n / 2; k++) {
        log_term += log((double)(n - k) / (k + 1));
        if (2 * (below + exp(log_term)) > 0.05)
            break;
        below += exp(log_term);
    }
    *low = sorted[k];
    *high = sorted[n - 1 - k];
    return true;
}

/* ---- series ---- */

int weir_series_reserve(struct weir_series *s, struct weir_err *err)
{
    size_t capacity = s->capacity ? 2 * s->capacity : 16;
    double *more;

    if (s->n < s->capacity)
        return 0;
    more = realloc(s->v, capacity * (s->width + 1) * sizeof(*more));
    if (!more)
        return weir_fail(err, WEIR_ESETUP, "memory for %zu repetitions", capacity);
    s->v = more;
    s->capacity = capacity;
    return 0;
}

double *weir_series_add(struct weir_series *s)
{
    return s->v + s->width * s->n++;
}
