/* SPDX-License-Identifier: BSD-3-Clause */
/* series.c - arithmetic of series: over repetitions, and of the intervals of a phase */
#include "config.h"
#include "engine/check/series.h"

#include <math.h>
#include <stdlib.h>

#include "base/stats.h"

double weir_series_slope(const double *v, int n)
{
    size_t room = (size_t)n * (size_t)(n - 1) / 2, m = 0;
    double *slopes = malloc(sizeof(*slopes) * room), median;

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
    double w[LAST], mean = 0, slope = 0, low = INFINITY, high = 0;
    double window = end / WINDOWS, middle = (LAST - 1) / 2.0, squares = 0;

    if (n < WINDOWS || !(end > 0))
        return NAN;
    for (int i = 0; i < LAST; i++) {
        double from = (WINDOWS - LAST + i) * window;

        w[i] = moved_until(moved, n, width, end, from + window) -
               moved_until(moved, n, width, end, from);
        mean += w[i] / LAST;
        low = fmin(low, w[i]);
        high = fmax(high, w[i]);
    }
    for (int i = 0; i < LAST; i++) {
        slope += (i - middle) * w[i];
        squares += (i - middle) * (i - middle);
    }
    if (!(mean > 0))
        return NAN;
    slope = fabs(slope / squares) * (LAST - 1); /* of the fit, from end to end */
    return fmax(high - low, 2 * slope) / mean;
}
