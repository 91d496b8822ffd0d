/* SPDX-License-Identifier: BSD-3-Clause */
/* stats.h - mergeable moments of a series: count, extremes, mean, population standard deviation */
#ifndef WEIR_BASE_STATS_H
#define WEIR_BASE_STATS_H

#include <stdint.h>

/* Zero-initialise. Welford's update; merging after Chan, Golub and LeVeque (1979). */
struct weir_stats {
    uint64_t n;
    double min, max, mean, m2;
};

void weir_stats_add(struct weir_stats *s, double x);
void weir_stats_merge(struct weir_stats *into, const struct weir_stats *from);
double weir_stats_sd(const struct weir_stats *s); /* divisor n; 0 for fewer than two values */

#endif
