/* SPDX-License-Identifier: BSD-3-Clause */
/* test_until.c - how often the interval has the median in it when repetitions end as soon as it is
 * narrow: by simulation, with fixed seeds */
#include "engine/observe/until.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/rng.h"

#define RUNS 2000
#define MOST 100
#define NOISE 0.05 /* of the rate */

enum kind { NORMAL, SKEWED, BIMODAL, DRIFTING, KINDS };
static const char *const names[] = { "normal", "skewed", "bimodal", "drifting" };
#define SLOPE 0.03 /* of a drift, in standard deviations a repetition */
#define MANY 0.65  /* of the values of the faster mode */
#define APART 0.35 /* standard deviation of a mode, whose centers are 2 apart */

static double uniform(uint64_t seed, uint64_t *i)
{
    return ((double)(weir_rng_at(seed, (*i)++) >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(uint64_t seed, uint64_t *i)
{
    double radius = sqrt(-2 * log(uniform(seed, i)));

    return radius * cos(2 * M_PI * uniform(seed, i));
}

static double value(enum kind kind, uint64_t seed, uint64_t *i, int n)
{
    double x;

    switch (kind) {
    case SKEWED: /* most are fast, few are very slow */
        x = log(2) + log(uniform(seed, i));
        break;
    case BIMODAL:
        x = (uniform(seed, i) < MANY ? 1 : -1) + APART * normal(seed, i);
        break;
    default:
        x = normal(seed, i) + (kind == DRIFTING ? SLOPE * n : 0);
    }
    return 100 * (1 + NOISE * x);
}

static double below(double x) /* of the normal distribution */
{
    return 0.5 * erfc(-x / sqrt(2));
}

/* What the median is by the distribution; of a drift that over the repetitions that were done. */
static double median_of(enum kind kind, int n)
{
    double low = -1, high = 2, middle;

    if (kind == DRIFTING)
        return 100 * (1 + NOISE * SLOPE * (n - 1) / 2);
    if (kind != BIMODAL)
        return 100;
    while (high - low > 1e-9) {
        middle = (low + high) / 2;
        if (MANY * below((middle - 1) / APART) + (1 - MANY) * below((middle + 1) / APART) < 0.5)
            low = middle;
        else
            high = middle;
    }
    return 100 * (1 + NOISE * low);
}

static void measure(enum kind kind, double percent, double *covered, double *repetitions)
{
    struct weir_until_center c;
    uint64_t i = 0, hits = 0, all = 0;
    double rate[MOST];

    for (int run = 0; run < RUNS; run++) {
        int n = 0;

        do
            rate[n] = value(kind, 42 + (uint64_t)kind, &i, n);
        while (++n < MOST && !(weir_until_polls(n) && weir_until_center(rate, n, &c) &&
                               weir_until_width(&c) <= percent));
        assert_true(weir_until_center(rate, n, &c));
        hits += c.low <= median_of(kind, n) && median_of(kind, n) <= c.high;
        all += (uint64_t)n;
    }
    *covered = 100.0 * (double)hits / RUNS;
    *repetitions = (double)all / RUNS;
}

static void the_interval_has_the_median_in_it_as_often_as_it_says(void **state)
{
    static const double percents[] = { 2, 3, 5 };
    double covered, n;

    (void)state;
    for (int kind = 0; kind < KINDS; kind++)
        for (int p = 0; p < 3; p++) {
            measure((enum kind)kind, percents[p], &covered, &n);
            print_message("%-8s +-%.0f %%: %.1f %% after %.0f repetitions\n", names[kind],
                          percents[p], covered, n);
            assert_true(covered >= 93 && covered <= 97);
            assert_true(n >= 6 && n < MOST);
        }
}

static void looks_are_at_half_as_many_again(void **state)
{
    static const int looks[] = { 6, 9, 14, 21, 32, 48, 72, 108 };
    int found = 0;

    (void)state;
    for (int n = 0; n <= 108; n++)
        if (weir_until_polls(n))
            assert_int_equal(n, looks[found++]);
    assert_int_equal(found, 8);
}

static void the_centre_of_a_series_is_as_by_hand(void **state)
{
    const double rate[] = { 4, 1, 2, 4, 2, 1 };
    struct weir_until_center c;

    (void)state;
    assert_true(weir_until_center(rate, 6, &c));
    assert_float_equal(c.median, 2, 1e-12);
    assert_float_equal(c.low, 1, 1e-12);
    assert_float_equal(c.high, 4, 1e-12);
    assert_float_equal(c.harmonic, 6 / 3.5, 1e-12);
    assert_float_equal(weir_until_width(&c), 75, 1e-9);
    assert_true(weir_until_center(rate, 5, &c));
    assert_true(isnan(c.low) && isnan(weir_until_width(&c)));
    assert_float_equal(c.median, 2, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_interval_has_the_median_in_it_as_often_as_it_says),
        cmocka_unit_test(looks_are_at_half_as_many_again),
        cmocka_unit_test(the_centre_of_a_series_is_as_by_hand),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
