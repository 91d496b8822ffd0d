/* SPDX-License-Identifier: BSD-3-Clause */
/* test_mix.c - --mix: the draw of each transfer, and the version that it has after so many steps */
#include "programs/ior/ior.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct ior_mix make(uint32_t read, uint32_t write, uint64_t seed, int task, int repetition)
{
    return (struct ior_mix) { .weight = { [WEIR_DIR_READ] = read, [WEIR_DIR_WRITE] = write },
                              .weights = (uint64_t)read + write,
                              .key = ior_mix_key(seed, task, repetition),
                              .length = 1000 };
}

static uint64_t count_writes(const struct ior_mix *m, uint64_t n)
{
    uint64_t writes = 0;

    for (uint64_t i = 0; i < n; i++)
        writes += ior_mix_draw(m, i) == WEIR_DIR_WRITE;
    return writes;
}

/* In how many of n steps do they draw the same? */
static int count_alike(const struct ior_mix *a, const struct ior_mix *b, uint64_t n)
{
    int alike = 0;

    for (uint64_t i = 0; i < n; i++)
        alike += ior_mix_draw(a, i) == ior_mix_draw(b, i);
    return alike;
}

static void weights_are_read_in_any_order(void **state)
{
    const char *good[] = { "read:70,write:30", "write:30,read:70", "read:70+write:30",
                           "delete:5,read:70,list:4,head:1+write:30", "read:70,write:30,head:5,delete:5" };
    struct weir_err err = WEIR_ERR_INIT;

    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
        struct ior_mix m = { .weights = 1 };

        assert_int_equal(ior_mix_parse(good[i], &m, &err), 0);
        assert_int_equal(m.weight[WEIR_DIR_READ], 70);
        assert_int_equal(m.weight[WEIR_DIR_WRITE], 30);
        assert_int_equal(m.weight[WEIR_DIR_DELETE], i > 2 ? 5 : 0);
        assert_int_equal(m.weights, i > 2 ? 110 : 100);
    }
}

static void anything_else_is_refused(void **state)
{
    const char *bad[] = { "", "read:70", "read:1,read:2", "read:0,write:0", "read:-1,write:2",
                          "read:1.5,write:2", "read:,write:2", "read:1,write:2,read:3", "70,30",
                          "read:1000001,write:1", "read:nan,write:1", "read:1 ,write:1",
                          "read:1,,write:1", "READ:1,write:1",
                          "read:0,write:0,delete:1", "read:1,write:1,delete:", "read:1,write:1,stat:1",
                          "read:1,write:1,head:1,head:1", "list:1,head:1", "read:1,write:1,deleted:1", "read:1,write:1,list:1.5" };
    struct ior_mix m;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        struct weir_err err = WEIR_ERR_INIT;

        assert_int_equal(ior_mix_parse(bad[i], &m, &err), -1);
        assert_int_equal(err.code, WEIR_EUSAGE);
        assert_non_null(strstr(err.text, "read:70,write:30"));
    }
}

/* Six standard deviations. */
static void the_share_of_each_is_that_of_its_weight(void **state)
{
    struct ior_mix some = make(70, 30, 1, 2, 0), none = make(1, 0, 1, 2, 0), all = make(0, 5, 1, 2, 0);
    uint64_t n = 100000;

    (void)state;
    assert_in_range(count_writes(&some, n), 30000 - 870, 30000 + 870);
    assert_int_equal(count_writes(&none, n), 0);
    assert_int_equal(count_writes(&all, n), n);
}

static void seed_task_and_repetition_each_make_another_sequence(void **state)
{
    struct ior_mix one = make(1, 1, 7, 3, 0), same = make(1, 1, 7, 3, 0);
    struct ior_mix others[] = { make(1, 1, 8, 3, 0), make(1, 1, 7, 4, 0), make(1, 1, 7, 3, 1) };

    (void)state;
    assert_int_equal(count_alike(&one, &same, 10000), 10000);
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        assert_in_range(count_alike(&one, &others[i], 10000), 4700, 5300);
}

/* Against a file of small numbers that the steps are done on one by one. */
static void the_version_of_each_transfer_is_that_of_the_last_step_that_wrote_it(void **state)
{
    uint32_t file[10], wrap = WEIR_DAMAGE_UNIT - 1;
    uint64_t writes = 0;

    (void)state;
    for (uint32_t write = 0; write <= 100; write += 10)
        for (uint64_t length = 1; length <= 10; length += 3) {
            struct ior_mix m = make(100 - write, write, 11, 0, 0);

            m.length = length;
            memset(file, 0, sizeof(file));
            for (uint64_t step = 0; step < 6000; step++) {
                for (uint64_t k = 0; k < length && (step < 60 || step > 5990); k++)
                    assert_int_equal(ior_mix_version(&m, k + length * (step % 3), step), file[k]);
                if (ior_mix_draw(&m, step) == WEIR_DIR_READ)
                    continue;
                file[step % length] = ior_mix_version_of(&m, step);
                assert_int_equal(file[step % length], 1 + step / length % wrap);
                writes++;
            }
        }
    assert_true(writes > 0);
}

/* Every place against what its steps do to it: nothing is read, listed, looked at or deleted where nothing is. */
static void what_was_deleted_is_written_before_anything_else(void **state)
{
    const uint32_t weights[][WEIR_DIRS] = { { 25, 60, 5, 5, 5 }, { 0, 1, 0, 0, 1 }, { 1, 0, 0, 0, 9 }, { 1, 1, 1, 1, 100 } };
    uint64_t deletes = 0, forced = 0;

    (void)state;
    for (size_t k = 0; k < sizeof(weights) / sizeof(*weights); k++) {
        struct ior_mix m = make(0, 0, 5, 1, 0);
        bool gone[7] = { false };

        memcpy(m.weight, weights[k], sizeof(m.weight));
        m.weights = 0;
        for (int d = 0; d < WEIR_DIRS; d++)
            m.weights += m.weight[d];
        m.length = 7;
        for (uint64_t step = 0; step < 3000; step++) {
            enum weir_dir dir = ior_mix_draw(&m, step);
            bool *at = &gone[step % 7];

            assert_true(!*at || dir == WEIR_DIR_WRITE);
            forced += *at;
            deletes += dir == WEIR_DIR_DELETE;
            *at = dir == WEIR_DIR_DELETE;
            for (uint64_t p = 0; p < 7; p++)
                assert_int_equal(ior_mix_version(&m, p, step + 1) == IOR_MIX_GONE, gone[p]);
        }
    }
    assert_in_range(forced, deletes - 28, deletes);
    assert_true(deletes > 2000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_are_read_in_any_order),
        cmocka_unit_test(anything_else_is_refused),
        cmocka_unit_test(the_share_of_each_is_that_of_its_weight),
        cmocka_unit_test(seed_task_and_repetition_each_make_another_sequence),
        cmocka_unit_test(the_version_of_each_transfer_is_that_of_the_last_step_that_wrote_it),
        cmocka_unit_test(what_was_deleted_is_written_before_anything_else),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
