/* SPDX-License-Identifier: BSD-3-Clause */
/* io500-forecast.c - what a run of IO500 would be, from short phases: arithmetic without I/O */
#include "config.h"
#include "programs/weir-io500/forecast.h"

#include <math.h>
#include <stdlib.h>

#include "base/stats.h"

#define SPARE 1.3 /* of a limit over what the fastest rank is expected to do: storage is not always equally fast */

/* ---- slices ---- */

static void thin_out(struct io500_slices *s)
{
    for (int i = 0; i < IO500_SAMPLES / 2; i++)
        s->sample[i] = s->sample[2 * i + 1];
    s->n = IO500_SAMPLES / 2;
    s->skip = 2 * s->skip + 1;
}

void io500_slices_add(struct io500_slices *s, double at_s, double work)
{
    if (s->skipped < s->skip) {
        s->skipped++;
        return;
    }
    s->skipped = 0;
    if (s->n == IO500_SAMPLES)
        thin_out(s);
    s->sample[s->n].at_s = at_s;
    s->sample[s->n++].work = work;
}

/* The work until a time. */
static double work_at(const struct io500_slices *s, double at_s)
{
    double before_s = 0, before = 0;

    for (int i = 0; i < s->n; i++) {
        double next_s = s->sample[i].at_s, next = s->sample[i].work;

        if (next_s >= at_s)
            return next_s > before_s ? before + (next - before) * (at_s - before_s) / (next_s - before_s) : next;
        before_s = next_s;
        before = next;
    }
    return before;
}

void io500_slices_of(const struct io500_slices *s, double seconds, double out[IO500_SLICES])
{
    for (int i = 0; i < IO500_SLICES; i++)
        out[i] = work_at(s, seconds * (i + 1) / IO500_SLICES) - work_at(s, seconds * i / IO500_SLICES);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

bool io500_slices_interval(const double slice[IO500_SLICES], double *low, double *high)
{
    double sorted[IO500_SLICES], sum = 0;

    for (int i = 0; i < IO500_SLICES; i++)
        sum += sorted[i] = slice[i];
    if (sum <= 0)
        return false;
    qsort(sorted, IO500_SLICES, sizeof(*sorted), compare);
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

/* Is the limit reached before the stonewall? By ranks that are all as fast as the mean. */
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
