/* SPDX-License-Identifier: BSD-3-Clause */
/* forecast.h - what a run of IO500 would be, from short phases: arithmetic without I/O */
#ifndef WEIR_PROGRAMS_WEIR_IO500_FORECAST_H
#define WEIR_PROGRAMS_WEIR_IO500_FORECAST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/shape/worklog.h"

/* ---- slices of a phase ---- */

#define IO500_SLICES 10

/* The bytes or operations of the only phase in each of the slices of its first seconds. */
void io500_slices_of(const struct weir_worklog *work, bool bytes, double seconds,
                     uint64_t out[IO500_SLICES]);
/* The 95 % interval of the median of slices (of all ranks), as shares of their mean; false: it is not known. */
bool io500_slices_interval(const uint64_t slice[IO500_SLICES], double *low, double *high);

/* ---- a phase in a run ---- */

/* With its interval. */
struct io500_range {
    double value, low, high;
};

/* A phase that writes, with a stonewall. */
struct io500_writes {
    struct io500_range rate; /* of all ranks, units a second */
    double spread;           /* of the fastest rank over the mean */
    double limit;            /* units of a rank at most */
    int ranks;
    double stonewall_s;
};

enum io500_length { IO500_LONG_ENOUGH, IO500_PERHAPS, IO500_TOO_SHORT };

struct io500_written {
    struct io500_range units, seconds;
    enum io500_length length;
    double wanted; /* units of a rank with which it is long enough */
};

/* Each rank writes until the stonewall or its limit; then all go on to the amount of the fastest. */
struct io500_written io500_forecast_writes(const struct io500_writes *w);

/* The time of a phase that works on what was written; 0 without a rate. */
struct io500_range io500_forecast_time(struct io500_range units, struct io500_range rate);

/* A sum: the ends of the intervals are added. */
struct io500_range io500_range_sum(struct io500_range a, struct io500_range b);
struct io500_range io500_range_times(struct io500_range a, double factor);

/* n rounded up to two digits: 4813 to 4900. */
double io500_round_up(double n);

#endif
