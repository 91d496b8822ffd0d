/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiio-array.h - arrays in a file of MPI-IO */
#ifndef WEIR_BACKENDS_MPIIO_MPIIO_ARRAY_H
#define WEIR_BACKENDS_MPIIO_MPIIO_ARRAY_H

#include "backends/array.h"

/* The options, whose rows are in mpiio.c. */
struct mpiio_options {
    const char *hints_file;
    bool show_hints, preallocate, file_view, strided;
};

extern const struct weir_array_ops mpiio_array_ops;

#endif
