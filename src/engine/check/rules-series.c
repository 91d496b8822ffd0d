/* SPDX-License-Identifier: BSD-3-Clause */
/* rules-series.c - the rules H15 to H18, about a series of repetitions: number, interval, drift,
 * groups, first one; and the steadiness inside a phase */
#include "engine/check/rules.h"

#include <math.h>
#include <string.h>

#include "base/stats.h"

/* The values in ascending order; returns their median. */
static double sort(double *to, const double *from, int n)
{
    memcpy(to, from, sizeof(*to) * (size_t)n);
    return weir_median(to, (size_t)n);
}

/* The phase with the largest known value, which goes to *value; NULL: not known of any. */
static const struct weir_inputs_phase *most(const struct weir_inputs *f,
                                           double (*value_of)(const struct weir_inputs_phase *),
                                           double *value)
{
    const struct weir_inputs_phase *found = NULL;

    *value = NAN;
    for (int i = 0; i < f->phases; i++) {
        double x = value_of(&f->phase[i]);

        if (x > *value || (isnan(*value) && !isnan(x))) {
            *value = x;
            found = &f->phase[i];
        }
    }
    return found;
}

/* The least number of repetitions of a kind of phase, among those that are repeated where there
 * are such. */
static const struct weir_inputs_phase *fewest(const struct weir_inputs *f)
{
    const struct weir_inputs_phase *found = NULL;

    for (int i = 0; i < f->phases; i++) {
        const struct weir_inputs_phase *p = &f->phase[i];

        if (!found || (found->once && !p->once) || (found->once == p->once && p->n < found->n))
            found = p;
    }
    return found;
}

/* Half of the interval over the median, in percent; NaN without an interval. */
static double half_width(const struct weir_inputs_phase *p)
{
    double v[WEIR_INPUTS_RATES], low, high, median = sort(v, p->rates, p->nrates);

    if (!weir_median_interval(v, p->nrates, &low, &high))
        return NAN;
    return 100 * ((high - low) / 2 / median);
}

#define WIDE 10.0     /* percent */
#define SCATTERED 25.0 /* percent: of repetitions that are too few for an interval */

/* Return the range of two to five repetitions over their median, in percent; NaN: another number. */
static double range_of(const struct weir_inputs_phase *p)
{
    double v[WEIR_INPUTS_RATES], median = sort(v, p->rates, p->nrates);
    int n = p->nrates;

    return n < 2 || n > 5 ? NAN : 100 * (v[n - 1] - v[0]) / median;
}

/* Another number than that of the repetitions. */
static void judge_by(struct weir_finding *out, double limit, const char *unit)
{
    out->brief = "repetitions differ by %.0f %%";
    out->limit = limit;
    out->unit = unit;
    out->below = false;
}

/* False: the repetitions are as close as they must be, or their number is worse. */
static bool judge_range(const struct weir_inputs *f, bool few, struct weir_finding *out)
{
    double range;
    const struct weir_inputs_phase *p = most(f, range_of, &range);
    enum weir_severity severity = range > SCATTERED ? WEIR_SUSPECT : WEIR_NOTE;

    if (!(range > WIDE) || (few && out->severity >= severity))
        return false;
    out->severity = severity;
    judge_by(out, severity == WEIR_SUSPECT ? SCATTERED : WIDE, "% (range over median)");
    weir_finding_set(out, range, "the rates of %s in %d repetitions differ by %.0f %% of their median",
                     p->key, p->nrates, range);
    return true;
}

static void h15(const struct weir_inputs *f, struct weir_finding *out)
{
    const struct weir_inputs_phase *p = fewest(f);
    double widest;
    bool few;

    if (!p)
        return;
    few = (double)p->n < out->limit;
    weir_finding_set(out, (double)p->n, "%d repetition%s", (int)p->n, p->n == 1 ? "" : "s");
    if (judge_range(f, few, out) || few || out->set != WEIR_RULES_DEFAULT)
        return;
    if (!most(f, half_width, &widest) || widest <= WIDE)
        return;
    judge_by(out, WIDE, "% (half of the 95 % interval)");
    weir_finding_set(out, widest, "the interval of the median is +-%.0f %%", widest);
}

/* Change from the first repetition to the last, and between two groups, of the range. */
static bool examine(const struct weir_inputs_phase *p, double *drift, double *gap)
{
    double v[WEIR_INPUTS_RATES], median = sort(v, p->rates, p->nrates), range;
    int n = p->nrates;

    if (n < 6)
        return false;
    range = v[n - 1] - v[0];
    *drift = *gap = 0;
    if (!(range / median > 0.05)) /* what is so narrow needs no explanation */
        return true;
    *drift = fabs(weir_series_slope(p->rates, n)) * (n - 1) / range;
    for (int i = 2; i + 1 < n; i++) /* of groups of two at least */
        *gap = fmax(*gap, (v[i] - v[i - 1]) / range);
    return true;
}

static double drift_or_gap(const struct weir_inputs_phase *p)
{
    double drift, gap;

    return examine(p, &drift, &gap) ? fmax(drift, gap) : NAN;
}

static void h16(const struct weir_inputs *f, struct weir_finding *out)
{
    double x, drift, gap;
    const struct weir_inputs_phase *p = most(f, drift_or_gap, &x);

    if (!p || !examine(p, &drift, &gap))
        return;
    if (drift >= gap)
        weir_finding_set(out, 100 * x, "the rate of %s drifts over the repetitions by %.0f %% of "
                                       "their range", p->key, 100 * x);
    else
        weir_finding_set(out, 100 * x, "the rates of %s are in two groups, %.0f %% of the range "
                                       "apart", p->key, 100 * x);
}

#define LONG 10.0 /* seconds: in shorter phases only SNIA looks for a steady state */

static void h17(const struct weir_inputs *f, struct weir_finding *out)
{
    const struct weir_inputs_phase *p = WEIR_MOST(f, unsteady, NULL);

    if (p && out->set != WEIR_RULES_SNIA && p->shortest_s < LONG)
        weir_finding_unknown(out, "the phases are shorter than 10 s");
    else if (p)
        weir_finding_set(out, 100 * p->unsteady,
                         "the rate of the second half of a %s phase changes by %.0f %%", p->key,
                         100 * p->unsteady);
}

/* Return a quantile of sorted values, interpolated between two of them. */
static double quantile(const double *sorted, int n, double q)
{
    double at = q * (n - 1);
    int i = (int)at;

    return i + 1 < n ? sorted[i] + (at - i) * (sorted[i + 1] - sorted[i]) : sorted[n - 1];
}

/* Return the distance of the first repetition in interquartile ranges of the others. */
static double first_off(const struct weir_inputs_phase *p)
{
    double v[WEIR_INPUTS_RATES], off, range;
    int n = p->nrates - 1;

    if (n < 4)
        return NAN;
    off = fabs(p->rates[0] - sort(v, p->rates + 1, n));
    range = quantile(v, n, 0.75) - quantile(v, n, 0.25);
    return range > 0 ? off / range : off > 0 ? 999 : 0;
}

static void h18(const struct weir_inputs *f, struct weir_finding *out)
{
    double off;
    const struct weir_inputs_phase *p = most(f, first_off, &off);

    if (p)
        weir_finding_set(out, off, "the first repetition of %s differs from the others by %.2g "
                                   "interquartile ranges", p->key, off);
}

const struct weir_rule weir_rules_series[] = {
    { WEIR_RULE("H15", 6, "repetitions, and how far they differ", "repetitions"),
      .brief = "repetitions: %.0f", .below = true,
      .at = { { WEIR_NOTE, 3, NULL },
              { WEIR_INVALID, 3, NULL },
              { WEIR_SOUND, 0, NULL },
              { WEIR_SOUND, 0, NULL },
              { WEIR_INVALID, 10, NULL } },
      .measure = h15, .unknown = WEIR_NO_PHASE,
      .means = "how far the next run can differ is not known well",
      .remedy = "repeat the test (-i) until the interval of the median is narrow; repetitions do "
                "not show the differences between runs" },
    { WEIR_RULE("H16", 4, "drift of the repetitions, or a gap between two groups, of their range",
                  "%"),
      .brief = "repetitions drift or in groups",
      WEIR_RULE_AT(70, SUSPECT, SUSPECT, SUSPECT, SUSPECT),
      .measure = h16,
      .unknown = "there are fewer than 6 repetitions",
      .means = "the repetitions did not measure one and the same state",
      .remedy = "find what changes with time, or what separates the groups" },
    { WEIR_RULE("H17", 0, "change of the rate inside a phase", "%"),
      .brief = "rate changed %.0f %% in a phase", WEIR_RULE_AT(20, NOTE, NOTE, NOTE, INVALID),
      .measure = h17,
      .unknown = "the rate inside a phase is not sampled in ten or more intervals (--interval)",
      .means = "the rate of the phase is a mean of different rates",
      .remedy = "run longer, and leave out the time before the steady state" },
    { WEIR_RULE("H18", 0, "first repetition against the others", "interquartile ranges"),
      .brief = "first repetition is off", WEIR_RULE_AT(3, NOTE, NOTE, NOTE, NOTE), .measure = h18,
      .unknown = "there are fewer than 5 repetitions",
      .means = "the first repetition had other conditions, such as cold caches",
      .remedy = "leave the first repetition out, or start all repetitions with cold caches" },
    { .id = NULL }
};
WEIR_RULES_FIT(weir_rules_series);
