/* SPDX-License-Identifier: BSD-3-Clause */
/* test_straggler.c - slow ranks are named, and nobody where all are alike: by simulation, with fixed
 * seeds */
#include "engine/check/parts.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"

#define RUNS 100
#define RANKS 256 /* at most */

static double uniform(uint64_t seed, uint64_t *i)
{
    return ((double)(weir_rng_at(seed, (*i)++) >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(uint64_t seed, uint64_t *i)
{
    double radius = sqrt(-2 * log(uniform(seed, i)));

    return radius * cos(2 * M_PI * uniform(seed, i));
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x < y) - (x > y); /* the longest first */
}

/* Ranks of some 10 s with noise of 'sd' s; 'slow' of them take 'factor' times as long. How many are
 * found, and the share that they cost. */
static int simulate(int ranks, double sd, int slow, double factor, uint64_t *i, double *share)
{
    struct weir_straggler_times t = { .ranks = ranks };
    uint64_t ns[RANKS];

    for (int r = 0; r < ranks; r++) {
        double seconds = 10 + sd * normal(7, i);

        if (r < slow)
            seconds *= factor;
        ns[r] = (uint64_t)((seconds > 0 ? seconds : 0) * 1e9);
    }
    qsort(ns, (size_t)ranks, sizeof(*ns), compare);
    for (int k = 0; k <= WEIR_STRAGGLERS && k < ranks; k++)
        t.longest[k] = ns[k];
    t.shortest = ns[ranks - 1];
    t.span = t.longest[0];
    return weir_straggler_count(&t, share);
}

static void slow_ranks_are_named_in_all_of_100_runs(void **state)
{
    static const struct {
        int ranks, slow;
        double factor;
    } cases[] = { { 5, 1, 2 }, { 8, 1, 1.5 }, { 8, 2, 1.5 }, { 64, 1, 1.5 }, { 64, 3, 1.5 }, { 256, 1, 1.5 } };
    uint64_t i = 0;
    double share;

    (void)state;
    for (size_t c = 0; c < sizeof(cases) / sizeof(*cases); c++)
        for (int run = 0; run < RUNS; run++) {
            assert_int_equal(simulate(cases[c].ranks, 0.2, cases[c].slow, cases[c].factor, &i, &share),
                             cases[c].slow);
            assert_true(share > 0.2 && share < 0.6);
        }
}

static void nobody_is_named_in_95_of_100_quiet_runs(void **state)
{
    static const int ranks[] = { 4, 5, 8, 16, 64, 256 };
    static const double noise[] = { 0.1, 0.5, 1, 2 };
    uint64_t i = 0;
    double share;

    (void)state;
    for (size_t r = 0; r < sizeof(ranks) / sizeof(*ranks); r++)
        for (size_t n = 0; n < sizeof(noise) / sizeof(*noise); n++) {
            int named = 0;

            for (int run = 0; run < RUNS; run++)
                named += simulate(ranks[r], noise[n], 0, 1, &i, &share) > 0;
            if (named > 5)
                print_message("%d ranks, noise of %g s: %d\n", ranks[r], noise[n], named);
            assert_true(named <= 5);
        }
}

static void the_share_is_what_the_phase_would_be_shorter(void **state)
{
    struct weir_straggler_times t = { .ranks = 8, .longest = { 1450, 1000, 998, 996 }, .shortest = 990, .span = 1500 };
    double share;

    (void)state;
    assert_int_equal(weir_straggler_count(&t, &share), 1);
    assert_float_equal(share, 0.3, 1e-12);
    t.ranks = 3; /* too few */
    assert_int_equal(weir_straggler_count(&t, &share), 0);
    t.ranks = 8;
    t.span = 100000; /* not worth a word */
    assert_int_equal(weir_straggler_count(&t, &share), 0);
    memset(&t.longest, 0, sizeof(t.longest));
    t.shortest = 0;
    assert_int_equal(weir_straggler_count(&t, &share), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slow_ranks_are_named_in_all_of_100_runs),
        cmocka_unit_test(nobody_is_named_in_95_of_100_quiet_runs),
        cmocka_unit_test(the_share_is_what_the_phase_would_be_shorter),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
