/* SPDX-License-Identifier: BSD-3-Clause */
/* series.h - arithmetic of series: over repetitions, and of the intervals of a phase. Pure. */
#ifndef WEIR_ENGINE_CHECK_SERIES_H
#define WEIR_ENGINE_CHECK_SERIES_H

#include <stdint.h>

/* The median of all slopes between two values, a step (Theil and Sen). n >= 2. NaN without memory. */
double weir_series_slope(const double *v, int n);

/* How unsteady is a phase that ended after 'end' seconds? moved: bytes or operations in n
 * intervals of 'width' seconds, the last one up to the end. Of the last five of ten windows, the
 * larger of the range and twice the fit's change, over the mean (limits 20 % and 10 % of SNIA);
 * NaN: too few intervals. */
double weir_series_unsteady(const uint64_t *moved, unsigned n, double width, double end);

#endif
