/* SPDX-License-Identifier: BSD-3-Clause */
/* aio.c - AIO: the files of POSIX, and transfers in the queue of Linux asynchronous I/O */
#include "config.h"

#include <unistd.h>

#include "backends/aio/aio-queue.h"
#include "backends/backend.h"
#include "backends/posixfile.h"
#include "backends/posixns.h"

struct aio_options {
    int max_pending, granularity;
};

#define O struct aio_options
static const struct weir_opt aio_opts[] = {
    OPT_INT(0, "max-pending", NULL, O, max_pending, "128", "N",
            "Transfers of a task that are on their way at most, each with a buffer of its own",
            .min = 8, .max = INT32_MAX),
    OPT_INT(0, "granularity", NULL, O, granularity, "16", "N",
            "Transfers that are handed to the system, and waited for, at a time", .min = 1,
            .max = INT32_MAX),
    OPT_END
};
#undef O

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

/* ---- begin and end ---- */

/* No longer than a task has transfers: many short files need few buffers. */
static int choose_depth(const struct weir_session *s, const struct weir_extent *h)
{
    const struct aio_options *o = s->opt;
    uint64_t transfers = h->transfer ? h->block / h->transfer * h->segments : 0;

    if (transfers > (uint64_t)o->max_pending)
        return o->max_pending;
    return transfers > 0 ? (int)transfers : 1;
}

/* Buffers are touched, and the system would rather end a process than say that there is no
 * memory. */
static int check_memory(const struct weir_session *s, uint64_t transfer, int depth,
                        struct weir_err *err)
{
    int tasks = s->par->per_node_max > 0 ? s->par->per_node_max : 1;
    double node = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);

    if ((double)depth * (double)transfer * tasks <= node)
        return 0;
    return weir_refuse(err, WEIR_ESETUP,
                       "%d buffers of %llu bytes in each of %d tasks are more than the memory of a "
                       "node; give a smaller --aio.max-pending or transfer size",
                       depth, (unsigned long long)transfer, tasks);
}

/* The queue for files of this geometry: made with the first of them. */
static int make_queue(struct weir_session *s, const struct weir_extent *extent,
                      struct weir_err *err)
{
    const struct aio_options *o = s->opt;
    struct aio_queue *q = s->priv;
    int depth = choose_depth(s, extent);

    if (extent->transfer <= q->room)
        return 0;
    aio_queue_free(q);
    if (check_memory(s, extent->transfer, depth, err) < 0 ||
        aio_queue_init(q, depth, o->granularity < depth ? o->granularity : depth, extent->transfer,
                       err) < 0)
        return -1;
    if (depth > 1 && !s->access.sync_each)
        weir_note(s->log,
                  "AIO: the time of a single transfer (percentiles, operations in CSV) is that "
                  "of queueing it; times, rates and mean latency of a phase include completion");
    return 0;
}

static int aio_end(struct weir_session *s, struct weir_err *err)
{
    (void)err;
    aio_queue_free(s->priv);
    return 0;
}

/* ---- files ---- */

static int aio_open(struct weir_session *s, const char *path, unsigned flags, struct weir_file *f,
                    struct weir_err *err)
{
    return make_queue(s, &f->extent, err) < 0 ? -1 : s->be->base->open(s, path, flags, f, err);
}

static int aio_drain(struct weir_file *f, struct weir_err *err)
{
    return aio_queue_drain(f->s->priv, f, err);
}

static int aio_close(struct weir_file *f, struct weir_err *err)
{
    int rc = aio_drain(f, err);

    if (f->s->be->base->close(f, rc < 0 ? NULL : err) < 0)
        rc = -1;
    return rc;
}

static int aio_sync(struct weir_file *f, struct weir_err *err)
{
    return aio_drain(f, err) < 0 ? -1 : f->s->be->base->sync(f, err);
}

/* Reads that somebody looks at must be there on return, and behind all that was begun; what is
 * longer than a buffer is rare (--randomPrefill). */
static ssize_t aio_xfer(struct weir_file *f, const struct weir_io *io, struct weir_err *err)
{
    struct aio_queue *q = f->s->priv;

    if ((io->dir == WEIR_DIR_READ && io->wanted) || io->len > q->room || io->len == 0)
        return aio_queue_drain(q, f, err) < 0 ? -1 : f->s->be->base->xfer(f, io, err);
    return aio_queue_begin(q, (struct weir_posix_file *)f, io, err) < 0 ? -1 : (ssize_t)io->len;
}

const struct weir_backend weir_backend_aio = {
    .abi = WEIR_BACKEND_ABI,
    .name = "AIO",
    .brief = "Ordinary files with a queue of asynchronous reads and writes (libaio)",
    .prefix = "aio.",
    .base = &weir_backend_posix,
    .opts = aio_opts,
    .opt_size = sizeof(struct aio_options),
    .priv_size = sizeof(struct aio_queue),
    .file_size = sizeof(struct weir_posix_file),
    .check = aio_check,
    .end = aio_end,
    .open = aio_open,
    .close = aio_close,
    .xfer = aio_xfer,
    .drain = aio_drain,
    .sync = aio_sync,
    .ns = &weir_posix_ns,
#ifdef HAVE_LUSTRE
    .reset_dir = weir_posix_reset_dir,
#endif
};
