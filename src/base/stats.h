/* SPDX-License-Identifier: BSD-3-Clause */
/* stats.h - mergeable moments of a series: count, extremes, mean, standard deviation; its median, slope
 * and steadiness */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Zero-initialise. Welford's update. */
struct weir_stats {
    uint64_t n;
    double min, max, mean, m2;
};

void weir_stats_add(struct weir_stats *s, double x);

/* Merge two statistics, as if the values of 'more' had been added, too. */
void weir_stats_merge(struct weir_stats *s, const struct weir_stats *more);

/* The standard deviation of a program. */
enum weir_deviation {
    WEIR_DEVIATION_NONE,       /* its results have none */
    WEIR_DEVIATION_POPULATION, /* divisor n */
    WEIR_DEVIATION_SAMPLE      /* divisor n - 1 */
};

/* The standard deviation; 0 for fewer than two values. d is not WEIR_DEVIATION_NONE. */
double weir_stats_sd(const struct weir_stats *s, enum weir_deviation d);

/* The middle of n values, or the mean of the two in the middle; sorts them. NaN for none. */
double weir_median(double *v, size_t n);

/* The nonparametric 95 % interval of the median of n values, n > 0, in ascending order; false where
 * n is too small for one. */
bool weir_median_interval(const double *sorted, int n, double *low, double *high);

/* Rows of 'width' values, one for each repetition. Zero-initialise but for width; free v. */
struct weir_series {
    size_t width, n, capacity;
    double *v; /* the rows; then one value for each of them */
};

/* Reserve memory for one more row. Local. Returns 0, or -1 and err. */
int weir_series_reserve(struct weir_series *s, struct weir_err *err);

/* The reserved row. Local. */
double *weir_series_add(struct weir_series *s);

/* The median of all slopes between two values, a step (Theil and Sen). n >= 2. NaN without memory. */
double weir_series_slope(const double *v, int n);

/* Measure how unsteady a phase is that ended after 'end' seconds. moved: bytes or operations in
 * n intervals of 'width' seconds, the last one up to the end. The last five of ten windows
 * count. Returns the larger of the range and twice the fit's change, over the mean (limits 20 %
 * and 10 % of SNIA). NaN: too few intervals. */
double weir_series_unsteady(const uint64_t *moved, unsigned n, double width, double end);
