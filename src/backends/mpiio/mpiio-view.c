/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiio-view.c - which part of a shared file a task sees, as MPI data types */
#include "backends/mpiio/mpiio-view.h"
#include "config.h"

#include <limits.h>

#include "par/io/mpifile.h"

#define CHUNK (1 << 30) /* counts of MPI are int: long types are made of pieces */

void mpiio_type_bytes(uint64_t len, MPI_Datatype *out)
{
    MPI_Datatype chunk, chunks;
    int lengths[2] = { 1, (int)(len % CHUNK) };
    MPI_Aint at[2] = { 0, (MPI_Aint)(len - len % CHUNK) };

    if (len <= INT_MAX) {
        MPI_Type_contiguous((int)len, MPI_BYTE, out);
    } else {
        MPI_Type_contiguous(CHUNK, MPI_BYTE, &chunk);
        MPI_Type_contiguous((int)(len / CHUNK), chunk, &chunks);
        MPI_Type_create_struct(lengths[1] ? 2 : 1, lengths, at,
                               (MPI_Datatype[]) { chunks, MPI_BYTE }, out);
        MPI_Type_free(&chunks);
        MPI_Type_free(&chunk);
    }
    MPI_Type_commit(out);
}

/* The block at 'first' bytes within an extent of one segment: what MPI_Type_create_subarray
 * gives, whose sizes are int. */
static void make_file_type(const struct mpiio_view *v, uint64_t first, MPI_Datatype *out)
{
    MPI_Datatype block, placed;
    MPI_Aint at = (MPI_Aint)first;
    int one = 1;

    mpiio_type_bytes(v->block, &block);
    MPI_Type_create_hindexed(1, &one, &at, block, &placed);
    MPI_Type_create_resized(placed, 0, (MPI_Aint)v->segment, out);
    MPI_Type_commit(out);
    MPI_Type_free(&placed);
    MPI_Type_free(&block);
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
    MPI_Datatype type;
    int rc;

    v->task = access->file_per_task ? 0 : x->task;
    v->block = x->block;
    v->segment = access->file_per_task ? x->block : x->block * (uint64_t)access->tasks;
    v->first = (uint64_t)v->task * x->block;
    make_file_type(v, strided ? 0 : v->first, &type);
    rc = MPI_File_set_view(fh, strided ? (MPI_Offset)v->first : 0, MPI_BYTE, type, "native",
                           MPI_INFO_NULL);
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
