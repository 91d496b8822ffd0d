/* SPDX-License-Identifier: BSD-3-Clause */
/* s3-session.c - files that are opened and closed, and their transfers: one at a time, or several
 * in flight */
#include "backends/s3/s3-objects.h"

#include <errno.h>
#include <inttypes.h>

#include "base/clock.h"
#include "par/agree.h"

/* ---- how a file is made ---- */

static int choose_way(struct s3_file *f, unsigned flags, struct weir_err *err)
{
    const struct weir_access *a = &f->base.s->access;

    f->writes = flags & WEIR_OPEN_WRITE;
    f->creates = flags & WEIR_OPEN_CREATE;
    f->exclusive = (flags & WEIR_OPEN_EXCL) || (f->creates && a->only_new && !a->partly);
    f->sharers = f->base.extent.sharers ? f->base.extent.sharers : f->base.s->par;
    f->shared = f->base.extent.sharers ? f->sharers->size > 1 : !a->file_per_task;
    if (s3_is_split(f->base.s->opt)) {
        f->way = S3_SPLIT;
        f->object_len = f->base.extent.transfer;
    } else if (f->writes) { /* for the geometry of all ranks, so the same on all */
        if (s3_parts_of(f->base.s, &f->base.extent, &f->parts, err) < 0)
            return -1;
        f->way = f->parts.coalesced ? S3_COALESCED : f->parts.single ? S3_WHOLE : S3_PARTS;
    }
    return 0;
}

/* A file of one task whose parts are coalesced gets its upload when one of them is full. */
static bool begins_upload(const struct s3_file *f)
{
    return !f->parts.single && (f->way == S3_PARTS || (f->way == S3_COALESCED && f->shared));
}

/* ---- open ---- */

static int find_object(struct s3_file *f, const char *path, struct weir_err *err)
{
    if (s3_locate(f->base.s->opt, path, &f->bucket, &f->key, err) < 0)
        return -1;
    if (f->key.len == 0)
        return weir_refuse(err, WEIR_EUSAGE,
                           "the name has no object: add a name after the bucket '%s'",
                           f->bucket.text);
    if (f->way == S3_SPLIT)
        weir_str_addc(&f->key, '/');
    return s3_has_memory(!f->key.failed, err);
}

static void free_names(struct s3_file *f)
{
    weir_str_free(&f->bucket);
    weir_str_free(&f->key);
}

int s3_open(struct weir_session *s, const char *path, unsigned flags, struct weir_file *wf, struct weir_err *err)
{
    struct s3_file *f = (struct s3_file *)wf;
    /* A file to be read must exist, and reading objects of one transfer needs their size. Where a
     * phase has deleted objects, they have the size of the transfer, and none may be left. */
    bool known;
    int rc;

    if (choose_way(f, flags, err) < 0)
        return -1;
    known = f->writes;
    if (f->way == S3_SPLIT)
        known = f->creates || !(flags & WEIR_OPEN_READ) || (s->access.deletes && !f->writes);
    rc = find_object(f, path, err);
    if (rc == 0 && !known)
        rc = s3_find_size(f, err);
    if (rc == 0 && !known && f->writes && f->object_len > 0 && f->object_len != f->base.extent.transfer)
        rc = weir_refuse(err, WEIR_ESETUP,
                         "its objects have %" PRIu64 " bytes, and a transfer that reads and writes "
                         "has %" PRIu64 "; give transfers of %" PRIu64 " bytes",
                         f->object_len, f->base.extent.transfer, f->object_len);
    if (begins_upload(f)) { /* all ranks of a shared file have the same one, or none */
        rc = f->shared ? weir_agree(f->sharers, rc, err) : rc;
        rc = rc < 0 ? -1 : s3_upload_begin(f, err);
    }
    if (rc == 0)
        return 0;
    free_names(f);
    return weir_err_within(err, "open '%s'", path);
}

/* ---- close ---- */

/* True when a file to which this rank has written nothing has no bytes. Not where bytes are
 * missing (a signal), and of transfers that are objects another rank may have written some. */
static bool is_empty(const struct s3_file *f)
{
    if (!f->writes || f->written || f->failed || !f->creates || (f->parts.bytes > 0 && !f->base.s->access.stops))
        return false;
    return !f->shared || (f->way != S3_SPLIT && f->sharers->rank == 0);
}

int s3_close(struct weir_file *wf, struct weir_err *err)
{
    struct s3_file *f = (struct s3_file *)wf;
    int rc = 0;

    if (f->way == S3_COALESCED)
        rc = s3_coalesce_end(f, !f->failed, err);
    if (f->upload) {
        if (s3_upload_end(f->upload, rc == 0 && !f->failed, rc < 0 ? NULL : err) < 0)
            rc = -1;
    } else if (rc == 0 && is_empty(f)) {
        rc = s3_put_empty(f, err);
    }
    free_names(f);
    return rc < 0 ? weir_err_within(err, "close '%s'", wf->path) : 0;
}

/* ---- transfers ---- */

/* Make tr->call what moves io. Returns 0: it is to be started; 1: nothing is left to do, *n bytes
 * were moved; -1 and err. */
static int begin_transfer(struct s3_file *f, const struct weir_io *io, struct s3_transfer *tr,
                          ssize_t *n, struct weir_err *err)
{
    *n = 0;
    if (f->way != S3_COALESCED || io->dir != WEIR_DIR_WRITE)
        return s3_move_begin(f, io, tr, err);
    *n = (ssize_t)io->len;
    return s3_coalesce_add(f, io, err) < 0 ? -1 : 1;
}

ssize_t s3_xfer(struct weir_file *f, const struct weir_io *io, struct weir_err *err)
{
    struct s3_transfer *tr = &s3_of(f->s)->single;
    ssize_t n;
    int rc = begin_transfer((struct s3_file *)f, io, tr, &n, err);

    return rc < 0 ? -1 : rc > 0 ? n : s3_move_now(tr, err);
}

/* ---- several in flight ---- */

int s3_queue(struct weir_session *s, int depth, struct weir_err *err)
{
    const bool part = ((const struct s3_options *)s->opt)->part > 0;
    struct s3_queue *q = &s3_of(s)->queue;
    struct s3_transfer *taken = NULL, *tr;
    int n = 0;

    q->depth = depth;
    for (; n < depth && (tr = s3_take(q, part, err)); n++)
        s3_push(&taken, tr);
    while ((tr = s3_pop(&taken)))
        s3_push(&q->idle, tr);
    return n < depth ? -1 : 0;
}

static void add_done(struct s3_queue *q, struct weir_request *r)
{
    r->next = q->done;
    q->done = r;
}

/* One that failed keeps its call for s3_reason. To read a list is a part of its own time only. */
static void landed(struct s3_transfer *tr)
{
    struct s3_queue *q = &s3_of(tr->file->base.s)->queue;
    struct weir_request *r = tr->request;

    r->n = s3_move_end(tr);
    r->end_ns = tr->call.text ? weir_now_ns() : tr->call.answer.end_ns;
    r->sys = r->n < 0 ? tr->call.answer.sys : 0;
    tr->flying = false;
    q->busy--;
    add_done(q, r);
    s3_push(r->n < 0 ? &q->failed : &q->idle, tr);
    if (r->n >= 0)
        tr->request = NULL;
}

int s3_submit(struct weir_request *r, struct weir_err *err)
{
    struct s3 *s3 = s3_of(r->file->s);
    struct s3_queue *q = &s3->queue;
    struct s3_transfer *tr;
    int rc;

    if (q->busy == q->depth)
        return weir_refuse(err, WEIR_EBUG, "a transfer began in a full queue of %d", q->depth);
    tr = s3_take(q, false, err);
    if (!tr)
        return -1;
    rc = begin_transfer((struct s3_file *)r->file, &r->io, tr, &r->n, err);
    tr->request = r;
    tr->landed = landed;
    if (rc == 0 && s3_start(s3->client, &tr->call, err) == 0) {
        tr->flying = true;
        q->busy++;
        return 0;
    }
    if (rc == 0) /* it was not sent */
        tr->file->failed |= tr->call.method != S3_GET;
    tr->request = NULL;
    s3_push(&q->idle, tr);
    if (rc > 0)
        add_done(q, r);
    return rc > 0 ? 1 : -1;
}

static int take_done(struct s3_queue *q, int most, struct weir_request **done)
{
    int n = 0;

    for (; n < most && q->done; n++) {
        done[n] = q->done;
        q->done = done[n]->next;
    }
    return n;
}

/* Looks at the connections once where nothing has to be waited for: they move only then. */
int s3_complete(struct weir_file *f, int least, int most, struct weir_request **done, struct weir_err *err)
{
    struct s3 *s3 = s3_of(f->s);
    struct s3_queue *q = &s3->queue;
    int n = take_done(q, most, done);

    if (n < most && q->busy > 0 && n >= least)
        s3_collect(s3, 0);
    n += take_done(q, most - n, done + n);
    while (n < least && q->busy > 0) {
        s3_collect(s3, least - n);
        n += take_done(q, most - n, done + n);
    }
    return n;
}

int s3_reason(const struct weir_request *r, struct weir_err *err)
{
    struct s3 *s3 = s3_of(r->file->s);
    struct s3_queue *q = &s3->queue;

    for (struct s3_transfer **at = &q->failed, *tr = *at; tr; at = &tr->next, tr = *at)
        if (tr->request == r) {
            s3_call_reason(s3->client, &tr->call, err);
            *at = tr->next;
            tr->request = NULL;
            s3_push(&q->idle, tr);
            return -1;
        }
    errno = r->sys;
    return weir_fail(err, WEIR_EIO, "a transfer to the service");
}
