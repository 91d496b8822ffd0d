/* SPDX-License-Identifier: BSD-3-Clause */
/* addline.c - a line that is added to a file whole or not at all */
#include "engine/report/report.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"

#define WAIT_NS 10000000u
#define PATIENCE_NS (30 * WEIR_NS_PER_S)
#define TRIES 10 /* while other processes remove the file */

/* Locks of an open file belong to this open alone, not to all of the process. */
#ifdef F_OFD_SETLK
#define SET_LOCK F_OFD_SETLK
#else
#define SET_LOCK F_SETLK
#endif

static int check_directory(const char *path)
{
    const char *slash = strrchr(path, '/');
    struct weir_str dir = { 0 };
    int rc;

    weir_str_add(&dir, path, slash ? (size_t)(slash - path) + 1 : 0);
    errno = ENOMEM;
    rc = dir.failed ? -1 : access(dir.len ? weir_str_text(&dir) : ".", W_OK | X_OK);
    weir_str_free(&dir);
    return rc;
}

static bool is_pipe(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISFIFO(st.st_mode);
}

/* A pipe is not opened: its reader would read the end of it when it is closed again. */
int weir_addline_check(const char *path, struct weir_err *err)
{
    int fd;

    if (is_pipe(path))
        return access(path, W_OK) < 0 ? weir_fail(err, WEIR_ESETUP, "open '%s' to add a line", path)
                                      : 0;
    fd = open(path, O_RDWR | O_APPEND | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0)
        close(fd);
    else if (errno != ENOENT || check_directory(path) < 0)
        return weir_fail(err, WEIR_ESETUP, "open '%s' to add a line", path);
    return 0;
}

/* 0: locked; 1: the file system has no locks; -1: others keep it, or it failed. */
static int lock(int fd)
{
    for (uint64_t waited = 0; waited < PATIENCE_NS; waited += WAIT_NS) {
        struct flock all = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

        if (fcntl(fd, SET_LOCK, &all) == 0)
            return 0;
        if (errno == ENOLCK || errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP)
            return 1;
        if (errno != EAGAIN && errno != EACCES && errno != EINTR)
            return -1;
        weir_sleep_ns(WAIT_NS);
    }
    errno = ETIMEDOUT;
    return -1;
}

/* Open and lock the file; its state under the lock. One that was removed while this process waited is opened
 * again: a line in it would be lost. So would a line in a pipe without a reader (ENXIO). */
static int open_locked(const char *path, struct stat *st)
{
    for (int i = 0; i < TRIES; i++) {
        int how = is_pipe(path) ? O_WRONLY : O_RDWR | O_CREAT,
            fd = open(path, how | O_APPEND | O_NONBLOCK | O_CLOEXEC, 0666), reason;

        if (fd < 0)
            return -1;
        if (fstat(fd, st) == 0 && (!S_ISREG(st->st_mode) || (lock(fd) >= 0 && fstat(fd, st) == 0))) {
            if (st->st_nlink > 0)
                return fd;
            errno = ESTALE;
        }
        reason = errno;
        close(fd);
        errno = reason;
        if (reason != ESTALE)
            return -1;
    }
    return -1;
}

/* True when the last process that added to it ended in the middle of its line. */
static bool is_open_line(int fd, const struct stat *st)
{
    char last = '\n';

    return S_ISREG(st->st_mode) && st->st_size > 0 && pread(fd, &last, 1, st->st_size - 1) == 1 &&
           last != '\n';
}

/* Remove what was written of a line, unless others that know no lock have added to it. errno stays. */
static void take_back(int fd, const struct stat *before, size_t done)
{
    int reason = errno;
    struct stat now;

    if (S_ISREG(before->st_mode) && done > 0 && fstat(fd, &now) == 0 &&
        now.st_size == before->st_size + (off_t)done && ftruncate(fd, before->st_size) < 0)
        reason = reason ? reason : errno;
    errno = reason;
}

static int add(int fd, const struct stat *st, const char *text)
{
    struct weir_str line = { 0 };
    size_t done = 0;
    int rc = -1;

    weir_str_addf(&line, "%s%s\n", is_open_line(fd, st) ? "\n" : "", text);
    errno = ENOMEM;
    if (!line.failed)
        rc = weir_write_all(fd, line.text, line.len, &done);
    if (rc == 0 && S_ISREG(st->st_mode))
        rc = fsync(fd);
    if (rc < 0)
        take_back(fd, st, done);
    weir_str_free(&line);
    return rc;
}

int weir_addline(const char *path, const char *text, struct weir_err *err)
{
    struct stat st;
    int fd = open_locked(path, &st), rc, reason;

    if (fd < 0 && errno == ETIMEDOUT)
        return weir_fail(err, WEIR_ESETUP, "lock '%s', locked by another process for 30 s", path);
    if (fd < 0)
        return weir_fail(err, WEIR_ESETUP, "open '%s' to add a line", path);
    rc = add(fd, &st, text);
    reason = errno;
    if (close(fd) < 0 && rc == 0) { /* it ends the lock */
        rc = -1;
        reason = errno;
    }
    errno = reason;
    return rc < 0 ? weir_fail(err, WEIR_ESETUP, "add a line to '%s'", path) : 0;
}
