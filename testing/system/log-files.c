/* SPDX-License-Identifier: BSD-3-Clause */
/* log-files.c - for LD_PRELOAD: note every open, pread and pwrite of test files with the rank, in the file FILE_LOG
 *
 * Lines: "open RANK PATH", "read RANK OFFSET", "write RANK OFFSET". */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static int watched = -1; /* descriptor of the test file */

static const char *rank(void)
{
    static const char *const names[] = { "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK" };

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (getenv(names[i]))
            return getenv(names[i]);
    return "0";
}

static void *next(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

static void note(const char *what, const char *where)
{
    int (*real_open)(const char *, int, ...) = (int (*)(const char *, int, ...))next("open");
    const char *log = getenv("FILE_LOG");
    char line[8192];
    int fd, n;

    if (!log)
        return;
    n = snprintf(line, sizeof(line), "%s %s %s\n", what, rank(), where);
    fd = real_open(log, O_WRONLY | O_CREAT | O_APPEND, 0666);
    if (fd < 0 || n < 0 || n >= (int)sizeof(line) || write(fd, line, (size_t)n) != n)
        _exit(99);
    close(fd);
}

static void note_offset(const char *what, int fd, off_t off)
{
    char text[32];

    if (fd != watched)
        return;
    snprintf(text, sizeof(text), "%lld", (long long)off);
    note(what, text);
}

static int opened(const char *path, int fd)
{
    if (fd >= 0 && strstr(path, "testFile")) {
        note("open", path);
        watched = fd;
    }
    return fd;
}

#define OPEN(NAME)                                                                                 \
    int NAME(const char *path, int flags, ...)                                                     \
    {                                                                                              \
        int (*real)(const char *, int, ...) = (int (*)(const char *, int, ...))next(#NAME);        \
        va_list ap;                                                                                \
        mode_t mode;                                                                               \
        va_start(ap, flags);                                                                       \
        mode = flags & O_CREAT ? va_arg(ap, mode_t) : 0;                                           \
        va_end(ap);                                                                                \
        return opened(path, real(path, flags, mode));                                              \
    }

OPEN(open)
OPEN(open64)

#define MOVE(NAME, WHAT, BUF)                                                                      \
    ssize_t NAME(int fd, BUF buf, size_t len, off_t off)                                           \
    {                                                                                              \
        ssize_t (*real)(int, BUF, size_t, off_t) =                                                 \
            (ssize_t(*)(int, BUF, size_t, off_t))next(#NAME);                                      \
        note_offset(WHAT, fd, off);                                                                \
        return real(fd, buf, len, off);                                                            \
    }

MOVE(pread, "read", void *)
MOVE(pread64, "read", void *)
MOVE(pwrite, "write", const void *)
MOVE(pwrite64, "write", const void *)
