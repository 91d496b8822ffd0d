/* SPDX-License-Identifier: BSD-3-Clause */
/* test_rng.c - permutation and generators */
#include "base/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { LARGEST = 5000 };

/* Every point of 0..size-1 must be met once. */
static void expect_bijection(uint64_t size, uint64_t key)
{
    unsigned char seen[LARGEST] = { 0 };
    struct weir_perm p;

    weir_perm_init(&p, size, key);
    for (uint64_t i = 0; i < size; i++) {
        uint64_t at = weir_perm_at(&p, i);

        if (at >= size || seen[at]++)
            fail_msg("size %llu: point %llu goes wrong", (unsigned long long)size,
                     (unsigned long long)i);
    }
}

static void a_permutation_of_every_size_is_a_bijection(void **state)
{
    (void)state;
    for (uint64_t size = 1; size <= LARGEST; size++)
        expect_bijection(size, size * 77);
}

static void huge_permutations_stay_in_their_domain(void **state)
{
    static const uint64_t sizes[] = {
        65536, 65537, UINT64_C(1) << 31, (UINT64_C(1) << 32) + 1, (UINT64_C(1) << 40) - 1,
        (UINT64_C(1) << 62) + 1, UINT64_C(1) << 63, UINT64_MAX,
    };

    (void)state;
    for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); s++) {
        struct weir_perm p;
        uint64_t last = UINT64_MAX;

        weir_perm_init(&p, sizes[s], 5);
        for (uint64_t i = 0; i < 2000; i++) {
            uint64_t at = weir_perm_at(&p, i % 2 ? sizes[s] - 1 - i : i);

            assert_true(at < sizes[s]);
            assert_true(at != last);
            last = at;
        }
    }
}

static void the_key_chooses_the_permutation(void **state)
{
    struct weir_perm a, b, again;
    int same = 0;

    (void)state;
    weir_perm_init(&a, 1000, 1);
    weir_perm_init(&b, 1000, 2);
    weir_perm_init(&again, 1000, 1);
    for (uint64_t i = 0; i < 1000; i++) {
        assert_true(weir_perm_at(&a, i) == weir_perm_at(&again, i));
        same += weir_perm_at(&a, i) == weir_perm_at(&b, i);
    }
    assert_true(same < 20); /* one is expected */
}

/* Over many keys each point goes everywhere about equally often. */
static void small_permutations_are_fair(void **state)
{
    enum { SIZE = 6, KEYS = 6000 };
    int hits[SIZE][SIZE] = { { 0 } };

    (void)state;
    for (uint64_t key = 0; key < KEYS; key++) {
        struct weir_perm p;

        weir_perm_init(&p, SIZE, key);
        for (uint64_t i = 0; i < SIZE; i++)
            hits[i][weir_perm_at(&p, i)]++;
    }
    for (int i = 0; i < SIZE; i++) {
        for (int j = 0; j < SIZE; j++) {
            if (hits[i][j] < KEYS / SIZE / 2 || hits[i][j] > KEYS / SIZE * 2)
                fail_msg("%d goes to %d %d times", i, j, hits[i][j]);
        }
    }
}

/* Neighbours must not stay neighbours: storage would see a nearly sequential stream. */
static void neighbours_are_torn_apart(void **state)
{
    struct weir_perm p;
    int near = 0;

    (void)state;
    weir_perm_init(&p, 1 << 20, 3);
    for (uint64_t i = 0; i + 1 < 100000; i++) {
        int64_t d = (int64_t)(weir_perm_at(&p, i + 1) - weir_perm_at(&p, i));

        near += d > -64 && d < 64;
    }
    assert_true(near < 100); /* 12 are expected */
}

static void numbers_of_a_stream_differ(void **state)
{
    (void)state;
    assert_true(weir_rng_at(1, 0) != weir_rng_at(1, 1));
    assert_true(weir_rng_at(1, 0) != weir_rng_at(2, 0));
    assert_true(weir_rng_at(0, 0) == UINT64_C(0xe220a8397b1dcdaf)); /* splitmix64, seed 0 */
}

static void rand_r_is_glibcs(void **state)
{
    static const struct {
        uint32_t seed, next;
        int32_t value;
    } vectors[] = {
        { 0, 2802067423u, 1012484 },
        { 1, 662824084, 476707713 },
        { 7, 712265938, 1187592820 },
        { 8, 2867989895u, 1663288050 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(vectors) / sizeof(*vectors); i++) {
        uint32_t seed = vectors[i].seed;

        assert_int_equal(weir_glibc_rand_r(&seed), vectors[i].value);
        assert_int_equal(seed, vectors[i].next);
    }
}

static void random_is_glibcs(void **state)
{
    static const int32_t seed42[] = { 71876166, 708592740, 1483128881, 907283241 };
    static const int32_t seed1[] = { 1804289383, 846930886, 1681692777, 1714636915 };
    struct weir_glibc_random a, b, c;

    (void)state;
    weir_glibc_srandom(&a, 42);
    weir_glibc_srandom(&b, 0);
    weir_glibc_srandom(&c, 1);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(weir_glibc_random(&a), seed42[i]);
        assert_int_equal(weir_glibc_random(&b), seed1[i]);
        assert_int_equal(weir_glibc_random(&c), seed1[i]);
    }
}

static void random_of_large_seeds_is_glibcs(void **state)
{
    /* From glibc 2.36: the seed is a signed number there. */
    static const struct {
        uint32_t seed;
        int32_t first, second;
    } vectors[] = {
        { 2147483648u, 1336741213, 1210407648 },
        { 4294967295u, 254925627, 1205188300 },
        { 2147483647u, 1065668062, 2142264300 },
        { 3000000000u, 2058147116, 854483408 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(vectors) / sizeof(*vectors); i++) {
        struct weir_glibc_random g;

        weir_glibc_srandom(&g, vectors[i].seed);
        assert_int_equal(weir_glibc_random(&g), vectors[i].first);
        assert_int_equal(weir_glibc_random(&g), vectors[i].second);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_permutation_of_every_size_is_a_bijection),
        cmocka_unit_test(huge_permutations_stay_in_their_domain),
        cmocka_unit_test(the_key_chooses_the_permutation),
        cmocka_unit_test(small_permutations_are_fair),
        cmocka_unit_test(neighbours_are_torn_apart),
        cmocka_unit_test(numbers_of_a_stream_differ),
        cmocka_unit_test(rand_r_is_glibcs),
        cmocka_unit_test(random_is_glibcs),
        cmocka_unit_test(random_of_large_seeds_is_glibcs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
