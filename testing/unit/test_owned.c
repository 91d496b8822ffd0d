/* SPDX-License-Identifier: BSD-3-Clause */
/* test_owned.c - data that say whose they are, places of random reads, kinds of file systems */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "programs/mib/mib.h"

static const struct weir_pattern words; /* no blocks with a ratio */

static void any_part_is_that_of_the_whole(void **state)
{
    unsigned char all[64], part[64];
    uint64_t word;

    (void)state;
    mib_data_fill(&words, 3, 0, all, sizeof(all));
    memcpy(&word, all + 8, 8);
    assert_true(word == (UINT64_C(4) << 44 | 1));
    for (size_t from = 0; from < sizeof(all); from++) {
        mib_data_fill(&words, 3, from, part, sizeof(all) - from);
        assert_memory_equal(part, all + from, sizeof(all) - from);
        assert_int_equal(mib_data_right(&words, 3, from, part, sizeof(all) - from), sizeof(all) - from);
    }
}

static void the_first_wrong_byte_is_found(void **state)
{
    unsigned char buf[100];

    (void)state;
    mib_data_fill(&words, 0, 13, buf, sizeof(buf));
    for (size_t i = 0; i < sizeof(buf); i++) {
        buf[i] ^= 0x80;
        assert_int_equal(mib_data_right(&words, 0, 13, buf, sizeof(buf)), i);
        buf[i] ^= 0x80;
    }
    assert_true(mib_data_right(&words, 1, 13, buf, sizeof(buf)) < 8);
    assert_true(mib_data_right(&words, 0, 21, buf, sizeof(buf)) < 8);
}

static void random_places_are_below_the_limit(void **state)
{
    int seen[7] = { 0 };

    (void)state;
    for (uint64_t i = 0; i < 1000; i++) {
        assert_true(weir_rng_below(5, i, 1) == 0);
        assert_true(weir_rng_below(5, i, 7) < 7);
        seen[weir_rng_below(5, i, 7)]++;
    }
    for (int i = 0; i < 7; i++)
        assert_true(seen[i] > 80);
    assert_true(weir_rng_below(5, 0, UINT64_MAX) != weir_rng_below(6, 0, UINT64_MAX));
}

static void file_systems_have_their_kind(void **state)
{
    (void)state;
    assert_int_equal(weir_fs_type_of(0x6969).kind, WEIR_FS_OTHER);
    assert_string_equal(weir_fs_type_of(0xEF53).name, "EXT2_SUPER_MAGIC");
    assert_int_equal(weir_fs_type_of(0xEF53).kind, WEIR_FS_LOCAL);
    assert_int_equal(weir_fs_type_of(0x0BD00BD0).kind, WEIR_FS_PARALLEL);
    assert_null(weir_fs_type_of(0x47504653).name); /* GPFS */
    assert_int_equal(weir_fs_type_of(0x47504653).kind, WEIR_FS_PARALLEL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_part_is_that_of_the_whole),
        cmocka_unit_test(the_first_wrong_byte_is_found),
        cmocka_unit_test(random_places_are_below_the_limit),
        cmocka_unit_test(file_systems_have_their_kind),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
