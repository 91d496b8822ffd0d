/* SPDX-License-Identifier: BSD-3-Clause */
/* test_steady.c - a window of rounds is steady in the sense of SNIA PTS 2.0, or it is not */
#include "base/steady.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct weir_steady_choice choice_of(const char *value)
{
    struct weir_steady_choice c;
    struct weir_err err = WEIR_ERR_INIT;

    if (weir_steady_read(value, &c, &err) < 0)
        fail_msg("%s: %s", value, err.text);
    return c;
}

/* The judgement after n rounds; p99 NULL: always 1. */
static struct weir_steady_verdict judge(const char *value, const double *rate, const double *p99, int n)
{
    struct weir_steady s = { .choice = choice_of(value) };
    struct weir_steady_verdict v;

    for (int i = 0; i < n; i++)
        weir_steady_add(&s, rate[i], p99 ? p99[i] : 1);
    weir_steady_judge(&s, &v);
    return v;
}

static void expect(const double *rate, const double *p99, bool steady, const char *worst)
{
    struct weir_steady_verdict v = judge("steady", rate, p99, 5);

    assert_true(v.whole);
    assert_int_equal(v.steady, steady);
    assert_string_equal(v.worst, worst);
    assert_int_equal(v.value <= v.limit * 1.000001, steady);
}

static void a_constant_is_steady(void **state)
{
    const double y[] = { 7, 7, 7, 7, 7 };
    struct weir_steady_verdict v = judge("steady", y, NULL, 5);

    (void)state;
    assert_true(v.steady && v.whole);
    assert_float_equal(v.fit[WEIR_STEADY_RATE].mean, 7, 1e-12);
    assert_float_equal(v.fit[WEIR_STEADY_RATE].excursion, 0, 1e-12);
    assert_float_equal(v.fit[WEIR_STEADY_RATE].slope, 0, 1e-12);
}

/* A ramp of 10 % of the mean has this slope and this excursion; a hair more is not steady. */
static void a_ramp_of_the_limit_is_steady_and_one_above_it_is_not(void **state)
{
    const double most[] = { 95, 97.5, 100, 102.5, 105 }, above[] = { 94.99, 97.495, 100, 102.505, 105.01 };
    const double down[] = { 105, 102.5, 100, 97.5, 95 }, below[] = { 105.01, 102.505, 100, 97.495, 94.99 };

    (void)state;
    expect(most, NULL, true, "slope of the rate");
    expect(above, NULL, false, "slope of the rate");
    expect(down, NULL, true, "slope of the rate");
    expect(below, NULL, false, "slope of the rate");
    expect(down, above, false, "slope of p99");
    assert_float_equal(judge("steady", down, NULL, 5).fit[WEIR_STEADY_RATE].slope, -0.1, 1e-12);
}

static void a_sawtooth_and_an_outlier_have_an_excursion(void **state)
{
    const double saw[] = { 100, 80, 100, 80, 100 }, low[] = { 91, 109, 91, 109, 91 };
    const double outlier[] = { 100, 100, 60, 100, 100 };

    (void)state;
    expect(saw, NULL, false, "excursion of the rate");
    expect(low, NULL, true, "excursion of the rate");
    expect(outlier, NULL, false, "excursion of the rate");
    expect(low, outlier, false, "excursion of p99");
}

/* The window moves on: what was before it does not count. */
static void the_last_rounds_count(void **state)
{
    const double y[] = { 10, 500, 3, 100, 101, 100, 99, 100 };

    (void)state;
    for (int n = 0; n <= 8; n++) {
        struct weir_steady_verdict v = judge("steady", y, NULL, n);

        assert_int_equal(v.steady, n == 8);
        assert_int_equal(v.whole, n >= 5);
        assert_int_equal(v.rounds, n);
        assert_int_equal(v.worst != NULL, n >= 5);
        assert_int_equal(isnan(v.fit[WEIR_STEADY_RATE].mean), n < 5);
    }
    assert_true(judge("steady,window=3", y, NULL, 6).steady);
    assert_false(judge("steady,window=6", y, NULL, 8).steady);
}

static void rounds_without_a_value_are_not_steady(void **state)
{
    const double zero[] = { 0, 0, 0, 0, 0 }, hole[] = { 5, 5, NAN, 5, 5 }, good[] = { 5, 5, 5, 5, 5 };
    struct weir_steady_verdict v = judge("steady", zero, NULL, 5);

    (void)state;
    assert_true(!v.steady && v.whole && !v.worst && isnan(v.value));
    v = judge("steady", good, hole, 5);
    assert_true(!v.steady && !v.worst && v.fit[WEIR_STEADY_RATE].mean == 5);
    assert_true(judge("steady,of=rate", good, hole, 5).steady);
    assert_false(judge("steady,of=p99", good, hole, 5).steady);
}

static void one_series_is_enough_where_one_is_asked_for(void **state)
{
    const double good[] = { 5, 5, 5, 5, 5 }, bad[] = { 1, 2, 3, 4, 5 };

    (void)state;
    assert_true(judge("steady,of=rate", good, bad, 5).steady);
    assert_true(judge("steady,of=p99", bad, good, 5).steady);
    assert_false(judge("steady,of=both", bad, good, 5).steady);
    assert_true(judge("steady,excursion=200%,slope=150", bad, good, 5).steady);
}

/* SNIA's rule in its own words: max(y) - min(y) within the window is at most 20 % of the average, and
 * [max(y) - min(y)] of the best linear fit at most 10 % of it. The fit is found here by trying. */
static bool is_steady_by_search(const double *y)
{
    double sum = 0, low = y[0], high = y[0], best = INFINITY, rise = 0;

    for (int i = 0; i < 5; i++) {
        sum += y[i];
        low = y[i] < low ? y[i] : low;
        high = y[i] > high ? y[i] : high;
    }
    for (double m = -40; m <= 40; m += 0.01) {
        double error = 0;

        for (int i = 0; i < 5; i++)
            error += pow(y[i] - sum / 5 - m * (i - 2), 2);
        if (error < best) {
            best = error;
            rise = fabs(m) * 4;
        }
    }
    return high - low <= 0.2 * sum / 5 && rise <= 0.1 * sum / 5;
}

static void random_series_are_judged_as_by_snias_words(void **state)
{
    int steady = 0;

    (void)state;
    srand(5);
    for (int n = 0; n < 200; n++) {
        double y[5], spread = rand() % 40;

        for (int i = 0; i < 5; i++) /* of such steps that no slope is between two of the search */
            y[i] = 100 + floor(spread * rand() / RAND_MAX) + 0.003;
        steady += is_steady_by_search(y);
        assert_int_equal(judge("steady", y, NULL, 5).steady, is_steady_by_search(y));
    }
    assert_in_range(steady, 20, 180);
}

static void the_words_have_defaults_and_bounds(void **state)
{
    struct weir_steady_choice c = choice_of("steady");

    (void)state;
    assert_true(c.round_s == 60 && c.window == 5 && c.excursion == 0.2 && c.slope == 0.1 && c.rate && c.p99);
    assert_float_equal(weir_steady_bound(&c, 0), 1500, 1e-9);
    assert_float_equal(weir_steady_bound(&c, 400), 400, 1e-9);
    c = choice_of("steady+round=0.5+window=7,most=1e+2+excursion=30%,slope=5");
    assert_true(c.round_s == 0.5 && c.window == 7 && c.excursion == 0.3 && c.slope == 0.05);
    assert_float_equal(weir_steady_bound(&c, 0), 100, 1e-9);
    assert_float_equal(weir_steady_bound(&c, 30), 30, 1e-9);
    assert_float_equal(weir_steady_bound(&c, 300), 100, 1e-9);
    assert_true(weir_steady_asked("steady") && weir_steady_asked("steady,round=1"));
    assert_false(weir_steady_asked(NULL) || weir_steady_asked("5") || weir_steady_asked("steadyx"));
}

static void words_that_make_no_sense_are_refused(void **state)
{
    static const char *const bad[] = { "steady,", "steady,round", "steady,round=", "steady,round=0", "steady,round=1s",
                                       "steady,window=1", "steady,window=2.5", "steady,window=101", "steady,most=0",
                                       "steady,excursion=0", "steady,slope=-1%", "steady,slope=nan", "steady,of=rates",
                                       "steady,of", "steady,rounds=3", "steady,round=1,,most=3", "steady,round=1%" };

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        struct weir_err err = WEIR_ERR_INIT;
        struct weir_steady_choice c;

        if (weir_steady_read(bad[i], &c, &err) == 0)
            fail_msg("%s is not refused", bad[i]);
        assert_int_equal(err.code, WEIR_EUSAGE);
        assert_non_null(strstr(err.text, "option --until: '"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_constant_is_steady),
        cmocka_unit_test(a_ramp_of_the_limit_is_steady_and_one_above_it_is_not),
        cmocka_unit_test(a_sawtooth_and_an_outlier_have_an_excursion),
        cmocka_unit_test(the_last_rounds_count),
        cmocka_unit_test(rounds_without_a_value_are_not_steady),
        cmocka_unit_test(one_series_is_enough_where_one_is_asked_for),
        cmocka_unit_test(random_series_are_judged_as_by_snias_words),
        cmocka_unit_test(the_words_have_defaults_and_bounds),
        cmocka_unit_test(words_that_make_no_sense_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
