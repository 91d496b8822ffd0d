/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiio-move.c - a blocking transfer, and what the success that the library reports is worth */
#include "backends/mpiio/mpiio.h"

#include <errno.h>
#include <limits.h>

#include "par/io/mpifile.h"
#include "par/io/mpisession.h"

#define PIECE_MAX ((size_t)1 << 30) /* of a call whose length fits no count and no type */

const char *const mpiio_calls[2][2] = {
    [WEIR_DIR_WRITE] = { "MPI_File_write_at", "MPI_File_write_at_all" },
    [WEIR_DIR_READ] = { "MPI_File_read_at", "MPI_File_read_at_all" },
};

int mpiio_call_of(const struct mpiio_file *f, const struct weir_io *io, struct mpiio_call *c,
                  struct weir_err *err)
{
    *c = (struct mpiio_call) { .at = io->len ? (MPI_Offset)io->off : 0,
                               .want = io->len,
                               .type = MPI_BYTE };
    if (f->viewed && io->len && mpiio_view_position(&f->view, io->off, io->len, &c->at) < 0)
        return weir_refuse(err, WEIR_EBUG, "a transfer outside the view of task %d", f->view.task);
    if (c->want > INT_MAX && c->want == f->base.extent.transfer)
        c->type = f->whole;
    else if (c->want > INT_MAX)
        c->want = PIECE_MAX;
    c->count = c->type == MPI_BYTE ? (int)c->want : 1;
    return 0;
}

/* A return code alone cannot be trusted (a full disk can look like success): judge the bytes in
 * the status, with the errno that the call left. */
static ssize_t judge(struct mpiio_file *f, const struct weir_io *io, size_t want, bool together,
                     MPI_Status *status, int sys, struct weir_err *err)
{
    const char *call = mpiio_calls[io->dir][together];
    MPI_Count moved = 0;
    MPI_Offset size = 0;

    if (MPI_Get_elements_x(status, MPI_BYTE, &moved) != MPI_SUCCESS || moved < 0 ||
        (size_t)moved > want)
        return weir_refuse(err, WEIR_EIO, "%s does not report how many of %zu bytes it moved", call,
                           want);
    if ((size_t)moved == want)
        return (ssize_t)moved;
    if (moved == 0 && io->dir == WEIR_DIR_READ &&
        (MPI_File_get_size(f->fh, &size) != MPI_SUCCESS || (uint64_t)size <= io->off))
        return 0; /* the end of the file */
    if (moved > 0 && !together)
        return (ssize_t)moved;
    if (sys == 0 || sys == mpiio_mpi(f->base.s)->comm_errno)
        return weir_refuse(err, WEIR_EIO, "%s moved %lld of %zu bytes and reports no error%s", call,
                           (long long)moved, want,
                           io->dir == WEIR_DIR_WRITE ? " (is the file system full?)" : "");
    errno = sys;
    return weir_fail(err, WEIR_EIO, "%s moved %lld of %zu bytes", call, (long long)moved, want);
}

/* A collective call that reports success and leaves an errno. Aggregators move the data of others:
 * a read is looked at here, what was written when all have written. */
static int doubt(struct mpiio_file *f, const struct weir_io *io, size_t len, int sys,
                 const char *call, struct weir_err *err)
{
    uint64_t segment = weir_segment_bytes(&f->base.s->access, &f->base.extent);

    if (io->dir == WEIR_DIR_READ)
        return weir_mpi_doubt_scan(&f->doubt, f->base.path, sys, call, io->buf, len, io->off, err);
    if (segment == 0 || len == 0)
        weir_mpi_doubt_keep(&f->doubt, sys, call, 0, INT64_MAX);
    else
        weir_mpi_doubt_keep(&f->doubt, sys, call, io->off - io->off % segment,
                            io->off - io->off % segment + segment);
    return 0;
}

int mpiio_account(struct mpiio_file *f, const struct weir_io *io, size_t n, int sys,
                  const char *call, struct weir_err *err)
{
    if (n > 0 && f->end < io->off + n)
        f->end = io->off + n;
    if (sys == 0 || !f->collective || !weir_mpi_hidden_errno(mpiio_mpi(f->base.s), sys))
        return 0;
    return doubt(f, io, n, sys, call, err);
}

/* A library may call a read complete that met the end of the file: ROMIO does through views, OMPIO
 * in collective reads; and OMPIO never completes one that is in flight. So the size of the file
 * decides: that at open, and again at close. */
bool mpiio_meets_end(const struct mpiio_file *f, const struct weir_io *io, ssize_t *n,
                     struct weir_err *err)
{
    if (io->dir == WEIR_DIR_WRITE || io->len == 0 || io->off + io->len <= f->size)
        return false;
    *n = io->off < f->size ? (ssize_t)(f->size - io->off) : 0;
    if (f->collective)
        *n = weir_refuse(err, WEIR_EIO, "end of file: it has %llu bytes",
                         (unsigned long long)f->size);
    return true;
}

ssize_t mpiio_move(struct mpiio_file *f, const struct weir_io *io, bool together,
                   struct weir_err *err)
{
    const char *name = mpiio_calls[io->dir][together];
    struct mpiio_call c;
    MPI_Status status;
    ssize_t moved;
    int rc, sys;

    if (mpiio_call_of(f, io, &c, err) < 0)
        return -1;
    if (together && io->dir == WEIR_DIR_READ)
        weir_mpi_mark(io->buf, c.want);
    errno = 0;
    rc = mpiio_call(f->fh, io->dir, io->buf, &c, together, &status);
    sys = errno;
    if (rc != MPI_SUCCESS) {
        weir_mpi_fail(err, WEIR_EIO, rc, "%s", name);
        weir_mpi_unlock(f->base.path);
        return weir_mpi_add_reason(err, sys, mpiio_mpi(f->base.s)->comm_errno);
    }
    if (mpiio_meets_end(f, io, &moved, err))
        return moved;
    moved = c.want ? judge(f, io, c.want, together, &status, sys, err) : 0;
    if (moved >= 0 && mpiio_account(f, io, (size_t)moved, sys, name, err) < 0)
        return -1;
    return moved;
}
