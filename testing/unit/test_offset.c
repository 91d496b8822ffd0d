/* SPDX-License-Identifier: BSD-3-Clause */
/* test_offset.c - the offsets that one task visits (vectors of the original) */
#include "base/shape/offset.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void begin(struct weir_offsets *o, const struct weir_offset_conf *c)
{
    struct weir_err err = WEIR_ERR_INIT;

    if (weir_offsets_init(o, c, &err) < 0)
        fail_msg("%s", err.text);
}

/* A whole pass must give these offsets, and so must the second one and one after rewinding. */
static void expect_list(const struct weir_offset_conf *c, const uint64_t *want, uint64_t count)
{
    struct weir_offsets o;

    begin(&o, c);
    assert_int_equal(weir_offsets_count(&o), count);
    for (uint64_t i = 0; i < 2 * count + count / 2; i++)
        assert_int_equal(weir_offsets_next(&o), want[i % count]);
    weir_offsets_rewind(&o);
    for (uint64_t i = 0; i < count; i++)
        assert_int_equal(weir_offsets_next(&o), want[i]);
    weir_offsets_free(&o);
}

#define EXPECT_LIST(c, ...) \
    expect_list(c, (const uint64_t[]){ __VA_ARGS__ }, \
                sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

static void sequential_in_a_shared_file(void **state)
{
    struct weir_offset_conf c = {
        .layout = { .transfer = 10, .block = 30, .segments = 2, .tasks = 3, .shared = true },
        .task = 1,
    };

    (void)state;
    EXPECT_LIST(&c, 30, 40, 50, 120, 130, 140);
    c.task = 2;
    EXPECT_LIST(&c, 60, 70, 80, 150, 160, 170);
}

static void sequential_in_a_file_of_ones_own(void **state)
{
    struct weir_offset_conf c = {
        .layout = { .transfer = 10, .block = 30, .segments = 2, .tasks = 3 },
        .task = 1,
    };

    (void)state;
    EXPECT_LIST(&c, 0, 10, 20, 30, 40, 50);
}

static void one_transfer_to_a_block_is_strided(void **state)
{
    struct weir_offset_conf c = {
        .layout = { .transfer = 8, .block = 8, .segments = 4, .tasks = 2, .shared = true },
        .task = 1,
    };

    (void)state;
    EXPECT_LIST(&c, 8, 24, 40, 56);
    c.layout.segments = 1;
    EXPECT_LIST(&c, 8);
    c.layout.segments = 3;
    c.layout.shared = false;
    EXPECT_LIST(&c, 0, 8, 16);
}

/* All tasks of one shuffled file together, or one task of many: each transfer exactly once. */
static void expect_cover(const struct weir_layout *l)
{
    uint64_t per_task = l->block / l->transfer * l->segments;
    uint64_t all = l->shared ? per_task * (uint64_t)l->tasks : per_task;
    unsigned char *seen = calloc(all, 1);

    assert_non_null(seen);
    for (int task = 0; task < l->tasks; task++) {
        struct weir_offset_conf c = {
            .layout = *l, .order = WEIR_ORDER_SHUFFLED, .task = task, .seed = 42,
        };
        struct weir_offsets o;

        begin(&o, &c);
        assert_int_equal(weir_offsets_count(&o), per_task);
        if (!l->shared)
            memset(seen, 0, all);
        for (uint64_t i = 0; i < per_task; i++) {
            uint64_t off = weir_offsets_next(&o);

            assert_int_equal(off % l->transfer, 0);
            assert_true(off / l->transfer < all);
            assert_int_equal(seen[off / l->transfer]++, 0);
            if (l->block > l->transfer) /* then a segment is finished before the next */
                assert_int_equal(off / (l->block * (l->shared ? (uint64_t)l->tasks : 1)),
                                 i / (l->block / l->transfer));
        }
        weir_offsets_free(&o);
    }
    free(seen);
}

static void shuffled_visits_every_transfer_once(void **state)
{
    static const struct weir_layout layouts[] = {
        { .transfer = 4096, .block = 32768, .segments = 1, .tasks = 3, .shared = true },
        { .transfer = 4096, .block = 32768, .segments = 5, .tasks = 3, .shared = true },
        { .transfer = 4096, .block = 32768, .segments = 5, .tasks = 3 },
        { .transfer = 1000, .block = 1000, .segments = 97, .tasks = 7, .shared = true },
        { .transfer = 1000, .block = 1000, .segments = 97, .tasks = 2 },
        { .transfer = 8, .block = 8, .segments = 1, .tasks = 5, .shared = true },
        { .transfer = 8, .block = 8, .segments = 1, .tasks = 1 },
        { .transfer = 8, .block = 8 * 1021, .segments = 2, .tasks = 4, .shared = true },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(layouts) / sizeof(*layouts); i++)
        expect_cover(&layouts[i]);
}

static void collect(const struct weir_offset_conf *c, uint64_t *out, uint64_t n)
{
    struct weir_offsets o;

    begin(&o, c);
    for (uint64_t i = 0; i < n; i++)
        out[i] = weir_offsets_next(&o);
    weir_offsets_free(&o);
}

static void shuffled_repeats_exactly_after_the_last(void **state)
{
    struct weir_offset_conf c = {
        .layout = { .transfer = 8, .block = 800, .segments = 3, .tasks = 2, .shared = true },
        .order = WEIR_ORDER_SHUFFLED, .task = 1, .seed = 7,
    };
    uint64_t got[600];

    (void)state;
    collect(&c, got, 600);
    assert_memory_equal(got, got + 300, 300 * sizeof(*got));
}

static void shuffled_differs_by_seed_segment_and_task(void **state)
{
    struct weir_offset_conf c = {
        .layout = { .transfer = 8, .block = 800, .segments = 2, .tasks = 2 },
        .order = WEIR_ORDER_SHUFFLED, .seed = 7,
    };
    uint64_t a[200], b[200];
    int same = 0;

    (void)state;
    collect(&c, a, 200);
    for (int i = 0; i < 100; i++)
        same += a[i] + 800 == a[100 + i];
    assert_true(same < 20);
    c.task = 1;
    collect(&c, b, 200);
    assert_memory_not_equal(a, b, sizeof(a));
    c.task = 0;
    c.seed = 8;
    collect(&c, b, 200);
    assert_memory_not_equal(a, b, sizeof(a));
}

static void distributed_matches_the_vectors(void **state)
{
    struct weir_offset_conf c = {
        .layout = { .transfer = 4096, .block = 32768, .segments = 1, .tasks = 3, .shared = true },
        .order = WEIR_ORDER_DISTRIBUTED,
        .seed = 42,
    };

    (void)state;
    EXPECT_LIST(&c, 28672, 49152, 77824, 94208, 40960, 0, 81920, 57344, 69632, 12288, 86016, 4096,
                73728, 53248);
    c.task = 1;
    EXPECT_LIST(&c, 20480, 24576, 16384, 65536);
    c.task = 2;
    EXPECT_LIST(&c, 45056, 90112, 36864, 61440, 32768, 8192);
    c.layout.shared = false;
    c.task = 0;
    EXPECT_LIST(&c, 24576, 12288, 16384, 8192, 28672, 20480, 0, 4096);
    c.task = 1;
    EXPECT_LIST(&c, 0, 4096, 12288, 28672, 16384, 24576, 20480, 8192);
}

static void distributed_uses_one_order_for_all_segments(void **state)
{
    struct weir_offset_conf c = {
        .layout = { .transfer = 4096, .block = 32768, .segments = 2, .tasks = 3, .shared = true },
        .order = WEIR_ORDER_DISTRIBUTED,
        .task = 1,
        .seed = 42,
    };

    (void)state;
    EXPECT_LIST(&c, 20480, 24576, 16384, 65536, 98304 + 20480, 98304 + 24576, 98304 + 16384,
                98304 + 65536);
}

static void distributed_may_leave_a_task_without_work(void **state)
{
    struct weir_offset_conf c = {
        .layout = { .transfer = 8, .block = 8, .segments = 1, .tasks = 3, .shared = true },
        .order = WEIR_ORDER_DISTRIBUTED,
    };
    uint64_t total = 0, none = 0;

    (void)state;
    for (c.seed = 0; c.seed < 20; c.seed++) {
        for (c.task = 0; c.task < 3; c.task++) {
            struct weir_offsets o;

            begin(&o, &c);
            total += weir_offsets_count(&o);
            none += weir_offsets_count(&o) == 0;
            weir_offsets_free(&o);
        }
    }
    assert_int_equal(total, 60);
    assert_true(none > 0);
}

static void random_matches_the_vectors(void **state)
{
    struct weir_offset_conf c = {
        .layout = { .transfer = 32768, .block = 32768, .segments = 5, .tasks = 3, .shared = true },
        .order = WEIR_ORDER_RANDOM, .seed = 42, .file_bytes = 196608,
    };

    (void)state;
    EXPECT_LIST(&c, 131072, 0, 0, 65536, 98304);
    c.task = 1;
    EXPECT_LIST(&c, 65536, 131072, 98304, 131072, 32768);
}

static void random_draws_match_the_vectors(void **state)
{
    struct weir_offset_conf c = {
        .layout = { .transfer = 8, .block = 8, .segments = 3, .tasks = 1, .shared = true },
        .order = WEIR_ORDER_RANDOM, .seed = 42, .file_bytes = UINT64_C(8) * 1000003,
    };

    (void)state;
    EXPECT_LIST(&c, 8 * (UINT64_C(209097136) % 1000003),
                8 * (UINT64_C(13750499756910018504) % 1000003),
                8 * (UINT64_C(7696032166298511126) % 1000003));
}

static void random_blocks_are_read_in_order(void **state)
{
    struct weir_offset_conf c = {
        .layout = { .transfer = 16384, .block = 32768, .segments = 3, .tasks = 3, .shared = true },
        .order = WEIR_ORDER_RANDOM, .task = 1, .seed = 42, .file_bytes = 196608 + 4000,
    };

    (void)state;
    EXPECT_LIST(&c, 65536, 81920, 131072, 147456, 98304, 114688);
}

static void random_in_a_file_smaller_than_a_block_is_refused(void **state)
{
    struct weir_offset_conf c = {
        .layout = { .transfer = 8, .block = 64, .segments = 1, .tasks = 1, .shared = true },
        .order = WEIR_ORDER_RANDOM, .file_bytes = 63,
    };
    struct weir_err err = WEIR_ERR_INIT;
    struct weir_offsets o;

    (void)state;
    assert_int_equal(weir_offsets_init(&o, &c, &err), -1);
    assert_int_equal(err.code, WEIR_EUSAGE);
    c.file_bytes = 64;
    EXPECT_LIST(&c, 0, 8, 16, 24, 32, 40, 48, 56);
}

static void no_segment_means_no_transfer(void **state)
{
    static const enum weir_order orders[] = {
        WEIR_ORDER_SEQUENTIAL,
        WEIR_ORDER_SHUFFLED,
        WEIR_ORDER_RANDOM,
        WEIR_ORDER_DISTRIBUTED,
    };

    (void)state;
    for (int i = 0; i < 4; i++) {
        struct weir_offset_conf c = {
            .layout = { .transfer = 8, .block = 64, .tasks = 2, .shared = true },
            .order = orders[i], .file_bytes = 100,
        };
        struct weir_offsets o;

        begin(&o, &c);
        assert_int_equal(weir_offsets_count(&o), 0);
        weir_offsets_free(&o);
        c.layout.segments = 3;
        c.layout.block = 0;
        begin(&o, &c);
        assert_int_equal(weir_offsets_count(&o), 0);
        weir_offsets_free(&o);
    }
}

static void geometry_that_would_wrap_is_refused(void **state)
{
    struct weir_offset_conf c = {
        .layout = { .transfer = 1 << 20, .block = UINT64_C(1) << 40, .segments = UINT64_C(1) << 20,
                    .tasks = 7, .shared = true },
    };
    struct weir_err err = WEIR_ERR_INIT;
    struct weir_offsets o;

    (void)state;
    begin(&o, &c);
    c.layout.tasks = 8;
    assert_int_equal(weir_offsets_init(&o, &c, &err), -1);
    assert_int_equal(err.code, WEIR_EUSAGE);
    c.layout.segments = UINT64_MAX;
    assert_int_equal(weir_offsets_init(&o, &c, NULL), -1);
}

/* Ranks x bytes at 2^31, 2^32, 2^53 and up to 2^62, by numbers of 128 bits. */
static void offsets_of_many_ranks_are_exact(void **state)
{
    static const struct {
        int tasks;
        uint64_t block;
    } far[] = { { 2, UINT64_C(1) << 30 },       { 2, (UINT64_C(1) << 31) + 8 }, { 65536, 65536 },
                { 65537, 65528 },               { 1 << 20, UINT64_C(1) << 33 }, { (1 << 20) + 1, (UINT64_C(1) << 33) - 8 },
                { INT32_MAX, UINT64_C(1) << 29 }, { 1000003, UINT64_C(1) << 40 } };
    struct weir_offsets o;

    (void)state;
    for (size_t i = 0; i < sizeof(far) / sizeof(*far); i++)
        for (int k = 0; k < 4; k++) {
            const int ranks[] = { 0, 1, far[i].tasks / 2, far[i].tasks - 1 };
            struct weir_offset_conf c = {
                .layout = { .transfer = far[i].block, .block = far[i].block, .segments = 4, .tasks = far[i].tasks, .shared = true },
                .task = ranks[k],
            };

            begin(&o, &c);
            assert_int_equal(weir_offsets_count(&o), 4);
            for (uint64_t s = 0; s < 4; s++) {
                unsigned __int128 at = ((unsigned __int128)s * (unsigned)far[i].tasks + (unsigned)ranks[k]) * far[i].block;

                assert_true(at < UINT64_C(1) << 63);
                assert_true(weir_offsets_next(&o) == (uint64_t)at);
            }
            weir_offsets_free(&o);
        }
}

static void impossible_arguments_are_our_own_bug(void **state)
{
    struct weir_offset_conf good = {
        .layout = { .transfer = 8, .block = 64, .segments = 1, .tasks = 2 },
    };
    struct weir_offset_conf bad[4] = { good, good, good, good };

    (void)state;
    bad[0].layout.transfer = 0;
    bad[1].layout.transfer = 7;
    bad[2].task = 2;
    bad[3].task = -1;
    for (int i = 0; i < 4; i++) {
        struct weir_err err = WEIR_ERR_INIT;
        struct weir_offsets o;

        assert_int_equal(weir_offsets_init(&o, &bad[i], &err), -1);
        assert_int_equal(err.code, WEIR_EBUG);
    }
}

static void huge_shuffles_need_no_set_up(void **state)
{
    struct weir_offset_conf c = {
        .layout = { .transfer = 8, .block = UINT64_C(1) << 50, .segments = 2, .tasks = 1000,
                    .shared = true },
        .order = WEIR_ORDER_SHUFFLED, .task = 999, .seed = 1,
    };
    struct weir_offsets o;

    (void)state;
    begin(&o, &c);
    assert_int_equal(weir_offsets_count(&o), UINT64_C(1) << 48);
    for (int i = 0; i < 1000; i++)
        assert_true(weir_offsets_next(&o) < 1000 * c.layout.block);
    weir_offsets_free(&o);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(sequential_in_a_shared_file),
        cmocka_unit_test(sequential_in_a_file_of_ones_own),
        cmocka_unit_test(one_transfer_to_a_block_is_strided),
        cmocka_unit_test(shuffled_visits_every_transfer_once),
        cmocka_unit_test(shuffled_repeats_exactly_after_the_last),
        cmocka_unit_test(shuffled_differs_by_seed_segment_and_task),
        cmocka_unit_test(distributed_matches_the_vectors),
        cmocka_unit_test(distributed_uses_one_order_for_all_segments),
        cmocka_unit_test(distributed_may_leave_a_task_without_work),
        cmocka_unit_test(random_matches_the_vectors),
        cmocka_unit_test(random_draws_match_the_vectors),
        cmocka_unit_test(random_blocks_are_read_in_order),
        cmocka_unit_test(random_in_a_file_smaller_than_a_block_is_refused),
        cmocka_unit_test(no_segment_means_no_transfer),
        cmocka_unit_test(geometry_that_would_wrap_is_refused),
        cmocka_unit_test(offsets_of_many_ranks_are_exact),
        cmocka_unit_test(impossible_arguments_are_our_own_bug),
        cmocka_unit_test(huge_shuffles_need_no_set_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
