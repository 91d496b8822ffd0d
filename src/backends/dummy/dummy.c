/* SPDX-License-Identifier: BSD-3-Clause */
/* dummy.c - DUMMY: moves nothing, fails on request; the template for a new backend.
 *
 * A backend has options, state, operations, and at the end the struct that names them. The core
 * allocates and zeroes options, private state and file struct. The session repeats interrupted
 * and short transfers, measures, syncs after writes and calls nothing in a dry run. The rest is
 * what only this backend knows. */

#include <errno.h>
#include <unistd.h>

#include "backends/backend.h"
#include "backends/shared/posixns.h"
#include "base/clock.h"

/* Options: a struct and one row for each field. "--dummy." goes in front of the names. */

struct dummy_options {
    int64_t delay_create, delay_close, delay_sync, delay_xfer; /* microseconds */
    bool delay_only_rank0, store, reverse;
    int64_t delay_at, fail_at, short_every, corrupt_at, lose_at; /* 0: never; delay_at: each */
    int fail_rank;
    const char *fail_op, *fail_errno;
};

enum op {
    OP_XFER,
    OP_OPEN,
    OP_CLOSE,
    OP_SYNC,
    OP_MKDIR,
    OP_RMDIR,
    OP_UNLINK,
    OP_RENAME,
    OP_STAT,
    OP_MKNOD,
    OP_SYNCFS,
    OP_CALL, /* and the others of enum weir_name_op after it */
    OPS = OP_CALL + WEIR_NAME_DIRPLUS
};

static const char *const op_names[OPS + 1] = {
    "xfer",      "open",     "close",     "sync",    "mkdir",    "rmdir",
    "unlink",    "rename",   "stat",      "mknod",   "syncfs",   "link",
    "symlink",   "readlink", "unsymlink", "move",    "setxattr", "getxattr",
    "listxattr", "chmod",    "mode",      "readdir", "readdirplus", NULL
};

static const char *const errno_names[] = { "EIO",    "ENOSPC",    "EDQUOT",     "EACCES", "EAGAIN",
                                           "EINTR",  "EINVAL",    "ENOENT",     "ENOMEM", "EROFS",
                                           "ESTALE", "ETIMEDOUT", "EOPNOTSUPP", NULL };
static const int errno_values[] = { EIO,    ENOSPC, EDQUOT, EACCES, EAGAIN,    EINTR,     EINVAL,
                                    ENOENT, ENOMEM, EROFS,  ESTALE, ETIMEDOUT, EOPNOTSUPP };
_Static_assert(sizeof(errno_names) / sizeof(errno_names[0]) ==
                   sizeof(errno_values) / sizeof(errno_values[0]) + 1,
               "one number for each name");

#define USEC_MAX 1000000000000
#define HOUR_NS (UINT64_C(3600) * 1000000000)

static const struct weir_opt dummy_opts[] = {
    OPT_SIZE(0, "delay-create", NULL, struct dummy_options, delay_create, "0", "USEC",
             "Delay of each create, microseconds", .max = USEC_MAX),
    OPT_SIZE(0, "delay-close", NULL, struct dummy_options, delay_close, "0", "USEC",
             "Delay of each close, microseconds", .max = USEC_MAX),
    OPT_SIZE(0, "delay-sync", NULL, struct dummy_options, delay_sync, "0", "USEC",
             "Delay of each sync, microseconds", .max = USEC_MAX),
    OPT_SIZE(0, "delay-xfer", NULL, struct dummy_options, delay_xfer, "0", "USEC",
             "Delay of each transfer, microseconds", .max = USEC_MAX),
    OPT_SIZE(0, "delay-at", NULL, struct dummy_options, delay_at, "0", "N",
             "Number of the delayed transfer, from 1 on each rank (0: all)", .max = INT64_MAX),
    OPT_FLAG(0, "delay-only-rank0", NULL, struct dummy_options, delay_only_rank0,
             "Delays on rank 0 only"),
    OPT_FLAG(0, "store", NULL, struct dummy_options, store,
             "Data kept in ordinary files, so that they can be verified"),
    OPT_SIZE(0, "fail-at", NULL, struct dummy_options, fail_at, "0", "N",
             "Number of the failing operation, from 1 on each rank (0: none)", .max = INT64_MAX),
    OPT_INT(0, "fail-rank", NULL, struct dummy_options, fail_rank, "-1", "RANK",
            "Rank that fails (-1: all)", .min = -1, .max = INT32_MAX),
    OPT_STR(0, "fail-op", NULL, struct dummy_options, fail_op, "xfer", "OP",
            "Kind of operation that fails", .choices = op_names),
    OPT_STR(0, "fail-errno", NULL, struct dummy_options, fail_errno, "EIO", "ERRNO",
            "Error of the failure", .choices = errno_names),
    OPT_SIZE(0, "short-every", NULL, struct dummy_options, short_every, "0", "K",
             "Every K-th transfer moves half of its bytes (0: none)", .max = INT64_MAX),
    OPT_SIZE(0, "corrupt-at", NULL, struct dummy_options, corrupt_at, "0", "N",
             "Read with one wrong bit, from 1 on each rank; implies store",
             .max = INT64_MAX),
    OPT_FLAG(0, "reverse", NULL, struct dummy_options, reverse,
             "Queue in reverse order: the transfer that began last ends first"),
    OPT_SIZE(0, "lose-at", NULL, struct dummy_options, lose_at, "0", "N",
             "Queued transfer that never ends, from 1 on each rank (0: none)",
             .max = INT64_MAX),
    OPT_END
};

/* State of a session (priv_size) and of an open file (file_size, starts with struct weir_file). */

struct dummy {
    bool delayed, fails, stores; /* this rank */
    bool plain;                  /* a transfer does nothing */
    int fail_op, fail_errno;
    int64_t count[OPS], reads;
    struct weir_request *held; /* in flight: a list in the order in which they end */
};

struct dummy_file {
    struct weir_file base;
    int fd; /* only with --dummy.store */
};

/* Operations. Each returns 0, or -1 with an error that says what was attempted, on what, and why it failed. */

static int dummy_begin(struct weir_session *s, struct weir_err *err)
{
    const struct dummy_options *o = s->opt;
    struct dummy *d = s->priv;

    d->delayed = !o->delay_only_rank0 || s->par->rank == 0;
    d->fails = o->fail_at > 0 && (o->fail_rank < 0 || o->fail_rank == s->par->rank);
    d->fail_op = weir_opt_choice(op_names, o->fail_op);
    d->fail_errno = errno_values[weir_opt_choice(errno_names, o->fail_errno)];
    d->stores = o->store || o->corrupt_at > 0;
    d->plain = o->delay_xfer == 0 && o->short_every == 0 && !d->fails && !d->stores;
    if (d->stores)
        s->flags &= ~(unsigned)WEIR_BE_NO_DATA;
    return 0;
}

static void delay(const struct dummy *d, int64_t usec)
{
    if (usec > 0 && d->delayed)
        weir_sleep_ns((uint64_t)usec * 1000);
}

/* Microseconds of the nth transfer. */
static int64_t delay_of(const struct dummy *d, const struct dummy_options *o, int64_t nth)
{
    return d->delayed && (o->delay_at == 0 || nth == o->delay_at) ? o->delay_xfer : 0;
}

/* Count an operation; true when it is the one that shall fail. errno is set then. */
static bool fails_now(struct weir_session *s, enum op op)
{
    const struct dummy_options *o = s->opt;
    struct dummy *d = s->priv;

    if (++d->count[op] != o->fail_at || !d->fails || (int)op != d->fail_op)
        return false;
    errno = d->fail_errno;
    return true;
}

static int dummy_open(struct weir_session *s, const char *path, unsigned flags, struct weir_file *wf, struct weir_err *err)
{
    struct dummy_file *f = (struct dummy_file *)wf;
    const struct dummy_options *o = s->opt;
    struct dummy *d = s->priv;

    if (flags & WEIR_OPEN_CREATE)
        delay(d, o->delay_create);
    f->fd = -1;
    if (fails_now(s, OP_OPEN) || (d->stores && (f->fd = weir_posix_open(s, path, flags | WEIR_OPEN_READ, 0)) < 0))
        return weir_fail(err, WEIR_EIO, "open '%s'", path);
    return 0;
}

static int dummy_close(struct weir_file *wf, struct weir_err *err)
{
    struct dummy_file *f = (struct dummy_file *)wf;
    const struct dummy_options *o = wf->s->opt;
    bool failed = fails_now(wf->s, OP_CLOSE);

    delay(wf->s->priv, o->delay_close);
    if (f->fd >= 0 && close(f->fd) < 0)
        failed = true;
    return failed ? weir_fail(err, WEIR_EIO, "close '%s'", wf->path) : 0;
}

/* The bytes that a transfer is to move, maybe less than asked for; -1 and errno: it fails. */
static ssize_t choose_end(struct weir_session *s, const struct weir_io *io)
{
    const struct dummy_options *o = s->opt;
    struct dummy *d = s->priv;
    ssize_t n = (ssize_t)io->len;

    if (fails_now(s, OP_XFER))
        return -1;
    if (o->short_every > 0 && d->count[OP_XFER] % o->short_every == 0)
        n -= n / 2;
    return n;
}

/* Move n bytes. -1 and errno. */
static ssize_t end_transfer(const struct dummy_file *f, const struct weir_io *io, ssize_t n)
{
    const struct dummy_options *o = f->base.s->opt;
    struct dummy *d = f->base.s->priv;

    if (d->stores && io->dir == WEIR_DIR_WRITE)
        n = pwrite(f->fd, io->buf, (size_t)n, (off_t)io->off);
    else if (d->stores)
        n = pread(f->fd, io->buf, (size_t)n, (off_t)io->off);
    if (io->dir == WEIR_DIR_READ && ++d->reads == o->corrupt_at && n > 0)
        ((unsigned char *)io->buf)[n / 2] ^= 1;
    return n;
}

/* 0 on a read means end of file. An error is the bare reason: the session adds the rest. */
static ssize_t dummy_xfer(struct weir_file *wf, const struct weir_io *io, struct weir_err *err)
{
    const struct dummy_options *o = wf->s->opt;
    struct dummy *d = wf->s->priv;
    ssize_t n;

    if (d->plain)
        return (ssize_t)io->len;
    delay(d, delay_of(d, o, d->count[OP_XFER] + 1));
    n = choose_end(wf->s, io);
    if (n < 0)
        return weir_fail(err, WEIR_EIO, "injected");
    n = end_transfer((struct dummy_file *)wf, io, n);
    return n < 0 ? weir_fail(err, WEIR_EIO, "stored") : n;
}

/* The queue (--depth). A request is held until its time; its end_ns is ours until we give it back. */

static int dummy_submit(struct weir_request *r, struct weir_err *err)
{
    struct weir_session *s = r->file->s;
    const struct dummy_options *o = s->opt;
    struct dummy *d = s->priv;
    struct weir_request **at = &d->held;

    errno = 0;
    r->n = choose_end(s, &r->io);
    r->sys = errno;
    r->end_ns = weir_now_ns() + (uint64_t)delay_of(d, o, d->count[OP_XFER]) * 1000;
    if (d->count[OP_XFER] == o->lose_at)
        r->end_ns = UINT64_MAX;
    while (*at && !o->reverse)
        at = &(*at)->next;
    r->next = *at;
    *at = r;
    return 0;
}

/* The time at which the first of those that are held ends. */
static uint64_t next_end(const struct dummy *d)
{
    uint64_t ns = UINT64_MAX;

    for (const struct weir_request *r = d->held; r; r = r->next)
        ns = r->end_ns < ns ? r->end_ns : ns;
    return ns;
}

static int take_ended(struct dummy *d, int most, struct weir_request **done)
{
    uint64_t now_ns = weir_now_ns();
    struct weir_request **at = &d->held, *r;
    int n = 0;

    while (n < most && *at) {
        r = *at;
        if (r->end_ns > now_ns) {
            at = &r->next;
            continue;
        }
        *at = r->next;
        if (r->n > 0)
            r->n = end_transfer((struct dummy_file *)r->file, &r->io, r->n);
        if (r->n < 0 && r->sys == 0)
            r->sys = errno;
        done[n++] = r;
    }
    return n;
}

static int dummy_reason(const struct weir_request *r, struct weir_err *err)
{
    const struct dummy *d = r->file->s->priv;

    errno = r->sys;
    return weir_fail(err, WEIR_EIO, d->fails && r->sys == d->fail_errno ? "injected" : "stored");
}

static int dummy_complete(struct weir_file *wf, int least, int most, struct weir_request **done, struct weir_err *err)
{
    struct dummy *d = wf->s->priv;
    uint64_t end_ns, now_ns;
    int n = take_ended(d, most, done);

    while (n < least) {
        end_ns = next_end(d);
        now_ns = weir_now_ns();
        if (end_ns > now_ns)
            weir_sleep_ns(end_ns - now_ns < HOUR_NS ? end_ns - now_ns : HOUR_NS);
        n += take_ended(d, most - n, done + n);
    }
    return n;
}

static int dummy_sync(struct weir_file *wf, struct weir_err *err)
{
    struct dummy_file *f = (struct dummy_file *)wf;
    const struct dummy_options *o = wf->s->opt;

    delay(wf->s->priv, o->delay_sync);
    if (fails_now(wf->s, OP_SYNC) || (f->fd >= 0 && fsync(f->fd) < 0))
        return weir_fail(err, WEIR_EIO, "sync '%s'", wf->path);
    return 0;
}

/* Names. A backend of ordinary files has ".ns = &weir_posix_ns" instead of all this. */

static bool stores(const struct weir_session *s)
{
    return ((const struct dummy *)s->priv)->stores;
}

static int dummy_mkdir(struct weir_session *s, const char *path, unsigned mode,
                       struct weir_err *err)
{
    if (fails_now(s, OP_MKDIR))
        return weir_fail(err, WEIR_EIO, "create directory '%s'", path);
    return stores(s) ? weir_posix_ns.mkdir(s, path, mode, err) : 0;
}

static int dummy_rmdir(struct weir_session *s, const char *path, struct weir_err *err)
{
    if (fails_now(s, OP_RMDIR))
        return weir_fail(err, WEIR_EIO, "remove directory '%s'", path);
    return stores(s) ? weir_posix_ns.rmdir(s, path, err) : 0;
}

static int dummy_unlink(struct weir_session *s, const char *path, struct weir_err *err)
{
    if (fails_now(s, OP_UNLINK))
        return weir_fail(err, WEIR_EIO, "remove '%s'", path);
    return stores(s) ? weir_posix_ns.unlink(s, path, err) : 0;
}

static int dummy_rename(struct weir_session *s, const char *from, const char *to,
                        struct weir_err *err)
{
    if (fails_now(s, OP_RENAME))
        return weir_fail(err, WEIR_EIO, "rename '%s' to '%s'", from, to);
    return stores(s) ? weir_posix_ns.rename(s, from, to, err) : 0;
}

static int dummy_stat(struct weir_session *s, const char *path, struct weir_err *err)
{
    if (fails_now(s, OP_STAT))
        return weir_fail(err, WEIR_EIO, "stat '%s'", path);
    return stores(s) ? weir_posix_ns.stat(s, path, err) : 0;
}

static int dummy_exists(struct weir_session *s, const char *path, bool *yes, struct weir_err *err)
{
    *yes = false;
    return stores(s) ? weir_posix_ns.exists(s, path, yes, err) : 0;
}

static int dummy_size(struct weir_session *s, const char *path, uint64_t *bytes, struct weir_err *err)
{
    *bytes = 0;
    return stores(s) ? weir_posix_ns.size(s, path, bytes, err) : 0;
}

static int dummy_mknod(struct weir_session *s, const char *path, struct weir_err *err)
{
    if (fails_now(s, OP_MKNOD))
        return weir_fail(err, WEIR_EIO, "mknod '%s'", path);
    return stores(s) ? weir_posix_ns.mknod(s, path, err) : 0;
}

static int dummy_usage(struct weir_session *s, const char *path, struct weir_fs_usage *u, struct weir_err *err)
{
    *u = (struct weir_fs_usage) { 1, 1, 1, 1, 1 };
    return stores(s) ? weir_posix_ns.usage(s, path, u, err) : 0;
}

static int dummy_syncfs(struct weir_session *s, const char *path, struct weir_err *err)
{
    if (fails_now(s, OP_SYNCFS))
        return weir_fail(err, WEIR_EIO, "syncfs on '%s'", path);
    return stores(s) ? weir_posix_ns.syncfs(s, path, err) : 0;
}

static int dummy_call(struct weir_session *s, struct weir_name_call *c, struct weir_err *err)
{
    if (fails_now(s, (enum op)(OP_CALL + (int)c->op - WEIR_NAME_LINK)))
        return weir_fail(err, WEIR_EIO, "%s '%s'", c->name, c->path);
    return stores(s) ? weir_posix_ns.call(s, c, err) : 0;
}

static const struct weir_ns dummy_ns = {
    .mkdir = dummy_mkdir,
    .rmdir = dummy_rmdir,
    .unlink = dummy_unlink,
    .rename = dummy_rename,
    .stat = dummy_stat,
    .exists = dummy_exists,
    .size = dummy_size,
    .mknod = dummy_mknod,
    .usage = dummy_usage,
    .syncfs = dummy_syncfs,
    .call = dummy_call,
};

static const char *dummy_version(void)
{
    return "0.5";
}

/* The backend: "weir_backend_" and the folder's name. Leave out what it cannot do. */
const struct weir_backend weir_backend_dummy = {
    .abi = WEIR_BACKEND_ABI,
    .name = "DUMMY",
    .brief = "Moves nothing; delays and fails on request",
    .prefix = "dummy.",
    .flags = WEIR_BE_COLLECTIVE_XFER | WEIR_BE_NO_DATA | WEIR_BE_TAKES_POINTERS,
    .opts = dummy_opts,
    .opt_size = sizeof(struct dummy_options),
    .priv_size = sizeof(struct dummy),
    .file_size = sizeof(struct dummy_file),
    .version = dummy_version,
    .begin = dummy_begin,
    .open = dummy_open,
    .close = dummy_close,
    .xfer = dummy_xfer,
    .submit = dummy_submit,
    .complete = dummy_complete,
    .reason = dummy_reason,
    .sync = dummy_sync,
    .ns = &dummy_ns,
};
