/* SPDX-License-Identifier: BSD-3-Clause */
/* test_cells.c - cells of arrays that tell where they belong, in memory with gaps */
#include "programs/h5exerciser/h5ex.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define CELLS 16
#define BUFFER 28

/* Of 7 x 9 cells two blocks of 2 x 2 in each dimension; in memory 4 cells of each 7. */
static const struct h5ex_elements part = {
    .array = { 2, { 7, 9 } },
    .slab = { 2, { 1, 2 }, { 2, 2 }, { 3, 4 }, { 2, 2 } },
    .memory = { 1, { BUFFER } },
    .in_memory = { 1, { 0 }, { 4 }, { 7 }, { 4 } },
    .size = sizeof(double),
};

/* The cells of the slab in their order. */
static const int places[CELLS] = { 11, 12, 15, 16, 20, 21, 24, 25, 38, 39, 42, 43, 47, 48, 51, 52 };

static int in_buffer(int cell)
{
    return cell / 4 * 7 + cell % 4;
}

/* As a read would leave it. */
static void put(double *buf, int repetition)
{
    for (int i = 0; i < CELLS; i++)
        buf[in_buffer(i)] = places[i] + 1 + repetition / 1024.0;
}

static struct h5ex_wrong check(const struct h5ex_elements *c, int repetition)
{
    struct h5ex_wrong w = { 0 };

    h5ex_check(c, repetition, &w);
    return w;
}

static void cells_are_their_number_and_gaps_are_zero(void **unused)
{
    double buf[BUFFER], want[BUFFER] = { 0 };
    struct h5ex_elements c = part;

    (void)unused;
    c.buf = buf;
    put(want, 3);
    h5ex_fill(&c, 3);
    assert_memory_equal(buf, want, sizeof(buf));
    assert_true(h5ex_has_gaps(&c));
}

static void what_was_read_is_right_or_has_a_place(void **unused)
{
    double buf[BUFFER];
    struct h5ex_elements c = part;
    struct h5ex_wrong w;

    (void)unused;
    c.buf = buf;
    h5ex_invalidate(&c);
    assert_int_equal(check(&c, 0).n, CELLS);
    put(buf, 0);
    assert_int_equal(check(&c, 0).n, 0);
    assert_int_equal(check(&c, 1).n, CELLS); /* data of another repetition */
    buf[in_buffer(6)] = 0;
    buf[in_buffer(9)] = 1;
    w = check(&c, 0);
    assert_int_equal(w.n, 2);
    assert_int_equal(w.at, places[6]);
    assert_true(w.want == places[6] + 1 && w.got == 0);
    put(buf, 0);
    ((char *)buf)[5 * sizeof(double)] = 0; /* between the blocks */
    w = check(&c, 0);
    assert_int_equal(w.n, 1);
    assert_true(w.at == UINT64_MAX);
}

static void each_wrong_cell_of_a_long_run_counts(void **unused)
{
    static double buf[1000];
    struct h5ex_elements c = { .array = { 1, { 1000 } }, .memory = { 1, { 1000 } }, .size = 8 };
    struct h5ex_wrong w;

    (void)unused;
    c.buf = buf;
    weir_slab_all(&c.slab, &c.array);
    weir_slab_all(&c.in_memory, &c.memory);
    h5ex_fill(&c, 1023);
    assert_false(h5ex_has_gaps(&c));
    assert_int_equal(check(&c, 1023).n, 0);
    for (int i = 0; i < 1000; i += 7)
        buf[i] += 1;
    w = check(&c, 1023);
    assert_int_equal(w.n, 143);
    assert_int_equal(w.at, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_are_their_number_and_gaps_are_zero),
        cmocka_unit_test(what_was_read_is_right_or_has_a_place),
        cmocka_unit_test(each_wrong_cell_of_a_long_run_counts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
