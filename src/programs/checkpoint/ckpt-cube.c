/* SPDX-License-Identifier: BSD-3-Clause */
/* ckpt-cube.c - a field on a cubed sphere: how it is cut into patches, its values, and the order of its
 * cells */
#include "config.h"
#include "programs/checkpoint/ckpt-cube.h"

#include <string.h>

#include "base/rng.h"

/* Part i of n cells in so many parts; the first ones get one more where it does not divide. */
static uint64_t part(uint64_t n, int parts, int i, uint64_t *begin)
{
    uint64_t each = n / (uint64_t)parts, more = n % (uint64_t)parts, at = (uint64_t)i;

    *begin = at * each + (at < more ? at : more);
    return each + (at < more);
}

/* The part in which cell c of n is. */
static uint64_t part_of(uint64_t n, int parts, uint64_t c)
{
    uint64_t each = n / (uint64_t)parts, more = n % (uint64_t)parts, longer = more * (each + 1);

    return c < longer ? c / (each + 1) : more + (c - longer) / each;
}

void weir_cube_patch(const struct weir_cube *l, int rank, struct weir_box *out)
{
    int row = rank / l->nx, face = row / l->ny;

    out->nx = part(l->im, l->nx, rank % l->nx, &out->x);
    out->ny = part(l->im, l->ny, row % l->ny, &out->y);
    out->y += (uint64_t)face * l->im;
}

int weir_cube_owner(const struct weir_cube *l, uint64_t y, uint64_t x)
{
    uint64_t row = y / l->im * (uint64_t)l->ny + part_of(l->im, l->ny, y % l->im);

    return (int)(row * (uint64_t)l->nx + part_of(l->im, l->nx, x));
}

int weir_cube_row(const struct weir_cube *l, int w)
{
    return (int)(((int64_t)w * l->rows + l->groups - 1) / l->groups);
}

int weir_cube_group_of(const struct weir_cube *l, int rank)
{
    return (int)((int64_t)(rank / l->nx) * l->groups / l->rows);
}

void weir_cube_group(const struct weir_cube *l, int w, struct weir_box *out)
{
    struct weir_box last;

    weir_cube_patch(l, weir_cube_row(l, w) * l->nx, out);
    weir_cube_patch(l, (weir_cube_row(l, w + 1) - 1) * l->nx, &last);
    out->x = 0;
    out->nx = l->im;
    out->ny = last.y + last.ny - out->y;
}

float weir_cube_value(const struct weir_cube *l, uint64_t plane, uint64_t y, uint64_t x)
{
    uint64_t cell = (plane * WEIR_CUBE_FACES * l->im + y) * l->im + x;

    return (float)(weir_rng_at(0, cell) >> 40) / (float)(1 << 24);
}

void weir_cube_reorder(const struct weir_cube *l, int w, uint64_t levels, float *patches,
                       float *block, bool to_block)
{
    int end = weir_cube_row(l, w + 1) * l->nx;
    struct weir_box all, p;

    weir_cube_group(l, w, &all);
    for (int r = weir_cube_row(l, w) * l->nx; r < end; r++) {
        weir_cube_patch(l, r, &p);
        for (uint64_t k = 0; k < levels * p.ny; k++, patches += p.nx) {
            uint64_t row = k / p.ny * all.ny + p.y - all.y + k % p.ny;
            float *at = block + row * l->im + p.x;

            memcpy(to_block ? at : patches, to_block ? patches : at, p.nx * sizeof(*at));
        }
    }
}
