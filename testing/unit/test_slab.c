/* SPDX-License-Identifier: BSD-3-Clause */
/* test_slab.c - parts of n-dimensional arrays against the plain enumeration of their elements */
#include "base/shape/slab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"

#define MOST 4096

/* Every element of a slab in the order of the array, one at a time. Returns how many. */
static uint64_t enumerate(const struct weir_slab *s, const struct weir_shape *shape, uint64_t *out)
{
    uint64_t i[WEIR_SLAB_RANK] = { 0 };
    uint64_t n = 0;
    int d;

    for (d = 0; d < s->rank; d++)
        if (s->count[d] == 0)
            return 0;
    do {
        uint64_t at = 0;

        for (d = 0; d < s->rank; d++)
            at = at * shape->len[d] + s->start[d] + i[d] / s->block[d] * s->stride[d] +
                 i[d] % s->block[d];
        out[n++] = at;
        for (d = s->rank - 1; d >= 0 && ++i[d] == s->count[d] * s->block[d]; d--)
            i[d] = 0;
    } while (d >= 0);
    return n;
}

/* The same from the runs. */
static uint64_t expand(const struct weir_slab *s, const struct weir_shape *shape, uint64_t *out)
{
    struct weir_runs r;
    uint64_t n = 0, at;

    weir_runs_begin(&r, s, shape);
    while (weir_runs_next(&r, &at))
        for (uint64_t i = 0; i < r.run; i++)
            out[n++] = at + i;
    return n;
}

static uint64_t draw(uint64_t *state, uint64_t below)
{
    return weir_rng_at(99, (*state)++) % below;
}

/* A small slab that fits, of any kind. */
static void draw_slab(uint64_t *state, int rank, struct weir_slab *s, struct weir_shape *shape)
{
    shape->rank = s->rank = rank;
    for (int d = 0; d < rank; d++) {
        s->block[d] = 1 + draw(state, 3);
        s->stride[d] = s->block[d] + draw(state, 2);
        s->count[d] = 1 + draw(state, 2);
        s->start[d] = draw(state, 2);
        shape->len[d] =
            s->start[d] + (s->count[d] - 1) * s->stride[d] + s->block[d] + draw(state, 2);
    }
}

static void runs_visit_the_elements_in_order(void **unused)
{
    static uint64_t want[MOST], have[MOST];
    uint64_t state = 0;

    (void)unused;
    for (int trial = 0; trial < 2000; trial++) {
        struct weir_slab s;
        struct weir_shape shape;
        struct weir_err err = WEIR_ERR_INIT;
        uint64_t n, elements;

        draw_slab(&state, 1 + trial % 4, &s, &shape);
        n = enumerate(&s, &shape, want);
        assert_int_equal(weir_slab_check(&s, &shape, &elements, &err), 0);
        assert_int_equal(elements, n);
        assert_int_equal(expand(&s, &shape, have), n);
        assert_memory_equal(want, have, n * sizeof(want[0]));
        assert_int_equal(weir_slab_end(&s, &shape), want[n - 1] + 1);
    }
}

static void what_lies_together_is_one_run(void **unused)
{
    struct weir_shape shape = { .rank = 4, .len = { 5, 4, 3, 2 } };
    struct weir_slab s;
    struct weir_runs r;

    (void)unused;
    weir_slab_all(&s, &shape);
    weir_runs_begin(&r, &s, &shape);
    assert_int_equal(r.run, 120);
    assert_int_equal(r.loops, 0);
    s.start[0] = 2; /* whole rows */
    s.count[0] = 3;
    weir_runs_begin(&r, &s, &shape);
    assert_int_equal(r.run, 72);
    assert_int_equal(r.first, 48);
    s.count[1] = 2; /* two of four: a run for each row */
    weir_runs_begin(&r, &s, &shape);
    assert_int_equal(r.run, 12);
    assert_int_equal(r.loops, 1);
    s.stride[1] = 2; /* every second: rows and columns are one loop */
    weir_runs_begin(&r, &s, &shape);
    assert_int_equal(r.run, 6);
    assert_int_equal(r.loops, 1);
    assert_int_equal(r.n[0], 6);
}

static void an_empty_slab_has_no_run(void **unused)
{
    struct weir_shape shape = { .rank = 3, .len = { 2, 2, 2 } };
    struct weir_err err = WEIR_ERR_INIT;
    struct weir_slab s;
    struct weir_runs r;
    uint64_t at, n = 7;

    (void)unused;
    weir_slab_all(&s, &shape);
    s.count[1] = 0;
    s.start[2] = 99; /* nobody looks where nothing is */
    weir_runs_begin(&r, &s, &shape);
    assert_false(weir_runs_next(&r, &at));
    assert_int_equal(weir_slab_check(&s, &shape, &n, &err), 0);
    assert_int_equal(n, 0);
    assert_int_equal(weir_slab_end(&s, &shape), 0);
    weir_slab_none(&s, 3);
    weir_runs_begin(&r, &s, &shape);
    assert_false(weir_runs_next(&r, &at));
}

/* The text must name the dimension. */
static void refuse(struct weir_slab s, const struct weir_shape *shape, const char *words)
{
    struct weir_err err = WEIR_ERR_INIT;
    uint64_t n;

    assert_int_equal(weir_slab_check(&s, shape, &n, &err), -1);
    assert_int_equal(err.code, WEIR_EUSAGE);
    if (!strstr(err.text, words))
        fail_msg("'%s' is not in '%s'", words, err.text);
}

static void what_is_out_of_bounds_is_refused(void **unused)
{
    struct weir_shape shape = { .rank = 2, .len = { 10, 20 } };
    struct weir_slab all, s;

    (void)unused;
    weir_slab_all(&all, &shape);
    s = all, s.start[1] = 1;
    refuse(s, &shape, "dimension 2");
    s = all, s.count[0] = 11;
    refuse(s, &shape, "dimension 1");
    s = all, s.count[0] = 1, s.start[0] = UINT64_MAX;
    refuse(s, &shape, "dimension 1");
    s = all, s.count[0] = UINT64_MAX, s.stride[0] = UINT64_MAX;
    refuse(s, &shape, "dimension 1");
    s = all, s.count[1] = 2, s.stride[1] = UINT64_MAX - 1, s.block[1] = 4;
    refuse(s, &shape, "out of bounds in dimension 2");
    s = all, s.count[1] = 1, s.block[1] = UINT64_MAX;
    refuse(s, &shape, "dimension 2");
    s = all, s.block[0] = 0;
    refuse(s, &shape, "at least 1");
    s = all, s.count[0] = 2, s.block[0] = 3, s.stride[0] = 2;
    refuse(s, &shape, "stride of 2");
    s = all, s.rank = 1;
    refuse(s, &shape, "1 dimensions in an array of 2");
    s = all, s.rank = 0;
    refuse(s, &shape, "0 dimensions");
}

static void sizes_do_not_overflow(void **unused)
{
    struct weir_shape shape = { .rank = 2, .len = { 1ull << 31, 1ull << 29 } };
    struct weir_err err = WEIR_ERR_INIT;
    uint64_t bytes;

    (void)unused;
    assert_int_equal(weir_shape_bytes(&shape, 4, &bytes, &err), 0);
    assert_int_equal(bytes, 1ull << 62);
    assert_int_equal(weir_shape_bytes(&shape, 8, &bytes, &err), -1);
    assert_non_null(strstr(err.text, "dimension 2 of 2"));
    shape.rank = 3; /* no element, but too many of them before that is known */
    shape.len[0] = 1ull << 62;
    shape.len[2] = 0;
    assert_int_equal(weir_shape_bytes(&shape, 8, &bytes, &err), -1);
    shape.len[0] = 1;
    assert_int_equal(weir_shape_bytes(&shape, 8, &bytes, &err), 0);
    assert_int_equal(bytes, 0);
    shape.rank = WEIR_SLAB_RANK + 1;
    assert_int_equal(weir_shape_bytes(&shape, 8, &bytes, &err), -1);
}

static void pieces_lie_together_in_both(void **unused)
{
    static uint64_t want[MOST], other[MOST];
    uint64_t state = 77;

    (void)unused;
    for (int trial = 0; trial < 500; trial++) {
        struct weir_slab s, row;
        struct weir_shape shape, memory = { .rank = 1 };
        struct weir_runs a, b;
        struct weir_pieces p;
        uint64_t n, at_a, at_b, len, done = 0;

        draw_slab(&state, 1 + trial % 4, &s, &shape);
        n = enumerate(&s, &shape, want);
        row = (struct weir_slab) { .rank = 1, .start = { 1 }, .stride = { 3 } };
        row.block[0] = n % 2 ? 1 : 2;
        row.count[0] = n / row.block[0];
        memory.len[0] = 3 * row.count[0] + 1;
        assert_int_equal(enumerate(&row, &memory, other), n);
        weir_runs_begin(&a, &s, &shape);
        weir_runs_begin(&b, &row, &memory);
        weir_pieces_begin(&p, &a, &b);
        while (weir_pieces_next(&p, &at_a, &at_b, &len))
            for (uint64_t i = 0; i < len; i++, done++) {
                assert_int_equal(at_a + i, want[done]);
                assert_int_equal(at_b + i, other[done]);
            }
        assert_int_equal(done, n);
    }
}

static void words_name_a_slab(void **unused)
{
    struct weir_slab s;
    char text[100], few[12];

    (void)unused;
    weir_slab_box(&s, 2, (uint64_t[]) { 1, 2 }, (uint64_t[]) { 3, 4 });
    assert_string_equal(weir_slab_text(&s, text, sizeof(text)), "start 1,2 count 3,4");
    assert_string_equal(weir_slab_text(&s, few, sizeof(few)), "start 1,2 c");
    s.block[1] = 5;
    s.stride[1] = 6;
    assert_string_equal(weir_slab_text(&s, text, sizeof(text)),
                        "start 1,2 count 3,4 stride 1,6 block 1,5");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_visit_the_elements_in_order),
        cmocka_unit_test(what_lies_together_is_one_run),
        cmocka_unit_test(an_empty_slab_has_no_run),
        cmocka_unit_test(what_is_out_of_bounds_is_refused),
        cmocka_unit_test(sizes_do_not_overflow),
        cmocka_unit_test(pieces_lie_together_in_both),
        cmocka_unit_test(words_name_a_slab),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
