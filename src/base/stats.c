/* SPDX-License-Identifier: BSD-3-Clause */
/* stats.c - mergeable moments of a series; its median, slope and steadiness */
#include "base/stats.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/steady.h"

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

/* Chan, Golub and LeVeque 1979 */
void weir_stats_merge(struct weir_stats *s, const struct weir_stats *more)
{
    double a = (double)s->n, b = (double)more->n, apart = more->mean - s->mean;

    if (more->n == 0)
        return;
    if (s->n == 0 || more->min < s->min)
        s->min = more->min;
    if (s->n == 0 || more->max > s->max)
        s->max = more->max;
    s->n += more->n;
    s->mean += apart * b / (a + b);
    s->m2 += more->m2 + apart * apart * a * b / (a + b);
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
    if (weir_mem_reserve(&s->v, s->n, &s->capacity, (s->width + 1) * sizeof(*s->v)))
        return 0;
    return weir_fail(err, WEIR_ESETUP, "memory for %zu repetitions", s->n + 1);
}

double *weir_series_add(struct weir_series *s)
{
    return s->v + s->width * s->n++;
}

double weir_series_slope(const double *v, int n)
{
    size_t pairs = (size_t)n * (size_t)(n - 1) / 2, m = 0;
    double *slopes = malloc(sizeof(*slopes) * pairs), median;

    if (!slopes)
        return NAN;
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++)
            slopes[m++] = (v[j] - v[i]) / (j - i);
    median = weir_median(slopes, m);
    free(slopes);
    return median;
}

/* The bytes moved until a time; the last interval ends with the phase. */
static double moved_until(const uint64_t *moved, unsigned n, double width, double end, double time)
{
    double sum = 0;

    for (unsigned i = 0; i < n && i * width < time; i++) {
        double to = i + 1 == n ? end : (i + 1) * width;

        sum += (double)moved[i] * fmin(1, (time - i * width) / (to - i * width));
    }
    return sum;
}

#define WINDOWS 10
#define LAST 5 /* of them: those that are compared */

double weir_series_unsteady(const uint64_t *moved, unsigned n, double width, double end)
{
    double w[LAST], window = end / WINDOWS;
    struct weir_steady_fit fit;

    if (n < WINDOWS || !(end > 0))
        return NAN;
    for (int i = 0; i < LAST; i++) {
        double from = (WINDOWS - LAST + i) * window;

        w[i] = moved_until(moved, n, width, end, from + window) -
               moved_until(moved, n, width, end, from);
    }
    fit = weir_steady_fit_of(w, LAST);
    return isnan(fit.mean) ? NAN : fmax(fit.excursion, 2 * fabs(fit.slope));
}
