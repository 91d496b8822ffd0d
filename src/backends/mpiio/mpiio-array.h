/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiio-array.h - arrays in a file of MPI-IO */
#ifndef WEIR_BACKENDS_MPIIO_MPIIO_ARRAY_H
#define WEIR_BACKENDS_MPIIO_MPIIO_ARRAY_H

#include "backends/array.h"

extern const struct weir_array_ops mpiio_array_ops;

#endif
