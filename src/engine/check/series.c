/* SPDX-License-Identifier: BSD-3-Clause */
/* series.c - what the series of repetitions says: number, interval, drift, groups, first
 * one */
#include "config.h"
#include "engine/check/findings-phase.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void sort(double *to, const double *from, int n)
{
    memcpy(to, from, sizeof(*to) * (size_t)n);
    qsort(to, (size_t)n, sizeof(*to), compare);
}

/* Of sorted values, between two of them where it must be. */
static double quantile(const double *sorted, int n, double q)
{
    double at = q * (n - 1);
    int i = (int)at;

    return i + 1 < n ? sorted[i] + (at - i) * (sorted[i + 1] - sorted[i]) : sorted[n - 1];
}

/* The median is between the values number k and n-1-k unless at most k of n fall on one side of it:
 * a binomial of 1/2. Its first terms are below the least double from n = 1075 on: logarithms. */
bool weir_series_interval(const double *sorted, int n, double *low, double *high)
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

double weir_series_slope(const double *v, int n)
{
    size_t room = (size_t)n * (size_t)(n - 1) / 2, m = 0;
    double *slopes = malloc(sizeof(*slopes) * room), median;

    if (!slopes)
        return NAN;
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++)
            slopes[m++] = (v[j] - v[i]) / (j - i);
    qsort(slopes, m, sizeof(*slopes), compare);
    median = quantile(slopes, (int)m, 0.5);
    free(slopes);
    return median;
}

/* The least number of repetitions of a kind of phase, among those that are repeated where there
 * are such. */
static const struct weir_facts_phase *fewest(const struct weir_facts *f)
{
    const struct weir_facts_phase *found = NULL;

    for (int i = 0; i < f->phases; i++) {
        const struct weir_facts_phase *p = &f->phase[i];

        if (!found || (found->once && !p->once) || (found->once == p->once && p->n < found->n))
            found = p;
    }
    return found;
}

/* Half of the interval over the median; NaN without an interval. */
static double half_width(const struct weir_facts_phase *p)
{
    double v[WEIR_FACTS_RATES], low, high;

    sort(v, p->rates, p->nrates);
    if (!weir_series_interval(v, p->nrates, &low, &high))
        return NAN;
    return (high - low) / 2 / quantile(v, p->nrates, 0.5);
}

#define WIDE 10.0     /* percent */
#define SCATTERED 25.0 /* percent: of repetitions that are too few for an interval */

/* The largest range of two to five repetitions over their median, in percent, and of which phase;
 * NaN: there are no such. */
static double widest_range(const struct weir_facts *f, const struct weir_facts_phase **of)
{
    double v[WEIR_FACTS_RATES], widest = NAN, range;

    for (int i = 0; i < f->phases; i++) {
        const struct weir_facts_phase *p = &f->phase[i];
        int n = p->nrates;

        if (n < 2 || n > 5)
            continue;
        sort(v, p->rates, n);
        range = 100 * (v[n - 1] - v[0]) / quantile(v, n, 0.5);
        if (range > widest || isnan(widest)) {
            widest = range;
            *of = p;
        }
    }
    return widest;
}

/* False: the repetitions are as close as they must be, or their number is worse. */
static bool judge_range(const struct weir_facts *f, bool few, struct weir_finding *out)
{
    const struct weir_facts_phase *p = NULL;
    double range = widest_range(f, &p);
    enum weir_severity severity = range > SCATTERED ? WEIR_SUSPECT : WEIR_NOTE;

    if (!(range > WIDE) || (few && out->severity >= severity))
        return false;
    out->severity = severity;
    out->limit = severity == WEIR_SUSPECT ? SCATTERED : WIDE;
    out->unit = "% (range over median)";
    out->below = false;
    weir_finding_set(out, range, "the rates of %s in %d repetitions differ by %.0f %% of their median",
                     p->key, p->nrates, range);
    return true;
}

MEASURE(h15)
{
    const struct weir_facts_phase *p = fewest(f);
    double widest = NAN;
    bool few;

    if (!p) {
        weir_finding_unknown(out, "because no phase was measured");
        return;
    }
    few = (double)p->n < out->limit;
    weir_finding_set(out, (double)p->n, "%d repetition%s", (int)p->n, p->n == 1 ? "" : "s");
    if (judge_range(f, few, out) || few || out->set != WEIR_RULES_DEFAULT)
        return;
    for (int i = 0; i < f->phases; i++)
        widest = fmax(widest, 100 * half_width(&f->phase[i]));
    if (!(widest > WIDE))
        return;
    out->unit = "% (half of the 95 % interval)";
    out->limit = WIDE;
    out->below = false;
    weir_finding_set(out, widest, "the interval of the median is +-%.0f %%", widest);
}

struct series {
    double range, drift, gap, first; /* drift and gap: of the range */
};

/* Of two values next to each other, with at least two on each side. */
static double largest_gap(const double *sorted, int n)
{
    double gap = 0;

    for (int i = 2; i + 1 < n; i++)
        gap = fmax(gap, sorted[i] - sorted[i - 1]);
    return gap;
}

static bool examine(const struct weir_facts_phase *p, struct series *s)
{
    double v[WEIR_FACTS_RATES];
    int n = p->nrates;

    if (n < 6)
        return false;
    sort(v, p->rates, n);
    s->range = (v[n - 1] - v[0]) / quantile(v, n, 0.5);
    if (!(s->range > 0.05)) { /* what is so narrow needs no explanation */
        s->drift = s->gap = 0;
        return true;
    }
    s->drift = fabs(weir_series_slope(p->rates, n)) * (n - 1) / (v[n - 1] - v[0]);
    s->gap = largest_gap(v, n) / (v[n - 1] - v[0]);
    return true;
}

MEASURE(h16)
{
    struct series s;
    double most = -1;

    weir_finding_unknown(out, "because there are fewer than 6 repetitions");
    for (int i = 0; i < f->phases; i++) {
        if (!examine(&f->phase[i], &s) || fmax(s.drift, s.gap) <= most)
            continue;
        most = fmax(s.drift, s.gap);
        if (s.drift >= s.gap)
            weir_finding_set(out, 100 * most,
                             "%s drifts over the repetitions by %.0f %% of their range",
                             f->phase[i].key, 100 * most);
        else
            weir_finding_set(out, 100 * most, "%s has two groups, %.0f %% of the range apart",
                             f->phase[i].key, 100 * most);
    }
}

/* What was moved until a time; the last interval ends with the phase. */
static double moved_until(const uint64_t *moved, unsigned n, double width, double end, double time)
{
    double sum = 0;

    for (unsigned i = 0; i < n && i * width < time; i++) {
        double to = i + 1 == n ? end : (i + 1) * width;

        sum += (double)moved[i] * fmin(1, (time - i * width) / (to - i * width));
    }
    return sum;
}

double weir_series_unsteady(const uint64_t *moved, unsigned n, double width, double end)
{
    double w[WEIR_SERIES_LAST], mean = 0, slope = 0, low = INFINITY, high = 0;
    double window = end / WEIR_SERIES_WINDOWS, middle = (WEIR_SERIES_LAST - 1) / 2.0, squares = 0;

    if (n < WEIR_SERIES_WINDOWS || !(end > 0))
        return NAN;
    for (int i = 0; i < WEIR_SERIES_LAST; i++) {
        double from = (WEIR_SERIES_WINDOWS - WEIR_SERIES_LAST + i) * window;

        w[i] = moved_until(moved, n, width, end, from + window) -
               moved_until(moved, n, width, end, from);
        mean += w[i] / WEIR_SERIES_LAST;
        low = fmin(low, w[i]);
        high = fmax(high, w[i]);
    }
    for (int i = 0; i < WEIR_SERIES_LAST; i++) {
        slope += (i - middle) * w[i];
        squares += (i - middle) * (i - middle);
    }
    if (!(mean > 0))
        return NAN;
    slope = fabs(slope / squares) * (WEIR_SERIES_LAST - 1); /* of the fit, from end to end */
    return fmax(high - low, 2 * slope) / mean;
}

#define LONG 10.0 /* seconds: in shorter phases only SNIA looks for a steady state */

MEASURE(h17)
{
    const struct weir_facts_phase *p = WORST(ANY, unsteady);
    bool any = out->set == WEIR_RULES_SNIA;

    if (!p)
        weir_finding_unknown(out, "because the rate inside a phase is not sampled in ten or more "
                                  "intervals (--interval)");
    else if (!any && p->shortest_s < LONG)
        weir_finding_unknown(out, "because the phases are shorter than %.0f s", LONG);
    else
        weir_finding_set(out, 100 * p->unsteady,
                         "the rate of the second half of a %s phase changes by %.0f %%", p->key,
                         100 * p->unsteady);
}

MEASURE(h18)
{
    double v[WEIR_FACTS_RATES], most = -1, apart, iqr;

    weir_finding_unknown(out, "because there are fewer than 5 repetitions");
    for (int i = 0; i < f->phases; i++) {
        const struct weir_facts_phase *p = &f->phase[i];
        int n = p->nrates - 1;

        if (n < 4)
            continue;
        sort(v, p->rates + 1, n);
        iqr = quantile(v, n, 0.75) - quantile(v, n, 0.25);
        apart = fabs(p->rates[0] - quantile(v, n, 0.5));
        apart = iqr > 0 ? apart / iqr : apart > 0 ? 999 : 0;
        if (apart <= most)
            continue;
        most = apart;
        weir_finding_set(out, most, "the first repetition of %s is %.2g interquartile ranges off",
                         p->key, most);
    }
}
