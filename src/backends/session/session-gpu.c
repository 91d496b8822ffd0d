/* SPDX-License-Identifier: BSD-3-Clause */
/* session-gpu.c - transfers whose buffers are in memory of a GPU
 *
 * A session without a GPU is not changed: its backend is called directly. One with a GPU has a
 * copy of the backend, whose functions copy bytes or pointers and call those of the original. */
#include "config.h"
#include "backends/session/session-gpu.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "backends/session/complete.h"

/* ---- which ways there are ---- */

/* Does the MPI library take pointers of device memory? */
static bool mpi_takes_device(void)
{
    static const char *const names[] = { "MPIX_Query_cuda_support", "MPIX_Query_rocm_support" };
    void *found;

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if ((found = dlsym(RTLD_DEFAULT, names[i])) && ((int (*)(void))found)() == 1)
            return true;
    return false;
}

static int check_mapped(const struct weir_backend *be, enum weir_gpu_memory memory,
                        struct weir_err *err)
{
    if (!(be->flags & WEIR_BE_TAKES_POINTERS))
        return weir_refuse(
            err, WEIR_EUSAGE,
            "--gpu-path=mapped: %s does not give the buffers to a system call; choose staged",
            be->name);
    if (memory != WEIR_MEMORY_DEVICE || (be->flags & WEIR_BE_NO_DATA))
        return 0;
    if (!(be->flags & WEIR_BE_NEEDS_MPI))
        return weir_refuse(err, WEIR_EUSAGE, "--gpu-path=mapped: system calls of %s cannot access "
                                             "device memory (allocateBufferOnGPU=3); choose staged "
                                             "or direct, or managed memory (2)", be->name);
    if (mpi_takes_device())
        return 0;
    return weir_refuse(
        err, WEIR_EUSAGE,
        "--gpu-path=mapped: this MPI library does not report support for device memory "
        "(MPIX_Query_cuda_support, MPIX_Query_rocm_support); choose staged, or managed memory (2)");
}

int weir_session_gpu_check(const struct weir_backend *be, enum weir_gpu_memory memory,
                           enum weir_gpu_path path, struct weir_err *err)
{
    if (memory == WEIR_MEMORY_HOST)
        return 0;
    if (be->flags & WEIR_BE_HOST_ONLY)
        return weir_refuse(err, WEIR_EUSAGE, "allocateBufferOnGPU=%d: the buffers of %s are in "
                                             "host memory; use -a POSIX", (int)memory, be->name);
    if (path == WEIR_GPU_DIRECT && !be->descriptor)
        return weir_refuse(err, WEIR_EUSAGE, "GPUDirect: cuFile works with -a POSIX, not with %s; "
                                             "use -a POSIX, or --gpu-path=staged", be->name);
    return path == WEIR_GPU_MAPPED ? check_mapped(be, memory, err) : 0;
}

/* ---- direct ---- */

/* A copy outside of a transfer has failed: the data of this one are not what they should be. */
static int check_lost(const struct weir_gpu *g, struct weir_err *err)
{
    return g->lost->code == WEIR_OK ? 0 : weir_refuse(err, g->lost->code, "%s", g->lost->text);
}

static int open_direct(struct weir_session *s, const char *path, unsigned flags,
                       struct weir_file *f, struct weir_err *err)
{
    if (s->under->open(s, path, flags, f, err) < 0)
        return -1;
    if (weir_gpu_file_open(s->gpu->files, s->under->descriptor(f), &f->gpu_handle, err) == 0)
        return 0;
    weir_err_within(err, "open '%s'", path);
    s->under->close(f, NULL);
    return -1;
}

static int close_direct(struct weir_file *f, struct weir_err *err)
{
    weir_gpu_file_close(f->s->gpu->files, f->gpu_handle);
    return f->s->under->close(f, err);
}

static ssize_t move_direct(struct weir_file *f, const struct weir_io *io, struct weir_err *err)
{
    struct weir_gpu *g = f->s->gpu;
    const struct weir_gpu_area *a = weir_gpu_area_of(g, io->buf);
    struct weir_gpu_move m = { .write = io->dir == WEIR_DIR_WRITE,
                               .len = io->len,
                               .off = (off_t)io->off };

    if (check_lost(g, err) < 0)
        return -1;
    if (!a || io->len == 0) /* memory of the host, of metadata */
        return f->s->under->xfer(f, io, err);
    m.device = a->device;
    m.in_buffer = (char *)io->buf - a->host;
    if (weir_gpu_driver_enter(g->driver, err) <
        0) /* a thread of a queue has no context of its own */
        return -1;
    return weir_gpu_file_move(g->files, f->gpu_handle, &m, err);
}

/* ---- staged and mapped ---- */

void *weir_session_gpu_buffer(const struct weir_session *s, void *at)
{
    const struct weir_gpu_area *a = weir_gpu_area_of(s->gpu, at);

    return a ? (s->gpu->path == WEIR_GPU_STAGED ? a->stage : a->device) + ((char *)at - a->host)
             : at;
}

/* Before a call with this transfer: *at has what the call gets. */
static int begin_move(struct weir_session *s, const struct weir_io *io, void **at,
                      struct weir_err *err)
{
    void *buf = io->buf; /* at may point to it */
    const struct weir_gpu_area *a = weir_gpu_area_of(s->gpu, buf);

    *at = a ? weir_session_gpu_buffer(s, buf) : buf; /* else memory of the host, of metadata */
    if (io->len == 0) /* only takes part in the transfers of others */
        return 0;
    if (check_lost(s->gpu, err) < 0)
        return -1;
    if (a && s->gpu->path == WEIR_GPU_STAGED && io->dir == WEIR_DIR_WRITE)
        return weir_gpu_copy(s->gpu, a, buf, io->len, false, err);
    return 0;
}

/* After a call that moved n bytes of it. */
static ssize_t end_move(struct weir_session *s, const struct weir_io *io, ssize_t n,
                        struct weir_err *err)
{
    const struct weir_gpu_area *a;

    if (s->gpu->path != WEIR_GPU_STAGED || io->dir == WEIR_DIR_WRITE || n <= 0 ||
        (size_t)n > io->len)
        return n;
    a = weir_gpu_area_of(s->gpu, io->buf);
    if (!a)
        return n;
    return weir_gpu_copy(s->gpu, a, io->buf, (size_t)n, true, err) < 0 ? -1 : n;
}

static ssize_t move_other(struct weir_file *f, const struct weir_io *io, struct weir_err *err)
{
    struct weir_io other = *io;

    if (begin_move(f->s, io, &other.buf, err) < 0) {
        other.len = 0; /* the others of a collective transfer wait for this rank */
        if (!weir_may_repeat(f->s))
            f->s->under->xfer(f, &other, NULL);
        return -1;
    }
    return end_move(f->s, io, f->s->under->xfer(f, &other, err), err);
}

/* The copy before a collective transfer has failed. The others wait for this rank, which takes part
 * with nothing; its request fails when it ends. */
static void take_part(struct weir_request *r, const struct weir_err *why)
{
    struct weir_gpu *g = r->file->s->gpu;

    if (g->lost->code == WEIR_OK)
        *g->lost = *why;
    r->gpu_len = r->io.len;
    r->io.len = 0;
}

static int submit_other(struct weir_request *r, struct weir_err *err)
{
    struct weir_session *s = r->file->s;
    struct weir_err why = WEIR_ERR_INIT;
    int rc;

    r->gpu_buf = r->io.buf;
    r->gpu_len = 0;
    rc = begin_move(s, &r->io, &r->io.buf, &why);
    if (rc < 0 && weir_may_repeat(s)) {
        weir_refuse(err, why.code, "%s", why.text);
    } else {
        if (rc < 0)
            take_part(r, &why);
        rc = s->under->submit(r, err);
    }
    if (rc < 0)
        r->io.buf = r->gpu_buf;
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

        r->io.buf = r->gpu_buf;
        if (r->gpu_len == 0 && (r->n <= 0 || end_move(s, &r->io, r->n, s->gpu->lost) >= 0))
            continue;
        if (r->gpu_len > 0)
            r->io.len = r->gpu_len;
        r->n = -1;
        r->sys = EIO;
    }
    return n;
}

static int explain_other(const struct weir_request *r, struct weir_err *err)
{
    struct weir_session *s = r->file->s;

    if (check_lost(s->gpu, err) < 0)
        return -1;
    return s->under->reason ? s->under->reason(r, err)
                            : weir_refuse(err, WEIR_EIO, "%s", strerror(r->sys));
}

/* A copy after the last transfer may have failed. */
static int close_other(struct weir_file *f, struct weir_err *err)
{
    struct weir_gpu *g = f->s->gpu;
    int rc = f->s->under->close(f, err);

    return rc < 0 ? rc : check_lost(g, err);
}

/* ---- the session ---- */

static struct weir_backend *wrap(struct weir_session *s, struct weir_err *err)
{
    s->wrapped = malloc(sizeof(*s->wrapped));
    if (!s->wrapped) {
        weir_fail(err, WEIR_ESETUP, "memory for backend %s", s->be->name);
        return NULL;
    }
    *s->wrapped = *s->be;
    s->under = s->be;
    s->be = s->wrapped;
    return s->wrapped;
}

int weir_session_gpu_before(struct weir_session *s, struct weir_err *err)
{
    struct weir_backend *be;

    if (!s->gpu || s->access.dry_run || s->gpu->path != WEIR_GPU_DIRECT)
        return 0;
    be = wrap(s, err);
    if (!be)
        return -1;
    be->open = open_direct;
    be->close = close_direct;
    be->xfer = move_direct; /* also what threads of the backend call */
    return 0;
}

int weir_session_gpu_after(struct weir_session *s, struct weir_err *err)
{
    struct weir_backend *be;

    if (!s->gpu || s->access.dry_run || s->gpu->path == WEIR_GPU_DIRECT)
        return 0;
    be = wrap(s, err);
    if (!be)
        return -1;
    be->xfer = move_other;
    be->close = close_other;
    if (be->submit) {
        be->submit = submit_other;
        be->complete = complete_other;
        be->reason = explain_other;
    }
    return 0;
}
