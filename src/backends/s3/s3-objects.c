/* SPDX-License-Identifier: BSD-3-Clause */
/* s3-objects.c - a transfer of a file as a call to the service; objects that are a transfer each */
#include "backends/s3/s3-objects.h"
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define SOME 64 /* calls that are taken back at a time */

void s3_collect(struct s3 *s3, int least)
{
    struct s3_call *done[SOME];
    int n = s3_wait(s3->client, least < SOME ? least : SOME, SOME, done);

    for (int i = 0; i < n; i++) {
        struct s3_flight *fl = done[i]->owner;

        fl->landed(fl);
    }
}

/* ---- calls ---- */

void s3_put(struct s3_file *f, const char *url, const void *data, size_t len, struct s3_flight *fl)
{
    fl->file = f;
    fl->len = len;
    fl->number = 0;
    fl->call = (struct s3_call) { .method = S3_PUT, .url = url, .send = data, .send_len = len, .owner = fl };
    if (f->exclusive && (f->way == S3_PIECES || !f->written))
        fl->call.headers = s3_only_new;
}

/* A GET of some bytes of an object of 'size' bytes: of a range, unless they are all. */
static void get(struct s3_file *f, const char *url, uint64_t size, uint64_t off, void *into,
                size_t len, struct s3_flight *fl)
{
    fl->file = f;
    fl->len = len;
    fl->number = 0;
    fl->call = (struct s3_call) { .method = S3_GET,
                                  .url = url,
                                  .into = into,
                                  .room = len,
                                  .ranged = len < size,
                                  .off = off,
                                  .owner = fl };
}

static size_t least_of(size_t len, uint64_t left)
{
    return len < left ? len : (size_t)left;
}

/* The object has the bytes that open has found, so that no request is made beyond its end. */
static int begin_read(struct s3_file *f, const struct weir_io *io, struct s3_flight *fl, struct weir_err *err)
{
    size_t len = least_of(io->len, io->off < f->size ? f->size - io->off : 0);

    if (f->writes && !(f->way == S3_WHOLE && f->written))
        return weir_refuse(err, WEIR_EIO, "the object is not complete before the file is closed");
    if (len == 0)
        return 1;
    get(f, f->url.text, f->size, io->off, io->buf, len, fl);
    return 0;
}

/* The object is this transfer. Another one of the same bytes replaces it. */
static int begin_whole(struct s3_file *f, const struct weir_io *io, struct s3_flight *fl, struct weir_err *err)
{
    if (io->off != 0 || (f->written && io->len != f->size))
        return weir_refuse(err, WEIR_EIO, "the object is written with one PUT, and no bytes can be "
                                          "added to an object");
    s3_put(f, f->url.text, io->buf, io->len, fl);
    return 0;
}

/* Wait for an earlier call for the same part, which must end first: the later one counts. */
static void wait_for_part(const struct s3_file *f, uint64_t number)
{
    struct s3 *s3 = s3_of(f->base.s);
    const struct s3_queue *q = &s3->queue;

    for (int i = 0; i < q->depth && q->busy > 0; i++) {
        const struct s3_flight *fl = &q->flights[i];

        while (fl->flying && fl->file == f && fl->number == number)
            s3_collect(s3, 1);
    }
}

static int begin_part(struct s3_file *f, const struct weir_io *io, struct s3_flight *fl, struct weir_err *err)
{
    const uint64_t size = f->parts.size, whole = f->base.extent.file_bytes;

    if (io->off % size != 0 || io->len > size || (io->len < size && io->off + io->len != whole))
        return weir_refuse(err, WEIR_EIO, "each transfer must be one part: %" PRIu64 " bytes at a multiple of its size", size);
    fl->file = f;
    fl->len = io->len;
    fl->number = s3_part_at(&f->parts, io->off);
    fl->call.owner = fl;
    wait_for_part(f, fl->number);
    return s3_upload_part(f->upload, fl->number, io->buf, io->len, &fl->call, &fl->text, err);
}

/* ---- --s3.object=transfer: the objects of a file ---- */

/* The URL of the object at 'off', in the memory of the flight. */
static int name_piece(const struct s3_file *f, uint64_t off, struct s3_flight *fl, struct weir_err *err)
{
    static const char digits[] = "0123456789abcdef";
    char name[1 + S3_OFFSET_DIGITS] = "/";

    for (int i = S3_OFFSET_DIGITS; i > 0; i--, off >>= 4)
        name[i] = digits[off & 15];
    weir_str_clear(&fl->text);
    weir_str_add(&fl->text, f->url.text, f->url.len);
    weir_str_add(&fl->text, name, sizeof(name));
    return fl->text.failed ? weir_refuse(err, WEIR_ESETUP, "no memory for the URL of an object")
                           : 0;
}

/* Bytes after the end of one object come from the next: a transfer that is read is short, and
 * continued. */
static int begin_piece(struct s3_file *f, const struct weir_io *io, struct s3_flight *fl,
                       struct weir_err *err)
{
    const bool reads = io->dir != WEIR_DIR_WRITE;
    const uint64_t within = reads && f->piece > 0 ? io->off % f->piece : 0;

    if (reads && f->piece == 0)
        return 1;
    if (!reads && !f->writes)
        return weir_refuse(err, WEIR_EIO, "the file is open for reading");
    if (name_piece(f, io->off - within, fl, err) < 0)
        return -1;
    if (reads)
        get(f, fl->text.text, f->piece, within, io->buf, least_of(io->len, f->piece - within), fl);
    else
        s3_put(f, fl->text.text, io->buf, io->len, fl);
    return 0;
}

struct first {
    size_t skip; /* bytes of a key before the offset */
    bool found;
    uint64_t size;
};

static int take_first(void *mine, const char *key, uint64_t size, struct weir_err *err)
{
    struct first *first = mine;

    if (!first->found && s3_is_offset(key + first->skip))
        *first = (struct first) { .found = true, .size = size };
    return 0;
}

/* One of the objects that are there: a task may have written no bytes at 0. */
static int find_any(struct s3_file *f, struct weir_err *err)
{
    struct s3 *s3 = s3_of(f->base.s);
    struct weir_str url = { 0 }, prefix = { 0 };
    struct first first = { .found = false };
    int rc;

    s3_url(&s3->service, weir_str_text(&s3->bucket), "", &url);
    weir_str_addf(&prefix, "%s/", weir_str_text(&s3->key));
    first.skip = prefix.len;
    rc = url.failed || prefix.failed
             ? weir_refuse(err, WEIR_ESETUP, "no memory for a listing")
             : s3_list(s3->client, weir_str_text(&url), weir_str_text(&prefix), S3_KEYS_A_REQUEST,
                       take_first, &first, err);
    if (rc == 0 && !first.found) {
        errno = ENOENT;
        rc = weir_fail(err, WEIR_EIO, "find objects s3://%s/%s/...",
                                      weir_str_text(&s3->bucket), weir_str_text(&s3->key));
    }
    f->piece = first.size;
    weir_str_free(&prefix);
    weir_str_free(&url);
    return rc;
}

/* ---- open and close ---- */

int s3_find_size(struct s3_file *f, struct weir_err *err)
{
    struct s3 *s3 = s3_of(f->base.s);
    struct s3_call *c = &s3->alone.call;
    const bool pieces = f->way == S3_PIECES;

    if (pieces && name_piece(f, 0, &s3->alone, err) < 0)
        return -1;
    *c = (struct s3_call) { .method = S3_HEAD, .url = pieces ? s3->alone.text.text : f->url.text };
    if (s3_call(s3->client, c, err) < 0)
        return pieces && c->answer.sys == ENOENT ? find_any(f, err) : -1;
    *(pieces ? &f->piece : &f->size) = c->answer.length;
    return 0;
}

int s3_put_empty(struct s3_file *f, struct weir_err *err)
{
    struct s3_flight *fl = &s3_of(f->base.s)->alone;
    const bool pieces = f->way == S3_PIECES;

    if (pieces && name_piece(f, 0, fl, err) < 0)
        return -1;
    s3_put(f, pieces ? fl->text.text : f->url.text, NULL, 0, fl);
    return s3_move_now(fl, err) < 0 ? -1 : 0;
}

/* ---- the begin and the end of a transfer ---- */

int s3_move_begin(struct s3_file *f, const struct weir_io *io, struct s3_flight *fl,
                  struct weir_err *err)
{
    const bool writes = io->dir == WEIR_DIR_WRITE;
    int rc;

    if (io->len == 0)
        return 1;
    if (f->way == S3_PIECES)
        rc = begin_piece(f, io, fl, err);
    else if (!writes)
        rc = begin_read(f, io, fl, err);
    else if (f->way == S3_WHOLE)
        rc = begin_whole(f, io, fl, err);
    else if (f->way == S3_PARTS)
        rc = begin_part(f, io, fl, err);
    else
        rc = weir_refuse(err, WEIR_EIO, "the file is open for reading");
    f->failed |= rc < 0 && writes;
    return rc;
}

/* True when these are the data of the object. */
static bool has_data(struct s3 *s3, const struct s3_call *put)
{
    struct s3_call get = {
        .method = S3_GET, .url = put->url, .into = malloc(put->send_len + 1), .room = put->send_len
    };
    bool same = get.into && s3_call(s3->client, &get, NULL) == 0 &&
                get.answer.moved == put->send_len &&
                (put->send_len == 0 || memcmp(get.into, put->send, put->send_len) == 0);

    free(get.into);
    return same;
}

static void keep_part(struct s3_flight *fl)
{
    struct s3_answer *a = &fl->call.answer;
    struct weir_err why = WEIR_ERR_INIT;

    if (s3_upload_keep(fl->file->upload, fl->number, fl->len, a, &why) == 0)
        return;
    a->sys = EIO;
    (void)snprintf(a->why, sizeof(a->why), "%.*s", (int)sizeof(a->why) - 1, why.text);
}

/* The answer to a range has the length of its object, which may have more bytes than a transfer. */
static void check_piece(const struct s3_file *f, struct s3_answer *a)
{
    if (f->way != S3_PIECES || a->sys || a->length <= f->piece)
        return;
    a->sys = EIO;
    (void)snprintf(a->why, sizeof(a->why),
                   "the object has %" PRIu64 " bytes, and one of a transfer %" PRIu64, a->length,
                   f->piece);
}

/* An earlier try of a PUT that makes an object only where there is none may have made it though its answer was lost. */
ssize_t s3_move_end(struct s3_flight *fl)
{
    struct s3_file *f = fl->file;
    struct s3_answer *a = &fl->call.answer;

    if (fl->call.method == S3_GET) {
        check_piece(f, a);
        return a->sys ? -1 : (ssize_t)a->moved;
    }
    if (fl->number == 0 && a->status == 412 && a->unsure > 0 &&
        has_data(s3_of(f->base.s), &fl->call))
        a->sys = 0;
    if (fl->number > 0 && !a->sys)
        keep_part(fl);
    if (a->sys) {
        f->failed = true;
        return -1;
    }
    f->written = true;
    if (f->way == S3_WHOLE)
        f->size = fl->len;
    return (ssize_t)fl->len;
}

ssize_t s3_move_now(struct s3_flight *fl, struct weir_err *err)
{
    struct s3_client *c = s3_of(fl->file->base.s)->client;
    ssize_t n;

    if (s3_call(c, &fl->call, err) < 0 && !fl->call.answer.sys) { /* it was not sent */
        fl->file->failed |= fl->call.method != S3_GET;
        return -1;
    }
    n = s3_move_end(fl);
    return n < 0 ? s3_call_reason(c, &fl->call, err) : n;
}
