/* SPDX-License-Identifier: BSD-3-Clause */
/* hist.c - latency histogram: merging and quantiles */
#include "base/hist.h"

#include <math.h>
#include <string.h>

/* The largest value that falls into a bin. */
static uint64_t upper_edge(unsigned bin)
{
    unsigned shift;
    uint64_t low;

    if (bin < WEIR_HIST_STEPS)
        return bin;
    shift = bin / WEIR_HIST_STEPS - 1;
    low = (uint64_t)(WEIR_HIST_STEPS + bin % WEIR_HIST_STEPS) << shift;
    return low + ((uint64_t)1 << shift) - 1;
}

void weir_hist_clear(struct weir_hist *h)
{
    unsigned first = weir_hist_bin(h->min_ns), last = weir_hist_bin(h->max_ns);

    memset(h->bin + first, 0, (last - first + 1) * sizeof(*h->bin));
    h->n = h->sum_ns = h->min_ns = h->max_ns = 0;
}

void weir_hist_merge(struct weir_hist *into, const struct weir_hist *from)
{
    if (from->n == 0)
        return;
    if (into->n == 0 || from->min_ns < into->min_ns)
        into->min_ns = from->min_ns;
    if (from->max_ns > into->max_ns)
        into->max_ns = from->max_ns;
    into->n += from->n;
    into->sum_ns += from->sum_ns;
    for (unsigned i = 0; i < WEIR_HIST_BINS; i++)
        into->bin[i] += from->bin[i];
}

void weir_hist_since(struct weir_hist *then, const struct weir_hist *now, uint64_t *numbers)
{
    for (unsigned i = 0; i < WEIR_HIST_BINS; i++)
        numbers[i] = now->bin[i] - then->bin[i];
    *then = *now;
}

void weir_hist_add_bins(struct weir_hist *h, const uint64_t *numbers)
{
    for (unsigned i = 0; i < WEIR_HIST_BINS; i++) {
        h->bin[i] += numbers[i];
        h->n += numbers[i];
    }
    h->max_ns = UINT64_MAX;
}

void weir_hist_ends(const struct weir_hist *h, int64_t ends[2])
{
    ends[0] = h->n ? -(int64_t)h->min_ns : INT64_MIN;
    ends[1] = (int64_t)h->max_ns;
}

void weir_hist_set_ends(struct weir_hist *h, const int64_t ends[2])
{
    h->min_ns = ends[0] == INT64_MIN ? 0 : (uint64_t)-ends[0];
    h->max_ns = (uint64_t)ends[1];
}

/* Return how many values the fraction q covers: q * n rounded up, at least 1, also when q is NaN. */
static uint64_t covered(uint64_t n, double q)
{
    double wanted = ceil(q * (double)n);

    if (wanted >= (double)n)
        return n;
    return wanted > 1 ? (uint64_t)wanted : 1;
}

uint64_t weir_hist_quantile(const struct weir_hist *h, double q)
{
    uint64_t wanted, seen = 0, edge;
    unsigned i;

    if (h->n == 0)
        return 0;
    wanted = covered(h->n, q);
    for (i = 0; i < WEIR_HIST_BINS - 1; i++) {
        seen += h->bin[i];
        if (seen >= wanted)
            break;
    }
    edge = upper_edge(i);
    if (edge > h->max_ns)
        edge = h->max_ns;
    return edge < h->min_ns ? h->min_ns : edge;
}
