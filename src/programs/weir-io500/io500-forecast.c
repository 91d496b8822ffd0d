/* SPDX-License-Identifier: BSD-3-Clause */
/* io500-forecast.c - what a run of IO500 would be, from short phases: arithmetic without I/O */
#include "programs/weir-io500/io500.h"

#include <math.h>

#include "base/stats.h"

#define SPARE 1.3 /* of a limit over what the fastest rank is expected to do: storage is not always equally fast */

/* ---- slices ---- */

void io500_slices_of(const struct weir_worklog *work, bool bytes, double seconds,
                     uint64_t out[IO500_SLICES])
{
    int64_t begin_ns = work->phase[0].begin_ns, length_ns = (int64_t)(seconds * 1e9);

    for (int i = 0; i < IO500_SLICES; i++) {
        struct weir_work w = weir_worklog_work(work, 0, begin_ns + length_ns / IO500_SLICES * i,
                                               begin_ns + length_ns / IO500_SLICES * (i + 1));

        out[i] = bytes ? w.bytes : w.operations;
    }
}

bool io500_slices_interval(const uint64_t slice[IO500_SLICES], double *low, double *high)
{
    double sorted[IO500_SLICES], sum = 0;

    for (int i = 0; i < IO500_SLICES; i++)
        sum += sorted[i] = (double)slice[i];
    if (sum <= 0)
        return false;
    weir_median(sorted, IO500_SLICES); /* sorts them */
    if (!weir_median_interval(sorted, IO500_SLICES, low, high))
        return false;
    *low *= IO500_SLICES / sum;
    *high *= IO500_SLICES / sum;
    return *low > 0; /* a rate of nothing says nothing about a long run */
}

/* ---- phases ---- */

struct io500_range io500_range_sum(struct io500_range a, struct io500_range b)
{
    return (struct io500_range) { a.value + b.value, a.low + b.low, a.high + b.high };
}

struct io500_range io500_range_times(struct io500_range a, double factor)
{
    return (struct io500_range) { a.value * factor, a.low * factor, a.high * factor };
}

static double quotient(double a, double b)
{
    return b > 0 ? a / b : 0;
}

struct io500_range io500_forecast_time(struct io500_range units, struct io500_range rate)
{
    return (struct io500_range) { quotient(units.value, rate.value), quotient(units.low, rate.high),
                                  quotient(units.high, rate.low) };
}

/* Units that all ranks write at one rate of all of them. */
static double units_at(const struct io500_writes *w, double rate)
{
    return fmin(rate / w->ranks * w->spread * w->stonewall_s, w->limit) * w->ranks;
}

/* True when the limit is reached before the stonewall, by ranks that are all as fast as the mean. */
static bool is_short_at(const struct io500_writes *w, double rate)
{
    return rate / w->ranks * w->stonewall_s > w->limit;
}

struct io500_written io500_forecast_writes(const struct io500_writes *w)
{
    struct io500_written out;
    struct io500_range rate = w->rate;

    out.units = (struct io500_range) { units_at(w, rate.value), units_at(w, rate.low), units_at(w, rate.high) };
    out.seconds = (struct io500_range) { quotient(out.units.value, rate.value), quotient(units_at(w, rate.high), rate.high),
                                         quotient(units_at(w, rate.low), rate.low) };
    out.length = !is_short_at(w, rate.high) ? IO500_LONG_ENOUGH : is_short_at(w, rate.low) ? IO500_TOO_SHORT : IO500_PERHAPS;
    out.wanted = io500_round_up(rate.high / w->ranks * w->spread * w->stonewall_s * SPARE);
    return out;
}

double io500_round_up(double n)
{
    double step = n > 0 ? pow(10, floor(log10(n)) - 1) : 1;

    return ceil(n / fmax(step, 1) - 1e-9) * fmax(step, 1);
}
