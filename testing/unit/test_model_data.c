/* SPDX-License-Identifier: BSD-3-Clause */
/* test_model_data.c - model_checkpoint: the bytes of tensors however these are divided, names of damage, and tables of contents */
#include "programs/model_checkpoint/mc.h"

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

static const struct mc_data nine = { 9, { 0, 0 } };

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
    mc_data_fill(p, &(struct mc_data) { sequence, { 0 } }, 0, *out, n);
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
        mc_data_fill(&p, &nine, at, piece, len);
        if (at < bytes)
            n = len < bytes - at ? len : bytes - at;
        assert_memory_equal(piece, all + (at < bytes ? at : 0), n);
        for (uint64_t k = n; k < len; k++)
            assert_int_equal(piece[k], 0); /* up to the alignment */
        assert_true(mc_data_check(&p, &nine, at, piece, len, &wrong, &kind));
        if (n < len) {
            piece[len - 1] = 1;
            assert_false(mc_data_check(&p, &nine, at, piece, len, &wrong, &kind));
            assert_int_equal(wrong, at + len - 1);
            piece[len - 1] = 0;
        }
        if (n == 0)
            continue;
        wrong = draw(&at_draw, n);
        piece[wrong] ^= 0x10;
        n = wrong;
        assert_false(mc_data_check(&p, &nine, at, piece, len, &wrong, &kind));
        assert_int_equal(wrong, at + n);
    }
    free(all);
}

static void expect_damage(const struct mc_part *p, const unsigned char *got, uint64_t len, uint64_t where, enum weir_damage is)
{
    uint64_t wrong = UINT64_MAX;
    enum weir_damage kind = WEIR_DAMAGE_UNCLEAR;

    assert_false(mc_data_check(p, &nine, 0, got, len, &wrong, &kind));
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

/* A region of rank 1 of the job that has the lines of its parts. */
static struct mc_region region_of(const struct mc_job *job, int k)
{
    struct mc_region r = { .rank = 1, .at = 65536 };
    struct mc_parts it;
    struct mc_part p;

    snprintf(r.file, sizeof(r.file), "%s-rank-000001.data", k ? "optimizer" : "parameters");
    mc_parts_begin(&it, job, r.rank, MC_ALL_STATES, true);
    while (mc_parts_next(&it, &p))
        r.lines += mc_region_of(MC_DEEPSPEED, p.state) == k;
    r.head = mc_aligned((r.lines + 1) * MC_LINE, 4096);
    return r;
}

static void test_each_part_is_where_the_table_of_contents_has_it_and_no_other(void **state)
{
    struct mc_shape shape = { .tp = 2, .pp = 1, .dp = 2, .ep = 1, .zero = 3 };
    struct weir_err err = WEIR_ERR_INIT;
    struct mc_model m;
    struct mc_job job;

    (void)state;
    assert_int_equal(mc_model_row("llama3-8b", &m, &err), 0);
    assert_int_equal(mc_job_init(&job, &m, &shape, "bf16", "adam", 4, &err), 0);
    for (int k = 0; k < 2; k++) {
        const struct mc_form form = { &job, MC_DEEPSPEED, 4096 };
        struct mc_region r = region_of(&job, k);
        struct weir_str toc = { 0 };
        struct mc_walk w;
        uint64_t off;

        assert_int_equal(mc_region_head(&form, &r, &toc, &err), 0);
        assert_true(toc.len == r.head && r.lines > 200);
        mc_walk_begin(&w, &form, &r);
        for (uint64_t i = 0; i < r.lines; i++) { /* forward, then by leaps */
            uint64_t line = i < 50 ? i : i * 101 % r.lines;
            char *at = toc.text + (line + 1) * MC_LINE;
            struct mc_part p = { .state = (enum mc_state)strtoull(at, &at, 10), .tensor = strtoull(at, &at, 10) };

            assert_true(mc_walk_to(&w, &p, &off));
            assert_int_equal(off, strtoull(at, &at, 10));
            p.state = k ? MC_PARAMETER : MC_MASTER; /* of the other region */
            assert_false(i % 50 == 0 && mc_walk_to(&w, &p, &off));
        }
        weir_str_free(&toc);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_tensor_has_the_same_bytes_however_it_is_divided),
        cmocka_unit_test(test_any_piece_of_a_part_is_filled_and_checked_as_the_whole_is),
        cmocka_unit_test(test_wrong_bytes_are_named_as_what_they_are),
        cmocka_unit_test(test_each_part_is_where_the_table_of_contents_has_it_and_no_other),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
