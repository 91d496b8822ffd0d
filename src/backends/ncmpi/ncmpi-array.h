/* SPDX-License-Identifier: BSD-3-Clause */
/* ncmpi-array.h - arrays are variables of a file */
#ifndef WEIR_BACKENDS_NCMPI_NCMPI_ARRAY_H
#define WEIR_BACKENDS_NCMPI_NCMPI_ARRAY_H

#include "backends/ncmpi/ncmpi-file.h"
#include "backends/shared/nctable.h"

/* An open file of arrays. */
struct ncmpi_arrays {
    struct weir_array_file base;
    struct ncmpi_file f;
};

struct ncmpi_array {
    struct weir_array base;
    int id;
    MPI_Datatype basic;     /* of an element */
    MPI_Datatype in_memory; /* MPI_DATATYPE_NULL: the buffer is in one piece */
    bool in_boxes;          /* blocks with gaps: a list of boxes, else one slab of the library */
    MPI_Offset start[WEIR_SLAB_RANK], count[WEIR_SLAB_RANK], stride[WEIR_SLAB_RANK];
    uint64_t first;   /* byte of the buffer where the elements begin */
    uint64_t end;     /* one past the last byte of the slab in the file, 0: unknown */
    uint64_t boxes;   /* in the list */
    MPI_Offset **box; /* starts, then counts, of each; with room for all in one piece */
    bool has_type;
};

extern const struct weir_array_ops ncmpi_array_ops;

/* As select and move of struct weir_array_ops; free what select made. */
int ncmpi_slab_select(struct weir_array *base, struct weir_err *err);
int ncmpi_slab_move(struct weir_array *base, enum weir_dir dir, void *buf, struct weir_err *err);
void ncmpi_slab_free(struct ncmpi_array *a);

#endif
