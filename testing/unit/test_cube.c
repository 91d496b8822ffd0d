/* SPDX-License-Identifier: BSD-3-Clause */
/* test_cube.c - every cell belongs to one patch and one group, and reordering goes there and back */
#include "programs/checkpoint/ckpt.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct weir_cube cube_of(uint64_t im, int nx, int ny, int groups)
{
    return (struct weir_cube) { .im = im, .lm = 2, .nx = nx, .ny = ny, .rows = 6 * ny,
                                .groups = groups };
}

static void count_cells(const struct weir_cube *c)
{
    uint64_t cells = 0, grouped = 0, next = 0;
    struct weir_box b;

    for (int r = 0; r < c->rows * c->nx; r++) {
        weir_cube_patch(c, r, &b);
        cells += b.nx * b.ny;
        for (uint64_t i = 0; i < b.nx * b.ny; i++)
            assert_int_equal(weir_cube_owner(c, b.y + i / b.nx, b.x + i % b.nx), r);
        assert_in_range(weir_cube_group_of(c, r), 0, c->groups - 1);
        assert_in_range(r / c->nx, weir_cube_row(c, weir_cube_group_of(c, r)),
                        weir_cube_row(c, weir_cube_group_of(c, r) + 1) - 1);
    }
    for (int g = 0; g < c->groups; g++) {
        weir_cube_group(c, g, &b);
        assert_int_equal(b.y, next);
        assert_int_equal(b.nx, c->im);
        next = b.y + b.ny;
        grouped += b.nx * b.ny;
    }
    assert_int_equal(cells, 6 * c->im * c->im);
    assert_int_equal(grouped, cells);
}

static void every_cell_has_a_place(void **state)
{
    (void)state;
    for (int ny = 1; ny <= 3; ny++)
        for (int groups = 1; groups <= 6 * ny; groups++) {
            struct weir_cube c = cube_of(7, 2, ny, groups);

            count_cells(&c);
        }
}

/* Patches of group 1 hold the values of their cells: so must the block, and the patches again. */
static void reordering_goes_there_and_back(void **state)
{
    struct weir_cube c = cube_of(5, 2, 2, 5);
    struct weir_box all, p;
    uint64_t n;
    float *patches, *block, *again, *at;

    (void)state;
    weir_cube_group(&c, 1, &all);
    n = all.nx * all.ny * c.lm;
    at = patches = calloc(3 * n, sizeof(*patches));
    assert_non_null(patches);
    block = patches + n;
    again = block + n;
    for (int r = weir_cube_row(&c, 1) * c.nx; r < weir_cube_row(&c, 2) * c.nx; r++) {
        weir_cube_patch(&c, r, &p);
        for (uint64_t k = 0; k < c.lm * p.nx * p.ny; k++)
            *at++ = weir_cube_value(&c, k / (p.nx * p.ny), p.y + k / p.nx % p.ny, p.x + k % p.nx);
    }
    weir_cube_reorder(&c, 1, c.lm, patches, block, true);
    for (uint64_t k = 0; k < n; k++)
        assert_true(block[k] == weir_cube_value(&c, k / (all.nx * all.ny),
                                                all.y + k / all.nx % all.ny, k % all.nx));
    weir_cube_reorder(&c, 1, c.lm, again, block, false);
    assert_memory_equal(again, patches, n * sizeof(*patches));
    free(patches);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_cell_has_a_place),
                                        cmocka_unit_test(reordering_goes_there_and_back) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
