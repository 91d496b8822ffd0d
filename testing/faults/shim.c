/* SPDX-License-Identifier: BSD-3-Clause */
/* shim.c - for LD_PRELOAD: system calls on chosen files fail, are short, slow, wrong, or never return
 *
 * FAULT_PREFIX  files are those whose absolute path begins with this
 * FAULT         rules, separated by ';'. A rule is words:
 *   call=NAME     a call (pwrite, fsync, openat, ...) or a kind of calls: open read write sync close unlink seek size map place any,
 *                 place is rename, mkdir and rmdir; name is link, symlink, chmod, setxattr and readdir;
 *                 or memory: reading and writing the memory of other ranks, whatever the files are.
 *                 Each transfer of io_submit is a write or read of its own: errno, short, flip and drop are its outcome;
 *                 so is each of aio_write and aio_read, but for flip; one that hangs is never done
 *   rank=N        only on this rank
 *   count=N       from the N-th such call on this rank, counted from 1 (1)
 *   times=N       so many calls, 0 is all that follow (1)
 * and one of
 *   errno=NAME    fails with this errno, without doing anything
 *   eintr         the same as errno=EINTR
 *   left=NAME     a read or write that succeeds and leaves this errno; also after flip
 *   short[=N]     moves N bytes only; without N half of them
 *   delay=MS      takes longer
 *   flip          moves one wrong bit
 *   drop          a read, write or sync that claims success and does nothing
 *   hang          never returns
 *   cut=N         first cuts the file that was opened last to N bytes, as another process would
 *   kill, stop    SIGKILL, SIGSTOP to this process in this call, before it does anything
 * A process that runs many cases calls shim_rules before each of them. */
#define _GNU_SOURCE
#include <aio.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/aio_abi.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define RULES 16
#define FDS 1024

enum action { NONE, FAIL, LEAVE, SHORT, DELAY, FLIP, DROP, HANG, CUT, KILL, STOP };

struct rule {
    char call[32];
    int rank, sys;
    long count, times, seen;
    enum action action;
    long value;
    int left;
};

static const struct {
    const char *name;
    int value;
} errnos[] = {
    { "EACCES", EACCES },       { "EAGAIN", EAGAIN },       { "EBADF", EBADF },
    { "ECANCELED", ECANCELED }, { "ENOTCONN", ENOTCONN },   { "ESHUTDOWN", ESHUTDOWN },
    { "EDQUOT", EDQUOT },       { "EFAULT", EFAULT },       { "EFBIG", EFBIG },
    { "EINTR", EINTR },         { "EINVAL", EINVAL },       { "EIO", EIO },
    { "EMFILE", EMFILE },       { "ENFILE", ENFILE },       { "ENODEV", ENODEV },
    { "ENOENT", ENOENT },       { "ENOLCK", ENOLCK },       { "ENOMEM", ENOMEM },
    { "ENOSPC", ENOSPC },       { "ENXIO", ENXIO },         { "EOPNOTSUPP", EOPNOTSUPP },
    { "EPERM", EPERM },         { "EREMOTEIO", EREMOTEIO }, { "EROFS", EROFS },
    { "ESTALE", ESTALE },       { "ETIMEDOUT", ETIMEDOUT },
};

static const struct {
    const char *word;
    enum action action;
    long value;
} actions[] = {
    { "eintr", FAIL, EINTR }, { "short", SHORT, 0 }, { "delay", DELAY, 0 }, { "flip", FLIP, 0 },
    { "drop", DROP, 0 },      { "hang", HANG, 0 },   { "cut", CUT, 0 },     { "kill", KILL, 0 },
    { "stop", STOP, 0 },
};

static struct rule rules[RULES];
static int n_rules, my_rank;
static const char *prefix;
static unsigned char ours[FDS]; /* is this descriptor one of the files? */
static char opened[PATH_MAX];   /* the file of ours that was opened last */

/* ---- rules ---- */

static void complain(const char *what, const char *word)
{
    fprintf(stderr, "shim.c: %s '%s'\n", what, word);
    _exit(99);
}

static int errno_of(const char *name)
{
    for (size_t i = 0; i < sizeof(errnos) / sizeof(*errnos); i++)
        if (strcmp(errnos[i].name, name) == 0)
            return errnos[i].value;
    complain("unknown errno", name);
    return 0;
}

static void read_word(struct rule *r, char *word)
{
    char *value = strchr(word, '=');

    if (value)
        *value++ = '\0';
    if (value && strcmp(word, "call") == 0) {
        snprintf(r->call, sizeof(r->call), "%s", value);
    } else if (value && strcmp(word, "rank") == 0) {
        r->rank = (int)strtol(value, NULL, 10);
    } else if (value && strcmp(word, "count") == 0) {
        r->count = strtol(value, NULL, 10);
    } else if (value && strcmp(word, "times") == 0) {
        r->times = strtol(value, NULL, 10);
    } else if (value && strcmp(word, "left") == 0) {
        r->action = r->action == NONE ? LEAVE : r->action;
        r->left = errno_of(value);
    } else if (value && strcmp(word, "errno") == 0) {
        r->action = FAIL;
        r->value = errno_of(value);
    } else {
        for (size_t i = 0; i < sizeof(actions) / sizeof(*actions); i++) {
            if (strcmp(actions[i].word, word) != 0)
                continue;
            r->action = actions[i].action;
            r->value = value ? strtol(value, NULL, 10) : actions[i].value;
            return;
        }
        complain("unknown word", word);
    }
}

static int find_rank(void)
{
    static const char *const names[] = { "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK" };

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (getenv(names[i]))
            return (int)strtol(getenv(names[i]), NULL, 10);
    return 0;
}

static void read_rules(const char *all)
{
    char *text = strdup(all), *rest, *inner, *one, *word;

    for (one = strtok_r(text, ";", &rest); one; one = strtok_r(NULL, ";", &rest)) {
        struct rule *r = &rules[n_rules];

        if (n_rules == RULES)
            complain("too many rules", one);
        *r = (struct rule) { .call = "any", .rank = -1, .count = 1, .times = 1 };
        for (word = strtok_r(one, " ", &inner); word; word = strtok_r(NULL, " ", &inner))
            read_word(r, word);
        n_rules++;
    }
    free(text);
}

__attribute__((constructor)) static void begin(void)
{
    my_rank = find_rank();
    prefix = getenv("FAULT_PREFIX");
    if (getenv("FAULT") && prefix)
        read_rules(getenv("FAULT"));
}

/* What to do in this call, NULL: nothing. Every rule counts the calls that it is about. */
static const struct rule *decide(const char *name, const char *kind)
{
    const struct rule *found = NULL;

    for (int i = 0; i < n_rules; i++) {
        struct rule *r = &rules[i];
        long seen;

        if ((r->rank >= 0 && r->rank != my_rank) ||
            (strcmp(r->call, name) != 0 && strcmp(r->call, kind) != 0 &&
             strcmp(r->call, "any") != 0))
            continue;
        seen = __atomic_add_fetch(&r->seen, 1, __ATOMIC_RELAXED);
        if (!found && seen >= r->count && (r->times == 0 || seen < r->count + r->times))
            found = r;
    }
    return found;
}

/* What does not depend on the call. True: it fails with errno. */
static bool suffer(const struct rule *r)
{
    struct timespec nap;

    if (!r)
        return false;
    switch (r->action) {
    case DELAY:
        nap = (struct timespec) { .tv_sec = r->value / 1000, .tv_nsec = r->value % 1000 * 1000000 };
        while (nanosleep(&nap, &nap) < 0 && errno == EINTR)
            ;
        return false;
    case HANG:
        for (;;)
            pause();
    case CUT:
        if (truncate(opened, r->value) < 0)
            complain("cannot cut", opened);
        return false;
    case KILL:
    case STOP:
        raise(r->action == KILL ? SIGKILL : SIGSTOP);
        return false;
    case FAIL:
        errno = (int)r->value;
        return true;
    default:
        return false;
    }
}

/* ---- files ---- */

static bool is_ours(const char *path)
{
    char full[PATH_MAX];
    size_t len;

    if (!prefix || !path)
        return false;
    if (path[0] == '/')
        return strncmp(path, prefix, strlen(prefix)) == 0;
    if (!getcwd(full, sizeof(full) - 1))
        return false;
    len = strlen(full);
    if (snprintf(full + len, sizeof(full) - len, "/%s",
                 strncmp(path, "./", 2) == 0 ? path + 2 : path) < 0)
        return false;
    return strncmp(full, prefix, strlen(prefix)) == 0;
}

static bool has(int fd)
{
    return fd >= 0 && fd < FDS && ours[fd];
}

/* The libraries of a plugin are not among those that RTLD_NEXT searches. */
static void *of_plugin(const char *name)
{
    void *aio = dlopen("libaio.so.1", RTLD_LAZY | RTLD_NOLOAD);

    return aio ? dlsym(aio, name) : NULL;
}

static void *next(const char *name)
{
    void *p = dlsym(RTLD_NEXT, name);

    if (!p)
        p = of_plugin(name);
    if (!p)
        complain("no such call", name);
    return p;
}

#define REAL(name, type, ...)                                                                      \
    static type (*real)(__VA_ARGS__);                                                              \
    if (!real)                                                                                     \
    real = (type(*)(__VA_ARGS__))next(name)

#define OPEN(name, decl, names, types)                                                             \
    int name decl                                                                                  \
    {                                                                                              \
        REAL(#name, int, types, ...);                                                              \
        mode_t mode = 0;                                                                           \
        bool mine = is_ours(path);                                                                 \
        va_list ap;                                                                                \
        int fd;                                                                                    \
        va_start(ap, flags);                                                                       \
        if (flags & (O_CREAT | O_TMPFILE))                                                         \
            mode = va_arg(ap, mode_t);                                                             \
        va_end(ap);                                                                                \
        if (mine && suffer(decide(#name, "open")))                                                 \
            return -1;                                                                             \
        fd = real names;                                                                           \
        if (fd >= 0 && fd < FDS)                                                                   \
            ours[fd] = mine;                                                                       \
        if (fd >= 0 && mine)                                                                       \
            snprintf(opened, sizeof(opened), "%s", path);                                          \
        return fd;                                                                                 \
    }
#define TYPES_OPEN const char *, int
#define TYPES_OPENAT int, const char *, int
OPEN(open, (const char *path, int flags, ...), (path, flags, mode), TYPES_OPEN)
OPEN(open64, (const char *path, int flags, ...), (path, flags, mode), TYPES_OPEN)
OPEN(openat, (int dir, const char *path, int flags, ...), (dir, path, flags, mode), TYPES_OPENAT)
OPEN(openat64, (int dir, const char *path, int flags, ...), (dir, path, flags, mode), TYPES_OPENAT)

/* For the compiler's checks of read and open with constant sizes. */
int __open_2(const char *path, int flags)
{
    return open(path, flags);
}

int __open64_2(const char *path, int flags)
{
    return open64(path, flags);
}

int close(int fd)
{
    REAL("close", int, int);
    bool mine = has(fd);
    const struct rule *r = mine ? decide("close", "close") : NULL;

    if (mine)
        ours[fd] = 0;
    if (suffer(r)) { /* as Linux does: the descriptor is gone, whatever close says */
        int sys = errno;

        real(fd);
        errno = sys;
        return -1;
    }
    return real(fd);
}

/* ---- transfers ---- */

static size_t fewer(const struct rule *r, size_t len)
{
    if (!r || r->action != SHORT || len == 0)
        return len;
    return r->value > 0 && (size_t)r->value < len ? (size_t)r->value : (len + 1) / 2;
}

static ssize_t leave(const struct rule *r, ssize_t n)
{
    if (r && r->left && n >= 0)
        errno = r->left;
    return n;
}

static void flip(void *buf, ssize_t n)
{
    if (n > 0)
        ((unsigned char *)buf)[(size_t)n / 2] ^= 0x10;
}

static void *flipped_copy(const void *buf, size_t len)
{
    void *copy = malloc(len ? len : 1);

    if (!copy)
        complain("no memory", "flip");
    memcpy(copy, buf, len);
    flip(copy, (ssize_t)len);
    return copy;
}

#define WRITE(name, off_decl, off_name, off_type)                                                  \
    ssize_t name(int fd, const void *buf, size_t len off_decl)                                     \
    {                                                                                              \
        REAL(#name, ssize_t, int, const void *, size_t off_type);                                  \
        const struct rule *r = has(fd) ? decide(#name, "write") : NULL;                            \
        void *copy;                                                                                \
        ssize_t n;                                                                                 \
        if (suffer(r))                                                                             \
            return -1;                                                                             \
        if (r && r->action == DROP)                                                                \
            return (ssize_t)len;                                                                   \
        if (!r || r->action != FLIP)                                                               \
            return leave(r, real(fd, buf, fewer(r, len) off_name));                                \
        copy = flipped_copy(buf, len);                                                             \
        n = real(fd, copy, len off_name);                                                          \
        free(copy);                                                                                \
        return n;                                                                                  \
    }

#define READ(name, off_decl, off_name, off_type)                                                   \
    ssize_t name(int fd, void *buf, size_t len off_decl)                                           \
    {                                                                                              \
        REAL(#name, ssize_t, int, void *, size_t off_type);                                        \
        const struct rule *r = has(fd) ? decide(#name, "read") : NULL;                             \
        ssize_t n;                                                                                 \
        if (suffer(r))                                                                             \
            return -1;                                                                             \
        if (r && r->action == DROP)                                                                \
            return (ssize_t)len;                                                                   \
        n = real(fd, buf, fewer(r, len) off_name);                                                 \
        if (r && r->action == FLIP)                                                                \
            flip(buf, n);                                                                          \
        return leave(r, n);                                                                        \
    }

#define COMMA ,
WRITE(write, , , )
WRITE(pwrite, COMMA off_t off, COMMA off, COMMA off_t)
WRITE(pwrite64, COMMA off64_t off, COMMA off, COMMA off64_t)
READ(read, , , )
READ(pread, COMMA off_t off, COMMA off, COMMA off_t)
READ(pread64, COMMA off64_t off, COMMA off, COMMA off64_t)

/* Vectors: short means the first half of them, or the first half of the only one. */
static int fewer_pieces(const struct rule *r, const struct iovec *all, int n, struct iovec *only)
{
    if (!r || r->action != SHORT || n == 0)
        return n;
    if (n > 1)
        return n / 2;
    *only = all[0];
    only->iov_len = fewer(r, only->iov_len);
    return -1;
}

#define VECTOR(name, kind, off_decl, off_name, off_type)                                           \
    ssize_t name(int fd, const struct iovec *v, int n off_decl)                                    \
    {                                                                                              \
        REAL(#name, ssize_t, int, const struct iovec *, int off_type);                             \
        const struct rule *r = has(fd) ? decide(#name, kind) : NULL;                               \
        struct iovec one;                                                                          \
        int some;                                                                                  \
        ssize_t moved;                                                                             \
        if (suffer(r))                                                                             \
            return -1;                                                                             \
        some = fewer_pieces(r, v, n, &one);                                                        \
        if (r && r->action == FLIP && strcmp(kind, "write") == 0 && n > 0) {                       \
            one = v[0];                                                                            \
            one.iov_base = flipped_copy(v[0].iov_base, v[0].iov_len);                              \
            moved = real(fd, &one, 1 off_name); /* short: the caller goes on */                    \
            free(one.iov_base);                                                                    \
            return moved;                                                                          \
        }                                                                                          \
        moved = some < 0 ? real(fd, &one, 1 off_name) : real(fd, v, some off_name);                \
        if (r && r->action == FLIP && moved > 0)                                                   \
            flip(v[0].iov_base, (ssize_t)v[0].iov_len < moved ? (ssize_t)v[0].iov_len : moved);    \
        return leave(r, moved);                                                                    \
    }
VECTOR(readv, "read", , , )
VECTOR(writev, "write", , , )
VECTOR(preadv, "read", COMMA off_t off, COMMA off, COMMA off_t)
VECTOR(pwritev, "write", COMMA off_t off, COMMA off, COMMA off_t)
VECTOR(preadv64, "read", COMMA off64_t off, COMMA off, COMMA off64_t)
VECTOR(pwritev64, "write", COMMA off64_t off, COMMA off, COMMA off64_t)

/* ---- the rest ---- */

#define SIMPLE(type, name, kind, failed, decl, names, ...)                                         \
    type name decl                                                                                 \
    {                                                                                              \
        REAL(#name, type, __VA_ARGS__);                                                            \
        const struct rule *r = has(fd) ? decide(#name, kind) : NULL;                               \
        if (suffer(r))                                                                             \
            return failed;                                                                         \
        return r && r->action == DROP ? 0 : real names;                                            \
    }
SIMPLE(int, fsync, "sync", -1, (int fd), (fd), int)
SIMPLE(int, fdatasync, "sync", -1, (int fd), (fd), int)
SIMPLE(off_t, lseek, "seek", -1, (int fd, off_t off, int how), (fd, off, how), int, off_t, int)
SIMPLE(off64_t, lseek64, "seek", -1, (int fd, off64_t off, int how), (fd, off, how), int, off64_t,
       int)
SIMPLE(int, ftruncate, "size", -1, (int fd, off_t len), (fd, len), int, off_t)
SIMPLE(int, ftruncate64, "size", -1, (int fd, off64_t len), (fd, len), int, off64_t)
SIMPLE(int, fallocate, "size", -1, (int fd, int mode, off_t off, off_t len), (fd, mode, off, len),
       int, int, off_t, off_t)
SIMPLE(int, fallocate64, "size", -1, (int fd, int mode, off64_t off, off64_t len),
       (fd, mode, off, len), int, int, off64_t, off64_t)
SIMPLE(void *, mmap, "map", MAP_FAILED,
       (void *at, size_t len, int prot, int flags, int fd, off_t off),
       (at, len, prot, flags, fd, off), void *, size_t, int, int, int, off_t)
SIMPLE(void *, mmap64, "map", MAP_FAILED,
       (void *at, size_t len, int prot, int flags, int fd, off64_t off),
       (at, len, prot, flags, fd, off), void *, size_t, int, int, int, off64_t)

/* Which file it is about cannot be seen; only backends that map files call it. One that does not wait is no sync. */
int msync(void *at, size_t len, int flags)
{
    REAL("msync", int, void *, size_t, int);

    return prefix && (flags & MS_SYNC) && suffer(decide("msync", "sync")) ? -1 : real(at, len, flags);
}

/* ---- POSIX asynchronous I/O, of which MPI libraries make nonblocking transfers: its threads call no function
 * that can be replaced here, so what is chosen is done at once, and its outcome is made up ---- */

#define POSIX_FAKES 256

static struct {
    const struct aiocb *cb;
    int sys;
    ssize_t n;
} posix_fakes[POSIX_FAKES];
static pthread_mutex_t fakes_lock = PTHREAD_MUTEX_INITIALIZER;

static int fake_of(const struct aiocb *cb)
{
    int i = 0;

    while (i < POSIX_FAKES && posix_fakes[i].cb != cb)
        i++;
    return i < POSIX_FAKES ? i : -1;
}

static int aio_start(struct aiocb *cb, const char *kind, int (*real)(struct aiocb *))
{
    const struct rule *r = has(cb->aio_fildes) ? decide(kind, kind + strlen("aio_")) : NULL;
    bool lost = r && r->action == HANG, writes = strcmp(kind, "aio_write") == 0;
    bool fails = !lost && suffer(r);
    int sys = lost ? EINPROGRESS : fails ? errno : 0, i;
    size_t len = fewer(r, cb->aio_nbytes);
    ssize_t n = -1;

    if (!fails && !lost && (!r || (r->action != SHORT && r->action != DROP)))
        return real(cb);
    if (r->action == DROP)
        n = (ssize_t)len;
    else if (!fails && !lost)
        n = syscall(writes ? SYS_pwrite64 : SYS_pread64, cb->aio_fildes, cb->aio_buf, len, cb->aio_offset);
    pthread_mutex_lock(&fakes_lock);
    i = fake_of(NULL);
    if (i < 0)
        complain("too many made-up transfers", kind);
    posix_fakes[i].cb = cb;
    posix_fakes[i].sys = sys;
    posix_fakes[i].n = n;
    pthread_mutex_unlock(&fakes_lock);
    return 0;
}

int aio_write(struct aiocb *cb)
{
    REAL("aio_write", int, struct aiocb *);

    return aio_start(cb, "aio_write", real);
}

int aio_read(struct aiocb *cb)
{
    REAL("aio_read", int, struct aiocb *);

    return aio_start(cb, "aio_read", real);
}

int aio_error(const struct aiocb *cb)
{
    REAL("aio_error", int, const struct aiocb *);
    int i, sys;

    pthread_mutex_lock(&fakes_lock);
    i = fake_of(cb);
    sys = i < 0 ? 0 : posix_fakes[i].sys;
    pthread_mutex_unlock(&fakes_lock);
    return i < 0 ? real(cb) : sys;
}

ssize_t aio_return(struct aiocb *cb)
{
    REAL("aio_return", ssize_t, struct aiocb *);
    int i;
    ssize_t n;

    pthread_mutex_lock(&fakes_lock);
    i = fake_of(cb);
    n = i < 0 ? 0 : posix_fakes[i].n;
    if (i >= 0)
        posix_fakes[i].cb = NULL;
    pthread_mutex_unlock(&fakes_lock);
    return i < 0 ? real(cb) : n;
}

/* ---- Linux asynchronous I/O: the functions of libaio, which return -errno ---- */

#define FAKES 4096

static struct io_event fakes[FAKES]; /* completions that we made up */
static long n_fakes;

static int outcome(int (*real)(void *, long, struct iocb **), void *ctx, struct iocb *cb)
{
    bool writes = cb->aio_lio_opcode == IOCB_CMD_PWRITE;
    const struct rule *r = has((int)cb->aio_fildes) ? decide(writes ? "aio_write" : "aio_read",
                                                             writes ? "write" : "read")
                                                    : NULL;
    __u64 len = cb->aio_nbytes;
    bool fails = suffer(r), flips;
    int n;

    if (fails || (r && r->action == DROP)) {
        if (n_fakes == FAKES)
            complain("too many made-up completions", "io_submit");
        fakes[n_fakes++] = (struct io_event) { .data = cb->aio_data,
                                               .obj = (__u64)(unsigned long)cb,
                                               .res = fails ? -errno : (__s64)len };
        return 1;
    }
    flips = r && r->action == FLIP && writes;
    if (flips)
        flip((void *)(unsigned long)cb->aio_buf, (ssize_t)len);
    cb->aio_nbytes = fewer(r, len);
    n = real(ctx, 1, &cb);
    cb->aio_nbytes = len;
    if (flips) /* back, without O_DIRECT: the bytes are in the page cache */
        flip((void *)(unsigned long)cb->aio_buf, (ssize_t)len);
    return n;
}

int io_submit(void *ctx, long n, struct iocb **all)
{
    static int (*real)(void *, long, struct iocb **);
    const struct rule *r = prefix ? decide("io_submit", "submit") : NULL;
    long done;
    int one;

    if (!real)
        real = (int (*)(void *, long, struct iocb **))next("io_submit");
    if (suffer(r))
        return -errno;
    n = (long)fewer(r, (size_t)n);
    for (done = 0; done < n; done++) {
        one = outcome(real, ctx, all[done]);
        if (one != 1)
            return done > 0 ? (int)done : one;
    }
    return (int)n;
}

int io_getevents(void *ctx, long least, long most, struct io_event *events, struct timespec *limit)
{
    REAL("io_getevents", int, void *, long, long, struct io_event *, struct timespec *);
    long n = n_fakes < most ? n_fakes : most;
    int more;

    if (prefix && suffer(decide("io_getevents", "wait")))
        return -errno;
    memcpy(events, fakes, (size_t)n * sizeof(*events));
    memmove(fakes, fakes + n, (size_t)(n_fakes - n) * sizeof(*fakes));
    n_fakes -= n;
    if (n >= least)
        return (int)n;
    more = real(ctx, least - n, most - n, events + n, limit);
    return more < 0 ? (n > 0 ? (int)n : more) : (int)n + more;
}

int io_setup(int n, void **ctx)
{
    REAL("io_setup", int, int, void **);

    return prefix && suffer(decide("io_setup", "setup")) ? -errno : real(n, ctx);
}

int unlink(const char *path)
{
    REAL("unlink", int, const char *);

    return is_ours(path) && suffer(decide("unlink", "unlink")) ? -1 : real(path);
}

#define PLACE(name, decl, names, types)                                                            \
    int name decl                                                                                  \
    {                                                                                              \
        REAL(#name, int, types);                                                                   \
        return is_ours(path) && suffer(decide(#name, "place")) ? -1 : real names;                  \
    }
#define TYPES_RENAME const char *, const char *
#define TYPES_MKDIR const char *, mode_t
PLACE(rename, (const char *path, const char *to), (path, to), TYPES_RENAME)
PLACE(mkdir, (const char *path, mode_t mode), (path, mode), TYPES_MKDIR)
PLACE(rmdir, (const char *path), (path), const char *)

#define NAME(name, decl, names, ...)                                                               \
    int name decl                                                                                  \
    {                                                                                              \
        REAL(#name, int, __VA_ARGS__);                                                             \
        return is_ours(path) && suffer(decide(#name, "name")) ? -1 : real names;                   \
    }
NAME(link, (const char *from, const char *path), (from, path), const char *, const char *)
NAME(symlink, (const char *text, const char *path), (text, path), const char *, const char *)
NAME(chmod, (const char *path, mode_t mode), (path, mode), const char *, mode_t)
NAME(setxattr, (const char *path, const char *name, const void *value, size_t size, int flags),
     (path, name, value, size, flags), const char *, const char *, const void *, size_t, int)

/* The directory is one of the files by the name of its descriptor. */
#define READDIR(name, type)                                                                        \
    struct type *name(DIR *d)                                                                      \
    {                                                                                              \
        char link[64], path[PATH_MAX];                                                             \
        ssize_t n;                                                                                 \
                                                                                                   \
        REAL(#name, struct type *, DIR *);                                                         \
        snprintf(link, sizeof(link), "/proc/self/fd/%d", dirfd(d));                                \
        n = readlink(link, path, sizeof(path) - 1);                                                \
        path[n > 0 ? n : 0] = '\0';                                                                \
        return is_ours(path) && suffer(decide("readdir", "name")) ? NULL : real(d);                \
    }
READDIR(readdir, dirent)
READDIR(readdir64, dirent64)

/* How MPI moves messages on a node, and what containers forbid. */
#define MEMORY(name)                                                                               \
    ssize_t name(pid_t pid, const struct iovec *mine, unsigned long n_mine,                        \
                 const struct iovec *theirs, unsigned long n_theirs, unsigned long flags)          \
    {                                                                                              \
        REAL(#name, ssize_t, pid_t, const struct iovec *, unsigned long, const struct iovec *,     \
             unsigned long, unsigned long);                                                        \
        return prefix && suffer(decide(#name, "memory"))                                           \
                   ? -1                                                                            \
                   : real(pid, mine, n_mine, theirs, n_theirs, flags);                             \
    }
MEMORY(process_vm_readv)
MEMORY(process_vm_writev)

/* ---- many cases in one process ---- */

/* Replace all rules by those of 'text', for files whose absolute path begins with 'below'. Calls are
 * counted from 1 again; the text "" means no rules. Both texts are copied. Local; no file of the rules
 * before may be open. */
void shim_rules(const char *below, const char *text);
void shim_rules(const char *below, const char *text)
{
    static char kept[PATH_MAX];

    snprintf(kept, sizeof(kept), "%s", below);
    prefix = kept;
    n_rules = 0;
    n_fakes = 0;
    memset(ours, 0, sizeof(ours));
    memset(posix_fakes, 0, sizeof(posix_fakes));
    read_rules(text);
}
