/* SPDX-License-Identifier: BSD-3-Clause */
/* uring.c - URING: the files of POSIX, and transfers in the queue of an io_uring */

#include <errno.h>
#include <string.h>
#include <sys/resource.h>

#include <liburing.h>

#include "backends/backend.h"
#include "backends/shared/posixfile.h"
#include "backends/shared/posixns.h"
#include "backends/uring/uring-descriptor.h"

#define DEPTH_MAX 32768      /* entries of a ring */
#define CALL_MAX 0x7ffff000u /* bytes that the kernel moves at a time; the rest is a short transfer */
#define BUFFER_MAX (UINT64_C(1) << 30) /* bytes of a registered buffer */
#define AREAS 2
#define FILES 64 /* that can be registered at once */

/* The ring of a session. Requests are ready (prepared, and the kernel knows nothing of them) or in
 * flight. */
struct uring {
    struct io_uring ring;
    bool open;
    int batch, ready, in_flight;
    struct iovec area[AREAS]; /* registered memory */
    int areas, areas_sys;     /* errno why there is none; 0: not asked for */
    int files_sys;
    bool files; /* there is a table of them */
    bool used[FILES];
};

struct uring_file {
    struct weir_posix_file posix;
    int slot; /* in the table of the ring; -1: it is not registered */
};

static int uring_check(struct weir_session *s, const struct weir_extent *extent,
                       struct weir_err *err)
{
    const struct uring_options *o = s->opt;

    if (s->be->base->check(s, extent, err) < 0 || weir_posix_check_queue(s, err) < 0)
        return -1;
    if (s->access.depth > DEPTH_MAX)
        return weir_refuse(err, WEIR_EUSAGE, "--depth=%d: an io_uring has at most %d entries",
                           s->access.depth, DEPTH_MAX);
    if (o->iopoll && !weir_posix_is_direct(s))
        return weir_refuse(err, WEIR_EUSAGE,
                           "--uring.iopoll polls the device, which needs direct I/O; add "
                           "--posix.odirect, or leave --uring.iopoll out");
    return 0;
}

/* ---- the ring ---- */

/* The limit of locked memory, with which the kernel counts what is registered. */
static const char *show_locked(char text[WEIR_LIMIT_TEXT])
{
    return weir_posix_limit(RLIMIT_MEMLOCK, 1024, " KiB", text);
}

/* The remedy for an errno of io_uring_setup. */
static const char *advise(int sys)
{
    switch (sys) {
    case ENOSYS:
        return " (this kernel has no io_uring; it needs Linux 5.19)";
    case EPERM:
    case EACCES:
        return " (io_uring is disabled: use -a AIO or --uring.fallback=aio, or ask the "
               "administrator for sysctl kernel.io_uring_disabled=0, in a container for a seccomp "
               "profile that allows io_uring_setup)";
    case ENOMEM:
        return " (the limit of locked memory may be too low; give a smaller --depth)";
    default:
        return "";
    }
}

/* Newer kernels do less work where one thread submits; older ones do not know the flags. */
static int open_ring(struct io_uring *ring, int depth, const struct uring_options *o)
{
    const unsigned asked =
        (o->sqpoll ? IORING_SETUP_SQPOLL : 0u) | (o->iopoll ? IORING_SETUP_IOPOLL : 0u);
    const unsigned quick[] = {
        IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_TASKRUN_FLAG,
        IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG, 0
    };
    int rc = -EINVAL;

    for (int i = o->sqpoll ? 2 : 0; i < 3 && rc == -EINVAL; i++)
        rc = io_uring_queue_init((unsigned)depth, ring, asked | quick[i]);
    return rc;
}

static int uring_refused(const void *opt)
{
    struct io_uring ring;
    int rc = open_ring(&ring, 1, opt);

    if (rc >= 0)
        io_uring_queue_exit(&ring);
    return rc == -ENOSYS || rc == -EPERM || rc == -EACCES ? -rc : 0;
}

/* Register what was asked for: 0 or errno; -1 and err where it must be. */
static int outcome(const char *what, const char *way, int rc, struct weir_err *err)
{
    char text[WEIR_LIMIT_TEXT];

    if (rc >= 0 || strcmp(way, "auto") == 0)
        return rc < 0 ? -rc : 0;
    errno = -rc;
    return weir_fail(err, WEIR_ESETUP, "--uring.%s=yes: register the %s of the queue (ulimit -l, the "
                     "limit of locked memory, is %s)", what, what, show_locked(text));
}

/* A ring as deep as the queue may be, also for callers that use no more than one transfer. */
static int uring_begin(struct weir_session *s, struct weir_err *err)
{
    struct uring *q = s->priv;
    int rc = open_ring(&q->ring, s->depth, s->opt);
    char text[WEIR_LIMIT_TEXT];

    if (rc < 0) {
        errno = -rc;
        weir_fail(err, WEIR_ESETUP, "io_uring_setup for a queue of depth %d%s", s->depth, advise(-rc));
        return rc == -ENOMEM ? weir_err_within(err, "ulimit -l is %s", show_locked(text)) : -1;
    }
    q->open = true;
    q->batch = 1;
    return 0;
}

static int uring_queue(struct weir_session *s, int depth, struct weir_err *err)
{
    const struct uring_options *o = s->opt;
    struct uring *q = s->priv;
    int rc;

    q->batch = weir_queue_batch(depth, o->batch);
    if (strcmp(o->files, "no") == 0)
        return 0;
    rc = io_uring_register_files_sparse(&q->ring, FILES);
    q->files = rc >= 0;
    q->files_sys = outcome("files", o->files, rc, err);
    return q->files_sys < 0 ? -1 : 0;
}

static int uring_buffers(struct weir_session *s, const struct iovec *area, int n,
                         struct weir_err *err)
{
    const struct uring_options *o = s->opt;
    struct uring *q = s->priv;
    int rc = 0;

    if (strcmp(o->buffers, "no") == 0)
        return 0;
    for (int i = 0; i < n; i++)
        if (area[i].iov_len > BUFFER_MAX)
            rc = -EFBIG;
    if (n > AREAS)
        rc = -E2BIG;
    if (rc == 0)
        rc = io_uring_register_buffers(&q->ring, area, (unsigned)n);
    q->areas_sys = outcome("buffers", o->buffers, rc, err);
    if (q->areas_sys != 0)
        return q->areas_sys < 0 ? -1 : 0;
    memcpy(q->area, area, (size_t)n * sizeof(*area));
    q->areas = n;
    return 0;
}

static int uring_end(struct weir_session *s, struct weir_err *err)
{
    struct uring *q = s->priv;

    if (q->open)
        io_uring_queue_exit(&q->ring);
    *q = (struct uring) { 0 };
    return 0;
}

/* ---- transfers ---- */

/* The registered memory that holds all of a buffer; -1: none. */
static int area_of(const struct uring *q, const struct weir_io *io)
{
    for (int i = 0; i < q->areas; i++) {
        size_t at = (size_t)((uintptr_t)io->buf - (uintptr_t)q->area[i].iov_base);

        if (at < q->area[i].iov_len && io->len <= q->area[i].iov_len - at)
            return i;
    }
    return -1;
}

static void prepare(const struct uring *q, struct io_uring_sqe *sqe, const struct weir_request *r)
{
    const struct uring_file *f = (const struct uring_file *)r->file;
    unsigned len = r->io.len < CALL_MAX ? (unsigned)r->io.len : CALL_MAX;
    bool fixed = f->slot >= 0;
    int fd = fixed ? f->slot : f->posix.fd, area = area_of(q, &r->io);

    if (r->io.dir == WEIR_DIR_WRITE && area >= 0)
        io_uring_prep_write_fixed(sqe, fd, r->io.buf, len, r->io.off, area);
    else if (r->io.dir == WEIR_DIR_WRITE)
        io_uring_prep_write(sqe, fd, r->io.buf, len, r->io.off);
    else if (area >= 0)
        io_uring_prep_read_fixed(sqe, fd, r->io.buf, len, r->io.off, area);
    else
        io_uring_prep_read(sqe, fd, r->io.buf, len, r->io.off);
    sqe->rw_flags = f->posix.rw_flags[r->io.dir];
    if (fixed)
        sqe->flags |= IOSQE_FIXED_FILE;
}

/* Submit the requests that are ready, and wait for 'wait' completions. The kernel may take a part
 * while it lacks a resource: the end of a transfer in flight then frees some. 0 or -errno. */
static int hand_over(struct uring *q, unsigned wait)
{
    int n = wait > 0 ? io_uring_submit_and_wait(&q->ring, wait)
                     : io_uring_submit_and_get_events(&q->ring);

    if (n >= 0) {
        q->ready -= n;
        q->in_flight += n;
        return 0;
    }
    if (n == -EINTR || ((n == -EAGAIN || n == -EBUSY) && q->in_flight > 0))
        return 0;
    return n;
}

static int uring_submit(struct weir_request *r, struct weir_err *err)
{
    struct uring *q = r->file->s->priv;
    struct io_uring_sqe *sqe = io_uring_get_sqe(&q->ring);

    if (!sqe)
        return weir_refuse(err, WEIR_EBUG, "a transfer began in a full queue of %d",
                           r->file->s->depth);
    prepare(q, sqe, r);
    /* The user data are ours: the request comes back with them. */
    io_uring_sqe_set_data(sqe, r);
    if (++q->ready >= q->batch)
        hand_over(q, 0); /* what it refuses stays ready, and complete meets the reason */
    return 0;
}

static int take_completed(struct uring *q, int most, struct weir_request **done)
{
    struct io_uring_cqe *cqe;
    unsigned head;
    int n = 0;

    io_uring_for_each_cqe(&q->ring, head, cqe) {
        if (n == most)
            break;
        done[n] = io_uring_cqe_get_data(cqe);
        done[n]->n = cqe->res < 0 ? -1 : cqe->res;
        done[n]->sys = cqe->res < 0 ? -cqe->res : 0;
        n++;
    }
    io_uring_cq_advance(&q->ring, (unsigned)n);
    q->in_flight -= n;
    return n;
}

static int uring_complete(struct weir_file *f, int least, int most, struct weir_request **done,
                          struct weir_err *err)
{
    struct uring *q = f->s->priv;
    int n = take_completed(q, most, done), rc;
    struct io_uring_cqe *cqe;

    while (n < least || (n == 0 && q->ready > 0)) {
        rc = hand_over(q, n < least ? 1 : 0);
        if (rc < 0 && n > 0) /* these are done; the reason comes again */
            return n;
        if (rc < 0) {
            errno = -rc;
            return weir_fail(err, WEIR_EIO, "wait for the transfers of '%s'", f->path);
        }
        n += take_completed(q, most - n, done + n);
    }
    /* The kernel posts some only when it is called; its flags say so. */
    if (n == 0 && q->in_flight > 0 && io_uring_peek_cqe(&q->ring, &cqe) == 0)
        n = take_completed(q, most, done);
    return n;
}

static int uring_reason(const struct weir_request *r, struct weir_err *err)
{
    const struct uring_options *o = r->file->s->opt;

    errno = r->sys;
    if (o->iopoll && r->sys == EOPNOTSUPP)
        return weir_fail(err, WEIR_EIO, "--uring.iopoll: this file system or device cannot be polled");
    return weir_posix_request_reason(r, err);
}

/* Through the ring, where it is empty; the rest of a transfer that came back short does not wait for
 * others. */
static ssize_t uring_xfer(struct weir_file *f, const struct weir_io *io, struct weir_err *err)
{
    struct uring *q = f->s->priv;
    struct weir_request r = { .io = *io, .file = f }, *done;

    if (io->len == 0 || q->in_flight > 0 || q->ready > 0)
        return f->s->be->base->xfer(f, io, err);
    if (uring_submit(&r, err) < 0 || uring_complete(f, 1, 1, &done, err) < 0)
        return -1;
    return r.n < 0 ? uring_reason(&r, err) : r.n;
}

/* ---- files ---- */

/* A free place in the table of the ring, where it has one. Without it the descriptor does. */
static int enter_table(struct uring *q, int fd)
{
    for (int i = 0; q->files && i < FILES; i++)
        if (!q->used[i]) {
            q->used[i] = io_uring_register_files_update(&q->ring, (unsigned)i, &fd, 1) == 1;
            return q->used[i] ? i : -1;
        }
    return -1;
}

static int uring_open(struct weir_session *s, const char *path, unsigned flags, struct weir_file *f,
                      struct weir_err *err)
{
    if (weir_posix_open_file(s, path, flags, f, err) < 0)
        return -1;
    ((struct uring_file *)f)->slot = enter_table(s->priv, ((struct uring_file *)f)->posix.fd);
    return 0;
}

/* The table would keep the file open. */
static int uring_close(struct weir_file *wf, struct weir_err *err)
{
    struct uring_file *f = (struct uring_file *)wf;
    struct uring *q = wf->s->priv;
    int none = -1;

    if (f->slot >= 0) {
        io_uring_register_files_update(&q->ring, (unsigned)f->slot, &none, 1);
        q->used[f->slot] = false;
    }
    return weir_posix_close_file(wf, err);
}

static void describe_one(struct weir_str *out, const char *what, const char *way, bool done, int sys)
{
    weir_str_addf(out, "uring.%s = %s", what, done ? "registered" : "not registered");
    if (!done)
        weir_str_addf(out, " (%s)",
                      strcmp(way, "no") == 0 ? "as asked" : sys ? strerror(sys) : "no queue");
    weir_str_addf(out, "\n");
}

static void uring_describe(struct weir_file *f, struct weir_str *out)
{
    const struct uring_options *o = f->s->opt;
    const struct uring *q = f->s->priv;

    if (f->s->log->verbose < 1)
        return;
    describe_one(out, "buffers", o->buffers, q->areas > 0, q->areas_sys);
    describe_one(out, "files", o->files, q->files, q->files_sys);
}

const struct weir_backend weir_plugin = {
    URING_DESCRIPTOR,
    .priv_size = sizeof(struct uring),
    .file_size = sizeof(struct uring_file),
    .check = uring_check,
    .refused = uring_refused,
    .begin = uring_begin,
    .end = uring_end,
    .open = uring_open,
    .close = uring_close,
    .xfer = uring_xfer,
    .queue = uring_queue,
    .buffers = uring_buffers,
    .submit = uring_submit,
    .complete = uring_complete,
    .reason = uring_reason,
    .sync = weir_posix_sync_file,
    .ns = &weir_posix_ns,
    .describe = uring_describe,
#ifdef HAVE_LUSTRE
    .reset_dir = weir_posix_reset_dir,
#endif
};
