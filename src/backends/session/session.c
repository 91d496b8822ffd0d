/* SPDX-License-Identifier: BSD-3-Clause */
/* session.c - what every backend gets without writing it: dry run, sync, latencies */
#include "backends/session/session.h"

#include <stdlib.h>

#include "backends/array.h"
#include "backends/session/complete.h"
#include "base/mem.h"

/* A closed session: what check and begin start from. */
static struct weir_session describe_session(const struct weir_backend *be,
                                            struct weir_backend_opt opt,
                                            const struct weir_access *access,
                                            const struct weir_par *par, const struct weir_log *log)
{
    struct weir_session s = { .be = be,
                              .opt = opt.own,
                              .base_opt = opt.base,
                              .access = *access,
                              .par = par,
                              .log = log,
                              .flags = be->flags,
                              .depth = access->depth > 0 ? access->depth : 1 };

    if (opt.refused && access->depth == 0) /* as deep as the one that was asked for */
        s.access.depth = 1;
    return s;
}

static int alloc_priv(struct weir_session *s, struct weir_err *err)
{
    s->priv = calloc(1, s->be->priv_size > 0 ? s->be->priv_size : 1);
    if (!s->priv)
        return weir_fail(err, WEIR_ESETUP, "memory for backend %s", s->be->name);
    return 0;
}

/* Transfers that have ended when their call returns are in no queue. */
static int check_depth(const struct weir_session *s, struct weir_err *err)
{
    if (s->access.depth <= 1 || s->be->submit)
        return 0;
    return weir_refuse(err, WEIR_EUSAGE,
                       "--depth=%d: %s has synchronous transfers, so one is in flight at a time; "
                       "leave --depth out, or use a backend with a queue (URING, AIO, MPIIO, POSIX "
                       "with --posix.threads)", s->access.depth, s->be->name);
}

static int check_session(struct weir_session *s, const struct weir_extent *extent,
                         struct weir_err *err)
{
    if (s->be->abi != WEIR_BACKEND_ABI)
        return weir_refuse(err, WEIR_EBUG, "backend %s was built for interface %u, this is %d",
                           s->be->name, s->be->abi, WEIR_BACKEND_ABI);
    return s->be->check && s->be->check(s, extent, err) < 0 ? -1 : check_depth(s, err);
}

int weir_session_prepare(struct weir_session *s, const struct weir_backend *be,
                         struct weir_backend_opt opt, const struct weir_access *access,
                         const struct weir_par *par, const struct weir_log *log,
                         struct weir_err *err)
{
    void *stats;

    *s = describe_session(be, opt, access, par, log);
    if (alloc_priv(s, err) < 0 || weir_mem_aligned(&stats, 64, sizeof(*s->stats), err) <
                                      0) /* touched: no page fault while timing */
        goto drop;
    s->stats = stats;
    weir_session_reset(s);
    if (check_session(s, NULL, err) == 0)
        return 0;
drop:
    weir_session_end(s, NULL);
    return -1;
}

int weir_session_start(struct weir_session *s, struct weir_err *err)
{
    if (weir_session_gpu_wrap(s, true, err) < 0)
        return -1;
    s->started = !s->be->begin || s->access.dry_run || s->be->begin(s, err) == 0;
    if (s->access.dry_run)
        s->depth = 1;
    return s->started ? weir_session_gpu_wrap(s, false, err) : -1;
}

int weir_session_begin(struct weir_session *s, const struct weir_backend *be,
                       struct weir_backend_opt opt, const struct weir_access *access,
                       const struct weir_par *par, const struct weir_log *log, struct weir_err *err)
{
    if (weir_session_prepare(s, be, opt, access, par, log, err) < 0)
        return -1;
    if (weir_session_start(s, err) == 0)
        return 0;
    weir_session_end(s, NULL);
    return -1;
}

int weir_session_check(const struct weir_backend *be, struct weir_backend_opt opt,
                       const struct weir_access *access, const struct weir_extent *extent,
                       const struct weir_par *par, const struct weir_log *log, struct weir_err *err)
{
    struct weir_session s = describe_session(be, opt, access, par, log);
    int rc;

    if (alloc_priv(&s, err) < 0)
        return -1;
    rc = check_session(&s, extent, err);
    free(s.priv);
    return rc;
}

int weir_session_end(struct weir_session *s, struct weir_err *err)
{
    int rc = 0;

    if (!s->be)
        return 0;
    if (s->started && s->be->end && !s->access.dry_run)
        rc = s->be->end(s, err);
    free(s->reserved);
    weir_array_file_free(s->reserved_arrays);
    free(s->stats);
    free(s->priv);
    free(s->wrapped);
    *s = (struct weir_session) { 0 };
    return rc;
}

void weir_session_reset(struct weir_session *s)
{
    memset(s->stats, 0, sizeof(*s->stats));
    if (s->service)
        memset(s->service, 0, offsetof(struct weir_service_stats, endpoint));
}

static struct weir_file *make_file(struct weir_session *s, const char *path, struct weir_err *err)
{
    char *copy;
    struct weir_file *f = weir_piece(s->be->file_size, sizeof(*f), path, &copy, err);

    if (f)
        *f = (struct weir_file) { .s = s, .path = copy };
    return f;
}

int weir_session_reserve(struct weir_session *s, const char *path, struct weir_err *err)
{
    free(s->reserved);
    s->reserved = make_file(s, path, err);
    return s->reserved ? 0 : -1;
}

/* The memory that was reserved for this path, else new memory. */
static struct weir_file *take_file(struct weir_session *s, const char *path, struct weir_err *err)
{
    struct weir_file *f = s->reserved;

    if (!f || strcmp(f->path, path) != 0)
        return make_file(s, path, err);
    s->reserved = NULL;
    return f;
}

int weir_session_open(struct weir_session *s, const char *path, unsigned flags,
                      const struct weir_extent *extent, struct weir_file **out,
                      struct weir_err *err)
{
    struct weir_file *f = take_file(s, path, err);
    uint64_t start_ns;
    int rc = 0;

    *out = NULL;
    if (!f)
        return -1;
    if (extent)
        f->extent = *extent;
    start_ns = weir_now_ns();
    if (!s->access.dry_run)
        rc = weir_session_leave(s, s->be->open(weir_session_enter(s, "open", f->path), f->path, flags, f, err));
    weir_hist_add(&s->stats->hist[WEIR_OP_OPEN], weir_now_ns() - start_ns);
    if (rc < 0) {
        free(f);
        return -1;
    }
    s->opened = true;
    if (flags & WEIR_OPEN_CREATE)
        weir_session_keep_made(s, path);
    *out = f;
    return 0;
}

int weir_session_close(struct weir_file *f, struct weir_err *err)
{
    uint64_t start_ns;
    int rc;

    if (!f)
        return 0;
    if (f->in_flight > 0)
        weir_session_drain(f);
    start_ns = weir_now_ns();
    rc = weir_session_close_slot(f, err);
    weir_hist_add(&f->s->stats->hist[WEIR_OP_CLOSE], weir_now_ns() - start_ns);
    free(f);
    return rc;
}

struct weir_file *weir_session_slot(const struct weir_session *s, struct weir_err *err)
{
    size_t len =
        s->be->file_size > sizeof(struct weir_file) ? s->be->file_size : sizeof(struct weir_file);
    struct weir_file *slot = calloc(1, len);

    if (!slot)
        weir_fail(err, WEIR_ESETUP, "memory for a file of backend %s", s->be->name);
    return slot;
}

static bool sync_is_collective(const struct weir_session *s)
{
    return (s->flags & WEIR_BE_COLLECTIVE_OPEN) && s->access.collective && !s->access.file_per_task;
}

/* The sync that follows a write. After a failed collective write the others may still wait for
 * this rank in the sync; after an independent one no rank does. */
static int sync_write(struct weir_file *f, int rc, struct weir_err *err)
{
    struct weir_session *s = f->s;
    uint64_t start_ns;

    if (!s->be->sync || (rc < 0 && !sync_is_collective(s)))
        return rc;
    start_ns = weir_now_ns();
    weir_session_enter(s, "sync", f->path); /* the caller leaves it */
    if (s->be->sync(f, rc < 0 ? NULL : err) < 0)
        rc = -1;
    weir_hist_add(&s->stats->hist[WEIR_OP_SYNC], weir_now_ns() - start_ns);
    return rc;
}

int weir_session_finish_xfer(struct weir_file *f, const struct weir_io *io, ssize_t n,
                             struct weir_err *err)
{
    int rc = 0;

    if (n != (ssize_t)io->len)
        rc = weir_complete(f, io, n, f->s->be->xfer, err);
    if (f->s->access.sync_each && io->dir == WEIR_DIR_WRITE)
        rc = sync_write(f, rc, err);
    return rc;
}

int weir_session_sync(struct weir_file *f, struct weir_err *err)
{
    struct weir_session *s = f->s;
    uint64_t start_ns;
    int rc;

    if (s->access.dry_run || !s->be->sync)
        return 0;
    if (f->in_flight > 0)
        return weir_refuse(err, WEIR_EBUG, "sync '%s' with %d transfers in flight", f->path,
                           f->in_flight);
    start_ns = weir_now_ns();
    weir_session_enter(s, "sync", f->path);
    rc = weir_session_leave(s, s->be->sync(f, err));
    weir_hist_add(&s->stats->hist[WEIR_OP_SYNC], weir_now_ns() - start_ns);
    return rc;
}
