/* SPDX-License-Identifier: BSD-3-Clause */
/* session-gpu.c - transfers whose buffers are in memory of a GPU
 *
 * A session without a GPU is not changed: its backend is called directly. One with a GPU has a
 * copy of the backend, whose functions copy bytes or pointers and call those of the original. */
#include "backends/session/session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "backends/session/complete.h"

/* ---- direct ---- */

static int open_direct(struct weir_session *s, const char *path, unsigned flags,
                       struct weir_file *f, struct weir_err *err)
{
    struct weir_gpu_descriptor d = { .type = WEIR_GPU_OF_FD };

    if (s->under->open(s, path, flags, f, err) < 0)
        return -1;
    d.file.fd = s->under->descriptor(f);
    if (weir_gpu_files_check(s->gpu, s->gpu->files.add(&f->gpu_handle, &d), WEIR_EIO,
                             "HandleRegister", err) == 0)
        return 0;
    weir_err_within(err, "open '%s'", path);
    s->under->close(f, NULL);
    return -1;
}

static ssize_t move_direct(struct weir_file *f, const struct weir_io *io, struct weir_err *err)
{
    struct weir_gpu *g = f->s->gpu;
    const struct weir_gpu_area *a = weir_gpu_area_of(g, io->buf);
    const bool write = io->dir == WEIR_DIR_WRITE;
    off_t off = (off_t)io->off, at;
    ssize_t n;

    if (weir_gpu_lost(g, err) < 0)
        return -1;
    if (!a || io->len == 0) /* memory of the host, of metadata */
        return f->s->under->xfer(f, io, err);
    errno = ENODEV;
    if (weir_gpu_enter(g, WEIR_EIO, err) < 0) /* a thread of a queue has no device */
        return -1;
    at = (char *)io->buf - a->host;
    n = write ? g->files.write(f->gpu_handle, a->device, io->len, off, at)
              : g->files.read(f->gpu_handle, a->device, io->len, off, at);
    return n >= 0 ? n : weir_gpu_file_failed(g, write, n < -1 ? (int)-n : errno, err);
}

/* ---- staged and mapped ---- */

/* Before a call with this transfer, which gets the buffer of the program or its twin. */
static int begin_move(struct weir_session *s, struct weir_io *io, struct weir_err *err)
{
    const struct weir_gpu_area *a = weir_gpu_area_of(s->gpu, io->buf);

    if (io->len == 0) /* only takes part in the transfers of others */
        return 0;
    if (weir_gpu_lost(s->gpu, err) < 0)
        return -1;
    if (a && s->gpu->path == WEIR_GPU_MAPPED)
        io->buf = a->device + ((char *)io->buf - a->host);
    else if (a && io->dir == WEIR_DIR_WRITE)
        return weir_gpu_copy(s->gpu, io->buf, io->buf, io->len, false, err);
    return 0;
}

/* After a call that moved n bytes of it. */
static ssize_t end_move(struct weir_session *s, const struct weir_io *io, ssize_t n,
                        struct weir_err *err)
{
    const struct weir_gpu_area *a = weir_gpu_area_of(s->gpu, io->buf);
    bool copies = a && s->gpu->path == WEIR_GPU_STAGED && io->dir != WEIR_DIR_WRITE && n > 0 &&
                  (size_t)n <= io->len;

    return copies && weir_gpu_copy(s->gpu, io->buf, io->buf, (size_t)n, true, err) < 0 ? -1 : n;
}

static ssize_t move_other(struct weir_file *f, const struct weir_io *io, struct weir_err *err)
{
    struct weir_io other = *io;

    if (begin_move(f->s, &other, err) == 0)
        return end_move(f->s, io, f->s->under->xfer(f, &other, err), err);
    other.len = 0; /* the others of a collective transfer wait for this rank */
    if (!weir_may_repeat(f->s))
        f->s->under->xfer(f, &other, NULL);
    return -1;
}

/* Where the copy before a collective transfer has failed the others wait for this rank: it takes
 * part with nothing, and its request fails when it ends. */
static int submit_other(struct weir_request *r, struct weir_err *err)
{
    struct weir_session *s = r->file->s;
    struct weir_err why = WEIR_ERR_INIT;
    int rc;

    r->gpu_io = r->io;
    if (begin_move(s, &r->io, &why) < 0) {
        if (weir_may_repeat(s))
            return weir_refuse(err, why.code, "%s", why.text);
        if (s->gpu->lost.code == WEIR_OK)
            s->gpu->lost = why;
        r->io.len = 0;
    }
    rc = s->under->submit(r, err);
    if (rc < 0)
        r->io = r->gpu_io;
    return rc;
}

/* A copy that fails makes the request fail: its words are those of the first. */
static int complete_other(struct weir_file *f, int least, int most, struct weir_request **done,
                          struct weir_err *err)
{
    struct weir_session *s = f->s;
    int n = s->under->complete(f, least, most, done, err);

    for (int i = 0; i < n; i++) {
        struct weir_request *r = done[i];
        bool has_data = r->io.len == r->gpu_io.len;

        r->io = r->gpu_io;
        if (!has_data || (r->n > 0 && end_move(s, &r->io, r->n, &s->gpu->lost) < 0)) {
            r->n = -1;
            r->sys = EIO;
        }
    }
    return n;
}

/* ---- the session ---- */

/* A thread of a queue of direct transfers has kept the number of the reason only: where it could
 * not use the device, this thread tries. */
static int explain(const struct weir_request *r, struct weir_err *err)
{
    const struct weir_session *s = r->file->s;
    bool direct = s->gpu->path == WEIR_GPU_DIRECT;

    if (weir_gpu_lost(s->gpu, err) < 0 || (direct && weir_gpu_enter(s->gpu, WEIR_EIO, err) < 0))
        return -1;
    if (direct)
        return weir_gpu_file_failed(s->gpu, r->io.dir == WEIR_DIR_WRITE, r->sys, err);
    return s->under->reason ? s->under->reason(r, err)
                            : weir_refuse(err, WEIR_EIO, "%s", strerror(r->sys));
}

static int close_file(struct weir_file *f, struct weir_err *err)
{
    const struct weir_gpu *g = f->s->gpu;

    if (g->path == WEIR_GPU_DIRECT)
        g->files.drop(f->gpu_handle);
    return f->s->under->close(f, err) < 0 ? -1 : weir_gpu_lost(g, err);
}

int weir_session_gpu_wrap(struct weir_session *s, bool before, struct weir_err *err)
{
    bool direct = s->gpu && s->gpu->path == WEIR_GPU_DIRECT;
    struct weir_backend *be;

    if (!s->gpu || s->access.dry_run || direct != before)
        return 0;
    s->wrapped = be = malloc(sizeof(*be));
    if (!be)
        return weir_fail(err, WEIR_ESETUP, "memory for backend %s", s->be->name);
    *be = *s->be;
    s->under = s->be;
    s->be = be;
    be->xfer = direct ? move_direct : move_other; /* also what threads of a direct backend call */
    be->close = close_file;
    if (direct)
        be->open = open_direct;
    be->reason = explain;
    if (be->submit && !direct) {
        be->submit = submit_other;
        be->complete = complete_other;
    }
    return 0;
}
