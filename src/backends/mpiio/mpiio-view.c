/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiio-view.c - which part of a shared file a task sees, as MPI data types */
#include "backends/mpiio/mpiio.h"

#include "par/io/mpifile.h"
#include "par/io/slabtype.h"

/* The block at 'first' bytes within an extent of one segment: what MPI_Type_create_subarray
 * gives, whose sizes are int. */
static int make_file_type(const struct mpiio_view *v, uint64_t first, MPI_Datatype *out,
                          struct weir_err *err)
{
    const struct weir_runs whole = { .run = v->block };
    MPI_Datatype block, placed;
    MPI_Aint at = (MPI_Aint)first;
    int one = 1;

    if (weir_mpi_slab_type(&whole, 1, MPI_BYTE, &block, err) < 0)
        return -1;
    MPI_Type_create_hindexed(1, &one, &at, block, &placed);
    MPI_Type_create_resized(placed, 0, (MPI_Aint)v->segment, out);
    MPI_Type_commit(out);
    MPI_Type_free(&placed);
    MPI_Type_free(&block);
    return 0;
}

/* useFileView puts the hole in front of the block into the type and starts at displacement 0:
 * every task has a type of its own. The strided type is the same on all tasks, a block and the
 * hole after it, and the displacement tells them apart. Elements are bytes, so that a short
 * transfer can be continued anywhere. Both show the same bytes at the same positions, one
 * transfer a call, and each transfer carries its own data. */
int mpiio_view_set(struct mpiio_view *v, MPI_File fh, const struct weir_file *file, bool strided,
                   struct weir_err *err)
{
    const struct weir_access *access = &file->s->access;
    const struct weir_extent *x = &file->extent;
    MPI_Datatype type = MPI_BYTE; /* a rank without memory takes part, too */
    int made, rc;

    v->task = access->file_per_task ? 0 : x->task;
    v->block = x->block;
    v->segment = weir_segment_bytes(access, x);
    v->first = (uint64_t)v->task * x->block;
    made = make_file_type(v, strided ? 0 : v->first, &type, err);
    rc = MPI_File_set_view(fh, strided ? (MPI_Offset)v->first : 0, MPI_BYTE, type, "native",
                           MPI_INFO_NULL);
    if (made < 0)
        return -1;
    MPI_Type_free(&type);
    if (rc != MPI_SUCCESS)
        return weir_mpi_fail(err, WEIR_EIO, rc, "MPI_File_set_view '%s'", file->path);
    return 0;
}

int mpiio_view_position(const struct mpiio_view *v, uint64_t off, size_t len, MPI_Offset *at)
{
    uint64_t inside = off % v->segment - v->first; /* wraps round when it lies before the block */

    if (inside >= v->block || len > v->block - inside)
        return -1;
    *at = (MPI_Offset)(off / v->segment * v->block + inside);
    return 0;
}
