/* SPDX-License-Identifier: BSD-3-Clause */
/* test_itemdata.c - the bytes of the small files of mdtest and md-workbench */
#include "config.h"
#include "base/itemdata.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define LEN 8205 /* words, and five bytes after them */
#define SEED 1000

static uint64_t *make(enum weir_packet packet, int rank, uint64_t item)
{
    static uint64_t buf[LEN / 8 + 1]; /* aligned; made anew by each call */
    const struct weir_itemdata d = { .packet = packet, .seed = SEED };

    memset(buf, 0, sizeof(buf));
    weir_itemdata_base(&d, rank, buf, LEN);
    weir_itemdata_file(&d, rank, item, buf, LEN);
    return buf;
}

static void timestamps_hold_rank_and_seed(void **state)
{
    const uint64_t *w = make(WEIR_PACKET_TIMESTAMP, 1, 5);

    (void)state;
    assert_int_equal(w[0], 0x00000001000003e8);
    assert_int_equal(w[1], 0x00000001000003e9);
}

static void bytes_behind_the_last_word_are_their_offsets(void **state)
{
    const unsigned char want[5] = { 0x08, 0x09, 0x0a, 0x0b, 0x0c };
    const unsigned char *bytes = (const unsigned char *)make(WEIR_PACKET_TIMESTAMP, 1, 0);

    (void)state;
    assert_memory_equal(bytes + LEN - 5, want, 5);
}

static void offsets_have_a_stamp_in_each_4_kib(void **state)
{
    const uint64_t *w = make(WEIR_PACKET_OFFSET, 1, 1);

    (void)state;
    assert_int_equal(w[0], 0x0000000100000001);
    assert_int_equal(w[512], 0x0000000100000002);
    assert_int_equal(w[1024], 0x0000000100000003);
    assert_int_equal(w[1], 0x00000001000003e9); /* between them the base */
}

static void random_data_are_those_of_the_original(void **state)
{
    const uint64_t *w = make(WEIR_PACKET_RANDOM, 0, 0);

    (void)state;
    assert_int_equal(w[0], 0x0bfacae9fe2f03c5);
    assert_int_equal(w[1], 0x092d5a45bde36078);
    assert_int_equal(w[2], 0x194acc5707806c0f);
}

static void incompressible_data_never_repeat(void **state)
{
    uint64_t first[LEN / 8];
    const uint64_t *w = make(WEIR_PACKET_INCOMPRESSIBLE, 0, 1);

    (void)state;
    memcpy(first, w, sizeof(first));
    for (int i = 1; i < LEN / 8; i++)
        assert_int_not_equal(first[i], first[i - 1]);
    assert_int_not_equal(make(WEIR_PACKET_INCOMPRESSIBLE, 1, 0)[0], first[0]);
    assert_int_not_equal(make(WEIR_PACKET_INCOMPRESSIBLE, 0, 2)[0], first[0]);
}

static void only_timestamps_and_scraps_are_the_same_in_all_files(void **state)
{
    struct weir_itemdata d = { .packet = WEIR_PACKET_TIMESTAMP };

    (void)state;
    assert_false(weir_itemdata_varies(&d, LEN));
    d.packet = WEIR_PACKET_RANDOM;
    assert_true(weir_itemdata_varies(&d, 8));
    assert_false(weir_itemdata_varies(&d, 7));
}

static void the_first_difference_is_found(void **state)
{
    const char a[] = "the same until here", b[] = "the same until then";

    (void)state;
    assert_int_equal(weir_itemdata_compare(a, b, sizeof(a)), 15);
    assert_int_equal(weir_itemdata_compare(a, b, 15), 15);
    assert_int_equal(weir_itemdata_compare(a, a, sizeof(a)), sizeof(a));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(timestamps_hold_rank_and_seed),
        cmocka_unit_test(bytes_behind_the_last_word_are_their_offsets),
        cmocka_unit_test(offsets_have_a_stamp_in_each_4_kib),
        cmocka_unit_test(random_data_are_those_of_the_original),
        cmocka_unit_test(incompressible_data_never_repeat),
        cmocka_unit_test(only_timestamps_and_scraps_are_the_same_in_all_files),
        cmocka_unit_test(the_first_difference_is_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
