/* SPDX-License-Identifier: BSD-3-Clause */
/* test_clock.c - a time-stamp counter as the clock: its rate, and one that drifts, jumps or stops is left */
#include <stdint.h>

static uint64_t read_counter(void);
#define WEIR_TICKS() read_counter()
#include "base/clock.c" /* NOLINT: with the counter of the test */

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#define S ((double)WEIR_NS_PER_S)

/* The world: the true time, and what the two clocks make of it. */
static struct {
    double ns;           /* the true time */
    double ticks;        /* of the counter */
    double speed;        /* ticks a nanosecond */
    double kernel, pace; /* the kernel's clock, and how fast it is */
    double read_ns;      /* one reading of the kernel's clock takes so long, of which up to half is noise */
    unsigned seed;
} world;

static void pass(double ns)
{
    world.ns += ns;
    world.ticks += ns * world.speed;
    world.kernel += ns * world.pace;
}

static uint64_t read_counter(void)
{
    pass(10);
    return (uint64_t)world.ticks;
}

int clock_gettime(clockid_t id, struct timespec *t)
{
    double before;

    if (world.ns == 0) /* somebody else's */
        return (int)syscall(SYS_clock_gettime, id, t);
    world.seed = world.seed * 1103515245 + 12345;
    before = world.read_ns * (0.25 + (world.seed >> 16 & 255) / 512.0);
    pass(before);
    t->tv_sec = (time_t)(world.kernel / S);
    t->tv_nsec = (long)(world.kernel - (double)t->tv_sec * S);
    pass(world.read_ns - before);
    return 0;
}

static int make_world(void **state)
{
    (void)state;
    world.ns = 1;
    world.ticks = 7e12;
    world.kernel = 3e12;
    world.speed = 2.45;
    world.pace = 1;
    world.read_ns = 25;
    world.seed = 1;
    memset(&counter, 0, sizeof(counter));
    memset(&weir_clock_source, 0, sizeof(weir_clock_source));
    return 0;
}

/* A phase of this length; the clock says no less than before it. */
static bool run_for(double ns)
{
    uint64_t before = weir_now_ns(), apart_ns;
    bool agrees;

    pass(ns);
    assert_true(weir_now_ns() >= before);
    before = weir_now_ns();
    agrees = weir_clock_compare(&apart_ns);
    if (agrees)
        assert_true(weir_now_ns() >= before);
    return agrees;
}

static double wrong_by(void)
{
    return (double)weir_now_ns() - world.kernel;
}

static void starts(void)
{
    begin();
    assert_true(run_for(0.02 * S));
    assert_non_null(weir_clock_source.line);
}

static void it_tells_the_time_as_soon_as_its_rate_is_known(void **state)
{
    (void)state;
    begin();
    assert_true(run_for(1e6));
    assert_null(weir_clock_source.line);
    assert_true(run_for(20e6));
    assert_non_null(weir_clock_source.line);
    assert_true(fabs(wrong_by()) < 100);
    pass(10 * S);
    assert_true(fabs(wrong_by()) < 10 * S * KNOWN);
}

static void after_a_second_the_rate_is_right_to_a_ten_millionth(void **state)
{
    (void)state;
    starts();
    for (int i = 0; i < 300; i++) {
        assert_true(run_for(i % 3 ? S : 1000));
        if (i < 3)
            continue;
        assert_true(fabs((double)weir_clock_source.line->rate / 4294967296.0 * 2.45 - 1) < 1e-7);
        assert_true(fabs(wrong_by()) < 100);
    }
}

static void a_kernel_that_changes_its_rate_is_followed(void **state)
{
    (void)state;
    starts();
    for (int i = 0; i < 400; i++) {
        world.pace = 1 + (i / 100 % 2 ? 4e-6 : -4e-6);
        assert_true(run_for(S));
    }
    assert_true(fabs(wrong_by()) < 400 * 4e-6 * S);
    for (int i = 0; i < 200; i++)
        assert_true(run_for(S));
    assert_true(fabs(wrong_by()) < 100);
}

/* The comparison shows it, and the kernel's clock goes on from the same time. */
static void is_left(void)
{
    uint64_t before = weir_now_ns(), after;

    weir_clock_leave();
    after = weir_now_ns();
    assert_true(after >= before);
    assert_null(weir_clock_source.line);
    pass(S);
    assert_true(fabs((double)(weir_now_ns() - after) - S) < 200);
    assert_true(run_for(S)); /* nothing is compared any more */
    assert_null(weir_clock_source.line);
}

static void one_that_drifts_is_left(void **state)
{
    (void)state;
    starts();
    assert_true(run_for(S));
    world.speed *= 1 + 2e-5;
    assert_false(run_for(S));
    is_left();
}

static void one_that_jumps_ahead_is_left(void **state)
{
    uint64_t apart_ns;

    (void)state;
    starts();
    world.ticks += 2.45 * 3600 * S;
    pass(S);
    assert_false(weir_clock_compare(&apart_ns));
    assert_true(fabs((double)apart_ns - 3600 * S) < 3600 * S * KNOWN);
    is_left();
}

static void one_that_jumps_back_is_left(void **state)
{
    (void)state;
    starts();
    world.ticks -= 1e12;
    assert_true(weir_now_ns() > 0); /* the begin of the line, not centuries */
    assert_true(fabs(wrong_by()) < 0.01 * S);
    pass(S);
    assert_false(weir_clock_compare(&(uint64_t) { 0 }));
    is_left();
}

static void one_that_stops_is_left(void **state)
{
    (void)state;
    starts();
    world.speed = 0;
    assert_false(run_for(0.001 * S));
    is_left();
}

static void the_copy_of_a_plugin_is_the_same_clock(void **state)
{
    static struct weir_clock_source copy[2];

    (void)state;
    memset(copy, 0, sizeof(copy));
    begin();
    weir_clock_share(&copy[0]);
    assert_true(run_for(0.02 * S));
    weir_clock_share(&copy[1]);
    weir_clock_share(&copy[0]); /* loaded again */
    assert_non_null(copy[0].line);
    for (int i = 0; i < 2; i++)
        assert_ptr_equal(copy[i].line, weir_clock_source.line);
    world.ticks += 2.45 * 3600 * S;
    weir_clock_leave();
    for (int i = 0; i < 2; i++) {
        assert_null(copy[i].line);
        assert_true((double)copy[i].ahead_ns > 3599 * S);
        assert_int_equal(copy[i].ahead_ns, weir_clock_source.ahead_ns);
    }
}

static void one_that_never_ran_tells_no_time(void **state)
{
    (void)state;
    world.speed = 0;
    begin();
    for (int i = 0; i < 3; i++)
        assert_true(run_for(S));
    assert_null(weir_clock_source.line);
}

static void another_clock_than_that_of_the_c_library_is_respected(void **state)
{
    (void)state;
    assert_false(weir_clock_begin()); /* clock_gettime is that of this test */
    assert_true(run_for(S));
    assert_null(weir_clock_source.line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(it_tells_the_time_as_soon_as_its_rate_is_known, make_world),
        cmocka_unit_test_setup(after_a_second_the_rate_is_right_to_a_ten_millionth, make_world),
        cmocka_unit_test_setup(a_kernel_that_changes_its_rate_is_followed, make_world),
        cmocka_unit_test_setup(one_that_drifts_is_left, make_world),
        cmocka_unit_test_setup(one_that_jumps_ahead_is_left, make_world),
        cmocka_unit_test_setup(one_that_jumps_back_is_left, make_world),
        cmocka_unit_test_setup(one_that_stops_is_left, make_world),
        cmocka_unit_test_setup(the_copy_of_a_plugin_is_the_same_clock, make_world),
        cmocka_unit_test_setup(one_that_never_ran_tells_no_time, make_world),
        cmocka_unit_test_setup(another_clock_than_that_of_the_c_library_is_respected, make_world),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
