/* SPDX-License-Identifier: BSD-3-Clause */
/* find-walk.c - one rank's part of a find: directories that it reads, and batches of entries that it looks up.
 *
 * A piece of work is a directory to be read ('d' and its path), or a batch of entries of one directory that must be looked up.
 * They must because a condition needs more than the name, or the directory does not report their kind. A batch is 'e', the path,
 * a NUL, and for each entry '?' (its kind is not known) or '.', its name and a NUL. So all ranks look up the entries of a wide
 * directory, while one reads it. */
#include "programs/weir-io500/find.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text/quote.h"

#define BATCH 64           /* entries */
#define READ 512           /* entries of a directory between two looks at what waits */
#define SERVE_NS 100000u   /* between two looks at the other ranks */
#define CLOCK_ENTRIES 16   /* that are read between two looks at the clock */

/* ---- what matches ---- */

bool io500_walk_matches(const struct io500_walk *w, const char *name, const struct stat *st)
{
    const struct io500_find *f = w->find;

    if (f->name && fnmatch(f->name, name, 0) != 0)
        return false;
    if (st && f->size >= 0 && st->st_size != f->size)
        return false;
    if (!st || !f->newer)
        return true;
    return st->st_mtim.tv_sec != w->newer.tv_sec ? st->st_mtim.tv_sec > w->newer.tv_sec
                                                  : st->st_mtim.tv_nsec > w->newer.tv_nsec;
}

static void add_path(struct weir_str *out, const char *directory, const char *path, const char *name)
{
    weir_str_addf(out, "%s", directory);
    for (const char *const *part = (const char *const[]) { path, name, NULL }; *part; part++)
        if (**part)
            weir_str_addf(out, "%s%s", out->len > 0 && out->text[out->len - 1] == '/' ? "" : "/", *part);
}

void io500_walk_hit(struct io500_walk *w, const char *path, const char *name)
{
    struct weir_str whole = { 0 };

    w->count.found++;
    if (!w->find->each)
        return;
    add_path(&whole, w->find->directory, path, name);
    w->find->each(w->find->arg, weir_str_text(&whole));
    w->pool.failed |= whole.failed;
    weir_str_free(&whole);
}

static bool needs_look(const struct io500_walk *w)
{
    return w->find->size >= 0 || w->find->newer;
}

/* An entry that cannot be read, by errno. One that is gone, or has become something else, is no error. */
static void miss(struct io500_walk *w, const char *what, const char *path, const char *name)
{
    const int reason = errno;
    char quoted[WEIR_QUOTE_TEXT];
    struct weir_str whole = { 0 };

    if (reason == ENOENT || reason == ENOTDIR || reason == ELOOP) {
        w->count.vanished++;
        return;
    }
    if (w->count.errors++ > 0)
        return;
    add_path(&whole, w->find->directory, path, name);
    weir_quote_str(weir_str_text(&whole), quoted);
    errno = reason;
    weir_fail(&w->count.problem, WEIR_EIO, "%s '%s'", what, quoted);
    weir_str_free(&whole);
}

/* ---- descriptors ---- */

/* The nearest directory above a path, or of that path itself, that is open; *rest is the path below it. */
static int nearest(const struct io500_walk *w, const char *path, const char **rest)
{
    const struct io500_directory *near[] = { &w->last, w->n > 0 ? &w->open[w->n - 1] : &w->last };

    for (size_t i = 0; i < sizeof(near) / sizeof(*near); i++) {
        size_t len = near[i]->stream ? strlen(near[i]->path) : 0;

        if (len == 0 || strncmp(path, near[i]->path, len) != 0 || (path[len] && path[len] != '/'))
            continue;
        *rest = path + len + (path[len] == '/');
        return dirfd(near[i]->stream);
    }
    *rest = path;
    return w->root;
}

/* One step towards a path that is too long for a call. */
static int open_part(int from, const char **path)
{
    char part[PATH_MAX];
    const char *slash = memrchr(*path, '/', sizeof(part) - 1);
    int fd;

    if (!slash) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(part, *path, (size_t)(slash - *path));
    part[slash - *path] = '\0';
    fd = openat(from, part, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    *path = slash + 1;
    return fd;
}

/* A directory of any path. -1 and errno. */
static int open_directory(const struct io500_walk *w, const char *path, int flags)
{
    const char *rest;
    int start = nearest(w, path, &rest), at = start, next, reason;

    do {
        bool last = strlen(rest) < PATH_MAX;

        next = last ? openat(at, *rest ? rest : ".", flags | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : open_part(at, &rest);
        reason = errno;
        if (at != start)
            close(at);
        errno = reason;
        if (last || next < 0)
            return next;
        at = next;
    } while (true);
}

static void close_directory(struct io500_directory *d)
{
    if (d->stream)
        closedir(d->stream);
    free(d->path);
    weir_str_free(&d->batch);
    *d = (struct io500_directory) { .stream = NULL };
}

static void begin_directory(struct io500_walk *w, const char *path)
{
    struct io500_directory d = { .path = strdup(path) };
    int fd = d.path ? open_directory(w, path, O_RDONLY) : -1;

    if (fd >= 0)
        d.stream = fdopendir(fd);
    if (d.stream) {
        w->open[w->n++] = d;
        return;
    }
    if (errno == ENOMEM) {
        w->pool.failed = true;
        io500_pool_stop(&w->pool);
    }
    miss(w, "open directory", path, "");
    if (fd >= 0)
        close(fd);
    free(d.path);
}

/* ---- pieces ---- */

static void serve(struct io500_walk *w)
{
    uint64_t now = weir_now_ns();

    if (now - w->served_ns < SERVE_NS)
        return;
    w->served_ns = now;
    io500_pool_serve(&w->pool, w->n > 0);
}

static void put(struct io500_walk *w, struct weir_str *piece)
{
    if (piece->failed) {
        w->pool.failed = true;
        io500_pool_stop(&w->pool);
    } else {
        io500_pool_put(&w->pool, piece->text, piece->len);
    }
}

static void put_directory(struct io500_walk *w, const char *path, const char *name)
{
    struct weir_str piece = { 0 };

    w->count.directories++;
    weir_str_addf(&piece, "d%s%s%s", path, *path ? "/" : "", name);
    weir_str_addc(&piece, '\0');
    put(w, &piece);
    weir_str_free(&piece);
}

static void look_at(struct io500_walk *w, int fd, const char *path, const char *name, bool is_known)
{
    struct stat st;

    serve(w);
    if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) < 0) {
        miss(w, "stat", path, name);
        return;
    }
    if (!is_known && S_ISDIR(st.st_mode))
        put_directory(w, path, name);
    if (needs_look(w) && io500_walk_matches(w, name, &st))
        io500_walk_hit(w, path, name);
}

/* A batch, as in a piece without its first byte, of the directory in fd. */
static void look_at_batch(struct io500_walk *w, int fd, const char *batch, size_t len)
{
    for (size_t at = strlen(batch) + 1; at < len && !w->pool.stopped; at += strlen(batch + at) + 1)
        look_at(w, fd, batch, batch + at + 1, batch[at] == '.');
}

static void do_batch(struct io500_walk *w, const char *batch, size_t len)
{
    const char *rest;
    int near = nearest(w, batch, &rest), fd = *rest ? open_directory(w, batch, O_PATH) : near;

    if (fd >= 0)
        look_at_batch(w, fd, batch, len);
    else
        miss(w, "open directory", batch, "");
    if (fd >= 0 && fd != near)
        close(fd);
}

/* ---- reading a directory ---- */

/* The batch that was gathered: for whoever has time, or for us where enough waits already. */
static void end_batch(struct io500_walk *w, struct io500_directory *d)
{
    if (d->in_batch == 0)
        return;
    if (d->batch.failed || !io500_pool_is_full(&w->pool))
        put(w, &d->batch);
    else
        look_at_batch(w, dirfd(d->stream), d->batch.text + 1, d->batch.len - 1);
    weir_str_clear(&d->batch);
    d->in_batch = 0;
}

static void add_to_batch(struct io500_walk *w, struct io500_directory *d, const char *name, bool is_known)
{
    if (d->in_batch == 0) {
        weir_str_addf(&d->batch, "e%s", d->path);
        weir_str_addc(&d->batch, '\0');
    }
    weir_str_addc(&d->batch, is_known ? '.' : '?');
    weir_str_add(&d->batch, name, strlen(name) + 1);
    if (++d->in_batch == BATCH)
        end_batch(w, d);
}

static void see(struct io500_walk *w, struct io500_directory *d, const struct dirent *e)
{
    const bool is_known = e->d_type != DT_UNKNOWN, by_name = io500_walk_matches(w, e->d_name, NULL);

    w->count.total++;
    if (e->d_type == DT_DIR)
        put_directory(w, d->path, e->d_name);
    if (by_name && !needs_look(w))
        io500_walk_hit(w, d->path, e->d_name);
    if (!is_known || (by_name && needs_look(w)))
        add_to_batch(w, d, e->d_name, is_known);
}

static void read_some(struct io500_walk *w)
{
    struct io500_directory *d = &w->open[w->n - 1];
    struct dirent *e = NULL;

    errno = 0;
    for (int i = 0; i < READ && !w->pool.stopped; i++) {
        if (i % CLOCK_ENTRIES == 0)
            serve(w);
        errno = 0;
        e = readdir(d->stream);
        if (!e)
            break;
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            see(w, d, e);
    }
    if (!e && errno != 0)
        miss(w, "read directory", d->path, "");
    if (e)
        return;
    end_batch(w, d);
    close_directory(&w->last);
    w->last = w->open[--w->n];
}

/* Reading brings pieces, so it pauses while many wait; where too many directories are open, it does not. */
static bool step(struct io500_walk *w)
{
    struct io500_piece *piece;

    if (w->n > 0 && (w->n == IO500_FIND_OPEN || !io500_pool_is_full(&w->pool))) {
        read_some(w);
        return true;
    }
    piece = io500_pool_take(&w->pool);
    if (!piece)
        return false;
    serve(w);
    if (piece->bytes[0] == 'd')
        begin_directory(w, piece->bytes + 1);
    else
        do_batch(w, piece->bytes + 1, piece->len - 1);
    free(piece);
    return true;
}

void io500_walk_run(struct io500_walk *w, bool begins)
{
    if (begins)
        put_directory(w, "", "");
    do {
        while (!w->pool.stopped && step(w)) {
            /* until this rank has nothing */
        }
        while (w->n > 0)
            close_directory(&w->open[--w->n]);
    } while (io500_pool_wait(&w->pool));
    close_directory(&w->last);
}
