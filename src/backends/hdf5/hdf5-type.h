/* SPDX-License-Identifier: BSD-3-Clause */
/* hdf5-type.h - types of elements as the library has them */
#ifndef WEIR_BACKENDS_HDF5_HDF5_TYPE_H
#define WEIR_BACKENDS_HDF5_HDF5_TYPE_H

#include "backends/array.h"
#include "backends/hdf5/hdf5-lib.h"

/* The type in memory, and that of new objects in a file. count: characters of TEXT. The caller
 * closes it. Local. Negative and err when it cannot be made. */
hid_t hdf5_type_make(const struct weir_type *type, uint64_t count, struct weir_err *err);

/* Finds the type of an object in a file. type: the one that is expected, or zeros; its members are
 * compared. *out gets the type. Local. Returns 0, or -1 and err (WEIR_EIO): a type that weir does
 * not write, or other members. */
int hdf5_type_read(hid_t id, const struct weir_type *type, struct weir_type *out,
                   struct weir_err *err);

#endif
