/* SPDX-License-Identifier: BSD-3-Clause */
/* test_items.c - the bytes of the small files of mdtest and md-workbench */
#include "engine/place/items.h"

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
    const struct weir_pattern p = { .packet = packet, .signature = SEED, .rank = rank };

    memset(buf, 0, sizeof(buf));
    weir_pattern_base(&p, buf, LEN);
    weir_pattern_stamp(&p, buf, LEN, item);
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
    const uint64_t *w = make(WEIR_PACKET_INDEXED, 0, 1);

    (void)state;
    memcpy(first, w, sizeof(first));
    for (int i = 1; i < LEN / 8; i++)
        assert_int_not_equal(first[i], first[i - 1]);
    assert_int_not_equal(make(WEIR_PACKET_INDEXED, 1, 0)[0], first[0]);
    assert_int_not_equal(make(WEIR_PACKET_INDEXED, 0, 2)[0], first[0]);
}

static void the_seed_is_read_out_of_a_file(void **state)
{
    const enum weir_packet packets[] = { WEIR_PACKET_TIMESTAMP, WEIR_PACKET_OFFSET,
                                         WEIR_PACKET_INDEXED, WEIR_PACKET_RANDOM,
                                         WEIR_PACKET_RATIO };
    const int64_t wanted[] = { 0, 1, 1795404907, INT32_MAX, -5, INT32_MIN };
    uint64_t buf[8];

    (void)state;
    for (size_t p = 0; p < sizeof(packets) / sizeof(*packets); p++) {
        for (int i = 0; i < 6; i++) {
            const struct weir_pattern d = { .packet = packets[p],
                                            .signature = (uint32_t)wanted[i],
                                            .rank = 3,
                                            .ratio = { 2500, 3000 },
                                            .files = WEIR_FILES_SMALL };
            int64_t seeds[WEIR_ITEMS_SEEDS];
            int n, right = 0;

            weir_pattern_base(&d, buf, sizeof(buf));
            weir_pattern_stamp(&d, buf, sizeof(buf), 7);
            n = weir_items_seeds(&d, 7, buf, sizeof(buf), seeds);
            for (int k = 0; k < n; k++)
                right += (seeds[k] - wanted[i]) %
                             (packets[p] == WEIR_PACKET_RANDOM ? 1 << 27 : INT64_MAX) == 0;
            assert_int_equal(right, 1);
            assert_true(n == 1 || packets[p] == WEIR_PACKET_RANDOM);
        }
    }
}

static void what_depends_on_no_seed_says_none(void **state)
{
    int64_t seeds[WEIR_ITEMS_SEEDS];
    uint64_t buf[2] = { 1, UINT64_MAX };

    (void)state;
    assert_int_equal(weir_items_seeds(&(struct weir_pattern) { .packet = WEIR_PACKET_OFFSET }, 0, buf, 15, seeds), 0);
    assert_int_equal(weir_items_seeds(&(struct weir_pattern) { .packet = WEIR_PACKET_TIMESTAMP }, 0, buf, 7, seeds), 0);
    /* words of RANDOM have 61 bits */
    assert_int_equal(weir_items_seeds(&(struct weir_pattern) { .packet = WEIR_PACKET_RANDOM }, 0, buf + 1, 8, seeds), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(timestamps_hold_rank_and_seed),
        cmocka_unit_test(bytes_behind_the_last_word_are_their_offsets),
        cmocka_unit_test(offsets_have_a_stamp_in_each_4_kib),
        cmocka_unit_test(random_data_are_those_of_the_original),
        cmocka_unit_test(incompressible_data_never_repeat),
        cmocka_unit_test(the_seed_is_read_out_of_a_file),
        cmocka_unit_test(what_depends_on_no_seed_says_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
