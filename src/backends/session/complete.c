/* SPDX-License-Identifier: BSD-3-Clause */
/* complete.c - the rest of a transfer: EINTR, EAGAIN, short calls, and errors that name it */
#include "backends/session/complete.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

#include "base/clock.h"

#define AGAIN_YIELDS 100 /* the first tries after EAGAIN only yield the processor ... */
#define AGAIN_MAX 10000 /* ... the others sleep, and then it is enough: ten seconds */
#define AGAIN_NAP_NS 1000000u

const char *const weir_dir_names[WEIR_DIRS] = { "write", "read", "list", "head", "delete" };

/* True when the text has the path in quotes. */
static bool names_path(const char *text, const char *path)
{
    size_t len = strlen(path);
    const char *at;

    for (at = strchr(text, '\''); at; at = strchr(at + 1, '\''))
        if (strncmp(at + 1, path, len) == 0 && at[len + 1] == '\'')
            return true;
    return false;
}

void weir_explain_write(struct weir_session *s, const char *path, uint64_t bytes,
                        struct weir_err *err)
{
    struct weir_fs_usage u;

    if (!err || (err->sys != 0 && err->sys != EIO) || (s->flags & WEIR_BE_NO_DATA) || !s->be->ns ||
        !s->be->ns->usage) /* a reason is known already */
        return;
    if (s->be->ns->usage(s, path, &u, NULL) == 0 && u.total_bytes > 0 && u.avail_bytes < bytes)
        weir_refuse(err, WEIR_EIO, "%s: %s: %llu bytes are free", err->text, strerror(ENOSPC),
                    (unsigned long long)u.avail_bytes);
}

/* Put what was attempted in front of the reason. An error that names the file already stays as it
 * is: a path may be so long that a second one would push the reason out of the text. */
static int name_transfer(const struct weir_file *f, const struct weir_io *io, size_t done,
                         struct weir_err *err)
{
    if (io->dir == WEIR_DIR_WRITE)
        weir_explain_write(f->s, f->path, io->len, err);
    if (err && names_path(err->text, f->path))
        return done ? weir_err_within(err, "after %zu of %zu bytes", done, io->len) : -1;
    if (io->dir > WEIR_DIR_READ)
        return weir_err_within(err, "%s of the object at offset %llu of '%s'",
                               weir_dir_names[io->dir], (unsigned long long)io->off, f->path);
    return weir_err_within(err, "%s %zu bytes at offset %llu of '%s' (%zu done)",
                           weir_dir_names[io->dir], io->len, (unsigned long long)io->off, f->path,
                           done);
}

/* True when the failed call is to be tried again. Waits a little when the system asked for time. */
static bool wants_retry(struct weir_session *s, int sys, unsigned *again)
{
    if ((sys != EINTR && sys != EAGAIN) || !weir_may_repeat(s))
        return false;
    if (sys == EAGAIN) {
        if (++*again > AGAIN_MAX)
            return false;
        if (*again > AGAIN_YIELDS)
            weir_sleep_ns(AGAIN_NAP_NS);
        else
            sched_yield();
    }
    s->stats->retries++;
    return true;
}

/* Why a transfer that moved n of the bytes left, not all, must end; NULL: go on with the rest. */
static const char *why_stop(const struct weir_session *s, const struct weir_io *left, size_t n)
{
    if (n > left->len)
        return "the backend reports more bytes than requested";
    if (n == 0)
        return left->dir == WEIR_DIR_READ ? "end of file" : "no progress";
    if (s->access.single_try)
        return "short transfer, and retries are switched off";
    if (!weir_may_repeat(s))
        return "short transfer, which a collective access cannot continue";
    return NULL;
}

int weir_complete(struct weir_file *f, const struct weir_io *io, ssize_t n,
                  ssize_t (*xfer)(struct weir_file *, const struct weir_io *, struct weir_err *),
                  struct weir_err *err)
{
    struct weir_session *s = f->s;
    struct weir_io left = *io;
    const char *why;
    unsigned again = 0;

    for (;; n = xfer(f, &left, err)) {
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
