/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiio-array.h - arrays in a file of MPI-IO, and what files of bytes share with them */
#ifndef WEIR_BACKENDS_MPIIO_MPIIO_ARRAY_H
#define WEIR_BACKENDS_MPIIO_MPIIO_ARRAY_H

#include <mpi.h>

#include "backends/array.h"

/* The options, whose rows are in mpiio.c. */
struct mpiio_options {
    const char *hints_file;
    bool show_hints, preallocate, file_view, strided;
};

/* Append the text of showHints, where s asks for it, for an open file; lost: its handle cannot be
 * used. Local. */
void mpiio_describe(const struct weir_session *s, MPI_File fh, bool lost, struct weir_str *out);

extern const struct weir_array_ops mpiio_array_ops;

#endif
