/* SPDX-License-Identifier: BSD-3-Clause */
/* test_h5exerciser.c - which rank has which elements of a dataset, for all grids and blocks */
#include "programs/h5exerciser/h5ex.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define LIST(...)                                                                                  \
    (struct weir_optlist)                                                                          \
    {                                                                                              \
        .n = sizeof((int64_t[]) { __VA_ARGS__ }) / sizeof(int64_t), .v = { __VA_ARGS__ }           \
    }

static struct h5ex_options defaults(int dims)
{
    return (struct h5ex_options) { .dims = dims,
                                   .sizes = 1,
                                   .minels = LIST(8),
                                   .bufmult = LIST(2),
                                   .dimranks = LIST(1),
                                   .fileblocks = LIST(0),
                                   .filestrides = LIST(1),
                                   .mem_stride = 1 };
}

static void refuse_size(const struct h5ex_options *o, int index, const char *words)
{
    struct weir_err err = WEIR_ERR_INIT;
    struct h5ex_grid g;
    struct h5ex_size s;

    if (h5ex_grid_make(o, 1, &g, &err) == 0)
        assert_int_equal(h5ex_size_make(o, &g, index, &s, &err), -1);
    assert_int_equal(err.code, WEIR_EUSAGE);
    if (!strstr(err.text, words))
        fail_msg("'%s' is not in '%s'", words, err.text);
}

static void make(const struct h5ex_options *o, int tasks, int index, struct h5ex_grid *g,
                 struct h5ex_size *s)
{
    struct weir_err err = WEIR_ERR_INIT;

    if (h5ex_grid_make(o, tasks, g, &err) < 0 || h5ex_size_make(o, g, index, s, &err) < 0)
        fail_msg("%s", err.text);
}

/* Ranks have as many elements as they should, no two the same one, and readers those that the writer so
 * many ranks further wrote. */
static void check_parts(const struct h5ex_options *o, int tasks, const struct h5ex_grid *g,
                        const struct h5ex_size *s, enum h5ex_which which)
{
    static unsigned char owner[1u << 16];
    struct h5ex_set mine, other;
    uint64_t bytes, n, at;
    struct weir_runs r;

    memset(owner, 0, sizeof(owner));
    for (int rank = 0; rank < tasks; rank++) {
        h5ex_set_make(o, g, s, which, rank, &mine);
        assert_int_equal(weir_slab_check(&mine.put.slab, &mine.spec.shape, &n, NULL), 0);
        assert_int_equal(n, s->file.elements);
        assert_int_equal(weir_shape_bytes(&mine.spec.shape, 1, &bytes, NULL), 0);
        assert_true(bytes <= sizeof(owner));
        weir_runs_begin(&r, &mine.put.slab, &mine.spec.shape);
        while (weir_runs_next(&r, &at))
            for (uint64_t i = 0; i < r.run; i++)
                assert_int_equal(owner[at + i]++, 0);
        h5ex_set_make(o, g, s, which, (int)((rank + o->shift) % tasks), &other);
        assert_true(weir_slab_same(&mine.get.slab, &other.put.slab));
    }
}

static void parts_are_apart_and_complete(void **unused)
{
    static const int64_t ranks[][3] = {
        { 1, 1, 1 }, { 2, 1, 1 }, { 1, 2, 1 }, { 2, 1, 3 }, { 2, 2, 2 }
    };
    struct h5ex_options o = defaults(3);
    struct h5ex_grid g;
    struct h5ex_size s;

    (void)unused;
    o.minels = LIST(4, 6, 2);
    for (size_t i = 0; i < sizeof(ranks) / sizeof(*ranks); i++)
        for (int64_t block = 0; block < 4; block++)
            for (int64_t stride = 1; stride < 6; stride += 2)
                for (o.shift = 0; o.shift < 20; o.shift += 3) {
                    int tasks = (int)(ranks[i][0] * ranks[i][1] * ranks[i][2]);

                    o.dimranks = LIST(ranks[i][0], ranks[i][1], ranks[i][2]);
                    o.fileblocks = LIST(block, 3, block);
                    o.filestrides = LIST(stride);
                    make(&o, tasks, 0, &g, &s);
                    check_parts(&o, tasks, &g, &s, H5EX_DOUBLES);
                    check_parts(&o, tasks, &g, &s, H5EX_RECORDS);
                }
}

/* The last dimension varies fastest over the ranks. */
static void ranks_are_in_row_major_order(void **unused)
{
    struct h5ex_options o = defaults(2);
    struct h5ex_grid g;
    struct h5ex_size s;
    struct h5ex_set d;

    (void)unused;
    o.dimranks = LIST(2, 3);
    make(&o, 6, 1, &g, &s);
    assert_int_equal(s.file.len[0], 16);
    h5ex_set_make(&o, &g, &s, H5EX_DOUBLES, 4, &d);
    assert_int_equal(d.put.slab.start[0], 16);
    assert_int_equal(d.put.slab.start[1], 16);
    assert_int_equal(d.spec.shape.len[0], 32);
    assert_int_equal(d.spec.shape.len[1], 48);
}

static void another_product_divides_the_first_dimension(void **unused)
{
    struct h5ex_options o = defaults(32);
    struct h5ex_grid g;
    struct h5ex_size s;

    (void)unused;
    o.minels = LIST(1);
    o.dimranks = LIST(INT64_MAX);
    make(&o, 3, 0, &g, &s);
    assert_true(g.asked != 3);
    assert_int_equal(g.ranks[0], 3);
    assert_int_equal(g.ranks[31], 1);
    assert_int_equal(s.shape[H5EX_DOUBLES].len[0], 3);
}

/* Blocks of the options, not those of the size before. */
static void each_size_has_its_own_blocks(void **unused)
{
    struct h5ex_options o = defaults(1);
    struct h5ex_grid g;
    struct h5ex_size s;

    (void)unused;
    o.minels = LIST(10);
    o.fileblocks = LIST(4);
    o.mem_block = 4;
    o.mem_stride = 5;
    make(&o, 1, 0, &g, &s);
    assert_true(s.file.odd[0] && s.mem_odd);
    assert_int_equal(s.file.block[0], 10);
    assert_int_equal(s.file.count[0], 1);
    assert_int_equal(s.buffer, 10);
    make(&o, 1, 1, &g, &s);
    assert_false(s.file.odd[0] || s.mem_odd);
    assert_int_equal(s.file.block[0], 4);
    assert_int_equal(s.file.count[0], 5);
    assert_int_equal(s.buffer, 25);
}

static void sizes_that_cannot_be_are_refused(void **unused)
{
    struct h5ex_options o = defaults(0);

    (void)unused;
    refuse_size(&o, 0, "--numdims is missing");
    o = defaults(2);
    o.minels.n = 0;
    refuse_size(&o, 0, "--minels is missing");
    o.minels = LIST(1, 2, 3);
    refuse_size(&o, 0, "--minels has 3 values, but --numdims is 2");
    o = defaults(3);
    o.filestrides = LIST(1, 2);
    refuse_size(&o, 0, "--filestrides has 2 values");
    o = defaults(1);
    o.bufmult = LIST(INT64_MAX);
    refuse_size(
        &o, 2,
        "size 3 of --nsizes: --minels times --bufmult is more than 2^64 elements in dimension 1");
    o = defaults(2);
    o.minels = LIST(INT64_MAX);
    refuse_size(&o, 0, "the part of one task has more than 2^64 elements");
    o = defaults(1);
    o.fileblocks = LIST(1);
    o.filestrides = LIST(INT64_MAX);
    refuse_size(&o, 0, "the part of one task has more than 2^64 elements");
    o = defaults(1);
    o.mem_block = 1;
    o.mem_stride = INT64_MAX;
    refuse_size(&o, 0, "buffer of a rank");
}

static void a_series_in_five_numbers(void **state)
{
    static const double want[H5EX_FIVES] = { 2, 4.5, 9, 5, 2 };
    double v[24] = { 0, 4, 0, 9, 0, 4, 0, 5, 0, 2, 0, 7, 0, 4, 0, 5 }, five[H5EX_FIVES];
    const struct weir_series series = { .width = 2, .n = 8, .capacity = 8, .v = v };

    (void)state;
    h5ex_five(&series, 1, five);
    for (int i = 0; i < H5EX_FIVES; i++)
        assert_float_equal(five[i], want[i], 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_apart_and_complete),
        cmocka_unit_test(ranks_are_in_row_major_order),
        cmocka_unit_test(another_product_divides_the_first_dimension),
        cmocka_unit_test(each_size_has_its_own_blocks),
        cmocka_unit_test(sizes_that_cannot_be_are_refused),
        cmocka_unit_test(a_series_in_five_numbers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
