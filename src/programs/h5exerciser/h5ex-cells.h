/* SPDX-License-Identifier: BSD-3-Clause */
/* h5ex-cells.h - data of n-dimensional arrays that tell where they belong, and in which repetition they
 * were made: cell i of an array (counted with the last dimension fastest) is the number i + 1 and
 * a fraction for the repetition */
#ifndef WEIR_PROGRAMS_H5EXERCISER_H5EX_CELLS_H
#define WEIR_PROGRAMS_H5EXERCISER_H5EX_CELLS_H

#include <stddef.h>

#include "base/shape/slab.h"
#include "base/str.h"

/* A buffer of cells: a slab of an array, and as many cells in the same order in memory. */
struct weir_cells {
    struct weir_shape array, memory;
    struct weir_slab slab, in_memory;
    void *buf;   /* memory */
    size_t size; /* bytes of a cell */
    /* For cells that are larger than a double; NULL: a cell is one double. make writes cell number
     * 'at', whose value is 'value'. differs returns whether the cell is wrong, and then gives its
     * first wrong double in *got and the right one in *want. */
    void (*make)(void *cell, uint64_t at, double value, int repetition);
    bool (*differs)(const void *cell, uint64_t at, double value, int repetition, double *want,
                    double *got);
};

/* Cells that are not right. */
struct weir_cells_wrong {
    uint64_t n;
    uint64_t at;      /* the first: its number in the array; UINT64_MAX: a byte between the cells */
    double want, got; /* of it */
};

/* All local. Fill the slab's cells, and the gaps of memory with zeros. */
void weir_cells_fill(const struct weir_cells *c, int repetition);

/* Fill memory with values that no cell has, so that weir_cells_check finds cells that were not
 * read and writes into the gaps. */
void weir_cells_spoil(const struct weir_cells *c);

/* Compare what was read into spoiled memory, and add to *wrong. Runs at the speed of memory. */
void weir_cells_check(const struct weir_cells *c, int repetition, struct weir_cells_wrong *wrong);

/* Append where the first wrong cell of an array is, and what is wrong: "element 1,2: expected 3,
 * found 0". */
void weir_cells_describe(const struct weir_cells_wrong *w, const struct weir_shape *array,
                         struct weir_str *out);

/* Has memory gaps between the cells? */
bool weir_cells_apart(const struct weir_cells *c);

#endif
