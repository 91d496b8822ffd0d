/* SPDX-License-Identifier: BSD-3-Clause */
/* hdf5-attr.h - groups, and attributes of files, groups and datasets */
#ifndef WEIR_BACKENDS_HDF5_HDF5_ATTR_H
#define WEIR_BACKENDS_HDF5_HDF5_ATTR_H

#include "backends/array.h"
#include "backends/hdf5/hdf5-container.h"

/* An open file of arrays. */
struct hdf5_arrays {
    struct weir_array_file base;
    struct hdf5_container c;
    hid_t group; /* that was made or opened last, 0: none is open */
};

/* Close the group that is open, if there is one. */
herr_t hdf5_group_close(struct hdf5_arrays *f);

/* As group, find_group, put_attr and get_attr of struct weir_array_ops. */
int hdf5_group(struct weir_array_file *base, const char *path, struct weir_err *err);
int hdf5_find_group(struct weir_array_file *base, const char *path, struct weir_err *err);
int hdf5_put_attr(struct weir_array_file *base, const char *object, const struct weir_attr *attr,
                  struct weir_err *err);
int hdf5_get_attr(struct weir_array_file *base, const char *object, const struct weir_attr *attr,
                  struct weir_err *err);

#endif
