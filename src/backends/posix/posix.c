/* SPDX-License-Identifier: BSD-3-Clause */
/* posix.c - POSIX: ordinary files with pread and pwrite, also O_DIRECT and range locks */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backends/backend.h"
#include "backends/posix/posix.h"
#include "backends/shared/posixfile.h"
#include "backends/shared/posixns.h"
#include "base/text/wholefile.h"

struct posix_options {
    bool odirect, rangelocks, uncached, atomic;
    int threads;
    struct posix_layout layout;
};

/* Flags of the options that need a library. */
#ifdef HAVE_LUSTRE
#define NEEDS_LUSTRE 0
#else
#define NEEDS_LUSTRE WEIR_OPT_ABSENT
#endif
#ifdef HAVE_GPFS
#define NEEDS_GPFS 0
#else
#define NEEDS_GPFS WEIR_OPT_ABSENT
#endif
#ifdef HAVE_BEEGFS
#define NEEDS_BEEGFS 0
#else
#define NEEDS_BEEGFS WEIR_OPT_ABSENT
#endif

#define O struct posix_options
static const struct weir_opt posix_opts[] = {
    OPT_FLAG(0, "odirect", NULL, O, odirect, "No page cache (O_DIRECT)", .first = true),
    OPT_FLAG(0, "rangelocks", NULL, O, rangelocks, "Lock (fcntl) on the range of each transfer"),
    OPT_FLAG(0, "uncached", NULL, O, uncached,
             "Pages dropped after each transfer (RWF_DONTCACHE: Linux 6.14, some file systems)"),
    OPT_FLAG(0, "atomic", NULL, O, atomic,
             "Atomic writes (RWF_ATOMIC), if device and file system support them"),
    OPT_INT(0, "threads", NULL, O, threads, "0", "N",
            "Threads of a task: a queue of blocking calls (default depth: their number)",
            .min = 0, .max = 4096),
    OPT_INT(0, "lustre.stripecount", NULL, O, layout.stripe_count, "0", "N",
            "Lustre: stripes of a new file (-1: all targets)", .min = -1, .max = INT32_MAX,
            .flags = NEEDS_LUSTRE),
    OPT_SIZE(0, "lustre.stripesize", NULL, O, layout.stripe_size, "0", "SIZE",
             "Lustre: bytes of a stripe of a new file", .max = INT64_MAX, .flags = NEEDS_LUSTRE),
    OPT_INT(0, "lustre.startost", NULL, O, layout.start_ost, "-1", "N",
            "Lustre: target of the first stripe of a new file (-1: any)", .min = -1,
            .max = INT32_MAX, .flags = NEEDS_LUSTRE),
    OPT_FLAG(0, "lustre.ignorelocks", NULL, O, layout.ignore_locks, "Lustre: no range locks",
             .flags = NEEDS_LUSTRE),
    OPT_STR(0, "lustre.pool", NULL, O, layout.pool, NULL, "POOL",
            "Lustre: pool of targets of a new file, with stripecount and stripesize",
            .flags = NEEDS_LUSTRE),
    OPT_STR(0, "lustre.osts", NULL, O, layout.osts, NULL, "LIST",
            "Lustre: targets (OSTs) of a new file's stripes, in order: 0-3,8",
            .flags = NEEDS_LUSTRE),
    OPT_FLAG(0, "lustre.overstripe", NULL, O, layout.overstripe,
             "Lustre: several stripes on one target, if stripecount or osts needs them",
             .flags = NEEDS_LUSTRE),
    OPT_FLAG(0, "gpfs.hintaccess", NULL, O, layout.hint_access, "GPFS: hint of the next range",
             .flags = NEEDS_GPFS),
    OPT_FLAG(0, "gpfs.releasetoken", NULL, O, layout.release_token,
             "GPFS: all locks given back after open", .flags = NEEDS_GPFS),
    OPT_FLAG(0, "gpfs.finegrainwritesharing", NULL, O, layout.fine_write,
             "GPFS: hint of small writes of many tasks to a file", .flags = NEEDS_GPFS),
    OPT_FLAG(0, "gpfs.finegrainreadsharing", NULL, O, layout.fine_read,
             "GPFS: hint of small reads of many tasks from a file", .flags = NEEDS_GPFS),
    OPT_FLAG(0, "gpfs.createsharing", NULL, O, layout.create_sharing,
             "GPFS: hint of many tasks that create files in a directory", .flags = NEEDS_GPFS),
    OPT_INT(0, "beegfs.NumTargets", NULL, O, layout.targets, "-1", "N",
            "BeeGFS: targets of a new file (-1: as the directory has)", .min = -1, .max = INT32_MAX,
            .flags = NEEDS_BEEGFS),
    OPT_SIZE(0, "beegfs.ChunkSize", NULL, O, layout.chunk, "-1", "SIZE",
             "BeeGFS: chunk of a new file, bytes (-1: as the directory has)", .min = -1,
             .max = INT64_MAX, .flags = NEEDS_BEEGFS),
    OPT_END
};
#undef O

/* Return the options of POSIX, also where another backend is built on it. */
static const struct posix_options *options_of(const struct weir_session *s)
{
    return s->base_opt ? s->base_opt : s->opt;
}

static int posix_check(struct weir_session *s, const struct weir_extent *extent,
                       struct weir_err *err)
{
    const struct posix_options *o = options_of(s);

    if (o->threads > 0 && s->base_opt)
        return weir_refuse(err, WEIR_EUSAGE, "--posix.threads: %s has its own queue; leave "
                                             "--posix.threads out, or use -a POSIX", s->be->name);
    if (o->threads > 0 && !s->access.queued)
        return weir_refuse(err, WEIR_EUSAGE,
                           "--posix.threads=%d: each task of this program has one transfer in "
                           "flight at a time, so threads have no effect; leave --posix.threads out "
                           "(ior and mib have queues)", o->threads);
    if (s->access.depth > 1 && o->threads == 0 && !s->base_opt)
        return weir_refuse(err, WEIR_EUSAGE,
                           "--depth=%d: POSIX has synchronous transfers; add --posix.threads=%d, "
                           "or use -a URING or -a AIO", s->access.depth, s->access.depth);
    if (o->threads > 0 && weir_posix_check_queue(s, err) < 0)
        return -1;
    return posix_layout_check(posix_opts, o, &o->layout, err);
}

/* ---- the queue (--posix.threads) ---- */

static int posix_begin(struct weir_session *s, struct weir_err *err)
{
    const struct posix_options *o = options_of(s);

    if (o->threads == 0)
        return 0;
    if (s->access.depth == 0)
        s->depth = o->threads;
    return posix_threads_begin(s->priv, o->threads, s->be->xfer, err);
}

static int posix_end(struct weir_session *s, struct weir_err *err)
{
    posix_threads_end(s->priv);
    return 0;
}

int weir_posix_request_reason(const struct weir_request *r, struct weir_err *err)
{
    errno = r->sys;
    return weir_posix_reason((const struct weir_posix_file *)r->file, "", err);
}

/* ---- files ---- */

const char *weir_posix_around(const struct weir_session *s)
{
    const struct posix_options *o = options_of(s);

    return o->rangelocks ? "rangelocks" : o->layout.hint_access ? "gpfs.hintaccess" : NULL;
}

int weir_posix_check_queue(const struct weir_session *s, struct weir_err *err)
{
    const char *around = weir_posix_around(s);

    if (!around)
        return 0;
    return weir_refuse(err, WEIR_EUSAGE,
                       "--posix.%s needs synchronous transfers, but %s has asynchronous ones; "
                       "leave the option out, or use -a POSIX", around, s->be->name);
}

bool weir_posix_is_direct(const struct weir_session *s)
{
    return options_of(s)->odirect;
}

/* The function of GPFS is looked up at open, and not in each transfer. */
static int find_hint(struct weir_posix_file *f, const struct posix_layout *l, struct weir_err *err)
{
    if (l->hint_access)
        f->hint = posix_function(posix_gpfs.files, posix_gpfs.function, err);
    return l->hint_access && !f->hint ? -1 : 0;
}

int weir_posix_open_file(struct weir_session *s, const char *path, unsigned flags,
                         struct weir_file *wf, struct weir_err *err)
{
    struct weir_posix_file *f = (struct weir_posix_file *)wf;
    const struct posix_options *o = options_of(s);
    bool is_new = false;
    struct stat st;

    if ((flags & WEIR_OPEN_CREATE) && !(flags & WEIR_OPEN_EXCL) &&
        posix_layout_create(path, &o->layout, err) < 0)
        return -1;
    if (o->odirect && (flags & WEIR_OPEN_CREATE))
        is_new = lstat(path, &st) < 0 && errno == ENOENT;
    f->fd = weir_posix_open(s, path, flags, o->odirect ? O_DIRECT : 0);
    if (f->fd < 0)
        weir_fail(err, WEIR_EIO, "%s '%s'%s", flags & WEIR_OPEN_CREATE ? "create" : "open", path,
                  o->odirect && errno == EINVAL
                      ? " (does this file system support --posix.odirect?)"
                      : weir_posix_why(s));
    else if ((!o->odirect || posix_check_direct(f->fd, &f->base, err) == 0) &&
             (!o->atomic || !(flags & WEIR_OPEN_WRITE) ||
              posix_check_atomic(f->fd, &f->base, err) == 0) &&
             posix_layout_apply(f->fd, path, &o->layout, err) == 0 &&
             find_hint(f, &o->layout, err) == 0) {
        f->is_plain = !weir_posix_around(s);
        f->rw_flags[WEIR_DIR_READ] = o->uncached ? RWF_DONTCACHE : 0;
        f->rw_flags[WEIR_DIR_WRITE] = f->rw_flags[WEIR_DIR_READ] | (o->atomic ? RWF_ATOMIC : 0);
        return 0;
    }
    if (f->fd >= 0)
        close(f->fd);
    if (is_new) /* also by an open whose O_DIRECT was refused */
        unlink(path);
    return -1;
}

int weir_posix_close_file(struct weir_file *wf, struct weir_err *err)
{
    struct weir_posix_file *f = (struct weir_posix_file *)wf;

    if (close(f->fd) < 0)
        return weir_fail(err, WEIR_EIO, "close '%s'", wf->path);
    return 0;
}

/* The option that may be the reason. */
static const char *advise(const struct posix_options *o, int sys)
{
    if (o->odirect && sys == EINVAL)
        return " (--posix.odirect: size, offset and buffer must suit the device; multiples of 4096 "
               "bytes usually do)";
    if (o->uncached && sys == EOPNOTSUPP)
        return " (--posix.uncached: this kernel or file system has no RWF_DONTCACHE; Linux 6.14 with "
               "ext4 or xfs has)";
    return o->atomic && sys == EOPNOTSUPP ? " (--posix.atomic: this kernel has no RWF_ATOMIC)" : "";
}

int weir_posix_reason(const struct weir_posix_file *f, const char *doing, struct weir_err *err)
{
    const struct posix_options *o = options_of(f->base.s);
    int sys = errno;

    weir_refuse(err, WEIR_EIO, "%s%s%s", doing, strerror(sys), advise(o, sys));
    if (err)
        err->sys = sys;
    errno = sys;
    return -1;
}

/* type: F_WRLCK, F_RDLCK or F_UNLCK. A length of 0 would mean "to the end of any file". */
static int lock_range(const struct weir_posix_file *f, const struct weir_io *io, short type)
{
    struct flock range = {
        .l_type = type, .l_whence = SEEK_SET, .l_start = (off_t)io->off, .l_len = (off_t)io->len
    };
    int rc;

    if (io->len == 0)
        return 0;
    do
        rc = fcntl(f->fd, F_SETLKW, &range);
    while (rc < 0 && errno == EINTR);
    return rc;
}

static __attribute__((noinline)) ssize_t move_flagged(const struct weir_posix_file *f, const struct weir_io *io)
{
    struct iovec piece = { io->buf, io->len };
    int flags = f->rw_flags[io->dir];

    return io->dir == WEIR_DIR_WRITE ? pwritev2(f->fd, &piece, 1, (off_t)io->off, flags)
                                     : preadv2(f->fd, &piece, 1, (off_t)io->off, flags);
}

/* Always inlined, for the reason in weir_session_xfer. */
static inline __attribute__((always_inline)) ssize_t
move(const struct weir_posix_file *f, const struct weir_io *io, struct weir_err *err)
{
    ssize_t n;

    if (__builtin_expect(f->rw_flags[io->dir] != 0, 0))
        n = move_flagged(f, io);
    else if (io->dir == WEIR_DIR_WRITE)
        n = pwrite(f->fd, io->buf, io->len, (off_t)io->off);
    else
        n = pread(f->fd, io->buf, io->len, (off_t)io->off);
    if (__builtin_expect(n < 0, 0))
        return weir_posix_reason(f, "", err);
    return n;
}

static ssize_t move_announced(const struct weir_posix_file *f, const struct weir_io *io,
                              struct weir_err *err)
{
    ssize_t n;

    if (posix_gpfs.announce(f->hint, f->fd, io) < 0)
        return weir_posix_reason(f, "announce the range to GPFS: ", err);
    n = move(f, io, err);
    if (posix_gpfs.withdraw(f->hint, f->fd, io) < 0 && n >= 0)
        return weir_posix_reason(f, "give the range back to GPFS: ", err);
    return n;
}

static ssize_t move_locked(const struct weir_posix_file *f, const struct weir_io *io,
                           struct weir_err *err)
{
    const struct posix_options *o = options_of(f->base.s);
    ssize_t n;

    if (lock_range(f, io, io->dir == WEIR_DIR_WRITE ? F_WRLCK : F_RDLCK) < 0)
        return weir_posix_reason(f, "lock the range: ", err);
    n = o->layout.hint_access ? move_announced(f, io, err) : move(f, io, err);
    if (lock_range(f, io, F_UNLCK) < 0 && n >= 0)
        return weir_posix_reason(f, "unlock the range: ", err);
    return n;
}

static ssize_t posix_xfer(struct weir_file *wf, const struct weir_io *io, struct weir_err *err)
{
    const struct weir_posix_file *f = (const struct weir_posix_file *)wf;

    if (__builtin_expect(f->is_plain, 1))
        return move(f, io, err);
    return options_of(wf->s)->rangelocks ? move_locked(f, io, err) : move_announced(f, io, err);
}

int weir_posix_sync_file(struct weir_file *wf, struct weir_err *err)
{
    return weir_fsync(((const struct weir_posix_file *)wf)->fd, wf->path, err);
}

static void find_applied(struct weir_session *s, struct weir_file *f, struct weir_applied *out)
{
    if (f)
        out->other_layout = posix_layout_is_other(f->path, &options_of(s)->layout);
}

static int descriptor_of(const struct weir_file *f)
{
    return ((const struct weir_posix_file *)f)->fd;
}

const struct weir_backend weir_backend_posix = {
    .abi = WEIR_BACKEND_ABI,
    .name = "POSIX",
    .brief = "Ordinary files with pread and pwrite",
    .prefix = "posix.",
    .flags = WEIR_BE_TAKES_POINTERS,
    .opts = posix_opts,
    .opt_size = sizeof(struct posix_options),
    .priv_size = sizeof(struct posix_threads),
    .file_size = sizeof(struct weir_posix_file),
    .check = posix_check,
    .begin = posix_begin,
    .end = posix_end,
    .open = weir_posix_open_file,
    .close = weir_posix_close_file,
    .xfer = posix_xfer,
    .submit = posix_threads_submit,
    .complete = posix_threads_complete,
    .reason = weir_posix_request_reason,
    .sync = weir_posix_sync_file,
    .ns = &weir_posix_ns,
    .array = &posix_array_ops,
    .describe = posix_threads_describe,
    .applied = find_applied,
    .descriptor = descriptor_of,
#ifdef HAVE_LUSTRE
    .reset_dir = weir_posix_reset_dir,
#endif
};
