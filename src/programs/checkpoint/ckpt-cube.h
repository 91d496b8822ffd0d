/* SPDX-License-Identifier: BSD-3-Clause */
/* ckpt-cube.h - a field on a cubed sphere: how it is cut into patches, its values, and the order of its
 * cells */
#ifndef WEIR_PROGRAMS_CHECKPOINT_CKPT_CUBE_H
#define WEIR_PROGRAMS_CHECKPOINT_CKPT_CUBE_H

#include <stdbool.h>
#include <stdint.h>

#define WEIR_CUBE_FACES 6

/* Six faces of im times im cells, stacked in y, with lm levels. Each face has nx times ny patches,
 * one for each rank, in rows; groups have whole rows. */
struct weir_cube {
    uint64_t im, lm;
    int nx, ny;
    int rows; /* of patches: 6 ny */
    int groups;
};

/* Cells from (x, y) on, in the field of im times 6 im cells. */
struct weir_box {
    uint64_t x, y, nx, ny;
};

/* The patch of a rank: parts of an edge differ by one cell at most, the longer ones first.
 * Local. */
void weir_cube_patch(const struct weir_cube *l, int rank, struct weir_box *out);

/* The rank whose patch has a cell. Local. */
int weir_cube_owner(const struct weir_cube *l, uint64_t y, uint64_t x);

/* The group of a rank; the first row of patches of a group; its cells. Groups differ by one row at
 * most. Local. */
int weir_cube_group_of(const struct weir_cube *l, int rank);
int weir_cube_row(const struct weir_cube *l, int group);
void weir_cube_group(const struct weir_cube *l, int group, struct weir_box *out);

/* The value of a cell on a plane (a level, whichever way the caller numbers them): in [0, 1), the
 * same however the field is cut. Local. */
float weir_cube_value(const struct weir_cube *l, uint64_t plane, uint64_t y, uint64_t x);

/* Copy between the patches of a group, in rank order and each with its levels, and the block of the
 * group, levels slowest. Local. */
void weir_cube_reorder(const struct weir_cube *l, int group, uint64_t levels, float *patches,
                       float *block, bool to_block);

#endif
