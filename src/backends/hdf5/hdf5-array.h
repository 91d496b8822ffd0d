/* SPDX-License-Identifier: BSD-3-Clause */
/* hdf5-array.h - arrays are datasets of a file */
#ifndef WEIR_BACKENDS_HDF5_HDF5_ARRAY_H
#define WEIR_BACKENDS_HDF5_HDF5_ARRAY_H

#include "backends/array.h"
#include "backends/hdf5/hdf5-container.h"

/* An open file of arrays. */
struct hdf5_arrays {
    struct weir_array_file base;
    struct hdf5_container c;
    hid_t group; /* that was made or opened last, 0: none is open */
};

/* As put_attr and get_attr of struct weir_array_ops. */
int hdf5_put_attr(struct weir_array_file *base, const char *object, const struct weir_attr *attr,
                  struct weir_err *err);
int hdf5_get_attr(struct weir_array_file *base, const char *object, const struct weir_attr *attr,
                  struct weir_err *err);

extern const struct weir_array_ops hdf5_array_ops;

#endif
