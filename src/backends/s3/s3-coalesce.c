/* SPDX-License-Identifier: BSD-3-Clause */
/* s3-coalesce.c - parts of --s3.part bytes that are coalesced from transfers */
#include "backends/s3/s3-objects.h"

#include <inttypes.h>

static int refuse_broken(const struct s3_file *f, struct weir_err *err)
{
    return s3_call_reason(s3_of(f->base.s)->client, &f->broken->call, err);
}

/* A file of one task gets its upload when it has more than one part. */
static int make_call(struct s3_file *f, struct s3_transfer *tr, bool last, struct weir_err *err)
{
    if (!f->upload && last && f->begin == 0) {
        s3_put(f, f->key.text, tr->part, tr->len, tr);
        return 0;
    }
    if (!f->upload && s3_upload_begin(f, err) < 0)
        return -1;
    tr->number = s3_part_at(&f->parts, f->begin);
    tr->call.owner = tr;
    return s3_upload_part(f->upload, tr->number, tr->part, tr->len, &tr->call, &tr->text, err);
}

static void landed(struct s3_transfer *tr)
{
    struct s3_file *f = tr->file;
    struct s3_queue *q = &s3_of(f->base.s)->queue;

    f->flying--;
    q->parts--;
    if (s3_move_end(tr) < 0 && !f->broken)
        f->broken = tr;
    else
        s3_push(&q->idle, tr);
}

/* Parts in flight at most are the transfers that the caller wants in flight. */
static int send_part(struct s3_file *f, bool last, struct weir_err *err)
{
    struct s3 *s3 = s3_of(f->base.s);
    struct s3_transfer *tr = f->filling;

    f->filling = NULL;
    if (make_call(f, tr, last, err) < 0 || s3_start(s3->client, &tr->call, err) < 0) {
        s3_push(&s3->queue.idle, tr);
        return -1;
    }
    f->flying++;
    s3->queue.parts++;
    while (s3->queue.parts >= s3->queue.depth)
        s3_collect(s3, 1);
    return 0;
}

static int begin_part(struct s3_file *f, const struct weir_io *io, struct weir_err *err)
{
    struct s3_transfer *tr;

    if (io->off % f->parts.size != 0)
        return weir_refuse(err, WEIR_EIO, "a part of %" PRIu64 " bytes (--s3.part) must begin at a multiple of its size; "
                           "leave --s3.part out, so that each transfer is a part", f->parts.size);
    tr = s3_take(&s3_of(f->base.s)->queue, true, err);
    if (!tr)
        return -1;
    tr->file = f;
    tr->landed = landed;
    tr->len = 0;
    f->filling = tr;
    f->begin = io->off;
    return 0;
}

/* Copy what fits, and send the part that is full. Returns the bytes, or -1 and err. */
static ssize_t add_some(struct s3_file *f, const struct weir_io *io, struct weir_err *err)
{
    struct s3_transfer *tr;
    size_t left, len;

    if (!f->filling && begin_part(f, io, err) < 0)
        return -1;
    tr = f->filling;
    if (io->off != f->begin + tr->len)
        return weir_refuse(err, WEIR_EIO,
                           "the next transfer must begin at offset %" PRIu64 ", because --s3.part joins transfers in order; "
                           "leave --s3.part out, so that each transfer is a part",
                           f->begin + tr->len);
    left = (size_t)f->parts.size - tr->len;
    len = io->len < left ? io->len : left;
    memcpy(tr->part + tr->len, io->buf, len);
    tr->len += len;
    if (len == left &&
        send_part(f, f->parts.single && io->off + len == f->base.extent.file_bytes, err) < 0)
        return -1;
    return (ssize_t)len;
}

int s3_coalesce_add(struct s3_file *f, const struct weir_io *io, struct weir_err *err)
{
    struct s3 *s3 = s3_of(f->base.s);
    struct weir_io left = *io;
    ssize_t n;

    for (; left.len > 0 && !f->broken; left.len -= (size_t)n) {
        n = add_some(f, &left, err);
        if (n < 0) {
            f->failed = true;
            return -1;
        }
        left.buf = (char *)left.buf + n;
        left.off += (uint64_t)n;
    }
    if (s3->queue.parts > 0)
        s3_collect(s3, 0); /* what is in flight moves only then */
    return f->broken ? refuse_broken(f, err) : 0;
}

/* One PUT of a part of the object, whose size is known, would look like all of it. */
static int check_whole(const struct s3_file *f, struct weir_err *err)
{
    uint64_t bytes = f->begin + f->filling->len;

    if (f->upload || f->base.s->access.stops || f->parts.n == 0 || bytes >= f->parts.bytes)
        return 0;
    return weir_refuse(err, WEIR_EINTR, "of %" PRIu64 " bytes only %" PRIu64 " were written, so no "
                                        "object was created", f->parts.bytes, bytes);
}

int s3_coalesce_end(struct s3_file *f, bool ok, struct weir_err *err)
{
    struct s3 *s3 = s3_of(f->base.s);
    int rc = 0;

    if (f->filling && ok && !f->broken)
        rc = check_whole(f, err) < 0 ? -1 : send_part(f, true, err);
    if (f->filling)
        s3_push(&s3->queue.idle, f->filling);
    f->filling = NULL;
    while (f->flying > 0)
        s3_collect(s3, 1);
    if (!f->broken)
        return rc;
    if (rc == 0)
        refuse_broken(f, err);
    s3_push(&s3->queue.idle, f->broken);
    f->broken = NULL;
    return -1;
}
