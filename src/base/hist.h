/* SPDX-License-Identifier: BSD-3-Clause */
/* hist.h - latency histogram: 64 powers of two, 32 linear steps each (error below 3.2 %) */
#pragma once

#include <stdint.h>

#define WEIR_HIST_STEPS 32
#define WEIR_HIST_BINS (60 * WEIR_HIST_STEPS)

/* A histogram. Zero-initialise; 15 KiB. Fields are sums or extremes: histograms merge by adding. */
struct weir_hist {
    uint64_t n, sum_ns, min_ns, max_ns; /* min_ns is 0 while n is 0 */
    uint64_t bin[WEIR_HIST_BINS];
};

/* The bin of a value: values below 32 have a bin each, then 32 bins to each power of two. */
static inline unsigned weir_hist_bin(uint64_t ns)
{
    unsigned top;

    if (ns < WEIR_HIST_STEPS)
        return (unsigned)ns;
    top = 63u - (unsigned)__builtin_clzll(ns); /* >= 5 */
    return (top - 4u) * WEIR_HIST_STEPS + (unsigned)((ns >> (top - 5u)) & (WEIR_HIST_STEPS - 1));
}

/* Add one latency. Local, a few nanoseconds, never fails. */
static inline void weir_hist_add(struct weir_hist *h, uint64_t ns)
{
    h->bin[weir_hist_bin(ns)]++;
    if (h->n++ == 0 || ns < h->min_ns)
        h->min_ns = ns;
    if (ns > h->max_ns)
        h->max_ns = ns;
    h->sum_ns += ns;
}

/* Empty a histogram; only bins that have counts are written. */
void weir_hist_clear(struct weir_hist *h);

/* Add every count of 'from' to 'into'. */
void weir_hist_merge(struct weir_hist *into, const struct weir_hist *from);

/* Put the counts of 'now' minus those of *then into numbers[WEIR_HIST_BINS], and make *then equal
 * to 'now'. Add such numbers to h: its shortest time and sum are not known then. */
void weir_hist_since(struct weir_hist *then, const struct weir_hist *now, uint64_t *numbers);
void weir_hist_add_bins(struct weir_hist *h, const uint64_t *numbers);

/* Convert the extremes to two numbers, and back: the negative shortest time (INT64_MIN: empty), and
 * the longest. Their maxima over ranks are the extremes of all ranks. */
void weir_hist_ends(const struct weir_hist *h, int64_t ends[2]);
void weir_hist_set_ends(struct weir_hist *h, const int64_t ends[2]);

/* Return the latency below which the fraction q (0..1) of all lies, in ns: the upper edge of its
 * bin, clamped to the extremes seen. 0 for an empty histogram. */
uint64_t weir_hist_quantile(const struct weir_hist *h, double q);
