/* SPDX-License-Identifier: BSD-3-Clause */
/* aio-queue.c - requests in the queue of Linux: batches, what is refused, what is done */
#include "backends/aio/aio-queue.h"
#include "config.h"

#include <errno.h>
#include <stdlib.h>

/* ---- making and freeing ---- */

static int make_lists(struct aio_queue *q, struct weir_err *err)
{
    size_t depth = (size_t)q->depth;

    q->slots = calloc(depth, sizeof(*q->slots));
    q->idle = calloc(depth, sizeof(*q->idle));
    q->ready = calloc(depth, sizeof(*q->ready));
    q->events = calloc((size_t)q->batch, sizeof(*q->events));
    if (!q->slots || !q->idle || !q->ready || !q->events)
        return weir_fail(err, WEIR_ESETUP, "memory for %d asynchronous transfers", q->depth);
    for (int i = 0; i < q->depth; i++)
        q->idle[q->n_idle++] = &q->slots[i];
    return 0;
}

static int open_context(struct aio_queue *q, struct weir_err *err)
{
    int rc = io_setup(q->depth, &q->ctx);

    if (rc == 0)
        return 0;
    q->ctx = NULL;
    errno = -rc;
    weir_fail(err, WEIR_ESETUP, "io_setup for a queue of depth %d", q->depth);
    if (rc == -EAGAIN || rc == -EINVAL)
        weir_refuse(err, WEIR_ESETUP,
                    "%s (/proc/sys/fs/aio-max-nr is the limit for all processes of a node; give a "
                    "smaller --aio.max-pending)",
                    err ? err->text : "");
    return -1;
}

/* The system is asked before memory is taken. */
int aio_queue_init(struct aio_queue *q, int depth, int batch, struct weir_err *err)
{
    *q = (struct aio_queue) { .depth = depth, .batch = batch < depth ? batch : depth };
    q->refused_end = &q->refused;
    if (open_context(q, err) == 0 && make_lists(q, err) == 0)
        return 0;
    aio_queue_free(q);
    return -1;
}

void aio_queue_free(struct aio_queue *q)
{
    if (q->ctx)
        io_destroy(q->ctx); /* io_destroy waits, so nobody uses the buffers any more */
    free(q->events);
    free(q->ready);
    free(q->idle);
    free(q->slots);
    *q = (struct aio_queue) { 0 };
}

bool aio_queue_is_empty(const struct aio_queue *q)
{
    return q->n_ready == 0 && q->in_flight == 0 && !q->refused;
}

/* ---- submission ---- */

/* The system refuses it: that is the result of the request. */
static void refuse(struct aio_queue *q, struct iocb *cb, int sys)
{
    struct weir_request *r = cb->data;

    r->n = -1;
    r->sys = sys;
    r->next = NULL;
    *q->refused_end = r;
    q->refused_end = &r->next;
    q->idle[q->n_idle++] = cb;
}

/* Submit what is ready. The system may take a part of it, or nothing while it is short of a
 * resource: the end of a request in flight then makes room. */
static void hand_over(struct aio_queue *q)
{
    int done = 0, n;

    while (done < q->n_ready) {
        n = io_submit(q->ctx, q->n_ready - done, q->ready + done);
        if (n > 0) {
            done += n;
            q->in_flight += n;
        } else if ((n == 0 || n == -EAGAIN) && q->in_flight > 0) {
            break;
        } else if (n != -EINTR) {
            refuse(q, q->ready[done], n == 0 ? EAGAIN : -n);
            done++;
        }
    }
    q->n_ready -= done;
    for (int i = 0; i < q->n_ready; i++)
        q->ready[i] = q->ready[done + i];
}

int aio_queue_submit(struct aio_queue *q, struct weir_request *r, struct weir_err *err)
{
    const struct weir_posix_file *f = (const struct weir_posix_file *)r->file;
    struct iocb *cb;

    if (q->n_idle == 0)
        return weir_refuse(err, WEIR_EBUG, "more than %d transfers in a queue", q->depth);
    cb = q->idle[--q->n_idle];
    if (r->io.dir == WEIR_DIR_WRITE)
        io_prep_pwrite(cb, f->fd, r->io.buf, r->io.len, (long long)r->io.off);
    else
        io_prep_pread(cb, f->fd, r->io.buf, r->io.len, (long long)r->io.off);
    cb->data = r;
    q->ready[q->n_ready++] = cb;
    if (q->n_ready >= q->batch)
        hand_over(q);
    return 0;
}

/* ---- completion ---- */

static int take_refused(struct aio_queue *q, int most, struct weir_request **done)
{
    int n = 0;

    for (; n < most && q->refused; n++) {
        done[n] = q->refused;
        q->refused = done[n]->next;
    }
    if (!q->refused)
        q->refused_end = &q->refused;
    return n;
}

/* Take back requests that the system has completed, a batch at most. Returns how many, or
 * -errno. */
static int take_events(struct aio_queue *q, int least, int most, struct weir_request **done)
{
    int n;

    if (most > q->batch)
        most = q->batch;
    do
        n = io_getevents(q->ctx, least < most ? least : most, most, q->events, NULL);
    while (n == -EINTR);
    for (int i = 0; i < n; i++) {
        const struct io_event *e = &q->events[i];
        ssize_t res = (ssize_t)e->res;

        done[i] = e->data;
        done[i]->n = res < 0 ? -1 : res;
        done[i]->sys = res < 0 ? (int)-res : 0;
        q->idle[q->n_idle++] = e->obj;
    }
    q->in_flight -= n > 0 ? n : 0;
    return n;
}

int aio_queue_complete(struct aio_queue *q, const char *path, int least, int most,
                       struct weir_request **done, struct weir_err *err)
{
    int n = 0, got;

    do {
        hand_over(q);
        n += take_refused(q, most - n, done + n);
        if (n == most || q->in_flight == 0)
            break;
        got = take_events(q, least > n ? least - n : 0, most - n, done + n);
        if (got < 0) {
            errno = -got;
            return weir_fail(err, WEIR_EIO, "wait for the transfers of '%s'", path);
        }
        n += got;
    } while (n < least);
    return n;
}
