/* SPDX-License-Identifier: BSD-3-Clause */
/* hdf5-array.h - arrays are datasets of a file */
#ifndef WEIR_BACKENDS_HDF5_HDF5_ARRAY_H
#define WEIR_BACKENDS_HDF5_HDF5_ARRAY_H

#include "backends/array.h"

extern const struct weir_array_ops hdf5_array_ops;

#endif
