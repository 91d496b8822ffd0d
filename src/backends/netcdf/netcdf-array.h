/* SPDX-License-Identifier: BSD-3-Clause */
/* netcdf-array.h - arrays are variables of a file */
#ifndef WEIR_BACKENDS_NETCDF_NETCDF_ARRAY_H
#define WEIR_BACKENDS_NETCDF_NETCDF_ARRAY_H

#include "backends/array.h"
#include "backends/netcdf/netcdf-file.h"
#include "backends/shared/nctable.h"

/* An open file of arrays. */
struct netcdf_arrays {
    struct weir_array_file base;
    struct netcdf_file f;
};

/* A slab whose blocks have gaps takes several calls of the library, which knows only start, count
 * and stride: one for each block of the dimensions with gaps. */
struct netcdf_array {
    struct weir_array base;
    int id;
    uint64_t calls;                                      /* for what is selected */
    size_t start[WEIR_SLAB_RANK], count[WEIR_SLAB_RANK]; /* of the first call */
    ptrdiff_t stride[WEIR_SLAB_RANK];
    unsigned char *packed; /* the elements in one piece, where the buffer is not */
    unsigned char *call;   /* those of one call, where there are several */
};

extern const struct weir_array_ops netcdf_array_ops;

/* As select and move of struct weir_array_ops; free what select made. */
int netcdf_slab_select(struct weir_array *base, struct weir_err *err);
int netcdf_slab_move(struct weir_array *base, enum weir_dir dir, void *buf, struct weir_err *err);
void netcdf_slab_free(struct netcdf_array *a);

#endif
