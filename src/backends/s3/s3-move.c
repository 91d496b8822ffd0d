/* SPDX-License-Identifier: BSD-3-Clause */
/* s3-move.c - a transfer of a file as a call to the service */
#include "backends/s3/s3-file.h"
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void s3_put(struct s3_file *f, const char *url, const void *data, size_t len, struct s3_flight *fl)
{
    fl->file = f;
    fl->len = len;
    fl->number = 0;
    fl->call = (struct s3_call) { .method = S3_PUT, .url = url, .send = data, .send_len = len, .owner = fl };
    if (f->exclusive && (f->way == S3_PIECES || !f->written))
        fl->call.headers = s3_only_new;
}

/* The object has the bytes that open has found, so that no request is made beyond its end. */
static int begin_read(struct s3_file *f, const struct weir_io *io, struct s3_flight *fl, ssize_t *n,
                      struct weir_err *err)
{
    uint64_t left = io->off < f->size ? f->size - io->off : 0;
    size_t len = io->len < left ? io->len : (size_t)left;

    if (f->writes && !(f->way == S3_WHOLE && f->written))
        return weir_refuse(err, WEIR_EIO, "the object is not complete before the file is closed");
    *n = 0;
    if (len == 0)
        return 1;
    fl->file = f;
    fl->len = len;
    fl->number = 0;
    fl->call = (struct s3_call) { .method = S3_GET,
                                  .url = f->url.text,
                                  .into = io->buf,
                                  .room = len,
                                  .ranged = len < f->size,
                                  .off = io->off,
                                  .owner = fl };
    return 0;
}

/* The object is this transfer. Another one of the same bytes replaces it. */
static int begin_whole(struct s3_file *f, const struct weir_io *io, struct s3_flight *fl, struct weir_err *err)
{
    if (io->off != 0 || (f->written && io->len != f->size))
        return weir_refuse(err, WEIR_EIO,
                           "the object is one PUT, and has no place for these bytes; nothing can be added to an object");
    s3_put(f, f->url.text, io->buf, io->len, fl);
    return 0;
}

static int begin_part(struct s3_file *f, const struct weir_io *io, struct s3_flight *fl, struct weir_err *err)
{
    const uint64_t size = f->parts.size, whole = f->base.extent.file_bytes;
    const uint64_t number = s3_part_at(&f->parts, io->off);

    if (io->off % size != 0 || io->len > size || (io->len < size && io->off + io->len != whole))
        return weir_refuse(err, WEIR_EIO, "parts of the object are %" PRIu64 " bytes at multiples of that", size);
    s3_wait_for_part(f, number);
    fl->file = f;
    fl->len = io->len;
    fl->number = number;
    if (s3_upload_part(f->upload, number, io->buf, io->len, &fl->call, err) < 0)
        return -1;
    fl->call.owner = fl;
    return 0;
}

static int begin_write(struct s3_file *f, const struct weir_io *io, struct s3_flight *fl, ssize_t *n,
                       struct weir_err *err)
{
    switch (f->way) {
    case S3_WHOLE:
        return begin_whole(f, io, fl, err);
    case S3_PARTS:
        return begin_part(f, io, fl, err);
    case S3_GATHERED:
        *n = (ssize_t)io->len;
        return s3_gather_add(f, io, err) < 0 ? -1 : 1;
    default:
        return weir_refuse(err, WEIR_EIO, "the file is open for reading");
    }
}

int s3_move_begin(struct s3_file *f, const struct weir_io *io, struct s3_flight *fl, ssize_t *n, struct weir_err *err)
{
    int rc;

    *n = 0;
    if (io->len == 0)
        return 1;
    if (f->way == S3_PIECES)
        rc = s3_piece_begin(f, io, fl, n, err);
    else
        rc = io->dir == WEIR_DIR_WRITE ? begin_write(f, io, fl, n, err) : begin_read(f, io, fl, n, err);
    f->failed |= rc < 0 && io->dir == WEIR_DIR_WRITE;
    return rc;
}

/* Are these the data of the object? */
static bool has_data(struct s3 *s3, const struct s3_call *put)
{
    struct s3_call get = { .method = S3_GET, .url = put->url, .into = malloc(put->send_len + 1), .room = put->send_len };
    bool same = get.into && s3_call(s3->line, &get, NULL) == 0 && get.answer.moved == put->send_len &&
                (put->send_len == 0 || memcmp(get.into, put->send, put->send_len) == 0);

    free(get.into);
    return same;
}

/* An earlier try of a PUT that makes an object only where there is none may have made it though its answer was lost. */
static void judge_repeated(struct s3_flight *fl)
{
    struct s3_answer *a = &fl->call.answer;

    if (fl->number == 0 && a->status == 412 && a->unsure > 0 && has_data(s3_of(fl->file->base.s), &fl->call))
        a->sys = 0;
}

static void keep_part(struct s3_flight *fl)
{
    struct s3_answer *a = &fl->call.answer;
    struct weir_err why = WEIR_ERR_INIT;

    if (!fl->number || a->sys || s3_upload_keep(fl->file->upload, fl->number, fl->len, &fl->call, &why) == 0)
        return;
    a->sys = EIO;
    (void)snprintf(a->why, sizeof(a->why), "%.*s", (int)sizeof(a->why) - 1, why.text);
}

ssize_t s3_move_end(struct s3_flight *fl)
{
    struct s3_file *f = fl->file;

    if (fl->call.method == S3_GET)
        return fl->call.answer.sys ? -1 : (ssize_t)fl->call.answer.moved;
    judge_repeated(fl);
    keep_part(fl);
    if (fl->call.answer.sys) {
        f->failed = true;
        return -1;
    }
    f->written = true;
    if (f->way == S3_WHOLE)
        f->size = fl->len;
    return (ssize_t)fl->len;
}

ssize_t s3_xfer(struct weir_file *wf, const struct weir_io *io, struct weir_err *err)
{
    struct s3_file *f = (struct s3_file *)wf;
    struct s3 *s3 = s3_of(wf->s);
    struct s3_flight *fl = &s3->alone;
    ssize_t n;
    int rc = s3_move_begin(f, io, fl, &n, err);

    if (rc != 0)
        return rc < 0 ? -1 : n;
    fl->request = NULL;
    if (s3_call(s3->line, &fl->call, err) < 0 && !fl->call.answer.sys) { /* it was not sent, and has no answer */
        f->failed |= io->dir == WEIR_DIR_WRITE;
        return -1;
    }
    n = s3_move_end(fl);
    return n < 0 ? s3_call_reason(s3->line, &fl->call, err) : n;
}
