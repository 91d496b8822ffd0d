/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiio-array.h - arrays in a file of MPI-IO, and what files of bytes share with them */
#ifndef WEIR_BACKENDS_MPIIO_MPIIO_ARRAY_H
#define WEIR_BACKENDS_MPIIO_MPIIO_ARRAY_H

#include <mpi.h>

#include "backends/array.h"
#include "backends/shared/mpishow.h"

/* The options, whose rows are in mpiio.c. */
struct mpiio_options {
    struct weir_mpi_options mpi;
    bool preallocate, file_view, strided;
};

extern const struct weir_array_ops mpiio_array_ops;

#endif
