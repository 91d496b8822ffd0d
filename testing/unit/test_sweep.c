/* SPDX-License-Identifier: BSD-3-Clause */
/* test_sweep.c - the schedule of a sweep and its verdicts: up to 10^6 units on a simulated storage, with
 * fixed seeds */
#include "engine/observe/sweep.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/rng.h"

#define MOST 32 /* turns of the first round */
#define SEED 11

static double uniform(uint64_t *i)
{
    return ((double)(weir_rng_at(SEED, (*i)++) >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(uint64_t *i)
{
    double radius = sqrt(-2 * log(uniform(i)));

    return radius * cos(2 * M_PI * uniform(i));
}

/* A storage that gives a unit at most its share of 'storage', where each unit can do 1; the slow one
 * 'slow'. With 'drags' all units of its group are as slow as it. */
struct world {
    int units, slow_unit;
    double slow, storage, noise;
    bool drags;
};

struct outcome {
    int rounds, turns, named, other; /* named: the slow unit; other: some that are not slow */
};

static double rate_in(const struct world *w, const struct weir_sweep_round *r, int unit, int first,
                      uint64_t *i)
{
    double share = w->storage / weir_sweep_together(r), own = 1;

    if (unit == w->slow_unit || (w->drags && w->slow_unit >= 0 && w->slow_unit % r->step == first))
        own = w->slow;
    return fmin(own, share) * exp(w->noise * normal(i));
}

static struct outcome sweep(const struct world *w, bool rerun, uint64_t *i)
{
    struct weir_sweep_field f = { .units = w->units, .ops = 1 };
    struct weir_arena arena = { 0 };
    struct weir_err err = WEIR_ERR_INIT;
    double *rate = malloc(sizeof(*rate) * (size_t)w->units);
    struct weir_sweep_round r;
    struct outcome out = { 0 };

    assert_int_equal(weir_sweep_field_begin(&f, &arena, &err), 0);
    for (int u = 0; u < w->units; u++)
        f.tasks[u] = 1;
    weir_sweep_begin(&r, w->units, MOST);
    do {
        for (int u = 0; u < w->units; u++)
            rate[u] = NAN;
        for (int t = 0; t < r.turns; t++) {
            int first = weir_sweep_group(&r, t);

            for (int u = first; u < w->units; u += r.step) {
                assert_true(weir_sweep_runs(&r, t, u));
                rate[u] = rate_in(w, &r, u, first, i);
            }
        }
        weir_sweep_keep(&f, &r, rate);
        out.rounds++;
        out.turns += r.turns;
    } while (weir_sweep_next(&f, &r, rerun));
    for (int k = 0; k < f.suspects; k++)
        if (f.suspect[k].unit == w->slow_unit)
            out.named++;
        else
            out.other++;
    weir_arena_free(&arena);
    free(rate);
    return out;
}

/* ---- the schedule ---- */

static void every_unit_has_one_turn_in_the_first_round(void **state)
{
    static const int sizes[] = { 1, 2, 3, 5, 31, 32, 33, 40, 63, 64, 65, 100, 1000, 10007 };

    (void)state;
    for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); s++) {
        struct weir_sweep_round r;
        int left = sizes[s];

        weir_sweep_begin(&r, sizes[s], MOST);
        assert_in_range(r.turns, 1, MOST);
        assert_int_equal(weir_sweep_is_single(&r), sizes[s] <= MOST);
        for (int u = 0; u < sizes[s]; u++)
            for (int t = 0; t < r.turns; t++)
                left -= weir_sweep_runs(&r, t, u);
        assert_int_equal(left, 0);
    }
}

static void neighbours_are_apart_in_space_and_time(void **state)
{
    (void)state;
    for (int n = 5; n <= 5000; n += 1 + n / 7) {
        struct weir_sweep_round r;

        weir_sweep_begin(&r, n, MOST);
        for (int t = 0; t + 1 < r.turns; t++) {
            int gap = abs(weir_sweep_group(&r, t) - weir_sweep_group(&r, t + 1));

            assert_in_range(gap, 2, r.step - 2); /* the last one is next to the first */
        }
        for (int u = 0; u + 1 < n; u++) /* units of a group: a step apart */
            assert_true(n < 2 || u % r.step != (u + 1) % r.step);
    }
}

/* One slow unit: rounds and turns for 2 ... 10^6 units grow with the logarithm of their number. */
static void rounds_grow_with_the_logarithm(void **state)
{
    uint64_t i = 0;

    (void)state;
    for (int n = 4; n <= 1000000; n = n < 500000 ? n * 3 : n == 1000000 ? n + 1 : 1000000) {
        struct world w = { .units = n, .slow_unit = n / 3, .slow = 0.3, .storage = n, .noise = 0.01 };
        struct outcome o = sweep(&w, false, &i);
        double levels = fmax(0, log(n / (double)MOST) / log(WEIR_SWEEP_SPLIT));

        print_message("%8d units: %d rounds, %3d turns\n", n, o.rounds, o.turns);
        assert_int_equal(o.rounds, weir_sweep_rounds(n, MOST));
        assert_in_range(o.rounds, 1, 2 + (int)ceil(levels));
        assert_in_range(o.turns, 1, MOST + (1 + (int)ceil(levels)) * (1 + WEIR_SWEEP_CONTROLS));
        assert_int_equal(o.named, 1);
        assert_int_equal(o.other, 0);
    }
}

static void a_unit_that_drags_its_group_is_found_alone(void **state)
{
    uint64_t i = 0;

    (void)state;
    for (int n = 64; n <= 100000; n *= 5) {
        struct world w = { .units = n, .slow_unit = n - 2, .slow = 0.4, .storage = n, .noise = 0.02,
                           .drags = true };
        struct outcome o = sweep(&w, true, &i);

        assert_int_equal(o.named, 1);
        assert_int_equal(o.other, 0);
        assert_in_range(o.turns, 1, MOST + o.rounds * (WEIR_SWEEP_SPLIT + WEIR_SWEEP_CONTROLS));
    }
}

/* What the storage gives a unit of a group limits what can be seen: a unit that can do more than that is
 * as fast as the others. */
static void a_unit_that_is_faster_than_its_share_is_not_seen(void **state)
{
    struct world w = { .units = 1024, .slow_unit = 77, .slow = 0.5, .noise = 0.01 };
    uint64_t i = 0;

    (void)state;
    w.storage = 0.4 * 1024 / MOST;
    assert_int_equal(sweep(&w, false, &i).named, 0);
    w.storage = 0.8 * 1024 / MOST;
    assert_int_equal(sweep(&w, false, &i).named, 1);
}

/* ---- the verdicts ---- */

#define RUNS 400

/* Noise of any width accuses somebody in about one of a hundred sweeps, and in fewer with a rerun. */
static void noise_accuses_nobody(void **state)
{
    static const int sizes[] = { 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 24, 32, 100, 1000 };
    int wrong = 0, rerun = 0, runs = 0;
    uint64_t i = 0;

    (void)state;
    for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); s++) {
        struct world w = { .units = sizes[s], .slow_unit = -1, .storage = 1e9, .noise = 0.2 };
        int here = 0;

        for (int k = 0; k < RUNS; k++, runs++) {
            here += sweep(&w, false, &i).other > 0;
            rerun += sweep(&w, true, &i).other > 0;
        }
        assert_in_range(here, 0, RUNS / 25);
        wrong += here;
    }
    assert_in_range(wrong, 1, runs / 50); /* not never: then the limits were too wide */
    assert_in_range(rerun, 0, runs / 500);
}

/* Where all are the same to a percent, nobody who is less than a tenth slower is an outlier. */
static void a_percent_is_no_outlier(void **state)
{
    uint64_t i = 0;

    (void)state;
    for (int n = 4; n <= 4096; n *= 2) {
        struct world w = { .units = n, .slow_unit = 1, .slow = 0.9, .storage = 1e9, .noise = 0 };

        assert_int_equal(sweep(&w, false, &i).named, 0);
        w.slow = n < 8 ? 0.6 : 0.75;
        assert_int_equal(sweep(&w, false, &i).named, 1);
    }
}

static void units_with_other_numbers_of_tasks_are_not_compared(void **state)
{
    struct weir_sweep_field f = { .units = 10, .ops = 1 };
    struct weir_arena arena = { 0 };
    struct weir_err err = WEIR_ERR_INIT;
    struct weir_sweep_round r;
    double rate[10];

    (void)state;
    assert_int_equal(weir_sweep_field_begin(&f, &arena, &err), 0);
    for (int u = 0; u < 10; u++) {
        f.tasks[u] = u < 8 ? 4 : 2;
        rate[u] = f.tasks[u];
    }
    rate[3] = 1;
    weir_sweep_begin(&r, 10, MOST);
    weir_sweep_keep(&f, &r, rate);
    assert_int_equal(f.suspects, 1);
    assert_int_equal(f.suspect[0].unit, 3);
    assert_true(isnan(f.of[8].score.z) && isnan(f.of[9].score.z)); /* two of a kind: no verdict */
    assert_true(f.of[3].score.median == 4);
    weir_arena_free(&arena);
}

static void the_floor_and_the_formula(void **state)
{
    struct weir_sweep_field f = { .units = 5, .ops = 1 };
    struct weir_arena arena = { 0 };
    const double rate[] = { exp(1.0), exp(1.1), exp(1.2), exp(1.4), exp(0.2) };
    struct weir_err err = WEIR_ERR_INIT;
    struct weir_sweep_round r;

    (void)state;
    assert_int_equal(weir_sweep_field_begin(&f, &arena, &err), 0);
    for (int u = 0; u < 5; u++)
        f.tasks[u] = 1;
    weir_sweep_begin(&r, 5, MOST);
    weir_sweep_keep(&f, &r, rate); /* of the logarithms: median 1.1; distances 0.1 0 0.1 0.3 0.9 */
    assert_true(fabs(f.of[4].score.z - -0.9 / (1.4826 * 0.1)) < 1e-9);
    assert_true(fabs(f.of[3].score.z - 0.3 / (1.4826 * 0.1)) < 1e-9);
    weir_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_unit_has_one_turn_in_the_first_round),
        cmocka_unit_test(neighbours_are_apart_in_space_and_time),
        cmocka_unit_test(rounds_grow_with_the_logarithm),
        cmocka_unit_test(a_unit_that_drags_its_group_is_found_alone),
        cmocka_unit_test(a_unit_that_is_faster_than_its_share_is_not_seen),
        cmocka_unit_test(noise_accuses_nobody),
        cmocka_unit_test(a_percent_is_no_outlier),
        cmocka_unit_test(units_with_other_numbers_of_tasks_are_not_compared),
        cmocka_unit_test(the_floor_and_the_formula),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
