/* SPDX-License-Identifier: BSD-3-Clause */
/* test_limits.c - when steps begin, and the order in which reasons to stop count */
#include "engine/steps/limits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "engine/ratelimit.h"
#include "engine/test.h"

#define TASKS 4
#define SECOND UINT64_C(1000000000)

static const struct weir_operation operations[] = { { .key = "write" }, { .key = NULL } };
static const struct weir_program program = { .name = "program", .operations = operations };
static const struct weir_phase phase = { .key = "write", .flags = WEIR_PHASE_STONEWALL };
static const struct weir_stage stage = { .key = "write", .phase = &phase };

/* A phase whose limits have begun. */
struct begun {
    struct weir_run run;
    struct weir_test test;
    struct weir_timing timing;
    struct weir_phase_rec rec;
    struct weir_phase_context c;
};

static void begin(struct begun *b, const struct weir_run_options *o, bool collective_steps, int rank)
{
    memset(b, 0, sizeof(*b));
    b->test.plan.options = o;
    b->test.plan.tasks = TASKS;
    b->timing.collective_steps = collective_steps;
    b->run = (struct weir_run) { .program = &program, .test = &b->test };
    b->run.par.rank = rank;
    b->run.par.size = TASKS;
    b->c = (struct weir_phase_context) { .run = &b->run,
                                         .timing = &b->timing,
                                         .ph = &phase,
                                         .stage = &stage,
                                         .rec = &b->rec,
                                         .max_steps = UINT64_MAX,
                                         .ask_ns = UINT64_MAX,
                                         .end = WEIR_END_NONE,
                                         .why = WEIR_END_NONE };
    weir_limits_begin(&b->c);
    assert_int_equal(b->c.rc, 0);
}

/* When the first two operations of a task are due, in ns from the begin of its schedule. */
static void due_times(enum weir_arrivals arrivals, bool collective_steps, int rank, uint64_t due[2])
{
    const struct weir_run_options options = { .rate = "10ops",
                                              .arrivals = weir_arrivals[arrivals] };
    struct begun b;

    begin(&b, &options, collective_steps, rank);
    assert_non_null(b.run.ratelimit);
    assert_true(b.c.waits);
    due[0] = weir_schedule_due(&b.run.ratelimit->plan);
    weir_schedule_take(&b.run.ratelimit->plan, 0);
    due[1] = weir_schedule_due(&b.run.ratelimit->plan);
    weir_arena_free(&b.run.arena);
}

static void tasks_that_are_shifted_are_due_one_after_the_other(void **state)
{
    uint64_t due[2];

    (void)state;
    for (int rank = 0; rank < TASKS; rank++) {
        due_times(WEIR_ARRIVE_SHIFTED, false, rank, due);
        assert_int_equal(due[0], (uint64_t)rank * SECOND / 40);
        assert_int_equal(due[1], (uint64_t)rank * SECOND / 40 + SECOND / 10);
    }
}

static void random_arrivals_differ_from_task_to_task(void **state)
{
    uint64_t first[2], due[2];

    (void)state;
    due_times(WEIR_ARRIVE_POISSON, false, 0, first);
    for (int rank = 1; rank < TASKS; rank++) {
        due_times(WEIR_ARRIVE_POISSON, false, rank, due);
        assert_int_not_equal(due[1], first[1]);
    }
}

static void in_lock_step_an_operation_is_due_at_one_time_on_all_tasks(void **state)
{
    uint64_t first[2], due[2];

    (void)state;
    for (int arrivals = WEIR_ARRIVE_EVEN; arrivals <= WEIR_ARRIVE_POISSON; arrivals++) {
        due_times((enum weir_arrivals)arrivals, true, 0, first);
        for (int rank = 1; rank < TASKS; rank++) {
            due_times((enum weir_arrivals)arrivals, true, rank, due);
            assert_int_equal(due[0], first[0]);
            assert_int_equal(due[1], first[1]);
        }
    }
}

static void without_a_limit_nobody_is_asked_between_two_steps(void **state)
{
    const struct weir_run_options options = { .repetitions = 1 };
    struct begun b;

    (void)state;
    begin(&b, &options, false, 0);
    assert_false(b.c.waits || b.c.each || b.c.passes);
    assert_null(b.run.ratelimit);
    assert_int_equal(b.c.n, 1); /* a failure or a signal */
    weir_arena_free(&b.run.arena);
}

/* All of them have come at once. */
static void the_order_of_the_ends_is_that_of_the_list(void **state)
{
    static const enum weir_end ends[] = { WEIR_END_STOP, WEIR_END_STEADY, WEIR_END_TIME };
    const struct weir_run_options options = { .until = "steady", .deadline_s = 1 };
    struct begun b;
    int n = 0;

    (void)state;
    begin(&b, &options, false, 0);
    b.c.rc = -1;
    b.c.enough = true;
    b.c.clock = UINT64_MAX;
    for (int i = 0; i < b.c.n; i++)
        if (b.c.play[i].row->over) {
            assert_true(b.c.play[i].row->over(&b.c, b.c.play[i].state));
            assert_int_equal(b.c.play[i].row->end, ends[n++]);
        }
    assert_int_equal(n, 3);
    weir_arena_free(&b.run.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_limit_nobody_is_asked_between_two_steps),
        cmocka_unit_test(the_order_of_the_ends_is_that_of_the_list),
        cmocka_unit_test(tasks_that_are_shifted_are_due_one_after_the_other),
        cmocka_unit_test(random_arrivals_differ_from_task_to_task),
        cmocka_unit_test(in_lock_step_an_operation_is_due_at_one_time_on_all_tasks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
