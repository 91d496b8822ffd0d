/* SPDX-License-Identifier: BSD-3-Clause */
/* aio-queue.h - transfers on their way: buffers, submission in batches, completion */
#ifndef WEIR_BACKENDS_AIO_QUEUE_H
#define WEIR_BACKENDS_AIO_QUEUE_H

#include <libaio.h>

#include "backends/backend.h"
#include "backends/posixfile.h"

struct aio_slot;

/* The queue of a session. Zero-initialise. Every slot is in one of three places: idle, ready (in a
 * batch that is not full) or in flight. */
struct aio_queue {
    io_context_t ctx;
    struct aio_slot *slots, **idle; /* depth each; idle is a stack */
    struct iocb **ready;
    struct io_event *events; /* batch */
    void *pool;              /* of the slots' buffers */
    size_t room;             /* bytes of a buffer */
    int depth, batch;
    int n_idle, n_ready, in_flight;
    bool broken; /* the system does not tell any more what is done */
};

/* Make the queue: 'depth' page-aligned buffers of 'room' bytes, which are submitted 'batch' at a
 * time. Local. Returns 0, or -1 and err (WEIR_ESETUP); then nothing is left. */
int aio_queue_init(struct aio_queue *q, int depth, int batch, size_t room, struct weir_err *err);

/* Wait for what is in flight and give everything back. Harmless on a queue of zeros. */
void aio_queue_free(struct aio_queue *q);

/* Begin to move all of io (1 to room bytes): a write from a copy, a read to nowhere. Waits where no
 * buffer is idle. Local. No allocation. Returns 0, or -1 and err (WEIR_EIO): this or an earlier
 * transfer, which err names, has failed. */
int aio_queue_begin(struct aio_queue *q, struct weir_posix_file *f, const struct weir_io *io,
                    struct weir_err *err);

/* Wait until nothing is on its way. f: the open file, for messages. Local. No allocation. Returns
 * 0, or -1 and err (WEIR_EIO) that names the first transfer that failed; nothing is left even
 * then. */
int aio_queue_drain(struct aio_queue *q, const struct weir_file *f, struct weir_err *err);

#endif
