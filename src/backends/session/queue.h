/* SPDX-License-Identifier: BSD-3-Clause */
/* queue.h - requests and buffers for a session with several transfers in flight */
#pragma once

#include "backends/session/session.h"

/* The requests of one session. Zero: depth 0, no queue. */
struct weir_queue {
    int depth;                                  /* requests */
    struct weir_request *slots, **idle, **done; /* depth each; idle is a stack */
    void *pool;                                 /* of the requests' buffers */
    size_t stride;                              /* bytes from one to the next */
    int n_idle;
    struct weir_gpu *gpu; /* which the pool is of; NULL: of the host */
};

/* Make a queue that is as deep as the session allows, but at most 'most'. Each request has a
 * page-aligned buffer of 'size' bytes (0: none), in memory of the session's GPU if it has one.
 * The session asks its backend first. Where the depth is 1 nothing is made, and q->depth is 0: use
 * weir_session_xfer. 'own' is memory of the caller that transfers use, too; the backend learns of
 * both. Local. 0, or -1 and err (WEIR_ESETUP); then nothing is left. */
int weir_queue_begin(struct weir_queue *q, struct weir_session *s, uint64_t most, size_t size,
                     struct iovec own, struct weir_err *err);

/* Free the requests and their buffers. After the session has ended, which waits for what may still
 * be in flight. Harmless on zeros. */
void weir_queue_end(struct weir_queue *q);

/* A request that is not in flight, or NULL. */
static inline struct weir_request *weir_queue_take(struct weir_queue *q)
{
    return q->n_idle > 0 ? q->idle[--q->n_idle] : NULL;
}

/* Return the buffer of a request. */
static inline void *weir_queue_buffer(const struct weir_queue *q, const struct weir_request *r)
{
    return (char *)q->pool + (size_t)(r - q->slots) * q->stride;
}

static inline int weir_queue_in_flight(const struct weir_queue *q)
{
    return q->depth - q->n_idle;
}

/* weir_session_submit; a request that is refused is idle again. */
static inline int weir_queue_submit(struct weir_queue *q, struct weir_request *r,
                                    uint64_t *clock_ns, struct weir_err *err)
{
    int rc = weir_session_submit(r, clock_ns, err);

    if (rc < 0)
        q->idle[q->n_idle++] = r;
    return rc;
}

/* weir_session_complete into q->done. The requests are idle again: their contents are there until
 * the next weir_queue_take. */
int weir_queue_complete(struct weir_queue *q, struct weir_file *f, int least, uint64_t *clock_ns,
                        struct weir_err *err);
