/* SPDX-License-Identifier: BSD-3-Clause */
/* wholefile.c - a file that is whole or not there */
#include "base/text/wholefile.h"
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"

#define TRIES 100 /* names, until one is free */

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

int weir_create_beside(const char *place, char **name)
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

int weir_name_beside(int fd, const char *place, char **name)
{
    return *name || take_free_name(place, fd, name) >= 0 ? 0 : -1;
}

/* A directory that files are only added to lets no name be removed or changed. */
static bool can_create_and_rename(const char *place)
{
    char *name;
    int fd = weir_create_beside(place, &name);
    bool removed;

    if (fd < 0)
        return false;
    removed = weir_name_beside(fd, place, &name) == 0 && unlink(name) == 0;
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
    int fd = weir_create_beside(w->place, &w->beside);

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
              (keep && (fsync(fileno(w->out)) != 0 || weir_name_beside(fileno(w->out), w->place, &w->beside) < 0));
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
