/* SPDX-License-Identifier: BSD-3-Clause */
/* posix-array.c - arrays in ordinary files, one after the other: a vectored call for each run */
#include "backends/array.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "backends/shared/posixfile.h"

#define VECTOR 64             /* pieces of memory in a call */
#define CALL_MAX (1ull << 30) /* bytes of a call */

struct posix_arrays {
    struct weir_array_file base;
    struct weir_posix_file file;
    bool failed; /* a write has failed here */
};

struct posix_array {
    struct weir_array base;
    struct weir_runs in_file, in_memory;
};

/* The data that the coming call moves: some pieces of memory, one range of the file. */
struct batch {
    struct posix_arrays *f;
    enum weir_dir dir;
    struct iovec piece[VECTOR];
    int pieces;
    uint64_t at, len; /* bytes */
};

static int array_open(struct weir_array_file *base, unsigned flags, struct weir_err *err)
{
    struct posix_arrays *f = (struct posix_arrays *)base;
    const char *around = weir_posix_around(base->s);

    if (around)
        return weir_refuse(err, WEIR_EUSAGE, "--posix.%s is not for files of arrays", around);
    f->file.base = (struct weir_file) { .s = base->s, .path = base->path };
    return weir_backend_posix.open(base->s, base->path, flags, &f->file.base, err);
}

/* Extend the file to the end of its last array, which may be unwritten. All ranks have the same
 * end, and none writes after it. */
static int reach_end(struct posix_arrays *f, struct weir_err *err)
{
    struct stat st;

    if (fstat(f->file.fd, &st) < 0)
        return weir_fail(err, WEIR_EIO, "get the size of '%s'", f->base.path);
    if ((uint64_t)st.st_size < f->base.next_at && ftruncate(f->file.fd, (off_t)f->base.next_at) < 0)
        return weir_fail(err, WEIR_EIO, "set the size of '%s' to %llu bytes", f->base.path,
                         (unsigned long long)f->base.next_at);
    return 0;
}

static int array_close(struct weir_array_file *base, struct weir_err *err)
{
    struct posix_arrays *f = (struct posix_arrays *)base;
    int rc = 0;

    if (base->writes && !f->failed)
        rc = reach_end(f, err);
    if (weir_backend_posix.close(&f->file.base, rc < 0 ? NULL : err) < 0)
        rc = -1;
    return rc;
}

static int array_find(struct weir_array *a, struct weir_array_spec *have, struct weir_err *err)
{
    const struct posix_arrays *f = (const struct posix_arrays *)a->file;
    struct stat st;

    if (fstat(f->file.fd, &st) < 0)
        return weir_fail(err, WEIR_EIO, "get the size of the file");
    return weir_plain_array_find(a, (uint64_t)st.st_size, err);
}

static int array_release(struct weir_array *a, struct weir_err *err)
{
    return 0;
}

static int array_select(struct weir_array *base, struct weir_err *err)
{
    struct posix_array *a = (struct posix_array *)base;

    weir_runs_begin(&a->in_file, &base->slab, &base->spec.shape);
    weir_runs_begin(&a->in_memory, &base->mem.slab, &base->mem.shape);
    return 0;
}

/* ---- transfers ---- */

/* Take n bytes off the front of the batch. */
static void advance(struct batch *b, uint64_t n)
{
    int i = 0;

    b->at += n;
    b->len -= n;
    while (i < b->pieces && n >= b->piece[i].iov_len)
        n -= b->piece[i++].iov_len;
    b->pieces -= i;
    memmove(b->piece, b->piece + i, (size_t)b->pieces * sizeof(b->piece[0]));
    if (b->pieces > 0) {
        b->piece[0].iov_base = (char *)b->piece[0].iov_base + n;
        b->piece[0].iov_len -= n;
    }
}

static int move_batch(struct batch *b, struct weir_err *err)
{
    while (b->len > 0) {
        ssize_t n = b->dir == WEIR_DIR_WRITE
                        ? pwritev(b->f->file.fd, b->piece, b->pieces, (off_t)b->at)
                        : preadv(b->f->file.fd, b->piece, b->pieces, (off_t)b->at);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            weir_posix_reason(&b->f->file, "", err);
            return weir_err_within(err, "byte %llu of the file", (unsigned long long)b->at);
        }
        if (n == 0)
            return weir_refuse(err, WEIR_EIO, "%s at byte %llu of the file",
                               b->dir == WEIR_DIR_READ ? "end of file" : "no byte was written",
                               (unsigned long long)b->at);
        advance(b, (uint64_t)n);
    }
    b->pieces = 0;
    return 0;
}

/* One more piece: in the same call if it lies next to the others in the file. */
static int add_piece(struct batch *b, uint64_t at, char *mem, uint64_t len, struct weir_err *err)
{
    struct iovec *last = b->pieces > 0 ? &b->piece[b->pieces - 1] : NULL;

    if (last && (b->at + b->len != at || b->len + len > CALL_MAX ||
                 (b->pieces == VECTOR && (char *)last->iov_base + last->iov_len != mem))) {
        if (move_batch(b, err) < 0)
            return -1;
        last = NULL;
    }
    if (!last) {
        b->at = at;
        b->len = 0;
    }
    if (last && (char *)last->iov_base + last->iov_len == mem)
        last->iov_len += len;
    else
        b->piece[b->pieces++] = (struct iovec) { .iov_base = mem, .iov_len = len };
    b->len += len;
    return 0;
}

static int array_move(struct weir_array *base, enum weir_dir dir, void *buf, struct weir_err *err)
{
    struct posix_array *a = (struct posix_array *)base;
    struct batch b = { .f = (struct posix_arrays *)base->file, .dir = dir };
    struct weir_pieces p;
    uint64_t at, from, n;
    int rc = 0;

    weir_pieces_begin(&p, &a->in_file, &a->in_memory);
    while (rc == 0 && weir_pieces_next(&p, &at, &from, &n))
        rc = add_piece(&b, base->at + at * base->elem, (char *)buf + from * base->elem,
                       n * base->elem, err);
    if (rc == 0)
        rc = move_batch(&b, err);
    b.f->failed |= rc < 0 && dir == WEIR_DIR_WRITE;
    return rc;
}

static int array_sync(struct weir_array_file *base, struct weir_err *err)
{
    struct posix_arrays *f = (struct posix_arrays *)base;

    return weir_backend_posix.sync(&f->file.base, err);
}

const struct weir_array_ops posix_array_ops = {
    .file_size = sizeof(struct posix_arrays),
    .array_size = sizeof(struct posix_array),
    .check = weir_plain_array_check,
    .open = array_open,
    .close = array_close,
    .make = weir_plain_array_make,
    .find = array_find,
    .release = array_release,
    .select = array_select,
    .move = array_move,
    .sync = array_sync,
};
