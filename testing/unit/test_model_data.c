/* SPDX-License-Identifier: BSD-3-Clause */
/* test_model_data.c - model_checkpoint: the bytes of tensors however these are divided, names of damage, and tables of contents */
#include "programs/model_checkpoint/mc.h"
#include "config.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"

static uint64_t draw(uint64_t *state, uint64_t below)
{
    return weir_rng_at(11, (*state)++) % below;
}

static struct mc_job job_of(const struct mc_shape *shape, int ranks)
{
    struct mc_model m;
    struct mc_job job;

    assert_int_equal(mc_model_row("mixtral-8x7b", &m, NULL), 0);
    assert_int_equal(mc_model_scale(&m, "1/16384", NULL), 0);
    assert_int_equal(mc_job_init(&job, &m, shape, "bf16", "adam", ranks, NULL), 0);
    return job;
}

static uint64_t bytes_of(const struct mc_part *p, int64_t sequence, unsigned char **out)
{
    uint64_t n = mc_part_bytes(p);

    *out = realloc(*out, n);
    assert_true(*out != NULL && n > 0);
    mc_data_fill(p, sequence, 0, *out, n);
    return n;
}

/* Byte i of the part is the byte of the whole tensor at its place. */
static void expect_slice(const struct mc_part *p, const unsigned char *part, const unsigned char *whole)
{
    uint64_t elem = (uint64_t)p->elem;

    for (uint64_t i = 0; i < p->to - p->from; i++) {
        uint64_t row = p->start[0] + (p->from + i) / p->count[1], column = p->start[1] + (p->from + i) % p->count[1];

        assert_memory_equal(part + i * elem, whole + (row * p->len[1] + column) * elem, elem);
    }
}

static void test_a_tensor_has_the_same_bytes_however_it_is_divided(void **state)
{
    static const struct mc_shape shapes[] = { { .tp = 4, .pp = 2, .ep = 1, .zero = 1 }, { .tp = 2, .pp = 3, .ep = 2, .zero = 3 },
                                              { .tp = 32, .pp = 1, .ep = 1 } };
    static const int ranks[] = { 24, 24, 32 };
    unsigned char *part = NULL, *whole = NULL;

    (void)state;
    for (size_t i = 0; i < sizeof(ranks) / sizeof(ranks[0]); i++) {
        struct mc_job job = job_of(&shapes[i], ranks[i]);
        struct mc_parts it;
        struct mc_part p, all;
        int n = 0;

        mc_parts_begin(&it, &job, ranks[i] - 3, MC_ALL_STATES, false);
        while (mc_parts_next(&it, &p)) {
            if (n++ % 7 != 0)
                continue;
            assert_true(mc_job_whole(&job, p.state, p.tensor, &all));
            bytes_of(&p, 5, &part);
            bytes_of(&all, 5, &whole);
            expect_slice(&p, part, whole);
        }
        assert_true(n > 50);
    }
    free(part);
    free(whole);
}

/* A part in the middle of a matrix, whose rows are no multiple of a word. */
static struct mc_part odd_part(void)
{
    return (struct mc_part) { .state = MC_PARAMETER, .tensor = 12, .elem = 2, .dims = 2, .len = { 40, 301 }, .start = { 3, 7 },
                              .count = { 30, 151 }, .from = 11, .to = 4400 };
}

static void test_any_piece_of_a_part_is_filled_and_checked_as_the_whole_is(void **state)
{
    const struct mc_part p = odd_part();
    unsigned char *all = NULL, piece[3000];
    uint64_t bytes = bytes_of(&p, 9, &all), at_draw = 0;

    (void)state;
    for (int i = 0; i < 2000; i++) {
        uint64_t at = draw(&at_draw, bytes + 100), len = 1 + draw(&at_draw, sizeof(piece)), n = 0, wrong = 0;
        enum weir_damage kind;

        memset(piece, 0xaa, sizeof(piece));
        mc_data_fill(&p, 9, at, piece, len);
        if (at < bytes)
            n = len < bytes - at ? len : bytes - at;
        assert_memory_equal(piece, all + (at < bytes ? at : 0), n);
        for (uint64_t k = n; k < len; k++)
            assert_int_equal(piece[k], 0); /* up to the alignment */
        assert_true(mc_data_check(&p, 9, at, piece, len, &wrong, &kind));
        if (n < len) {
            piece[len - 1] = 1;
            assert_false(mc_data_check(&p, 9, at, piece, len, &wrong, &kind));
            assert_int_equal(wrong, at + len - 1);
            piece[len - 1] = 0;
        }
        if (n == 0)
            continue;
        wrong = draw(&at_draw, n);
        piece[wrong] ^= 0x10;
        n = wrong;
        assert_false(mc_data_check(&p, 9, at, piece, len, &wrong, &kind));
        assert_int_equal(wrong, at + n);
    }
    free(all);
}

static void expect_damage(const struct mc_part *p, const unsigned char *got, uint64_t len, uint64_t where, enum weir_damage is)
{
    uint64_t wrong = UINT64_MAX;
    enum weir_damage kind = WEIR_DAMAGE_UNCLEAR;

    assert_false(mc_data_check(p, 9, 0, got, len, &wrong, &kind));
    assert_int_equal(wrong, where);
    assert_int_equal(kind, is);
}

static void test_wrong_bytes_are_named_as_what_they_are(void **state)
{
    const struct mc_part p = { .state = MC_EXP_AVG, .tensor = 3, .elem = 4, .dims = 2, .len = { 64, 64 }, .count = { 64, 64 },
                               .to = 4096 };
    struct mc_part other = p;
    unsigned char *got = NULL, *foreign = NULL;
    uint64_t len = bytes_of(&p, 9, &got);

    (void)state;
    bytes_of(&p, 8, &foreign); /* an older save, in the middle */
    memcpy(got + 4096, foreign + 4096, 512);
    expect_damage(&p, got, len, 4096, WEIR_DAMAGE_STALE);
    bytes_of(&p, 9, &got);
    memcpy(got + 4096, got + 8192, 512); /* of another place */
    expect_damage(&p, got, len, 4096, WEIR_DAMAGE_MISPLACED);
    other.tensor = 4; /* of another tensor; of another state */
    bytes_of(&other, 9, &foreign);
    memcpy(got + 4096, foreign + 4096, 512);
    expect_damage(&p, got, len, 4096, WEIR_DAMAGE_MISPLACED);
    other = p;
    other.state = MC_PARAMETER;
    bytes_of(&other, 9, &foreign);
    memcpy(got + 4096, foreign + 4096, 512);
    expect_damage(&p, got, len, 4096, WEIR_DAMAGE_MISPLACED);
    bytes_of(&p, 9, &got);
    memset(got + 4096, 0, 512);
    expect_damage(&p, got, len, 4096, WEIR_DAMAGE_ZEROS);
    bytes_of(&p, 9, &got);
    got[5000] ^= 4;
    expect_damage(&p, got, len, 5000, WEIR_DAMAGE_FLIPPED);
    free(got);
    free(foreign);
}

#define LINES 37

/* A table of contents of tensors 2, 4, 6, ... in two states. */
static void make_table(char *toc, struct mc_region *r)
{
    memset(toc, ' ', (LINES + 1) * MC_LINE);
    memcpy(toc, "# weir model_checkpoint 1", 25);
    *r = (struct mc_region) { .file = "f", .rank = 3, .at = 65536, .head = 16384, .lines = LINES };
    r->bytes = r->head + LINES * 4096;
    for (uint64_t i = 0; i < LINES; i++)
        snprintf(toc + (i + 1) * MC_LINE, MC_LINE, "%d %6" PRIu64 " %14" PRIu64 " %12d 2", i >= 20, 2 + 2 * (i % 20),
                 r->at + r->head + i * 4096, 100);
}

static void test_a_table_of_contents_says_where_each_part_is_and_no_other(void **state)
{
    static char toc[(LINES + 1) * MC_LINE];
    struct mc_region r;
    uint64_t off;

    (void)state;
    make_table(toc, &r);
    for (uint64_t tensor = 0; tensor < 44; tensor++)
        for (int s = 0; s < 2; s++) {
            struct mc_part p = { .state = s ? MC_MASTER : MC_PARAMETER, .tensor = tensor, .elem = 2, .to = 50 };
            struct weir_err err = WEIR_ERR_INIT;
            uint64_t i = (uint64_t)s * 20 + tensor / 2 - 1;
            bool there = tensor % 2 == 0 && tensor >= 2 && tensor <= 40 && i < LINES;

            assert_int_equal(mc_region_find(&r, toc, &p, &off, &err), there ? 0 : -1);
            if (there)
                assert_int_equal(off, r.at + r.head + i * 4096);
            else
                assert_non_null(strstr(err.text, "does not have tensor"));
            p.to = 51; /* another size */
            assert_int_equal(mc_region_find(&r, toc, &p, &off, NULL), -1);
        }
    toc[5] ^= 1;
    assert_int_equal(mc_region_find(&r, toc, &(struct mc_part) { .tensor = 2, .elem = 2, .to = 50 }, &off, NULL), -1);
}

static void test_a_table_of_contents_that_points_out_of_its_region_is_refused(void **state)
{
    static char toc[(LINES + 1) * MC_LINE];
    const struct mc_part p = { .tensor = 2, .elem = 2, .to = 50 };
    struct mc_region r;
    uint64_t off;

    (void)state;
    make_table(toc, &r);
    r.at += 4096; /* the offset is in the table of contents then */
    assert_int_equal(mc_region_find(&r, toc, &p, &off, NULL), -1);
    r.at -= 4096;
    r.bytes = r.head + 99;
    assert_int_equal(mc_region_find(&r, toc, &p, &off, NULL), -1);
    r.bytes++;
    assert_int_equal(mc_region_find(&r, toc, &p, &off, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_tensor_has_the_same_bytes_however_it_is_divided),
        cmocka_unit_test(test_any_piece_of_a_part_is_filled_and_checked_as_the_whole_is),
        cmocka_unit_test(test_wrong_bytes_are_named_as_what_they_are),
        cmocka_unit_test(test_a_table_of_contents_says_where_each_part_is_and_no_other),
        cmocka_unit_test(test_a_table_of_contents_that_points_out_of_its_region_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
