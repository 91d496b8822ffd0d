/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiio.h - shared by the files of the backend: options, the view of a task, arrays */
#ifndef WEIR_BACKENDS_MPIIO_MPIIO_H
#define WEIR_BACKENDS_MPIIO_MPIIO_H

#include <mpi.h>

#include "backends/array.h"
#include "backends/shared/mpishow.h"

/* The options, whose rows are in mpiio.c. */
struct mpiio_options {
    struct weir_mpi_options mpi;
    bool preallocate, file_view, strided;
};

/* The view of one task. Embedded in an open file; nothing to free. */
struct mpiio_view {
    int task;
    uint64_t block;   /* bytes of one block */
    uint64_t segment; /* bytes of one segment of the file */
    uint64_t first;   /* offset of the task's block within a segment */
};

/* Let fh show the blocks of task file->extent.task only: as one block within a segment (a
 * subarray), or, strided, as a block repeated from a displacement on. Collective over the file.
 * Returns 0, or -1 and err (WEIR_EIO; WEIR_ESETUP without a data type). */
int mpiio_view_set(struct mpiio_view *v, MPI_File fh, const struct weir_file *file, bool strided,
                   struct weir_err *err);

/* *at gets the position in the view of the len bytes at file offset off. -1 when they are not the
 * task's. Local. */
int mpiio_view_position(const struct mpiio_view *v, uint64_t off, size_t len, MPI_Offset *at);

/* Arrays in a file of MPI-IO (mpiio-array.c). */
extern const struct weir_array_ops mpiio_array_ops;

#endif
