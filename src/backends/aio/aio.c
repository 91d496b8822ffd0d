/* SPDX-License-Identifier: BSD-3-Clause */
/* aio.c - AIO: the files of POSIX, and transfers in the queue of Linux asynchronous I/O */

#include <errno.h>
#include <stdlib.h>

#include <libaio.h>

#include "backends/aio/aio-descriptor.h"
#include "backends/shared/posixns.h"
#include "base/node/sysfile.h"

#define NUMBER 32 /* bytes of its text */

/* The queue of a session. Every slot is in one of three places: idle, ready (in a batch that is not
 * full, or that the system cannot take) or in flight. */
struct aio_queue {
    io_context_t ctx;
    struct iocb *slots, **idle, **ready;         /* depth each; idle is a stack */
    struct io_event *events;                     /* batch */
    struct weir_request *refused, **refused_end; /* by the system: a list */
    int depth, batch;
    int n_idle, n_ready, in_flight;
};

static int aio_check(struct weir_session *s, const struct weir_extent *extent, struct weir_err *err)
{
    const struct aio_options *o = s->opt;

    if (s->be->base->check(s, extent, err) < 0 || weir_posix_check_queue(s, err) < 0)
        return -1;
    if (s->access.depth == 0 && o->granularity > o->max_pending)
        return weir_refuse(err, WEIR_EUSAGE,
                           "--aio.granularity (%d) must not be more than --aio.max-pending (%d)",
                           o->granularity, o->max_pending);
    return 0;
}

/* ---- the queue ---- */

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
    char most[NUMBER], now[NUMBER];

    if (rc == 0)
        return 0;
    q->ctx = NULL;
    errno = -rc;
    weir_fail(err, WEIR_ESETUP, "io_setup for a queue of depth %d", q->depth);
    if ((rc != -EAGAIN && rc != -EINVAL) || !err)
        return -1;
    weir_sysfile_line("", most, sizeof(most), "/proc/sys/fs/aio-max-nr");
    weir_sysfile_line("", now, sizeof(now), "/proc/sys/fs/aio-nr");
    weir_refuse(err, WEIR_ESETUP,
                "%s (/proc/sys/fs/aio-max-nr allows %s requests for all processes of a node, and "
                "%s are in use; give a smaller --depth or --aio.max-pending)",
                err->text, *most ? most : "some", *now ? now : "others");
    return -1;
}

/* Harmless on a queue of zeros. */
static void free_queue(struct aio_queue *q)
{
    if (q->ctx)
        io_destroy(q->ctx); /* io_destroy waits, so the buffers are no longer used */
    free(q->events);
    free(q->ready);
    free(q->idle);
    free(q->slots);
    *q = (struct aio_queue) { 0 };
}

/* A queue that hands over and takes back 'batch' requests at a time. The system is asked before
 * memory is taken. After a failure nothing is left. */
static int make_queue(struct aio_queue *q, int depth, int batch, struct weir_err *err)
{
    *q = (struct aio_queue) { .depth = depth, .batch = batch < depth ? batch : depth };
    q->refused_end = &q->refused;
    if (open_context(q, err) == 0 && make_lists(q, err) == 0)
        return 0;
    free_queue(q);
    return -1;
}

/* A queue for one transfer, for callers that use no more. */
static int aio_begin(struct weir_session *s, struct weir_err *err)
{
    const struct aio_options *o = s->opt;

    if (s->access.depth == 0)
        s->depth = o->max_pending;
    return make_queue(s->priv, 1, 1, err);
}

static int aio_queue(struct weir_session *s, int depth, struct weir_err *err)
{
    const struct aio_options *o = s->opt;

    free_queue(s->priv);
    return make_queue(s->priv, depth,
                      s->access.depth > 0 ? weir_queue_batch(depth, o->granularity) : o->granularity,
                      err);
}

static int aio_end(struct weir_session *s, struct weir_err *err)
{
    free_queue(s->priv);
    return 0;
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
 * resource: the end of a request in flight then frees some. */
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

static int aio_submit(struct weir_request *r, struct weir_err *err)
{
    const struct weir_posix_file *f = (const struct weir_posix_file *)r->file;
    struct aio_queue *q = r->file->s->priv;
    struct iocb *cb;

    if (q->n_idle == 0)
        return weir_refuse(err, WEIR_EBUG, "a transfer began in a full queue of %d", q->depth);
    cb = q->idle[--q->n_idle];
    if (r->io.dir == WEIR_DIR_WRITE)
        io_prep_pwrite(cb, f->fd, r->io.buf, r->io.len, (long long)r->io.off);
    else
        io_prep_pread(cb, f->fd, r->io.buf, r->io.len, (long long)r->io.off);
    cb->aio_rw_flags = f->rw_flags[r->io.dir];
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
 * -errno. Where none must be, libaio looks into the ring before it asks the system. */
static int take_events(struct aio_queue *q, int least, int most, struct weir_request **done)
{
    struct timespec now = { 0, 0 };
    int n;

    if (most > q->batch)
        most = q->batch;
    do
        n = io_getevents(q->ctx, least < most ? least : most, most, q->events,
                         least > 0 ? NULL : &now);
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

static int aio_complete(struct weir_file *f, int least, int most, struct weir_request **done,
                        struct weir_err *err)
{
    struct aio_queue *q = f->s->priv;
    int n = 0, got;

    do {
        hand_over(q);
        n += take_refused(q, most - n, done + n);
        if (n == most || q->in_flight == 0)
            break;
        got = take_events(q, least > n ? least - n : 0, most - n, done + n);
        if (got < 0 && n > 0) /* these are done; the reason comes again */
            break;
        if (got < 0) {
            errno = -got;
            return weir_fail(err, WEIR_EIO, "wait for the transfers of '%s'", f->path);
        }
        n += got;
    } while (n < least);
    return n;
}

/* Through the queue, where it is empty; the rest of a transfer that came back short does not wait
 * for others. */
static ssize_t aio_xfer(struct weir_file *f, const struct weir_io *io, struct weir_err *err)
{
    struct aio_queue *q = f->s->priv;
    struct weir_request r = { .io = *io, .file = f }, *done;

    if (io->len == 0 || q->in_flight > 0 || q->n_ready > 0 || q->refused)
        return f->s->be->base->xfer(f, io, err);
    if (aio_submit(&r, err) < 0 || aio_complete(f, 1, 1, &done, err) < 0)
        return -1;
    return r.n < 0 ? weir_posix_request_reason(&r, err) : r.n;
}

const struct weir_backend weir_plugin = {
    AIO_DESCRIPTOR,
    .priv_size = sizeof(struct aio_queue),
    .file_size = sizeof(struct weir_posix_file),
    .check = aio_check,
    .begin = aio_begin,
    .end = aio_end,
    .open = weir_posix_open_file,
    .close = weir_posix_close_file,
    .xfer = aio_xfer,
    .depth_option = "max-pending",
    .queue = aio_queue,
    .submit = aio_submit,
    .complete = aio_complete,
    .reason = weir_posix_request_reason,
    .sync = weir_posix_sync_file,
    .ns = &weir_posix_ns,
#ifdef HAVE_LUSTRE
    .reset_dir = weir_posix_reset_dir,
#endif
};
