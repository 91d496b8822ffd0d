/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiio-view.h - which part of a shared file a task sees, as MPI data types */
#ifndef WEIR_BACKENDS_MPIIO_MPIIO_VIEW_H
#define WEIR_BACKENDS_MPIIO_MPIIO_VIEW_H

#include <mpi.h>

#include "backends/backend.h"

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

#endif
