/* SPDX-License-Identifier: BSD-3-Clause */
/* test_ratio.c - random data with a chosen ratio of compression and of equal blocks */
#include "base/data/pattern.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/data/damage.h"
#include "base/hash.h"
#include "base/rng.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define BLOCK WEIR_RATIO_BLOCK

static struct weir_pattern pattern(double compress, double dedupe, enum weir_pattern_files files)
{
    return (struct weir_pattern) { .packet = WEIR_PACKET_RATIO,
                                   .signature = 7,
                                   .ratio = { (uint32_t)(compress * WEIR_RATIO_ONE),
                                              (uint32_t)(dedupe * WEIR_RATIO_ONE) },
                                   .files = files };
}

static unsigned char *new_bytes(size_t len)
{
    unsigned char *p = malloc(len);

    assert_non_null(p);
    memset(p, 0xa5, len);
    return p;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/* How many of n blocks differ. */
static size_t count_different(const unsigned char *data, size_t n)
{
    uint64_t *hash = malloc(n * sizeof(*hash));
    size_t different = 0;

    assert_non_null(hash);
    for (size_t i = 0; i < n; i++)
        hash[i] = weir_hash(WEIR_HASH_BEGIN, (const char *)data + i * BLOCK, BLOCK);
    qsort(hash, n, sizeof(*hash), compare);
    for (size_t i = 0; i < n; i++)
        different += i == 0 || hash[i] != hash[i - 1];
    free(hash);
    return different;
}

static void any_part_is_that_of_the_whole(void **state)
{
    enum { LEN = 5 * BLOCK };
    static const uint64_t begins[] = { 0, 8, 4096, 47008, 3 * BLOCK + 1 };
    struct weir_pattern p = pattern(2.5, 3, WEIR_FILES_OF_TASKS);
    unsigned char *all = new_bytes(16 * BLOCK + LEN), *part = new_bytes(LEN + 1);

    (void)state;
    p.rank = 3;
    weir_pattern_stamp(&p, all, 16 * BLOCK + LEN, 0);
    for (size_t b = 0; b < COUNT(begins); b++)
        for (size_t len = 1; len < LEN; len = len * 3 + 1) {
            memset(part, 0xa5, LEN + 1);
            weir_pattern_stamp(&p, part, len, begins[b]);
            assert_memory_equal(part, all + begins[b], len);
            assert_int_equal(part[len], 0xa5);
            if (len % 8 == 0)
                assert_true(weir_pattern_is_right(&p, part, len, begins[b]));
        }
    free(all);
    free(part);
}

/* Of each block the first 4096 / X bytes are no zeros, but for chance; the others are. */
static void a_block_begins_incompressible_and_ends_with_zeros(void **state)
{
    static const double ratios[] = { 1, 1.25, 2, 2.5, 7.3, 100, 512 };
    unsigned char block[BLOCK];

    (void)state;
    for (size_t i = 0; i < COUNT(ratios); i++) {
        struct weir_pattern p = pattern(ratios[i], 1, WEIR_FILES_SHARED);
        size_t noise = weir_ratio_bytes(&p.ratio), zeros = 0;

        assert_int_equal(noise, (size_t)(BLOCK / ratios[i] + 0.5));
        weir_pattern_stamp(&p, block, BLOCK, 11 * BLOCK);
        for (size_t k = 0; k < BLOCK; k++) {
            zeros += block[k] == 0;
            assert_true(k < noise || block[k] == 0);
        }
        assert_true(zeros - (BLOCK - noise) <= 1 + noise / 64);
    }
}

static void a_file_has_as_many_different_blocks_as_were_asked_for(void **state)
{
    static const double ratios[] = { 1, 1.5, 2, 3, 7.25, 64 };
    enum { MOST = 6000 };
    unsigned char *data = new_bytes((size_t)MOST * BLOCK);

    (void)state;
    for (size_t i = 0; i < COUNT(ratios); i++) {
        struct weir_pattern p = pattern(4, ratios[i], WEIR_FILES_SHARED);

        weir_pattern_stamp(&p, data, (size_t)MOST * BLOCK, 0);
        for (size_t n = 1; n <= MOST; n = n * 2 + 1) /* any first part */
            assert_int_equal(count_different(data, n), (size_t)((double)(n - 1) / ratios[i]) + 1);
    }
    free(data);
}

/* All files together, each of any number of blocks; one of them alone has no repeats of its own
 * only. */
static void files_share_blocks_of_the_first(void **state)
{
    enum { FILES = 12, BLOCKS = 200 };
    static const double ratios[] = { 1.5, 3, 10 };
    unsigned char *data = new_bytes((size_t)FILES * BLOCKS * BLOCK);

    (void)state;
    for (int small = 0; small < 2; small++)
        for (size_t i = 0; i < COUNT(ratios); i++) {
            struct weir_pattern p = pattern(4, ratios[i], small ? WEIR_FILES_SMALL : WEIR_FILES_OF_TASKS);
            double got;

            for (p.rank = 0; p.rank < FILES; p.rank++)
                for (uint64_t k = 0; k < (small ? BLOCKS / 5 : 1); k++)
                    weir_pattern_stamp(&p, data + ((size_t)p.rank * BLOCKS + k * 5) * BLOCK,
                                       (small ? 5 : BLOCKS) * (size_t)BLOCK, k);
            got = (double)FILES * BLOCKS / (double)count_different(data, (size_t)FILES * BLOCKS);
            if (got < ratios[i] * 0.97 || got > ratios[i] * 1.03)
                fail_msg("small %d, dedupe %g: %g", small, ratios[i], got);
        }
    free(data);
}

static void only_seed_and_ratio_choose_the_content(void **state)
{
    struct weir_pattern p = pattern(1, 3, WEIR_FILES_SHARED), q = p;
    unsigned char *a = new_bytes(64 * BLOCK), *b = new_bytes(128 * BLOCK);

    (void)state;
    weir_pattern_stamp(&p, a, 64 * BLOCK, 0);
    q.rank = 5; /* a file of all tasks */
    weir_pattern_stamp(&q, b, 64 * BLOCK, 0);
    assert_memory_equal(a, b, 64 * BLOCK);
    q.signature++;
    weir_pattern_stamp(&q, b, 64 * BLOCK, 0);
    memcpy(b + 64 * BLOCK, a, 64 * BLOCK);
    assert_int_equal(count_different(b, 128), 2 * count_different(a, 64));
    free(a);
    free(b);
}

static void a_step_goes_back(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 1000; i++) {
        uint64_t x = weir_rng_at(5, i);

        assert_true(weir_pattern_unstep(weir_pattern_step(x)) == x);
    }
}

/* ---- wrong data ---- */

static const struct weir_layout layout = {
    .transfer = 4 * BLOCK, .block = 16 * BLOCK, .segments = 1, .tasks = 4, .shared = true
};

/* The damage of the transfer at 8 blocks, whose first wrong byte is this one. */
static enum weir_damage kind_of(unsigned char *buf, const struct weir_pattern *p, uint64_t byte)
{
    struct weir_data_damage bad;

    assert_false(weir_pattern_is_right(p, buf, 4 * BLOCK, 8 * BLOCK));
    weir_damage_of_pattern(p, &layout, buf, 4 * BLOCK, 8 * BLOCK, &bad);
    assert_int_equal(bad.byte, byte);
    return bad.kind;
}

static void wrong_data_are_explained(void **state)
{
    struct weir_pattern p = pattern(2, 1, WEIR_FILES_SHARED), old = p;
    unsigned char *buf = new_bytes(4 * BLOCK);
    const uint64_t begin = 8 * BLOCK;

    (void)state;
    old.signature -= 60;
    weir_pattern_stamp(&p, buf, 4 * BLOCK, begin);
    buf[BLOCK + 16] ^= 4;
    assert_int_equal(kind_of(buf, &p, begin + BLOCK + 16), WEIR_DAMAGE_FLIPPED);
    memset(buf + BLOCK, 0, BLOCK);
    assert_int_equal(kind_of(buf, &p, begin + BLOCK), WEIR_DAMAGE_ZEROS);
    weir_pattern_stamp(&p, buf, 4 * BLOCK, 4 * BLOCK);
    assert_int_equal(kind_of(buf, &p, begin), WEIR_DAMAGE_MISPLACED);
    weir_pattern_stamp(&old, buf, 4 * BLOCK, begin);
    assert_int_equal(kind_of(buf, &p, begin), WEIR_DAMAGE_STALE);
    weir_pattern_stamp(&p, buf, 4 * BLOCK, begin);
    weir_pattern_stamp(&p, buf + BLOCK, 2 * BLOCK, 5 * BLOCK); /* and a flip before them */
    buf[8] ^= 1;
    assert_int_equal(kind_of(buf, &p, begin + 8), WEIR_DAMAGE_MISPLACED);
    weir_pattern_stamp(&p, buf, 4 * BLOCK, begin);
    weir_pattern_stamp(&old, buf + 2 * BLOCK, 2 * BLOCK, begin + 2 * BLOCK);
    assert_int_equal(kind_of(buf, &p, begin + 2 * BLOCK), WEIR_DAMAGE_STALE); /* the zeros are right */
    weir_pattern_stamp(&p, buf, 4 * BLOCK, begin);
    for (size_t i = 0; i < 4 * BLOCK; i++)
        buf[i] = (unsigned char)(i * 7 + 1);
    assert_int_equal(kind_of(buf, &p, begin), WEIR_DAMAGE_FOREIGN);
    free(buf);
}

/* ---- words ---- */

static void words_are_checked(void **state)
{
    static const char *const kinds[] = { "timestamp", "offset", "random", NULL };
    static const struct {
        const char *text;
        uint32_t compress, dedupe; /* 0: refused */
    } cases[] = {
        { "random:compress=2.5,dedupe=3", 2500, 3000 }, { "r:dedupe=1.5", 1000, 1500 },
        { "random:compress=512+dedupe=1", 512000, 1000 }, { "random:compress=1", 1000, 1000 },
        { "random:", 0, 0 }, { "random:compress=0.5", 0, 0 }, { "random:dedupe=x", 0, 0 },
        { "random:compress=", 0, 0 }, { "random:compress=2,compress=3", 0, 0 },
        { "random:compress=2,", 0, 0 }, { "random:zip=2", 0, 0 }, { "random:dedupe=513", 0, 0 },
        { "random:compress=nan", 0, 0 }, { "random:compress=2 dedupe=3", 0, 0 },
        { "offset:compress=2", 0, 0 }, { "x:compress=2", 0, 0 }, { "incompressible", 0, 0 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct weir_pattern p = { .packet = WEIR_PACKET_OFFSET };
        struct weir_err err = WEIR_ERR_INIT;
        int rc = weir_pattern_parse(&p, "-l", cases[i].text, kinds, &err);

        if (rc != (cases[i].compress ? 0 : -1))
            fail_msg("%s: %d", cases[i].text, rc);
        if (rc < 0) {
            assert_int_equal(err.code, WEIR_EUSAGE);
            assert_true(strstr(err.text, "option -l: '") == err.text && !strchr(err.text, '\n'));
            continue;
        }
        assert_int_equal(p.packet, WEIR_PACKET_RATIO);
        assert_int_equal(p.ratio.compress, cases[i].compress);
        assert_int_equal(p.ratio.dedupe, cases[i].dedupe);
    }
}

static void a_kind_without_a_colon_has_no_ratio(void **state)
{
    struct weir_pattern p = { .packet = WEIR_PACKET_OFFSET };

    (void)state;
    assert_int_equal(weir_pattern_parse(&p, "-l", "rabbit", weir_pattern_random, NULL), 0);
    assert_true(p.packet == WEIR_PACKET_RANDOM && p.ratio.compress == 0 && p.ratio.dedupe == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_part_is_that_of_the_whole),
        cmocka_unit_test(a_block_begins_incompressible_and_ends_with_zeros),
        cmocka_unit_test(a_file_has_as_many_different_blocks_as_were_asked_for),
        cmocka_unit_test(files_share_blocks_of_the_first),
        cmocka_unit_test(only_seed_and_ratio_choose_the_content),
        cmocka_unit_test(a_step_goes_back),
        cmocka_unit_test(wrong_data_are_explained),
        cmocka_unit_test(words_are_checked),
        cmocka_unit_test(a_kind_without_a_colon_has_no_ratio),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
