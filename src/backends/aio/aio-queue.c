/* SPDX-License-Identifier: BSD-3-Clause */
/* aio-queue.c - transfers on their way: buffers, submission in batches, completion */
#include "config.h"
#include "backends/aio/aio-queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "backends/complete.h"
#include "base/mem.h"

#define PAGE 4096u

/* One transfer. */
struct aio_slot {
    struct iocb cb;
    struct weir_posix_file *file;
    struct weir_io io; /* as it was asked for, but buf is the slot's own */
};

/* ---- making and freeing ---- */

static int alloc_lists(struct aio_queue *q, struct weir_err *err)
{
    size_t depth = (size_t)q->depth;

    q->slots = calloc(depth, sizeof(*q->slots));
    q->idle = calloc(depth, sizeof(*q->idle));
    q->ready = calloc(depth, sizeof(*q->ready));
    q->events = calloc((size_t)q->batch, sizeof(*q->events));
    if (q->slots && q->idle && q->ready && q->events)
        return 0;
    return weir_fail(err, WEIR_ESETUP, "memory for %d asynchronous transfers", q->depth);
}

static int alloc_buffers(struct aio_queue *q, struct weir_err *err)
{
    size_t all;

    if (__builtin_mul_overflow(q->room, (size_t)q->depth, &all)) {
        errno = ENOMEM;
        return weir_fail(err, WEIR_ESETUP, "%d buffers of %zu bytes", q->depth, q->room);
    }
    if (weir_mem_aligned(&q->pool, PAGE, all, err) < 0)
        return weir_err_within(err, "%d buffers of %zu bytes", q->depth, q->room);
    for (int i = 0; i < q->depth; i++) {
        q->slots[i].io.buf = (char *)q->pool + (size_t)i * q->room;
        q->idle[q->n_idle++] = &q->slots[i];
    }
    return 0;
}

static int open_context(struct aio_queue *q, struct weir_err *err)
{
    int rc = io_setup(q->depth, &q->ctx);

    if (rc == 0)
        return 0;
    q->ctx = NULL;
    errno = -rc;
    weir_fail(err, WEIR_ESETUP, "io_setup for %d transfers", q->depth);
    if (rc == -EAGAIN)
        weir_refuse(err, WEIR_ESETUP,
                    "%s (/proc/sys/fs/aio-max-nr is the limit for all processes of a node; give a "
                    "smaller --aio.max-pending)",
                    err ? err->text : "");
    return -1;
}

int aio_queue_init(struct aio_queue *q, int depth, int batch, size_t room, struct weir_err *err)
{
    *q = (struct aio_queue) { .depth = depth, .batch = batch };
    q->room = (room + PAGE - 1) / PAGE * PAGE;
    if (alloc_lists(q, err) == 0 && alloc_buffers(q, err) == 0 && open_context(q, err) == 0)
        return 0;
    aio_queue_free(q);
    return -1;
}

void aio_queue_free(struct aio_queue *q)
{
    if (q->ctx)
        io_destroy(q->ctx); /* waits: the buffers are ours again */
    free(q->pool);
    free(q->events);
    free(q->ready);
    free(q->idle);
    free(q->slots);
    *q = (struct aio_queue) { 0 };
}

/* ---- completion ---- */

/* The system moved n bytes (or -errno), which is not all: do the rest here and now. */
static int finish(const struct aio_slot *slot, ssize_t n, struct weir_err *err)
{
    struct weir_file *f = &slot->file->base;
    int rc;

    if (n < 0) {
        errno = (int)-n;
        n = weir_posix_reason(slot->file, "", err);
    }
    rc = weir_complete(f, &slot->io, n, f->s->be->base->xfer, err);
    if (rc == 0)
        return 0;
    /* This is the end of another transfer than the one that the session may be in: that one must
     * not be tried again for it. */
    errno = EIO;
    if (err && (err->sys == EINTR || err->sys == EAGAIN))
        err->sys = EIO;
    return -1;
}

static int complete(struct aio_queue *q, struct aio_slot *slot, ssize_t n, struct weir_err *err)
{
    int rc = n == (ssize_t)slot->io.len ? 0 : finish(slot, n, err);

    q->idle[q->n_idle++] = slot;
    return rc;
}

/* Where the first error has its words already, later ones get none. */
static struct weir_err *unless(int rc, struct weir_err *err)
{
    return rc < 0 ? NULL : err;
}

/* Take in what is done: at least 'least' of those in flight, and a batch at most. */
static int reap(struct aio_queue *q, const struct weir_file *f, int least, struct weir_err *err)
{
    int n, rc = 0;

    do
        n = io_getevents(q->ctx, least, q->batch, q->events, NULL);
    while (n == -EINTR);
    if (n < 0) {
        q->broken = true;
        errno = -n;
        return weir_fail(err, WEIR_EIO, "wait for the transfers of '%s'", f->path);
    }
    q->in_flight -= n;
    for (int i = 0; i < n; i++)
        if (complete(q, q->events[i].data, (ssize_t)q->events[i].res, unless(rc, err)) < 0)
            rc = -1;
    return rc;
}

/* ---- submission ---- */

/* Hand over all that is ready. The system may take a part of it, and none while it is short of
 * something: then what comes back makes room. What it refuses has failed, or is moved here where it
 * only wants another try. */
static int submit(struct aio_queue *q, const struct weir_file *f, struct weir_err *err)
{
    int done = 0, rc = 0, n;

    while (done < q->n_ready && !q->broken) {
        n = io_submit(q->ctx, q->n_ready - done, q->ready + done);
        if (n > 0) {
            done += n;
            q->in_flight += n;
        } else if ((n == 0 || n == -EAGAIN) && q->in_flight > 0) {
            if (reap(q, f, 1, unless(rc, err)) < 0)
                rc = -1;
        } else if (n != -EINTR) {
            if (complete(q, q->ready[done]->data, n == 0 ? -EAGAIN : n, unless(rc, err)) < 0)
                rc = -1;
            done++;
        }
    }
    q->n_ready = 0;
    return rc;
}

static int fewer(int a, int b)
{
    return a < b ? a : b;
}

int aio_queue_begin(struct aio_queue *q, struct weir_posix_file *f, const struct weir_io *io,
                    struct weir_err *err)
{
    struct aio_slot *slot;

    if (q->n_idle == 0 && submit(q, &f->base, err) < 0)
        return -1;
    if (q->n_idle == 0 && !q->broken && reap(q, &f->base, fewer(q->in_flight, q->batch), err) < 0)
        return -1;
    if (q->broken)
        return weir_refuse(err, WEIR_EIO, "the transfers before it cannot be waited for");
    slot = q->idle[--q->n_idle];
    slot->file = f;
    slot->io = (struct weir_io) {
        .dir = io->dir, .buf = slot->io.buf, .len = io->len, .off = io->off, .tag = io->tag
    };
    if (io->dir == WEIR_DIR_WRITE) {
        memcpy(slot->io.buf, io->buf, io->len);
        io_prep_pwrite(&slot->cb, f->fd, slot->io.buf, io->len, (long long)io->off);
    } else {
        io_prep_pread(&slot->cb, f->fd, slot->io.buf, io->len, (long long)io->off);
    }
    slot->cb.data = slot;
    q->ready[q->n_ready++] = &slot->cb;
    return q->n_ready == q->batch ? submit(q, &f->base, err) : 0;
}

int aio_queue_drain(struct aio_queue *q, const struct weir_file *f, struct weir_err *err)
{
    int rc = submit(q, f, err);

    while (q->in_flight > 0 && !q->broken)
        if (reap(q, f, fewer(q->in_flight, q->batch), unless(rc, err)) < 0)
            rc = -1;
    return q->broken ? -1 : rc;
}
