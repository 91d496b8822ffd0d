/* SPDX-License-Identifier: BSD-3-Clause */
/* test_pattern.c - fill and verify (vectors of the original) */
#include "base/data/damage.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/shape/offset.h"
#include "sha256.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static const enum weir_packet packets[] = {
    WEIR_PACKET_TIMESTAMP, WEIR_PACKET_OFFSET, WEIR_PACKET_INCOMPRESSIBLE, WEIR_PACKET_RANDOM,
};

static void *new_buffer(size_t len)
{
    void *buf = calloc(len ? len : 1, 1);

    assert_non_null(buf);
    return buf;
}

static void fill(const struct weir_pattern *p, void *buf, size_t len, uint64_t off)
{
    weir_pattern_base(p, buf, len);
    weir_pattern_stamp(p, buf, len, off);
}

/* Returns the number of wrong words, and *bad when there are any. */
static uint64_t verify(const struct weir_pattern *p, const void *buf, size_t len, uint64_t off,
                       struct weir_data_damage *bad)
{
    static const struct weir_layout layout = {
        .transfer = 4096, .block = 8192, .segments = 2, .tasks = 4, .shared = true
    };

    if (weir_pattern_is_right(p, buf, len, off))
        return 0;
    weir_damage_of_pattern(p, &layout, buf, len, off, bad);
    return bad->pieces;
}

struct vector {
    const char *name;
    struct weir_layout layout;
    enum weir_order order;
    enum weir_packet packet;
    uint32_t signature;
    int file; /* with a file per task: which */
    const char *sha256;
};

static const struct vector vectors[] = {
    { "V1", { 8192, 16384, 1, 2, true }, WEIR_ORDER_SEQUENTIAL, WEIR_PACKET_TIMESTAMP,
      7, 0, "55a53433831af76be8cd182b6aeb960caed7c076da3cfd7ba021b8d2ecbcf151" },
    { "V2", { 8192, 16384, 1, 2, true }, WEIR_ORDER_SEQUENTIAL, WEIR_PACKET_OFFSET,
      7, 0, "db39783479388100cd65025438862735c00f3e4a98f8ae33bc23b49eb6406862" },
    { "V4", { 8192, 16384, 1, 2, true }, WEIR_ORDER_SEQUENTIAL, WEIR_PACKET_RANDOM,
      7, 0, "359777505531ffe69bcb47af6836a5146f907e77174ff61476b45acb3cd21413" },
    { "V5", { 8192, 16384, 1, 2, true }, WEIR_ORDER_SEQUENTIAL, WEIR_PACKET_OFFSET,
      1511817315, 0, "6a16c4c95d484668bc5a53ec53155c89223505a6337a5bc5d324aed829f3eb4e" },
    { "V6.0", { 8192, 16384, 2, 2, false }, WEIR_ORDER_SEQUENTIAL, WEIR_PACKET_OFFSET,
      1511817315, 0, "b6f718ec89b3dab1783b33f8e008d96cdf354540fba2dcb4962da333dcb96082" },
    { "V6.1", { 8192, 16384, 2, 2, false }, WEIR_ORDER_SEQUENTIAL, WEIR_PACKET_OFFSET,
      1511817315, 1, "a9f5816956017f8b1a4c79e7244b482c8e6ec2262532eb3c4866a8924a281ce1" },
    { "V7", { 1000, 4000, 1, 2, true }, WEIR_ORDER_SEQUENTIAL, WEIR_PACKET_OFFSET,
      7, 0, "5c768de42e0252e7787cf348002da21ec7e0bd4f15263356d491a4396cf46230" },
    { "V8", { 4096, 65536, 2, 3, true }, WEIR_ORDER_DISTRIBUTED, WEIR_PACKET_OFFSET,
      1511817315, 0, "48e952e6d508da4e40b18662fe57dd7ec4a0bd808c701e5ee123babe17d3c959" },
    { "V9", { 4096, 16384, 1, 2, true }, WEIR_ORDER_SEQUENTIAL, WEIR_PACKET_TIMESTAMP,
      (uint32_t)-5, 0, "6b6c359c27f82b86c5612ebc18f8dd1c832145b714263062314323aad1009a9f" },
};

/* Write one task's transfers into an image of the file. One buffer serves all of them, as
 * in a real run. */
static void write_task(const struct vector *v, int task, unsigned char *image)
{
    struct weir_pattern p = { .packet = v->packet, .signature = v->signature, .rank = task };
    struct weir_offset_conf c = {
        .layout = v->layout, .order = v->order, .task = task, .seed = 42,
    };
    void *buf = new_buffer(v->layout.transfer);
    struct weir_offsets o;

    assert_int_equal(weir_offsets_init(&o, &c, NULL), 0);
    weir_pattern_base(&p, buf, v->layout.transfer);
    for (uint64_t i = 0; i < weir_offsets_count(&o); i++) {
        uint64_t off = weir_offsets_next(&o);

        if (weir_pattern_varies(&p))
            weir_pattern_stamp(&p, buf, v->layout.transfer, off);
        memcpy(image + off, buf, v->layout.transfer);
        assert_true(weir_pattern_is_right(&p, image + off, v->layout.transfer, off));
    }
    weir_offsets_free(&o);
    free(buf);
}

static void files_are_those_of_the_reference(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(vectors); i++) {
        const struct vector *v = &vectors[i];
        uint64_t share = v->layout.block * v->layout.segments;
        uint64_t len = v->layout.shared ? share * (uint64_t)v->layout.tasks : share;
        unsigned char *image = new_buffer(len);
        char hex[SHA256_TEXT];

        for (int task = 0; task < v->layout.tasks; task++) {
            if (v->layout.shared || task == v->file)
                write_task(v, task, image);
        }
        sha256_hex(image, len, hex);
        if (strcmp(hex, v->sha256) != 0)
            fail_msg("%s: %s", v->name, hex);
        free(image);
    }
}

static void the_digest_of_these_tests_is_right(void **state)
{
    char hex[SHA256_TEXT], a[200];

    (void)state;
    sha256_hex("abc", 3, hex);
    assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    sha256_hex("", 0, hex);
    assert_string_equal(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    memset(a, 'a', sizeof(a));
    sha256_hex(a, 119, hex);
    assert_string_equal(hex, "31eba51c313a5c08226adf18d4a359cfdfd8d2e816b13f4af952f7ea6584dcfb");
}

static void words_of_the_random_packet(void **state)
{
    struct weir_pattern p = { .packet = WEIR_PACKET_RANDOM, .signature = 7, .rank = 1 };
    uint64_t w[2];

    (void)state;
    fill(&p, w, sizeof(w), 0x4000);
    assert_true(w[0] == UINT64_C(0x0718f190ec8c45c3));
    assert_true(w[1] == UINT64_C(0x1bafa7ebfab008b8));
}

static void trailing_bytes_count_up(void **state)
{
    (void)state;
    for (size_t k = 0; k < COUNT(packets); k++) {
        struct weir_pattern p = { .packet = packets[k], .signature = 9, .rank = 2 };
        unsigned char *buf = new_buffer(272);

        fill(&p, buf, 263, 512);
        for (size_t i = 256; i < 263; i++)
            assert_int_equal(buf[i], i % 256);
        for (size_t i = 263; i < 272; i++)
            assert_int_equal(buf[i], 0); /* nothing is written after the end */
        free(buf);
    }
}

static void side_by_side_equals_one_by_one(void **state)
{
    static const size_t lens[] = { 0, 8, 13, 64, 1000, 4096, 8200 };

    (void)state;
    for (size_t k = 0; k < COUNT(packets); k++) {
        struct weir_pattern p = { .packet = packets[k], .signature = 0xfffffff0u, .rank = 5 };

        for (size_t l = 0; l < COUNT(lens); l++) {
            for (int n = 0; n <= WEIR_LANES; n++) {
                void *buf[WEIR_LANES] = { NULL }, *one = new_buffer(lens[l]);
                uint64_t off[WEIR_LANES];

                for (int i = 0; i < n; i++) {
                    buf[i] = new_buffer(lens[l]);
                    off[i] = (uint64_t)(i * 3 + 1) << 31;
                    weir_pattern_base(&p, buf[i], lens[l]);
                }
                weir_pattern_stamp_many(&p, buf, lens[l], off, n);
                for (int i = 0; i < n; i++) {
                    fill(&p, one, lens[l], off[i]);
                    assert_memory_equal(buf[i], one, lens[l]);
                    free(buf[i]);
                }
                free(one);
            }
        }
    }
}

static void only_the_timestamp_packet_is_constant(void **state)
{
    (void)state;
    for (size_t k = 0; k < COUNT(packets); k++) {
        struct weir_pattern p = { .packet = packets[k], .signature = 1, .rank = 0 };

        assert_int_equal(weir_pattern_varies(&p), packets[k] != WEIR_PACKET_TIMESTAMP);
    }
}

static int compare_words(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/* Four transfers that differ in one thing each must not share a single 8-byte word, and
 * their bytes must be as frequent as those of noise: then neither an entropy coder nor a
 * dictionary gains anything. */
static void noise_has_full_entropy_and_no_repeats(void **state)
{
    enum { LEN = 1 << 18, WORDS = LEN / 8, PARTS = 4 };
    static const struct weir_pattern parts[PARTS] = {
        { .packet = WEIR_PACKET_INCOMPRESSIBLE, .signature = 7, .rank = 0 },
        { .packet = WEIR_PACKET_INCOMPRESSIBLE, .signature = 7, .rank = 1 },
        { .packet = WEIR_PACKET_INCOMPRESSIBLE, .signature = 8, .rank = 0 },
        { .packet = WEIR_PACKET_INCOMPRESSIBLE, .signature = 7, .rank = 0 },
    };
    static const uint64_t off[PARTS] = { 0, 0, 0, LEN };
    uint64_t *all = new_buffer(PARTS * LEN);
    size_t hits[256] = { 0 };
    double entropy = 0;

    (void)state;
    for (int i = 0; i < PARTS; i++)
        fill(&parts[i], all + i * WORDS, LEN, off[i]);
    for (size_t i = 0; i < (size_t)PARTS * LEN; i++)
        hits[((const unsigned char *)all)[i]]++;
    for (int i = 0; i < 256; i++) {
        double share = (double)hits[i] / (PARTS * LEN);

        entropy -= share * log2(share);
    }
    if (!(entropy > 7.999))
        fail_msg("%.6f bits to a byte", entropy);
    qsort(all, (size_t)PARTS * WORDS, sizeof(*all), compare_words);
    for (size_t i = 1; i < (size_t)PARTS * WORDS; i++)
        assert_true(all[i] != all[i - 1]);
    free(all);
}

/* Matches of four bytes at any alignment are what a compressor looks for first. */
static void noise_has_few_short_matches(void **state)
{
    enum { LEN = 1 << 16 };
    struct weir_pattern p = { .packet = WEIR_PACKET_INCOMPRESSIBLE, .signature = 3, .rank = 1 };
    unsigned char *buf = new_buffer(LEN);
    uint64_t *seen = new_buffer((LEN - 3) * sizeof(*seen));
    int repeats = 0;

    (void)state;
    fill(&p, buf, LEN, 4096);
    for (size_t i = 0; i < LEN - 3; i++) {
        uint32_t four;

        memcpy(&four, buf + i, sizeof(four));
        seen[i] = four;
    }
    qsort(seen, LEN - 3, sizeof(*seen), compare_words);
    for (size_t i = 1; i < LEN - 3; i++)
        repeats += seen[i] == seen[i - 1];
    assert_true(repeats < 10); /* 0.5 are expected */
    free(seen);
    free(buf);
}

static void what_was_filled_verifies(void **state)
{
    (void)state;
    for (size_t k = 0; k < COUNT(packets); k++) {
        for (size_t len = 0; len < 1200; len += 8) {
            struct weir_pattern p = { .packet = packets[k], .signature = 0x80000001u, .rank = 3 };
            void *buf = new_buffer(len);

            fill(&p, buf, len, 123456);
            assert_true(weir_pattern_is_right(&p, buf, len, 123456));
            free(buf);
        }
    }
}

/* Turn over one bit of one byte: exactly that word is reported. */
static void expect_found(const struct weir_pattern *p, unsigned char *buf, size_t len, size_t at)
{
    struct weir_data_damage bad;
    size_t word = at / 8 * 8;
    uint64_t want = 0, got = 0;

    memcpy(&want, buf + word, 8);
    buf[at] ^= (unsigned char)(1u << at % 8);
    memcpy(&got, buf + word, 8);
    assert_int_equal(verify(p, buf, len, 8192, &bad), 1);
    assert_int_equal(bad.byte, 8192 + word);
    assert_true(bad.expect == want);
    assert_true(bad.got == got);
    buf[at] ^= (unsigned char)(1u << at % 8);
}

static void every_single_byte_is_looked_at(void **state)
{
    enum { LEN = 2 * 4096 + 304 };

    (void)state;
    for (size_t k = 0; k < COUNT(packets); k++) {
        struct weir_pattern p = { .packet = packets[k], .signature = 7, .rank = 1 };
        unsigned char *buf = new_buffer(LEN);

        fill(&p, buf, LEN, 8192);
        for (size_t at = 0; at < LEN; at++)
            expect_found(&p, buf, LEN, at);
        assert_true(weir_pattern_is_right(&p, buf, LEN, 8192));
        free(buf);
    }
}

static void all_wrong_words_are_counted(void **state)
{
    enum { LEN = 10000 };

    (void)state;
    for (size_t k = 0; k < COUNT(packets); k++) {
        struct weir_pattern p = { .packet = packets[k], .signature = 7, .rank = 1 };
        struct weir_data_damage bad;
        unsigned char *buf = new_buffer(LEN);

        fill(&p, buf, LEN, 0);
        for (size_t i = 0; i < LEN; i++)
            buf[i] = (unsigned char)~buf[i];
        assert_int_equal(verify(&p, buf, LEN, 0, &bad), 1250);
        assert_int_equal(bad.byte, 0);
        assert_true(bad.got == ~bad.expect);
        fill(&p, buf, LEN, 0);
        memset(buf + 5000, 0xee, 1000);
        assert_int_equal(verify(&p, buf, LEN, 0, &bad), 125);
        assert_int_equal(bad.byte, 5000);
        free(buf);
    }
}

static void data_of_another_transfer_do_not_pass(void **state)
{
    enum { LEN = 4096 };

    (void)state;
    for (size_t k = 0; k < COUNT(packets); k++) {
        struct weir_pattern p = { .packet = packets[k], .signature = 7, .rank = 1 }, q = p;
        void *buf = new_buffer(LEN);

        fill(&p, buf, LEN, 4096);
        q.rank = 2;
        assert_false(weir_pattern_is_right(&q, buf, LEN, 4096));
        q = p;
        q.signature = 8;
        assert_false(weir_pattern_is_right(&q, buf, LEN, 4096));
        assert_int_equal(weir_pattern_is_right(&p, buf, LEN, 8192), !weir_pattern_varies(&p));
        free(buf);
    }
}

static void the_first_letter_names_the_packet(void **state)
{
    static const struct {
        const char *word;
        enum weir_packet packet;
    } good[] = {
        { "t", WEIR_PACKET_TIMESTAMP },
        { "timestamp", WEIR_PACKET_TIMESTAMP }, { "o", WEIR_PACKET_OFFSET },
        { "offset", WEIR_PACKET_OFFSET }, { "i", WEIR_PACKET_INCOMPRESSIBLE },
        { "incompressible", WEIR_PACKET_INCOMPRESSIBLE }, { "random", WEIR_PACKET_RANDOM },
    };
    static const char *const kinds[] = { "timestamp", "offset", "incompressible", "random", NULL };
    static const char *const bad[] = { "", "x", " t", "7" };
    struct weir_pattern got;

    (void)state;
    for (size_t i = 0; i < COUNT(good); i++) {
        assert_int_equal(weir_pattern_parse(&got, "-l", good[i].word, kinds, NULL), 0);
        assert_int_equal(got.packet, good[i].packet);
    }
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_int_equal(weir_pattern_parse(&got, "-l", bad[i], kinds, NULL), -1);
    assert_int_equal(got.packet, WEIR_PACKET_RANDOM);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_digest_of_these_tests_is_right),
        cmocka_unit_test(files_are_those_of_the_reference),
        cmocka_unit_test(words_of_the_random_packet),
        cmocka_unit_test(trailing_bytes_count_up),
        cmocka_unit_test(side_by_side_equals_one_by_one),
        cmocka_unit_test(only_the_timestamp_packet_is_constant),
        cmocka_unit_test(noise_has_full_entropy_and_no_repeats),
        cmocka_unit_test(noise_has_few_short_matches),
        cmocka_unit_test(what_was_filled_verifies),
        cmocka_unit_test(every_single_byte_is_looked_at),
        cmocka_unit_test(all_wrong_words_are_counted),
        cmocka_unit_test(data_of_another_transfer_do_not_pass),
        cmocka_unit_test(the_first_letter_names_the_packet),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
