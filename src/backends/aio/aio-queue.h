/* SPDX-License-Identifier: BSD-3-Clause */
/* aio-queue.h - requests in the queue of Linux: batches, what is refused, what is done */
#ifndef WEIR_BACKENDS_AIO_AIO_QUEUE_H
#define WEIR_BACKENDS_AIO_AIO_QUEUE_H

#include <libaio.h>

#include "backends/backend.h"
#include "backends/shared/posixfile.h"

/* The queue of a session. Zero-initialise. Every slot is in one of three places: idle, ready (in a
 * batch that is not full, or that the system has no room for) or in flight. */
struct aio_queue {
    io_context_t ctx;
    struct iocb *slots, **idle, **ready;         /* depth each; idle is a stack */
    struct io_event *events;                     /* batch */
    struct weir_request *refused, **refused_end; /* by the system: a list */
    int depth, batch;
    int n_idle, n_ready, in_flight;
};

/* Make the queue, which hands over and takes back 'batch' requests at a time. Local. Returns 0, or
 * -1 and err (WEIR_ESETUP); then nothing is left. */
int aio_queue_init(struct aio_queue *q, int depth, int batch, struct weir_err *err);

/* Wait for what is in flight and give everything back. Harmless on a queue of zeros. */
void aio_queue_free(struct aio_queue *q);

/* Is nothing on its way? */
bool aio_queue_is_empty(const struct aio_queue *q);

/* As submit and complete of struct weir_backend. Local. No allocation. */
int aio_queue_submit(struct aio_queue *q, struct weir_request *r, struct weir_err *err);
int aio_queue_complete(struct aio_queue *q, const char *path, int least, int most,
                       struct weir_request **done, struct weir_err *err);

#endif
