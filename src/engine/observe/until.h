/* SPDX-License-Identifier: BSD-3-Clause */
/* until.h - the rates of repetitions: median, interval and harmonic mean; and repetitions until the
 * interval is narrow (--until) */
#pragma once

#include <stdbool.h>

/* The rate that follows from a series. */
struct weir_until_center {
    double median, low, high; /* and its nonparametric 95 % interval: NaN for fewer than 6 values */
    double harmonic; /* mean: all work over all time, where each repetition does the same */
};

/* Compute the center of n > 0 rates. Local. False when memory is out. */
bool weir_until_center(const double *rate, int n, struct weir_until_center *out);

/* Return half of the interval over the median, in percent; NaN without an interval. */
double weir_until_width(const struct weir_until_center *c);

/* True when the interval is to be checked after n repetitions. A check after each one would end
 * the test when the interval is narrow by chance, and miss the median too often. So checks are
 * at 6, 9, 14, 21, ... repetitions, each half as many again. */
bool weir_until_polls(int n);
