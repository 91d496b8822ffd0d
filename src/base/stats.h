/* SPDX-License-Identifier: BSD-3-Clause */
/* stats.h - mergeable moments of a series: count, extremes, mean, population standard deviation */
#ifndef WEIR_BASE_STATS_H
#define WEIR_BASE_STATS_H

#include <stddef.h>
#include <stdint.h>

/* Zero-initialise. Welford's update; merging after Chan, Golub and LeVeque (1979). */
struct weir_stats {
    uint64_t n;
    double min, max, mean, m2;
};

void weir_stats_add(struct weir_stats *s, double x);
void weir_stats_merge(struct weir_stats *into, const struct weir_stats *from);
double weir_stats_sd(const struct weir_stats *s); /* divisor n; 0 for fewer than two values */

/* The middle of n values, or the mean of the two in the middle; sorts them. NaN for none. */
double weir_median(double *v, size_t n);

/* A series in five numbers, in the order of weir_five_names. */
enum weir_five {
    WEIR_FIVE_MIN,
    WEIR_FIVE_MED,
    WEIR_FIVE_MAX,
    WEIR_FIVE_AVG,
    WEIR_FIVE_STD,
    WEIR_FIVES
};
extern const char *const weir_five_names[WEIR_FIVES]; /* Min Med Max Avg Std */

/* Of n values, which are sorted; the standard deviation is that of the population. */
void weir_five_of(double *v, size_t n, double out[WEIR_FIVES]);

#endif
