/* SPDX-License-Identifier: BSD-3-Clause */
/* test_schedule.c - when operations are due at a rate */
#include "engine/ratelimit.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"

#define MONTH_NS (UINT64_C(30) * 24 * 3600 * WEIR_NS_PER_S)

static struct weir_schedule begun(const char *rate, enum weir_arrivals arrivals, int task, int tasks)
{
    struct weir_load load = { .arrivals = arrivals };
    struct weir_schedule s;

    assert_true(weir_load_parse_rate(rate, &load));
    load.arrivals = arrivals;
    weir_schedule_begin(&s, &load, task, tasks, 0);
    return s;
}

static uint64_t after(struct weir_schedule *s, uint64_t operations, uint64_t len)
{
    for (uint64_t i = 0; i < operations; i++)
        weir_schedule_take(s, len);
    return weir_schedule_due(s);
}

static void operations_are_due_at_multiples_of_the_distance(void **state)
{
    struct weir_schedule s = begun("500ops", WEIR_ARRIVE_EVEN, 0, 1);

    (void)state;
    assert_int_equal(weir_schedule_due(&s), 0);
    for (uint64_t i = 1; i < 5000; i++)
        assert_int_equal(after(&s, 1, 0), i * 2000000);
}

static void a_third_of_a_second_does_not_drift(void **state)
{
    struct weir_schedule s = begun("3ops", WEIR_ARRIVE_EVEN, 0, 1);

    (void)state;
    assert_int_equal(after(&s, 1, 0), 333333333);
    assert_int_equal(after(&s, 1, 0), 666666667);
    assert_int_equal(after(&s, 3 * 86400 - 2, 0), UINT64_C(86400) * WEIR_NS_PER_S);
}

static void the_fastest_rate_is_one_in_a_nanosecond(void **state)
{
    struct weir_schedule s = begun("1e9ops", WEIR_ARRIVE_EVEN, 0, 1);
    struct weir_load load;

    (void)state;
    assert_int_equal(after(&s, 10000000, 0), 10000000);
    assert_false(weir_load_parse_rate("1.1e9ops", &load));
}

static void the_slowest_rates_run_for_months(void **state)
{
    struct weir_schedule s = begun("0.001ops", WEIR_ARRIVE_EVEN, 0, 1);

    (void)state;
    assert_int_equal(after(&s, 1, 0), UINT64_C(1000) * WEIR_NS_PER_S);
    assert_int_equal(after(&s, 2592 * 12 - 1, 0), 12 * MONTH_NS);
    s = begun("1e-6ops", WEIR_ARRIVE_EVEN, 0, 1);
    assert_int_equal(after(&s, 1000, 0), UINT64_C(1000000000) * WEIR_NS_PER_S);
}

static void months_at_a_high_rate_are_exact(void **state)
{
    struct weir_schedule s = begun("1000000ops", WEIR_ARRIVE_EVEN, 0, 1);

    (void)state;
    s.base_ns = 12 * MONTH_NS; /* as after 3.1e13 operations */
    s.n = UINT64_C(1) << 53;
    for (uint64_t i = 1; i < 2000001; i++)
        weir_schedule_take(&s, 0);
    assert_int_equal(weir_schedule_due(&s), 12 * MONTH_NS + UINT64_C(2) * WEIR_NS_PER_S);
    assert_int_equal(s.n, (UINT64_C(1) << 53) + 2000000);
}

static void a_rate_in_bytes_follows_the_lengths(void **state)
{
    struct weir_schedule s = begun("1m", WEIR_ARRIVE_EVEN, 0, 1);

    (void)state;
    assert_int_equal(after(&s, 1, 1 << 20), WEIR_NS_PER_S);
    assert_int_equal(after(&s, 1, 1 << 19), WEIR_NS_PER_S * UINT64_C(3) / 2);
    assert_int_equal(after(&s, 1, 0), WEIR_NS_PER_S * UINT64_C(3) / 2); /* nothing takes no time */
    assert_int_equal(after(&s, 1 << 19, 1), UINT64_C(2) * WEIR_NS_PER_S);
    assert_int_equal(after(&s, 1, UINT64_C(1) << 53), (UINT64_C(1) << 33) * WEIR_NS_PER_S + UINT64_C(2) * WEIR_NS_PER_S);
}

static void odd_lengths_do_not_drift(void **state)
{
    struct weir_schedule s = begun("100000007b", WEIR_ARRIVE_EVEN, 0, 1);
    long double bytes = 0;

    (void)state;
    for (uint64_t i = 0; i < 1000000; i++) {
        weir_schedule_take(&s, i * 7919 % 65537);
        bytes += (long double)(i * 7919 % 65537);
    }
    assert_true(fabsl((long double)weir_schedule_due(&s) - bytes * 1e9L / 100000007) < 2);
}

static void shifted_tasks_take_turns(void **state)
{
    struct weir_schedule s = begun("10ops", WEIR_ARRIVE_SHIFTED, 3, 4);

    (void)state;
    assert_int_equal(weir_schedule_due(&s), 75000000);
    assert_int_equal(after(&s, 10, 0), 1075000000);
    s = begun("1k", WEIR_ARRIVE_SHIFTED, 1, 2);
    assert_int_equal(weir_schedule_due(&s), 0); /* the distance is not known yet */
    assert_int_equal(after(&s, 1, 1024), 1500000000);
    assert_int_equal(after(&s, 1, 1024), 2500000000);
}

static void random_arrivals_have_the_rate_and_are_repeatable(void **state)
{
    struct weir_schedule one = begun("1000ops", WEIR_ARRIVE_POISSON, 0, 2);
    struct weir_schedule again = begun("1000ops", WEIR_ARRIVE_POISSON, 0, 2);
    struct weir_schedule other = begun("1000ops", WEIR_ARRIVE_POISSON, 1, 2);
    uint64_t last = 0, due, longer = 0;
    const uint64_t n = 100000;

    (void)state;
    for (uint64_t i = 0; i < n; i++) {
        due = after(&one, 1, 0);
        longer += due - last > 1000000; /* than the mean: e^-1 of all */
        last = due;
    }
    assert_true(fabs((double)last / 1e6 - (double)n) < 4 * sqrt((double)n));
    assert_true(fabs((double)longer / (double)n - exp(-1)) < 0.01);
    assert_int_equal(after(&again, n, 0), last);
    assert_int_not_equal(after(&other, n, 0), last);
}

static void a_pause_is_a_part_of_the_schedule(void **state)
{
    struct weir_schedule s;
    struct weir_load load = { 0 };

    (void)state;
    assert_true(weir_load_parse_rate("10ops", &load));
    assert_true(weir_load_parse_burst("5:2", &load));
    weir_schedule_begin(&s, &load, 0, 1, 0);
    assert_int_equal(after(&s, 4, 0), 400000000);
    assert_int_equal(after(&s, 1, 0), 2500000000);
    assert_int_equal(after(&s, 5, 0), 5000000000);
    assert_true(weir_load_mean(&load, 1) == 2);
    load.bytes = true;
    assert_true(weir_load_mean(&load, 10) == 50 / 7.0);
    load = (struct weir_load) { .burst = 5, .pause_ns = load.pause_ns };
    assert_true(weir_load_mean(&load, 10) == 5e9 / (double)load.pause_ns);
}

static void what_is_no_rate_or_burst_is_refused(void **state)
{
    static const char *const rates[] = { "", "0", "0ops", "-1", "-5ops", "fast", "5iops", "1.5k", "1e-7ops", "100", "1e3", " 7", "0b", "b", "1kops", "nanops", "ops", "5 ops5", "100m%" };
    static const char *const bursts[] = { "", "5", "5:", ":1", "0:1", "5:0", "5:-1", "5:nan", "1.5:1", "5:1:1", "5:1s" };
    struct weir_load load = { 0 };

    (void)state;
    for (size_t i = 0; i < sizeof(rates) / sizeof(*rates); i++)
        if (weir_load_parse_rate(rates[i], &load))
            fail_msg("%s", rates[i]);
    for (size_t i = 0; i < sizeof(bursts) / sizeof(*bursts); i++)
        if (weir_load_parse_burst(bursts[i], &load))
            fail_msg("%s", bursts[i]);
    assert_true(weir_load_parse_rate("0.5OPS", &load) && load.rate == 0.5 && !load.bytes);
    assert_true(weir_load_parse_rate("2k", &load) && load.rate == 2048 && load.bytes);
    assert_true(weir_load_parse_rate("100B", &load) && load.rate == 100 && load.bytes);
    assert_true(weir_load_parse_burst("1k:0.25", &load) && load.burst == 1024 && load.pause_ns == 250000000);
}

static void points_are_in_equal_distances(void **state)
{
    static const char *const wrong[] = { "", "10", "%", "10%..", "10%..90%", "10%..90%:1", "10%..90%:1001", "10%..90:5", "0%", "1001%",
                                         "10%:5", "10%..90%:5x", "nan%", "-5%" };
    struct weir_load_points p;

    (void)state;
    assert_true(weir_load_parse_points("10%..90%:5", &p) && p.n == 5);
    for (int i = 0; i < 5; i++)
        assert_true(fabs(weir_load_point(&p, i) - (10 + 20 * i)) < 1e-9);
    assert_true(weir_load_parse_points("90%..30%:3", &p) && weir_load_point(&p, 1) == 60); /* or downwards */
    assert_true(weir_load_parse_points("62.5%", &p) && p.n == 1 && weir_load_point(&p, 0) == 62.5);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
        if (weir_load_parse_points(wrong[i], &p))
            fail_msg("%s", wrong[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_are_due_at_multiples_of_the_distance),
        cmocka_unit_test(a_third_of_a_second_does_not_drift),
        cmocka_unit_test(the_fastest_rate_is_one_in_a_nanosecond),
        cmocka_unit_test(the_slowest_rates_run_for_months),
        cmocka_unit_test(months_at_a_high_rate_are_exact),
        cmocka_unit_test(a_rate_in_bytes_follows_the_lengths),
        cmocka_unit_test(odd_lengths_do_not_drift),
        cmocka_unit_test(shifted_tasks_take_turns),
        cmocka_unit_test(random_arrivals_have_the_rate_and_are_repeatable),
        cmocka_unit_test(a_pause_is_a_part_of_the_schedule),
        cmocka_unit_test(points_are_in_equal_distances),
        cmocka_unit_test(what_is_no_rate_or_burst_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
