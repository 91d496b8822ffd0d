/* SPDX-License-Identifier: BSD-3-Clause */
/* s3-pieces.c - --s3.object=transfer: the objects of a file, one for each transfer */
#include "backends/s3/s3-file.h"
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "backends/s3/s3-list.h"

/* The URL of the object at 'off', in the memory of the flight. */
static int name_piece(const struct s3_file *f, uint64_t off, struct s3_flight *fl, struct weir_err *err)
{
    static const char digits[] = "0123456789abcdef";
    char name[1 + S3_OFFSET_DIGITS] = "/";

    for (int i = S3_OFFSET_DIGITS; i > 0; i--, off >>= 4)
        name[i] = digits[off & 15];
    weir_str_clear(&fl->url);
    weir_str_add(&fl->url, f->url.text, f->url.len);
    weir_str_add(&fl->url, name, sizeof(name));
    return fl->url.failed ? weir_refuse(err, WEIR_ESETUP, "no memory for the URL of an object") : 0;
}

static int begin_write(struct s3_file *f, const struct weir_io *io, struct s3_flight *fl, struct weir_err *err)
{
    if (!f->writes)
        return weir_refuse(err, WEIR_EIO, "the file is open for reading");
    if (name_piece(f, io->off, fl, err) < 0)
        return -1;
    s3_put(f, fl->url.text, io->buf, io->len, fl);
    return 0;
}

/* Bytes after the end of one object come from the next: the transfer is short, and continued. */
static int begin_read(struct s3_file *f, const struct weir_io *io, struct s3_flight *fl, struct weir_err *err)
{
    uint64_t within = io->off % f->piece, left = f->piece - within;
    size_t len = io->len < left ? io->len : (size_t)left;

    if (name_piece(f, io->off - within, fl, err) < 0)
        return -1;
    fl->file = f;
    fl->len = len;
    fl->number = 0;
    fl->call = (struct s3_call) { .method = S3_GET,
                                  .url = fl->url.text,
                                  .into = io->buf,
                                  .room = len,
                                  .ranged = len < f->piece,
                                  .off = within,
                                  .owner = fl };
    return 0;
}

int s3_piece_begin(struct s3_file *f, const struct weir_io *io, struct s3_flight *fl, ssize_t *n, struct weir_err *err)
{
    *n = 0;
    if (io->dir == WEIR_DIR_WRITE)
        return begin_write(f, io, fl, err);
    return f->piece == 0 ? 1 : begin_read(f, io, fl, err);
}

/* ---- open and close ---- */

struct first {
    size_t skip; /* bytes of a key before the offset */
    bool found;
    uint64_t size;
};

static int take_first(void *mine, const char *key, uint64_t size, struct weir_err *err)
{
    struct first *first = mine;

    (void)err;
    if (!first->found && s3_is_offset(key + first->skip))
        *first = (struct first) { .found = true, .size = size };
    return 0;
}

/* One of those that are there: a task may have written no bytes at 0. */
static int find_first(struct s3_file *f, struct first *first, struct weir_err *err)
{
    struct s3 *s3 = s3_of(f->base.s);
    struct weir_str url = { 0 }, prefix = { 0 };
    int rc;

    s3_url(&s3->service, weir_str_text(&s3->bucket), "", &url);
    weir_str_addf(&prefix, "%s/", weir_str_text(&s3->key));
    first->skip = prefix.len;
    rc = url.failed || prefix.failed ? weir_refuse(err, WEIR_ESETUP, "no memory for a listing")
                                     : s3_list(s3->line, weir_str_text(&url), weir_str_text(&prefix), S3_KEYS_A_REQUEST, take_first,
                                               first, err);
    weir_str_free(&prefix);
    weir_str_free(&url);
    return rc;
}

int s3_piece_find(struct s3_file *f, struct weir_err *err)
{
    struct s3 *s3 = s3_of(f->base.s);
    struct s3_call *c = &s3->alone.call;
    struct first first = { .found = false };
    int rc = name_piece(f, 0, &s3->alone, err);

    if (rc < 0)
        return -1;
    *c = (struct s3_call) { .method = S3_HEAD, .url = s3->alone.url.text };
    rc = s3_call(s3->line, c, err);
    first.found = rc == 0;
    first.size = c->answer.length;
    if (rc < 0 && c->answer.sys == ENOENT)
        rc = find_first(f, &first, err);
    if (rc == 0 && !first.found) {
        errno = ENOENT;
        rc = weir_fail(err, WEIR_EIO, "no objects s3://%s/%s/...", weir_str_text(&s3->bucket), weir_str_text(&s3->key));
    }
    f->piece = first.size;
    return rc;
}

int s3_piece_empty(struct s3_file *f, struct weir_err *err)
{
    struct s3 *s3 = s3_of(f->base.s);

    if (name_piece(f, 0, &s3->alone, err) < 0)
        return -1;
    s3_put(f, s3->alone.url.text, NULL, 0, &s3->alone);
    return s3_call(s3->line, &s3->alone.call, err);
}
