/* SPDX-License-Identifier: BSD-3-Clause */
/* s3-objects.c - a transfer of a file as a call to the service; objects that are a transfer each */
#include "backends/s3/s3-objects.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"

#define SOME 64 /* calls that are taken back at a time */

void s3_collect(struct s3 *s3, int least)
{
    struct s3_call *done[SOME];
    int n = s3_wait(s3->client, least < SOME ? least : SOME, SOME, done);

    for (int i = 0; i < n; i++) {
        struct s3_transfer *tr = done[i]->owner;

        tr->landed(tr);
    }
}

/* ---- transfers ---- */

struct s3_transfer *s3_take(struct s3_queue *q, bool part, struct weir_err *err)
{
    struct s3_transfer *tr = s3_pop(&q->idle);
    void *memory = NULL;

    if (!tr && (tr = calloc(1, sizeof(*tr)))) {
        tr->also = q->all;
        q->all = tr;
    }
    if (tr && part && !tr->part && weir_mem_aligned(&memory, WEIR_PAGE, q->part, err) == 0)
        tr->part = memory;
    if (tr && (tr->part || !part))
        return tr;
    if (tr)
        s3_push(&q->idle, tr);
    if (part)
        weir_refuse(err, WEIR_ESETUP, "no memory for a part of %zu bytes (--s3.part)", q->part);
    else
        weir_fail(err, WEIR_ESETUP, "memory for %d transfers in flight", q->depth);
    return NULL;
}

void s3_queue_end(struct s3_queue *q)
{
    for (struct s3_transfer *tr; (tr = q->all);) {
        q->all = tr->also;
        s3_transfer_end(tr);
        free(tr);
    }
    q->idle = q->failed = NULL;
}

/* ---- calls ---- */

/* Begin a call for len bytes of this object of the file, which is no part of an upload. */
static void begin_call(struct s3_file *f, enum s3_method method, const char *key, size_t len,
                       struct s3_transfer *tr)
{
    tr->call = (struct s3_call) { .method = method, .owner = tr };
    tr->call.object = (struct s3_object) { f->bucket.text, key };
    tr->file = f;
    tr->len = len;
    tr->number = 0;
}

void s3_put(struct s3_file *f, const char *key, const void *data, size_t len,
            struct s3_transfer *tr)
{
    begin_call(f, S3_PUT, key, len, tr);
    tr->call.send = data;
    tr->call.send_len = len;
    if (f->exclusive && (f->way == S3_SPLIT || !f->written))
        tr->call.headers = s3_only_new;
}

/* The key of the object that begins at 'off'. With --s3.object=transfer it is in the memory of the
 * transfer. */
static int name_object(const struct s3_file *f, uint64_t off, struct s3_transfer *tr,
                       const char **key, struct weir_err *err)
{
    static const char digits[] = "0123456789abcdef";
    char name[S3_OFFSET_DIGITS];

    *key = f->key.text;
    if (f->way != S3_SPLIT)
        return 0;
    for (int i = S3_OFFSET_DIGITS; i > 0; i--, off >>= 4)
        name[i - 1] = digits[off & 15];
    weir_str_clear(&tr->text);
    weir_str_add(&tr->text, f->key.text, f->key.len);
    weir_str_add(&tr->text, name, sizeof(name));
    *key = tr->text.text;
    return s3_has_memory(!tr->text.failed, err);
}

/* The object has the bytes that open has found, so that no request is made beyond its end. Where
 * each transfer is an object, bytes after its end come from the next: a read is short, and
 * continued. */
static int begin_read(struct s3_file *f, const struct weir_io *io,
                      struct s3_transfer *tr, struct weir_err *err)
{
    const bool split = f->way == S3_SPLIT;
    const uint64_t size = split ? f->object_len : f->size;
    const uint64_t at = split && size > 0 ? io->off % size : io->off;
    const uint64_t left = at < size ? size - at : 0;
    const size_t len = io->len < left ? io->len : (size_t)left;
    const char *key;

    if (!split && f->writes && !(f->way == S3_WHOLE && f->written))
        return weir_refuse(err, WEIR_EIO, "the object is not complete before the file is closed");
    if (len == 0)
        return 1;
    if (name_object(f, io->off - at, tr, &key, err) < 0)
        return -1;
    begin_call(f, S3_GET, key, len, tr);
    tr->call.into = io->buf;
    tr->call.limit = len;
    tr->call.ranged = len < size;
    tr->call.off = at;
    return 0;
}

/* The object is this transfer. Another one of the same bytes replaces it. */
static int begin_put(struct s3_file *f, const struct weir_io *io,
                     struct s3_transfer *tr, struct weir_err *err)
{
    const char *key;

    if (f->way == S3_WHOLE && (io->off != 0 || (f->written && io->len != f->size)))
        return weir_refuse(err, WEIR_EIO, "the object is written with one PUT, and no bytes can be "
                                          "added to an object");
    if (name_object(f, io->off, tr, &key, err) < 0)
        return -1;
    s3_put(f, key, io->buf, io->len, tr);
    return 0;
}

/* Wait for an earlier call for the same part, which must end first: the later one counts. */
static void wait_for_part(const struct s3_file *f, uint64_t number)
{
    struct s3 *s3 = s3_of(f->base.s);

    for (const struct s3_transfer *tr = s3->queue.all; tr; tr = tr->also)
        while (tr->flying && tr->file == f && tr->number == number)
            s3_collect(s3, 1);
}

static int begin_part(struct s3_file *f, const struct weir_io *io,
                      struct s3_transfer *tr, struct weir_err *err)
{
    const uint64_t size = f->parts.size, whole = f->base.extent.file_bytes;

    if (io->off % size != 0 || io->len > size || (io->len < size && io->off + io->len != whole))
        return weir_refuse(err, WEIR_EIO, "each transfer must be one part: %" PRIu64 " bytes at a multiple of its size", size);
    tr->file = f;
    tr->len = io->len;
    tr->number = s3_part_at(&f->parts, io->off);
    tr->call.owner = tr;
    wait_for_part(f, tr->number);
    return s3_upload_part(f->upload, tr->number, io->buf, io->len, &tr->call, &tr->text, err);
}

/* ---- requests that move no data ---- */

/* The name before the object at 'off' is that of the offset before it: no key is between them. */
static int begin_list(struct s3_file *f, uint64_t off, struct s3_transfer *tr, struct weir_err *err)
{
    weir_str_clear(&tr->text);
    weir_str_clear(&tr->after);
    weir_str_addf(&tr->after, "%s", f->key.text);
    if (off > 0)
        weir_str_addf(&tr->after, "%0*" PRIx64, S3_OFFSET_DIGITS, off - 1);
    s3_list_query(&tr->text, f->key.text, "", S3_KEYS_A_REQUEST);
    weir_str_addf(&tr->text, "&start-after=");
    s3_encode(weir_str_text(&tr->after), "", &tr->text);
    begin_call(f, S3_GET, "", 0, tr);
    tr->call.query = tr->text.text;
    tr->call.text = &tr->answer;
    return s3_has_memory(!tr->after.failed && !tr->text.failed, err);
}

static int begin_object(struct s3_file *f, const struct weir_io *io, struct s3_transfer *tr,
                        struct weir_err *err)
{
    const bool deletes = io->dir == WEIR_DIR_DELETE;
    const char *key;

    if (f->way != S3_SPLIT || (deletes && !f->writes))
        return weir_refuse(err, WEIR_EIO, "the file has no object for this transfer, or is open "
                                          "for reading");
    if (io->dir == WEIR_DIR_LIST)
        return begin_list(f, io->off, tr, err);
    if (name_object(f, io->off, tr, &key, err) < 0)
        return -1;
    begin_call(f, deletes ? S3_DELETE : S3_HEAD, key, 0, tr);
    return 0;
}

/* Services may be late with names of new objects, so a list may lack any names. */
static void check_list(struct s3_transfer *tr)
{
    struct weir_err why = WEIR_ERR_INIT;

    if (s3_list_check(s3_of(tr->file->base.s)->client, &tr->answer, tr->file->key.text,
                      weir_str_text(&tr->after), &why) < 0)
        s3_fail(&tr->call.answer, EIO, "%s", why.text);
}

/* ---- any of the objects ---- */

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
    struct first first = { .skip = f->key.len };

    if (s3_list(s3_of(f->base.s)->client, f->bucket.text, f->key.text, S3_KEYS_A_REQUEST,
                take_first, &first, err) < 0)
        return -1;
    f->object_len = first.size;
    errno = ENOENT;
    return first.found ? 0 : weir_fail(err, WEIR_EIO, "find objects s3://%s/%s...",
                                       f->bucket.text, f->key.text);
}

/* ---- open and close ---- */

int s3_find_size(struct s3_file *f, struct weir_err *err)
{
    struct s3 *s3 = s3_of(f->base.s);
    struct s3_call *c = &s3->single.call;
    const bool split = f->way == S3_SPLIT;
    const char *key;

    if (name_object(f, 0, &s3->single, &key, err) < 0)
        return -1;
    *c = (struct s3_call) { .method = S3_HEAD, .object = { f->bucket.text, key } };
    if (s3_call(s3->client, c, err) < 0)
        return split && c->answer.sys == ENOENT ? find_any(f, err) : -1;
    *(split ? &f->object_len : &f->size) = c->answer.length;
    return 0;
}

int s3_put_empty(struct s3_file *f, struct weir_err *err)
{
    struct s3_transfer *tr = &s3_of(f->base.s)->single;
    const char *key;

    if (name_object(f, 0, tr, &key, err) < 0)
        return -1;
    s3_put(f, key, NULL, 0, tr);
    return s3_move_now(tr, err) < 0 ? -1 : 0;
}

/* ---- the begin and the end of a transfer ---- */

int s3_move_begin(struct s3_file *f, const struct weir_io *io, struct s3_transfer *tr,
                  struct weir_err *err)
{
    const bool writes = io->dir == WEIR_DIR_WRITE;
    int rc;

    if (!weir_io_acts(io))
        return 1;
    if (io->dir > WEIR_DIR_READ)
        rc = begin_object(f, io, tr, err);
    else if (!writes)
        rc = begin_read(f, io, tr, err);
    else if (!f->writes)
        rc = weir_refuse(err, WEIR_EIO, "the file is open for reading");
    else if (f->way == S3_PARTS)
        rc = begin_part(f, io, tr, err);
    else
        rc = begin_put(f, io, tr, err);
    f->failed |= rc < 0 && writes;
    return rc;
}

/* True when these are the data of the object. */
static bool has_data(struct s3 *s3, const struct s3_call *put)
{
    struct s3_call get = {
        .method = S3_GET, .object = put->object, .into = malloc(put->send_len + 1),
        .limit = put->send_len
    };
    bool same = get.into && s3_call(s3->client, &get, NULL) == 0 &&
                get.answer.moved == put->send_len &&
                (put->send_len == 0 || memcmp(get.into, put->send, put->send_len) == 0);

    free(get.into);
    return same;
}

static void keep_part(struct s3_transfer *tr)
{
    struct s3_answer *a = &tr->call.answer;
    struct weir_err why = WEIR_ERR_INIT;

    if (s3_upload_keep(tr->file->upload, tr->number, tr->len, a, &why) < 0)
        s3_fail(a, EIO, "%s", why.text);
}

/* The answer to a range has the length of its object, which may have more bytes than a transfer. */
static void check_object(const struct s3_file *f, const struct s3_call *c, struct s3_answer *a)
{
    if (f->way == S3_SPLIT && a->length != f->object_len &&
        (c->method != S3_GET || a->length > f->object_len))
        s3_fail(a, EIO, "the object has %" PRIu64 " bytes, and one of a transfer %" PRIu64,
                a->length, f->object_len);
}

/* Check the answer to a request that writes nothing. A DELETE may have been done though its answer
 * was lost. */
static void check_answer(struct s3_transfer *tr)
{
    struct s3_answer *a = &tr->call.answer;

    if (tr->call.method == S3_DELETE && a->status == 404 && a->unsure > 0)
        a->sys = 0;
    else if (!a->sys && tr->call.text)
        check_list(tr);
    else if (!a->sys && tr->call.method != S3_DELETE)
        check_object(tr->file, &tr->call, a);
}

/* An earlier try of a PUT that makes an object only where there is none may have made it though its answer was lost. */
ssize_t s3_move_end(struct s3_transfer *tr)
{
    struct s3_file *f = tr->file;
    struct s3_answer *a = &tr->call.answer;

    if (tr->call.method != S3_PUT) {
        check_answer(tr);
        return a->sys ? -1 : tr->call.into ? (ssize_t)a->moved : 0;
    }
    if (tr->number == 0 && a->status == 412 && a->unsure > 0 &&
        has_data(s3_of(f->base.s), &tr->call))
        a->sys = 0;
    if (tr->number > 0 && !a->sys)
        keep_part(tr);
    if (a->sys) {
        f->failed = true;
        return -1;
    }
    f->written = true;
    if (f->way == S3_WHOLE)
        f->size = tr->len;
    return (ssize_t)tr->len;
}

ssize_t s3_move_now(struct s3_transfer *tr, struct weir_err *err)
{
    struct s3_client *c = s3_of(tr->file->base.s)->client;
    ssize_t n;

    if (s3_call(c, &tr->call, err) < 0 && !tr->call.answer.sys) { /* it was not sent */
        tr->file->failed |= tr->call.method != S3_GET;
        return -1;
    }
    n = s3_move_end(tr);
    return n < 0 ? s3_call_reason(c, &tr->call, err) : n;
}
