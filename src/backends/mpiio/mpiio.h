/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiio.h - shared by the files of the backend: options, files, the view of a task, the queue, arrays */
#pragma once

#include <mpi.h>

#include "backends/array.h"
#include "backends/shared/mpishow.h"
#include "par/io/mpidoubt.h"

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

/* ---- files (mpiio.c) and transfers (mpiio-move.c) ---- */

struct mpiio_file {
    struct weir_file base;
    MPI_File fh;
    MPI_Comm comm;
    MPI_Datatype whole; /* one transfer, when it is too long for an int */
    int sync_fd;        /* -Y without -c: MPI_File_sync would wait for the other ranks. -1: none */
    bool collective;
    bool viewed;
    uint64_t end;  /* one past the last byte that this rank wrote or read; UINT64_MAX: has failed */
    uint64_t size; /* of a file that is only read; UINT64_MAX otherwise */
    bool fresh;    /* it was empty when it was opened */
    struct mpiio_view view;
    struct weir_mpi_doubt doubt;
};

/* Open the file with the hints of the session; its errors are returned. Collective over comm, but a
 * rank may fail alone. Returns 0, or -1 and err. */
int mpiio_open(struct weir_session *s, MPI_Comm comm, const char *path, int mode, MPI_File *fh,
               struct weir_err *err);

/* The arguments of a call that moves io, or the first piece of it. */
struct mpiio_call {
    MPI_Offset at;
    size_t want; /* bytes of it */
    MPI_Datatype type;
    int count;
};

/* Find position, type and count of the call that moves io. Local. 0, or -1 and err (WEIR_EBUG). */
int mpiio_call_of(const struct mpiio_file *f, const struct weir_io *io, struct mpiio_call *c,
                  struct weir_err *err);

/* Make the blocking call for a direction, collective over the file with 'together'. Returns the
 * status of the library. mpiio_calls has the names of these calls. */
static inline int mpiio_call(MPI_File fh, enum weir_dir dir, void *buf, const struct mpiio_call *c,
                             bool together, MPI_Status *status)
{
    if (dir == WEIR_DIR_WRITE)
        return together ? MPI_File_write_at_all(fh, c->at, buf, c->count, c->type, status)
                        : MPI_File_write_at(fh, c->at, buf, c->count, c->type, status);
    return together ? MPI_File_read_at_all(fh, c->at, buf, c->count, c->type, status)
                    : MPI_File_read_at(fh, c->at, buf, c->count, c->type, status);
}
extern const char *const mpiio_calls[2][2];

/* Move io with a blocking call, which is collective over f->comm with 'together' and local without it.
 * Returns the bytes moved, or -1 and err (WEIR_EIO). */
ssize_t mpiio_move(struct mpiio_file *f, const struct weir_io *io, bool together,
                   struct weir_err *err);

/* True when a read goes beyond the end that the file had at open. Then *n gets the bytes that
 * are there, or, where transfers are collective, -1 with err (WEIR_EIO). Local. */
bool mpiio_meets_end(const struct mpiio_file *f, const struct weir_io *io, ssize_t *n,
                     struct weir_err *err);

/* Account for n bytes that 'call' reports as moved, with the errno 'sys' that it left. Local. 0, or
 * -1 and err (WEIR_EIO): a collective read has moved other bytes. */
int mpiio_account(struct mpiio_file *f, const struct weir_io *io, size_t n, int sys,
                  const char *call, struct weir_err *err);

/* ---- the queue of a session (mpiio-queue.c) ---- */

struct mpiio_request {
    MPI_Request mpi; /* MPI_REQUEST_NULL: it has ended, and r has the outcome */
    struct weir_request *r;
    size_t want;  /* bytes of the call */
    bool refused; /* the call is only made for the other ranks */
};

/* Zero-initialise. */
struct mpiio_queue {
    struct mpiio_request *request; /* depth, the oldest first */
    int n;
    int seen, at_once; /* of the first calls: how many were looked at, and had ended at their return */
    bool lost;         /* the library has lost a transfer that failed */
    int patience_s;    /* so long nothing ends before the oldest is repeated */
};

struct mpiio_session {
    struct weir_mpi_session mpi; /* first: for names and arrays */
    struct mpiio_queue queue;
};

static inline struct weir_mpi_session *mpiio_mpi(const struct weir_session *s)
{
    return s->priv;
}

/* Implement the functions of the queue in struct weir_backend. */
int mpiio_queue_begin(struct weir_session *s, int depth, struct weir_err *err);
int mpiio_queue_submit(struct weir_request *r, struct weir_err *err);
int mpiio_queue_complete(struct weir_file *f, int least, int most, struct weir_request **done,
                         struct weir_err *err);
int mpiio_queue_reason(const struct weir_request *r, struct weir_err *err);

/* Release the memory of the queue; none: nothing. A note on rank 0 reports a library whose
 * nonblocking calls block. Local. */
void mpiio_queue_end(struct weir_session *s);

/* Arrays in a file of MPI-IO (mpiio-array.c). */
extern const struct weir_array_ops mpiio_array_ops;
