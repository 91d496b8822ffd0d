/* SPDX-License-Identifier: BSD-3-Clause */
/* stats.c - mergeable moments of a series */
#include "config.h"
#include "base/stats.h"

#include <math.h>

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

void weir_stats_merge(struct weir_stats *into, const struct weir_stats *from)
{
    double apart, share;

    if (from->n == 0)
        return;
    if (into->n == 0) {
        *into = *from;
        return;
    }
    if (from->min < into->min)
        into->min = from->min;
    if (from->max > into->max)
        into->max = from->max;
    apart = from->mean - into->mean;
    share = (double)from->n / ((double)into->n + (double)from->n);
    into->m2 += from->m2 + apart * apart * (double)into->n * share;
    into->mean += apart * share;
    into->n += from->n;
}

double weir_stats_sd(const struct weir_stats *s)
{
    if (s->n < 2 || s->m2 <= 0)
        return 0;
    return sqrt(s->m2 / (double)s->n);
}
