/* SPDX-License-Identifier: BSD-3-Clause */
/* aio.c - AIO: the files of POSIX, and transfers in the queue of Linux asynchronous I/O */
#include "config.h"

#include <errno.h>

#include "backends/aio/aio-descriptor.h"
#include "backends/aio/aio-queue.h"
#include "backends/backend.h"
#include "backends/shared/posixfile.h"
#include "backends/shared/posixns.h"

static int aio_check(struct weir_session *s, const struct weir_extent *extent, struct weir_err *err)
{
    const struct aio_options *o = s->opt;
    const char *around = weir_posix_around(s);

    if (s->be->base->check(s, extent, err) < 0)
        return -1;
    if (around)
        return weir_refuse(err, WEIR_EUSAGE,
                           "--posix.%s is for transfers that are done when their call returns, and "
                           "those of AIO are not; leave it out, or take -a POSIX",
                           around);
    if (o->granularity > o->max_pending)
        return weir_refuse(err, WEIR_EUSAGE,
                           "--aio.granularity (%d) must not be more than --aio.max-pending (%d)",
                           o->granularity, o->max_pending);
    return 0;
}

/* ---- the queue ---- */

/* A queue for one transfer, for callers that use no more. */
static int aio_begin(struct weir_session *s, struct weir_err *err)
{
    const struct aio_options *o = s->opt;

    s->depth = o->max_pending;
    return aio_queue_init(s->priv, 1, 1, err);
}

static int aio_queue(struct weir_session *s, int depth, struct weir_err *err)
{
    const struct aio_options *o = s->opt;

    aio_queue_free(s->priv);
    return aio_queue_init(s->priv, depth, o->granularity, err);
}

static int aio_end(struct weir_session *s, struct weir_err *err)
{
    (void)err;
    aio_queue_free(s->priv);
    return 0;
}

static int aio_submit(struct weir_request *r, struct weir_err *err)
{
    return aio_queue_submit(r->file->s->priv, r, err);
}

static int aio_complete(struct weir_file *f, int least, int most, struct weir_request **done,
                        struct weir_err *err)
{
    return aio_queue_complete(f->s->priv, f->path, least, most, done, err);
}

static int aio_reason(const struct weir_request *r, struct weir_err *err)
{
    errno = r->sys;
    return weir_posix_reason((const struct weir_posix_file *)r->file, "", err);
}

/* ---- files ---- */

static int aio_open(struct weir_session *s, const char *path, unsigned flags, struct weir_file *f,
                    struct weir_err *err)
{
    return s->be->base->open(s, path, flags, f, err);
}

static int aio_close(struct weir_file *f, struct weir_err *err)
{
    return f->s->be->base->close(f, err);
}

static int aio_sync(struct weir_file *f, struct weir_err *err)
{
    return f->s->be->base->sync(f, err);
}

/* Through the queue, where it is empty; the rest of a transfer that came back short does not wait
 * for others. */
static ssize_t aio_xfer(struct weir_file *f, const struct weir_io *io, struct weir_err *err)
{
    struct aio_queue *q = f->s->priv;
    struct weir_request r = { .io = *io, .file = f }, *done;

    if (io->len == 0 || !aio_queue_is_empty(q))
        return f->s->be->base->xfer(f, io, err);
    if (aio_queue_submit(q, &r, err) < 0 || aio_queue_complete(q, f->path, 1, 1, &done, err) < 0)
        return -1;
    return r.n < 0 ? aio_reason(&r, err) : r.n;
}

const struct weir_backend weir_plugin = {
    AIO_DESCRIPTOR,
    .priv_size = sizeof(struct aio_queue),
    .file_size = sizeof(struct weir_posix_file),
    .check = aio_check,
    .begin = aio_begin,
    .end = aio_end,
    .open = aio_open,
    .close = aio_close,
    .xfer = aio_xfer,
    .depth_option = "max-pending",
    .queue = aio_queue,
    .submit = aio_submit,
    .complete = aio_complete,
    .reason = aio_reason,
    .sync = aio_sync,
    .ns = &weir_posix_ns,
#ifdef HAVE_LUSTRE
    .reset_dir = weir_posix_reset_dir,
#endif
};
