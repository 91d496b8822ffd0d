/* SPDX-License-Identifier: BSD-3-Clause */
/* cells.h - data of n-dimensional arrays that tell where they belong, and in which repetition they were
 * made: cell i of an array (counted with the last dimension fastest) is the number i + 1 and a fraction for
 * the repetition */
#ifndef WEIR_BASE_CELLS_H
#define WEIR_BASE_CELLS_H

#include <stddef.h>

#include "base/slab.h"
#include "base/str.h"

/* A buffer of cells: the slab of an array here, and as many cells in the same order in memory. */
struct weir_cells {
    struct weir_shape array, memory;
    struct weir_slab slab, in_memory;
    void *buf;   /* memory */
    size_t size; /* bytes of a cell */
    /* A cell is more than a double: make it, or the first double that is not right of the one that is
     * there (then true); value is the number of the cell. NULL: it is a double. */
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

/* Make memory such that a cell that is not read is found, and one that is read where none belongs. */
void weir_cells_spoil(const struct weir_cells *c);

/* Compare what was read into spoiled memory, and add to *wrong. At memory speed. */
void weir_cells_check(const struct weir_cells *c, int repetition, struct weir_cells_wrong *wrong);

/* Append where the first wrong cell of an array is, and what is wrong: "element 1,2: expected 3, found 0". */
void weir_cells_describe(const struct weir_cells_wrong *w, const struct weir_shape *array,
                         struct weir_str *out);

/* Has memory gaps between the cells? */
bool weir_cells_apart(const struct weir_cells *c);

#endif
