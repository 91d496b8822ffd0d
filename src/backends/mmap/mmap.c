/* SPDX-License-Identifier: BSD-3-Clause */
/* mmap.c - MMAP: ordinary files, mapped into memory; a transfer is a copy.
 *
 * Touching a page that the system cannot provide (full disk, end of file, bad disk) ends a
 * process with SIGBUS. To prevent that, a transfer checks the size first. Before it writes, it
 * asks the system for the pages (MADV_POPULATE), some ahead at a time, which returns an error.
 * Where a page has gone when it is touched (another process has cut the file), SIGBUS puts an
 * empty one there and leaves EFAULT in errno. A copy that failed is tried as a system call,
 * which gives the reason. */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backends/backend.h"
#include "backends/shared/posixns.h"
#include "base/text/wholefile.h"

#ifndef MADV_POPULATE_READ /* Linux 5.14 */
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

struct mmap_options {
    bool dont_need, pattern;
};

#define WINDOW ((uint64_t)1 << 20) /* bytes whose pages are asked for at a time */

struct mmap_state {
    size_t page;
    bool asks; /* the system can be asked for pages */
    bool warned; /* that a file could not be allocated */
    bool guards;             /* SIGBUS is ours */
    struct sigaction before; /* whose it was */
};

struct mmap_file {
    struct weir_file base;
    int fd;
    bool writes;
    bool allocated; /* its blocks up to file_bytes are there */
    unsigned char *map;
    size_t mapped;
    uint64_t size;         /* the file is at least as long as this */
    uint64_t ready, until; /* the pages of these bytes were asked for */
    uint64_t first, limit; /* what was written since the last sync: limit 0 is nothing */
};

static const struct weir_opt mmap_opts[] = {
    OPT_FLAG(0, "madv_dont_need", NULL, struct mmap_options, dont_need,
             "Mapped pages dropped (madvise) at open, and after each sync"),
    OPT_FLAG(0, "madv_pattern", NULL, struct mmap_options, pattern,
             "Advice (madvise) that pages are used in random or sequential order"),
    OPT_END
};

/* A page that cannot be provided: an empty one of our own takes its place, and errno says so to the
 * copy that was interrupted. It needs no state, so it may run in any thread. */
static void replace_page(int number, siginfo_t *info, void *context)
{
    uintptr_t page = (uintptr_t)getpagesize();
    void *at = (void *)((uintptr_t)info->si_addr / page * page);

    if (info->si_code != BUS_ADRERR ||
        mmap(at, page, PROT_READ | PROT_WRITE, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
            MAP_FAILED)
        signal(number, SIG_DFL); /* it comes again, and ends the process */
    errno = EFAULT;
}

static int mmap_end(struct weir_session *s, struct weir_err *err)
{
    struct mmap_state *st = s->priv;

    if (st->guards)
        sigaction(SIGBUS, &st->before, NULL);
    st->guards = false;
    return 0;
}

static int mmap_begin(struct weir_session *s, struct weir_err *err)
{
    struct sigaction action = { .sa_sigaction = replace_page, .sa_flags = SA_SIGINFO };
    struct mmap_state *st = s->priv;
    long page = sysconf(_SC_PAGESIZE);
    void *probe;

    if (page <= 0)
        return weir_fail(err, WEIR_ESETUP, "get the size of a page");
    st->page = (size_t)page;
    probe = mmap(NULL, st->page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (probe == MAP_FAILED)
        return weir_fail(err, WEIR_ESETUP, "map a page");
    st->asks = madvise(probe, st->page, MADV_POPULATE_WRITE) == 0;
    munmap(probe, st->page);
    sigemptyset(&action.sa_mask);
    st->guards = sigaction(SIGBUS, &action, &st->before) == 0;
    return 0;
}

/* ---- the file ---- */

static int look_at_size(struct mmap_file *f, struct weir_err *err)
{
    struct stat st;

    if (fstat(f->fd, &st) < 0)
        return weir_fail(err, WEIR_EIO, "get the size of '%s'", f->base.path);
    f->size = (uint64_t)st.st_size;
    return 0;
}

/* fallocate makes a file longer and never shorter: ranks may do it at the same time, and what the
 * user has stays. */
static int allocate(int fd, uint64_t from, uint64_t len)
{
    int rc;

    do
        rc = fallocate(fd, 0, (off_t)from, (off_t)len);
    while (rc < 0 && errno == EINTR);
    return rc;
}

/* Give the file its size and its blocks at once, so that a full file system is an error of open. */
static int lay_out(struct mmap_file *f, struct weir_err *err)
{
    uint64_t want = f->base.extent.file_bytes;
    struct mmap_state *st = f->base.s->priv;

    if (want == 0)
        return 0;
    f->allocated = allocate(f->fd, 0, want) == 0;
    if (!f->allocated && errno != EOPNOTSUPP && errno != ENOSYS)
        return weir_fail(err, WEIR_EIO, "allocate the %llu bytes of '%s'", (unsigned long long)want,
                         f->base.path);
    if (!f->allocated && !st->warned)
        weir_note(f->base.s->log, "the file system of '%s' cannot preallocate files: a full file "
                                  "system is reported by a transfer, not by open%s", f->base.path,
                                  st->asks ? "" : "; each write also calls pwrite");
    st->warned |= !f->allocated;
    if (!f->allocated && f->size < want && ftruncate(f->fd, (off_t)want) < 0)
        return weir_fail(err, WEIR_EIO, "extend '%s' to %llu bytes", f->base.path,
                         (unsigned long long)want);
    if (f->size < want)
        f->size = want;
    return 0;
}

/* ---- the mapping ---- */

/* Map at least 'need' bytes. A mapping may be longer than its file. */
static int map_bytes(struct mmap_file *f, uint64_t need, struct weir_err *err)
{
    const struct mmap_state *st = f->base.s->priv;
    const struct mmap_options *o = f->base.s->opt;
    int access = f->writes ? PROT_READ | PROT_WRITE : PROT_READ;
    void *map;

    if (need <= f->mapped)
        return 0;
    if (f->mapped > 0 && need < 2 * (uint64_t)f->mapped)
        need = 2 * (uint64_t)f->mapped; /* many small steps would take quadratic time */
    if (need > (uint64_t)PTRDIFF_MAX - st->page)
        return weir_refuse(err, WEIR_EIO, "'%s': %llu bytes cannot be mapped at once", f->base.path,
                           (unsigned long long)need);
    need = (need + st->page - 1) / st->page * st->page;
    map = f->map ? mremap(f->map, f->mapped, (size_t)need, MREMAP_MAYMOVE)
                 : mmap(NULL, (size_t)need, access, MAP_SHARED, f->fd, 0);
    if (map == MAP_FAILED)
        return weir_fail(err, WEIR_EIO, "map %llu bytes of '%s'", (unsigned long long)need,
                         f->base.path);
    f->map = map;
    f->mapped = (size_t)need;
    if (o->pattern)
        madvise(f->map, f->mapped, f->base.s->access.random ? MADV_RANDOM : MADV_SEQUENTIAL);
    if (o->dont_need)
        madvise(f->map, f->mapped, MADV_DONTNEED);
    return 0;
}

/* ---- open and close ---- */

static int mmap_open(struct weir_session *s, const char *path, unsigned flags, struct weir_file *wf,
                     struct weir_err *err)
{
    struct mmap_file *f = (struct mmap_file *)wf;
    uint64_t want = wf->extent.file_bytes;

    f->writes = flags & WEIR_OPEN_WRITE;
    f->fd = weir_posix_open(s, path, flags | WEIR_OPEN_READ, 0);
    if (f->fd < 0)
        return weir_fail(err, WEIR_EIO, "%s '%s'%s", flags & WEIR_OPEN_CREATE ? "create" : "open",
                         path, weir_posix_why(s));
    if (look_at_size(f, err) == 0 && (!f->writes || lay_out(f, err) == 0) &&
        map_bytes(f, want ? want : f->size, err) == 0)
        return 0;
    close(f->fd);
    return -1;
}

static int mmap_close(struct weir_file *wf, struct weir_err *err)
{
    struct mmap_file *f = (struct mmap_file *)wf;
    int rc = 0;

    if (f->map && munmap(f->map, f->mapped) < 0)
        rc = weir_fail(err, WEIR_EIO, "unmap '%s'", wf->path);
    if (close(f->fd) < 0)
        rc = weir_fail(rc < 0 ? NULL : err, WEIR_EIO, "close '%s'", wf->path);
    return rc;
}

/* ---- transfers ---- */

/* The pages that hold bytes [from, to) of the file. */
static size_t page_range(const struct mmap_file *f, uint64_t from, uint64_t to,
                         unsigned char **start)
{
    const struct mmap_state *st = f->base.s->priv;
    size_t skip = (size_t)(from % st->page);

    *start = f->map + (from - skip);
    return (size_t)(to - from) + skip;
}

static bool populate(const struct mmap_file *f, uint64_t from, uint64_t to)
{
    unsigned char *start;
    size_t bytes = page_range(f, from, to, &start);
    int rc;

    do
        rc = madvise(start, bytes, f->writes ? MADV_POPULATE_WRITE : MADV_POPULATE_READ);
    while (rc < 0 && (errno == EINTR || errno == EAGAIN));
    return rc == 0;
}

/* The end of the window that begins with these bytes: not beyond our block, for what follows
 * belongs to another rank, nor beyond the file. */
static uint64_t window_end(const struct mmap_file *f, uint64_t off, size_t len)
{
    uint64_t block = f->base.extent.block;
    uint64_t end = off + WINDOW;

    if (block > 0 && end > off - off % block + block)
        end = off - off % block + block;
    if (end > f->size)
        end = f->size;
    if (end > f->mapped)
        end = f->mapped;
    return end < off + len || f->base.s->access.random ? off + len : end;
}

/* Ask for the pages of the len bytes, and for those of the next ones. False: they are not there. */
static bool ask_for_pages(struct mmap_file *f, uint64_t off, size_t len)
{
    const struct mmap_state *st = f->base.s->priv;
    uint64_t end = window_end(f, off, len);

    if (!st->asks)
        return !f->writes || (f->allocated && off + len <= f->base.extent.file_bytes);
    f->ready = f->until = 0;
    if (!populate(f, off, end))
        return end > off + len && populate(f, off, off + len);
    f->ready = off;
    f->until = end;
    return true;
}

/* True when the pages can be touched. A read touches them where SIGBUS is caught: the system
 * maps several pages at the first touch, and asking for them takes longer than that. */
static bool has_pages(struct mmap_file *f, uint64_t off, size_t len)
{
    const struct mmap_state *st = f->base.s->priv;

    return (!f->writes && st->guards) || (off >= f->ready && off + len <= f->until) ||
           ask_for_pages(f, off, len);
}

/* False when a page was not there after all: then the file is mapped there again. */
static bool copy(struct mmap_file *f, void *to, const void *from, size_t len, uint64_t off)
{
    unsigned char *start;
    size_t bytes;

    errno = 0;
    memcpy(to, from, len);
    __asm__ volatile("" ::: "memory"); /* a signal may have set errno */
    if (errno != EFAULT)
        return true;
    bytes = page_range(f, off, off + len, &start);
    mmap(start, bytes, f->writes ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED | MAP_FIXED,
         f->fd, (off_t)(start - f->map));
    f->ready = f->until = 0;
    return false;
}

/* By a system call instead: its errno says why there is no page. */
static ssize_t move_by_call(const struct mmap_file *f, const struct weir_io *io, size_t len,
                            struct weir_err *err)
{
    ssize_t n = io->dir == WEIR_DIR_WRITE ? pwrite(f->fd, io->buf, len, (off_t)io->off)
                                          : pread(f->fd, io->buf, len, (off_t)io->off);

    if (n >= 0)
        return n;
    return weir_fail(err, WEIR_EIO, "%s",
                     io->dir == WEIR_DIR_WRITE ? "allocate pages (pwrite)" : "read pages (pread)");
}

static ssize_t write_mapped(struct mmap_file *f, const struct weir_io *io, struct weir_err *err)
{
    uint64_t end = io->off + io->len;
    ssize_t n;

    if (f->limit == 0 || io->off < f->first)
        f->first = io->off;
    if (end > f->limit)
        f->limit = end;
    if (end > f->size && look_at_size(f, err) < 0)
        return -1;
    if (end > f->size) {
        /* Only with a file that is longer than its extent says. The range is this rank's own: no
         * other rank is in the way. */
        n = move_by_call(f, io, io->len, err);
        if (n > 0 && f->size < io->off + (uint64_t)n)
            f->size = io->off + (uint64_t)n;
        return n;
    }
    if (map_bytes(f, end, err) < 0)
        return -1;
    if (!has_pages(f, io->off, io->len) || !copy(f, f->map + io->off, io->buf, io->len, io->off))
        return move_by_call(f, io, io->len, err);
    return (ssize_t)io->len;
}

/* Never past the end of the file: there the last page holds zeros and the next one SIGBUS. */
static ssize_t read_mapped(struct mmap_file *f, const struct weir_io *io, struct weir_err *err)
{
    size_t len = io->len;

    if (io->off + len > f->size && look_at_size(f, err) < 0)
        return -1;
    if (io->off >= f->size)
        return 0;
    if (len > f->size - io->off)
        len = (size_t)(f->size - io->off);
    if (map_bytes(f, io->off + len, err) < 0)
        return -1;
    if (!has_pages(f, io->off, len) || !copy(f, io->buf, f->map + io->off, len, io->off))
        return move_by_call(f, io, len, err);
    return (ssize_t)len;
}

static ssize_t mmap_xfer(struct weir_file *wf, const struct weir_io *io, struct weir_err *err)
{
    struct mmap_file *f = (struct mmap_file *)wf;

    if (io->len == 0)
        return 0;
    return io->dir == WEIR_DIR_WRITE ? write_mapped(f, io, err) : read_mapped(f, io, err);
}

/* ---- sync ---- */

/* Syncs the bytes written since the last sync, by whole pages. */
static int sync_written(struct mmap_file *f, struct weir_err *err)
{
    const struct mmap_options *o = f->base.s->opt;
    uint64_t limit = f->limit < f->mapped ? f->limit : f->mapped;
    unsigned char *start;
    size_t bytes;

    if (f->first >= limit)
        return 0;
    bytes = page_range(f, f->first, limit, &start);
    if (msync(start, bytes, MS_SYNC) < 0)
        return weir_fail(err, WEIR_EIO, "msync %zu bytes of '%s'", bytes, f->base.path);
    if (o->dont_need) {
        madvise(start, bytes, MADV_DONTNEED);
        f->ready = f->until = 0;
    }
    return 0;
}

/* After each write (-Y) the range is enough; the last sync (-e) also makes sure of size and
 * names. */
static int mmap_sync(struct weir_file *wf, struct weir_err *err)
{
    struct mmap_file *f = (struct mmap_file *)wf;
    bool each = wf->s->access.sync_each && f->limit > 0 && f->limit <= f->mapped;
    int rc = sync_written(f, err);

    f->first = f->limit = 0;
    if (rc < 0 || each)
        return rc;
    return weir_fsync(f->fd, wf->path, err);
}

const struct weir_backend weir_backend_mmap = {
    .abi = WEIR_BACKEND_ABI,
    .name = "MMAP",
    .brief = "Ordinary files mapped into memory: a transfer is a copy",
    .prefix = "mmap.",
    .flags = WEIR_BE_WHOLE | WEIR_BE_HOST_ONLY,
    .opts = mmap_opts,
    .opt_size = sizeof(struct mmap_options),
    .priv_size = sizeof(struct mmap_state),
    .file_size = sizeof(struct mmap_file),
    .begin = mmap_begin,
    .end = mmap_end,
    .open = mmap_open,
    .close = mmap_close,
    .xfer = mmap_xfer,
    .sync = mmap_sync,
    .ns = &weir_posix_ns,
};
