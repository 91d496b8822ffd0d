/* SPDX-License-Identifier: BSD-3-Clause */
/* session.c - what every backend gets for nothing: dry run, retries, sync, latencies, errors */
#include "config.h"
#include "backends/session.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "backends/session-call.h"
#include "base/mem.h"

#define AGAIN_YIELDS 100 /* first tries after EAGAIN only give the processor away ... */
#define AGAIN_MOST 10000 /* ... the others sleep, and then it is enough: ten seconds */
#define AGAIN_NAP_NS 1000000u

/* A closed session: what check and begin start from. */
static struct weir_session describe_session(const struct weir_backend *be, const void *opt,
                                            const struct weir_hints *hints,
                                            const struct weir_par *par, const struct weir_log *log)
{
    return (struct weir_session) {
        .be = be, .opt = opt, .hints = hints, .par = par, .log = log, .flags = be->flags
    };
}

static int alloc_priv(struct weir_session *s, struct weir_err *err)
{
    s->priv = calloc(1, s->be->priv_size > 0 ? s->be->priv_size : 1);
    if (!s->priv)
        return weir_fail(err, WEIR_ESETUP, "memory for backend %s", s->be->name);
    return 0;
}

static int check_session(struct weir_session *s, struct weir_err *err)
{
    if (s->be->abi != WEIR_BACKEND_ABI)
        return weir_refuse(err, WEIR_EBUG, "backend %s was built for interface %u, this is %d",
                           s->be->name, s->be->abi, WEIR_BACKEND_ABI);
    return s->be->check ? s->be->check(s, err) : 0;
}

int weir_session_begin(struct weir_session *s, const struct weir_backend *be, const void *opt,
                       const struct weir_hints *hints, const struct weir_par *par,
                       const struct weir_log *log, struct weir_err *err)
{
    void *stats;

    *s = describe_session(be, opt, hints, par, log);
    if (alloc_priv(s, err) < 0)
        goto clear;
    if (weir_mem_aligned(&stats, 64, sizeof(*s->stats), err) <
        0) /* touched: no page fault while timing */
        goto free_priv;
    s->stats = stats;
    weir_session_reset(s);
    if (check_session(s, err) < 0)
        goto free_stats;
    if (be->begin && !hints->dry_run && be->begin(s, err) < 0)
        goto free_stats;
    return 0;

free_stats:
    free(s->stats);
free_priv:
    free(s->priv);
clear:
    *s = (struct weir_session) { 0 };
    return -1;
}

int weir_session_check(const struct weir_backend *be, const void *opt,
                       const struct weir_hints *hints, const struct weir_par *par,
                       const struct weir_log *log, struct weir_err *err)
{
    struct weir_session s = describe_session(be, opt, hints, par, log);
    int rc;

    if (alloc_priv(&s, err) < 0)
        return -1;
    rc = check_session(&s, err);
    free(s.priv);
    return rc;
}

int weir_session_end(struct weir_session *s, struct weir_err *err)
{
    int rc = 0;

    if (!s->be)
        return 0;
    if (s->be->end && !s->hints->dry_run)
        rc = s->be->end(s, err);
    free(s->stats);
    free(s->priv);
    *s = (struct weir_session) { 0 };
    return rc;
}

void weir_session_reset(struct weir_session *s)
{
    memset(s->stats, 0, sizeof(*s->stats));
}

/* The backend's struct and the path in one piece. */
static struct weir_file *make_file(struct weir_session *s, const char *path, struct weir_err *err)
{
    size_t head =
        s->be->file_size > sizeof(struct weir_file) ? s->be->file_size : sizeof(struct weir_file);
    size_t len = strlen(path) + 1;
    char *piece = calloc(1, head + len);
    struct weir_file *f = (struct weir_file *)piece;

    if (!f) {
        weir_fail(err, WEIR_ESETUP, "memory to open '%s'", path);
        return NULL;
    }
    memcpy(piece + head, path, len);
    *f = (struct weir_file) { .s = s, .path = piece + head };
    return f;
}

int weir_session_open(struct weir_session *s, const char *path, unsigned flags,
                      struct weir_file **out, struct weir_err *err)
{
    struct weir_file *f = make_file(s, path, err);
    uint64_t start_ns;
    int rc = 0;

    *out = NULL;
    if (!f)
        return -1;
    start_ns = weir_now_ns();
    if (!s->hints->dry_run)
        rc = leave_call(s, s->be->open(enter_call(s, "open", path), path, flags, f, err));
    weir_hist_add(&s->stats->hist[WEIR_OP_OPEN], weir_now_ns() - start_ns);
    if (rc < 0) {
        free(f);
        return -1;
    }
    *out = f;
    return 0;
}

int weir_session_close(struct weir_file *f, struct weir_err *err)
{
    uint64_t start_ns;
    int rc = 0;

    if (!f)
        return 0;
    start_ns = weir_now_ns();
    if (!f->s->hints->dry_run) {
        enter_call(f->s, "close", f->path);
        rc = leave_call(f->s, f->s->be->close(f, err));
    }
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

/* Does the text hold the path in quotes? */
static bool names_path(const char *text, const char *path)
{
    size_t len = strlen(path);
    const char *at;

    for (at = strchr(text, '\''); at; at = strchr(at + 1, '\''))
        if (strncmp(at + 1, path, len) == 0 && at[len + 1] == '\'')
            return true;
    return false;
}

/* Libraries do not always pass on that the disk is full: look for ourselves, and say so. */
static void explain_write(const struct weir_file *f, const struct weir_io *io, struct weir_err *err)
{
    struct weir_session *s = f->s;
    struct weir_fs_usage u;

    if (!err || io->dir != WEIR_DIR_WRITE || (err->sys != 0 && err->sys != EIO) ||
        (s->flags & WEIR_BE_NO_DATA) || !s->be->ns ||
        !s->be->ns->usage) /* a reason that is one needs no other */
        return;
    if (s->be->ns->usage(s, f->path, &u, NULL) == 0 && u.total_bytes > 0 && u.avail_bytes < io->len)
        weir_refuse(err, WEIR_EIO, "%s: %s: %llu bytes are free", err->text, strerror(ENOSPC),
                    (unsigned long long)u.avail_bytes);
}

/* Put what was attempted in front of the reason. A backend that named the file itself has said
 * enough: a path may be so long that a second one would push the reason out of the text. */
static int name_transfer(const struct weir_file *f, const struct weir_io *io, size_t done,
                         struct weir_err *err)
{
    explain_write(f, io, err);
    if (err && names_path(err->text, f->path))
        return done ? weir_err_within(err, "after %zu of %zu bytes", done, io->len) : -1;
    return weir_err_within(err, "%s %zu bytes at offset %llu of '%s' (%zu done)",
                           io->dir == WEIR_DIR_WRITE ? "write" : "read", io->len,
                           (unsigned long long)io->off, f->path, done);
}

/* May this rank call again on its own? Not when the others would have to come along. */
static bool may_repeat(const struct weir_session *s)
{
    return !(s->hints->collective && !s->hints->file_per_task &&
             (s->flags & WEIR_BE_COLLECTIVE_XFER));
}

/* Is the failed call worth another try? Waits a little when the system asked for time. */
static bool wants_retry(struct weir_session *s, int sys, unsigned *again)
{
    if ((sys != EINTR && sys != EAGAIN) || !may_repeat(s))
        return false;
    if (sys == EAGAIN) {
        if (++*again > AGAIN_MOST)
            return false;
        if (*again > AGAIN_YIELDS)
            weir_sleep_ns(AGAIN_NAP_NS);
        else
            sched_yield();
    }
    s->stats->retries++;
    return true;
}

/* Why a transfer that moved n of the bytes left (and not all) must end here; NULL: go on with
 * the rest. */
static const char *why_stop(const struct weir_session *s, const struct weir_io *left, size_t n)
{
    if (n > left->len)
        return "the backend reports more than was asked for";
    if (n == 0)
        return left->dir == WEIR_DIR_READ ? "end of file" : "no progress";
    if (s->hints->single_try)
        return "short transfer, and a second try is not wanted";
    if (!may_repeat(s))
        return "short transfer, which a collective access cannot continue";
    return NULL;
}

/* The first call returned n, which is not io->len: go on until all is moved or there is a
 * reason to stop. */
static int finish_transfer(struct weir_file *f, const struct weir_io *io, ssize_t n,
                           struct weir_err *err)
{
    struct weir_session *s = f->s;
    struct weir_io left = *io;
    const char *why;
    unsigned again = 0;

    for (;; n = s->be->xfer(f, &left, err)) {
        if (n < 0) {
            if (wants_retry(s, err ? err->sys : errno, &again))
                continue;
            return name_transfer(f, io, io->len - left.len, err);
        }
        if ((size_t)n == left.len)
            break;
        why = why_stop(s, &left, (size_t)n);
        left.buf = (char *)left.buf + n;
        left.len -= (size_t)n;
        left.off += (uint64_t)n;
        if (why) {
            weir_refuse(err, WEIR_EIO, "%s", why);
            return name_transfer(f, io, io->len - left.len, err);
        }
        s->stats->short_transfers++;
        again = 0;
    }
    if (err) { /* what was tried again with success is no error */
        err->code = WEIR_OK;
        err->sys = 0;
        err->text[0] = '\0';
    }
    return 0;
}

static bool sync_is_collective(const struct weir_session *s)
{
    return (s->flags & WEIR_BE_COLLECTIVE_OPEN) && !s->hints->file_per_task;
}

/* The sync that follows a write. After a failed write the others may still be waiting in it for
 * us. */
static int sync_write(struct weir_file *f, int rc, struct weir_err *err)
{
    struct weir_session *s = f->s;
    uint64_t start_ns;

    if (!s->be->sync || (rc < 0 && !sync_is_collective(s)))
        return rc;
    start_ns = weir_now_ns();
    enter_call(s, "sync", f->path); /* the caller leaves it */
    if (s->be->sync(f, rc < 0 ? NULL : err) < 0)
        rc = -1;
    weir_hist_add(&s->stats->hist[WEIR_OP_SYNC], weir_now_ns() - start_ns);
    return rc;
}

int weir_session_settle_xfer(struct weir_file *f, const struct weir_io *io, ssize_t n,
                             struct weir_err *err)
{
    int rc = 0;

    if (n != (ssize_t)io->len)
        rc = finish_transfer(f, io, n, err);
    if (f->s->hints->sync_each && io->dir == WEIR_DIR_WRITE)
        rc = sync_write(f, rc, err);
    return rc;
}

int weir_session_sync(struct weir_file *f, struct weir_err *err)
{
    struct weir_session *s = f->s;
    uint64_t start_ns;
    int rc;

    if (s->hints->dry_run || !s->be->sync)
        return 0;
    start_ns = weir_now_ns();
    enter_call(s, "sync", f->path);
    rc = leave_call(s, s->be->sync(f, err));
    weir_hist_add(&s->stats->hist[WEIR_OP_SYNC], weir_now_ns() - start_ns);
    return rc;
}
