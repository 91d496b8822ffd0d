/* SPDX-License-Identifier: BSD-3-Clause */
/* wholefile.c - a file that is whole or not there, and lines of a document that is not yet */
#include "base/text/wholefile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define TRIES 100 /* names, until one is free */
#define WINDOW ((size_t)64 << 10) /* bytes that wait to be written */

/* Names in the directory of 'place', whose name may be as long as it likes, until one is free: for a new file, or
 * for the one of fd. Its descriptor, or -1 with errno set and *name NULL. */
static int take_free_name(const char *place, int fd, char **name)
{
    const char *slash = strrchr(place, '/');
    int dir = slash ? (int)(slash - place) + 1 : 0, rc = -1;
    struct weir_str text = { 0 };
    char of_fd[32];

    snprintf(of_fd, sizeof(of_fd), "/proc/self/fd/%d", fd);
    for (int i = 0; i < TRIES && rc < 0; i++) {
        weir_str_clear(&text);
        weir_str_addf(&text, "%.*s.weir-%ld-%d", dir, place, (long)getpid(), i);
        errno = ENOMEM;
        if (!text.failed && fd < 0)
            rc = open(text.text, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        else if (!text.failed && linkat(AT_FDCWD, of_fd, AT_FDCWD, text.text, AT_SYMLINK_FOLLOW) == 0)
            rc = fd;
        if (rc < 0 && errno != EEXIST)
            break;
    }
    if (rc < 0) {
        int reason = errno;

        weir_str_free(&text);
        errno = reason;
    }
    *name = text.text;
    return rc;
}

/* Creates a file in the directory of 'place'. If the file system allows it, the file has no name, so
 * that a killed process leaves nothing: *name is NULL then, else malloc'ed. -1 with errno set. */
static int create_beside(const char *place, char **name)
{
    const char *slash = strrchr(place, '/');
    struct weir_str dir = { 0 };
    int fd = -1;

    weir_str_addf(&dir, "%.*s.", slash ? (int)(slash - place) + 1 : 0, place);
    if (!dir.failed && access("/proc/self/fd", X_OK) == 0)
        fd = open(dir.text, O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
    weir_str_free(&dir);
    *name = NULL;
    return fd >= 0 ? fd : take_free_name(place, -1, name);
}

/* Give the file a name unless it has one. Its length does not depend on the name of the place. */
static int name_beside(int fd, const char *place, char **name)
{
    return *name || take_free_name(place, fd, name) >= 0 ? 0 : -1;
}

/* A directory that files are only added to lets no name be removed or changed. */
static bool can_create_and_rename(const char *place)
{
    char *name;
    int fd = create_beside(place, &name);
    bool removed;

    if (fd < 0)
        return false;
    removed = name_beside(fd, place, &name) == 0 && unlink(name) == 0;
    close(fd);
    free(name);
    return removed;
}

int weir_wholefile_prepare(struct weir_wholefile *w, const char *path, struct weir_err *err)
{
    struct stat st;
    bool there = stat(path, &st) == 0;
    int rc;

    *w = (struct weir_wholefile) { .place = NULL };
    if (there && (!S_ISREG(st.st_mode) || access(path, W_OK) < 0))
        return 0;
    if (!there && (errno != ENOENT || lstat(path, &st) == 0)) /* a link that leads nowhere */
        return 0;
    w->place = there ? realpath(path, NULL) : strdup(path);
    if (!w->place)
        return weir_fail(err, WEIR_ESETUP, "open '%s'", path);
    if (can_create_and_rename(w->place))
        return 0;
    rc = errno == ENOMEM ? weir_fail(err, WEIR_ESETUP, "open '%s'", path) : 0;
    free(w->place);
    w->place = NULL;
    return rc;
}

int weir_wholefile_open(struct weir_wholefile *w, struct weir_err *err)
{
    int fd = create_beside(w->place, &w->beside);

    if (fd < 0)
        return weir_fail(err, WEIR_ESETUP, "create a temporary file in the directory of '%s'",
                         w->place);
    w->out = fdopen(fd, "w");
    if (w->out)
        return 0;
    weir_fail(err, WEIR_ESETUP, "write '%s'", w->place);
    close(fd);
    return -1;
}

int weir_wholefile_close(struct weir_wholefile *w, bool keep, struct weir_err *err)
{
    bool bad = false;
    int rc = 0;

    if (w->out) {
        errno = 0;
        /* The data come before the name: a crash must not leave an empty file in the place. */
        bad = fflush(w->out) != 0 || ferror(w->out) ||
              (keep && (fsync(fileno(w->out)) != 0 ||
                        name_beside(fileno(w->out), w->place, &w->beside) < 0));
        if (fclose(w->out) != 0)
            bad = true;
        if (keep && (bad || rename(w->beside, w->place) < 0))
            rc = weir_fail(err, WEIR_ESETUP, "write '%s'", w->place);
    }
    if (w->beside && (!keep || rc < 0 || !w->out))
        unlink(w->beside);
    free(w->beside);
    free(w->place);
    *w = (struct weir_wholefile) { .place = NULL };
    return rc;
}

FILE *weir_open_now(const char *path, const char *mode)
{
    int flags = *mode == 'r'   ? O_RDONLY
                : *mode == 'w' ? O_WRONLY | O_CREAT | O_TRUNC
                               : O_WRONLY | O_CREAT | O_APPEND;
    int fd = open(path, flags | O_NONBLOCK | O_CLOEXEC, 0666);
    FILE *f = fd < 0 || fcntl(fd, F_SETFL, flags & O_APPEND) < 0 ? NULL : fdopen(fd, mode);

    if (!f && fd >= 0)
        close(fd);
    return f;
}

int weir_fsync(int fd, const char *path, struct weir_err *err)
{
    int rc;

    do
        rc = fsync(fd);
    while (rc < 0 && errno == EINTR);
    return rc < 0 ? weir_fail(err, WEIR_EIO, "fsync '%s'", path) : 0;
}

bool weir_close_written(FILE *f)
{
    bool bad = f && ferror(f);

    return (!f || fclose(f) == 0) && !bad;
}

/* A device, or a directory where no file can be made. */
static int put_in_place(const char *path, const char *text, struct weir_err *err)
{
    FILE *f = weir_open_now(path, "w");

    if (!f)
        return weir_fail(err, WEIR_ESETUP, "create '%s'", path);
    fputs(text, f);
    return weir_close_written(f) ? 0 : weir_fail(err, WEIR_ESETUP, "write '%s'", path);
}

int weir_wholefile_put(const char *path, const char *text, struct weir_err *err)
{
    struct weir_wholefile w;
    int rc;

    if (weir_wholefile_prepare(&w, path, err) < 0)
        return -1;
    if (!w.place)
        return put_in_place(path, text, err);
    rc = weir_wholefile_open(&w, err);
    if (rc == 0 && fputs(text, w.out) == EOF)
        rc = weir_fail(err, WEIR_ESETUP, "write '%s'", path);
    if (weir_wholefile_close(&w, rc == 0, rc < 0 ? NULL : err) < 0)
        rc = -1;
    return rc;
}

/* ---- lines of a document ---- */

/* ".NAME.incomplete" beside the place, with a number of the process unless that is 0. A name that
 * is too long loses its end. malloc'ed. */
static char *name_of_lines(const char *place, long process)
{
    const char *slash = strrchr(place, '/'), *base = slash ? slash + 1 : place;
    struct weir_str text = { 0 };
    char end[40];
    int len = snprintf(end, sizeof(end), process ? ".incomplete-%ld" : ".incomplete", process);

    weir_str_addf(&text, "%.*s.%.*s%s", (int)(base - place), place, NAME_MAX - 1 - len, base, end);
    if (text.failed)
        weir_str_free(&text);
    return text.text;
}

/* True when another process writes the file. A lock ends with its owner. File systems without locks
 * do not know: then the name goes to the new file, and the other one goes on without a name. */
static bool is_used(const char *name)
{
    int fd = open(name, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    bool used;

    if (fd < 0)
        return errno == EACCES;
    used = flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK;
    close(fd);
    return used;
}

/* True when the name is still that of this file. Another process may have taken it. */
static bool is_ours(const struct weir_spool *s)
{
    struct stat ours, there;

    return fstat(fileno(s->file), &ours) == 0 && lstat(s->name, &there) == 0 &&
           ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
}

/* Rename the new file, whose name is in *made where it has one. */
static int take_name(struct weir_spool *s, const char *place, char **made)
{
    s->name = name_of_lines(place, 0);
    if (s->name && is_used(s->name)) {
        free(s->name);
        s->name = name_of_lines(place, (long)getpid());
    }
    if (!s->name || name_beside(fileno(s->file), place, made) < 0)
        return -1;
    return rename(*made, s->name);
}

static int put(struct weir_spool *s, const char *text, size_t len)
{
    while (len > 0) {
        ssize_t n = pwrite(fileno(s->file), text, len, (off_t)s->size);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            s->sys = n < 0 ? errno : EIO;
            return -1;
        }
        text += n;
        len -= (size_t)n;
        s->size += (uint64_t)n;
    }
    return 0;
}

void weir_spool_flush(struct weir_spool *s)
{
    struct weir_str *w = &s->window;

    if (w->failed && s->sys == 0)
        s->sys = ENOMEM;
    if (s->sys == 0 && w->len > 0)
        put(s, w->text, w->len);
    weir_str_clear(w);
    if (w->cap > 2 * WINDOW || w->failed)
        weir_str_free(w);
}

void weir_spool_add(struct weir_spool *s, const struct weir_str *text)
{
    weir_str_add(&s->window, weir_str_text(text), text->len);
    s->window.failed |= text->failed;
    if (s->window.len >= WINDOW)
        weir_spool_flush(s);
}

void weir_spool_cut(struct weir_spool *s, uint64_t size)
{
    weir_str_clear(&s->window);
    if (s->size > size && ftruncate(fileno(s->file), (off_t)size) == 0)
        s->size = size;
}

/* A new file beside 'place', locked, or in memory. *made: its name; NULL while it has none. -1
 * with errno. */
static int create(struct weir_spool *s, const char *place, char **made)
{
    int fd;

    *made = NULL;
    fd = place ? create_beside(place, made) : memfd_create("weir-report", MFD_CLOEXEC);
    if (fd < 0)
        return -1;
    if (place)
        (void)flock(fd, LOCK_EX | LOCK_NB);
    s->file = fdopen(fd, "r+");
    if (!s->file)
        close(fd);
    return s->file ? 0 : -1;
}

int weir_spool_open(struct weir_spool *s, const char *place, const char *first,
                    struct weir_err *err)
{
    char *made;
    int rc;

    *s = (struct weir_spool) { .name = NULL };
    rc = create(s, place, &made);
    if (rc == 0)
        rc = put(s, first, strlen(first));
    if (rc == 0 && place)
        rc = take_name(s, place, &made);
    if (rc < 0) {
        weir_fail(err, WEIR_ESETUP, "begin the document of '%s'%s%s%s",
                  place ? place : "standard output", s->name ? " in '" : "",
                  s->name ? s->name : "", s->name ? "'" : "");
        if (made)
            unlink(made);
        weir_spool_close(s, true);
    }
    free(made);
    return rc;
}

void weir_spool_close(struct weir_spool *s, bool keep)
{
    if (s->file && keep)
        weir_spool_flush(s);
    if (s->file && s->name && !keep && is_ours(s))
        unlink(s->name);
    if (s->file)
        fclose(s->file);
    free(s->name);
    weir_str_free(&s->window);
    *s = (struct weir_spool) { .name = NULL };
}
