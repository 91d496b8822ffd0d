/* SPDX-License-Identifier: BSD-3-Clause */
/* spool.c - a file that gets lines until the document that they become is in its place */
#include "config.h"
#include "base/text/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text/wholefile.h"

#define WINDOW ((size_t)64 << 10) /* bytes that wait to be written */

/* ---- the name ---- */

/* ".NAME.incomplete" beside the place, with a number of the process unless that is 0. A name that
 * is too long loses its end. malloc'ed. */
static char *name_beside(const char *place, long process)
{
    const char *slash = strrchr(place, '/'), *base = slash ? slash + 1 : place;
    struct weir_str text = { 0 }, end = { 0 };

    weir_str_addf(&end, process ? ".incomplete-%ld" : ".incomplete", process);
    weir_str_addf(&text, "%.*s.%.*s%s", (int)(base - place), place, NAME_MAX - 1 - (int)end.len,
                  base, weir_str_text(&end));
    text.failed |= end.failed;
    weir_str_free(&end);
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
    s->name = name_beside(place, 0);
    if (s->name && is_used(s->name)) {
        free(s->name);
        s->name = name_beside(place, (long)getpid());
    }
    if (!s->name || weir_name_beside(fileno(s->file), place, made) < 0)
        return -1;
    return rename(*made, s->name);
}

/* ---- bytes ---- */

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

/* ---- the file ---- */

/* A new file beside 'place', locked, or in memory. *made: its name; NULL while it has none. -1
 * with errno. */
static int create(struct weir_spool *s, const char *place, char **made)
{
    int fd;

    *made = NULL;
    fd = place ? weir_create_beside(place, made) : memfd_create("weir-report", MFD_CLOEXEC);
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
