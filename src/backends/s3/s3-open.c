/* SPDX-License-Identifier: BSD-3-Clause */
/* s3-open.c - open and close: what is asked of the service, and what becomes an object */
#include "backends/s3/s3-file.h"
#include "config.h"

#include <string.h>

#include "par/agree.h"

/* ---- how ---- */

/* For the geometry of all ranks, so the same on all. */
static int choose_parts(struct s3_file *f, struct weir_err *err)
{
    if (s3_parts_of(f->base.s, &f->base.extent, &f->parts, err) < 0)
        return -1;
    f->way = f->parts.gathered ? S3_GATHERED : f->parts.single ? S3_WHOLE : S3_PARTS;
    return 0;
}

static int choose_way(struct s3_file *f, unsigned flags, struct weir_err *err)
{
    const struct s3_options *o = f->base.s->opt;
    const struct weir_access *a = &f->base.s->access;

    f->writes = flags & WEIR_OPEN_WRITE;
    f->creates = flags & WEIR_OPEN_CREATE;
    f->exclusive = (flags & WEIR_OPEN_EXCL) || (f->creates && a->only_new && !a->partly);
    f->sharers = f->base.extent.sharers ? f->base.extent.sharers : f->base.s->par;
    f->shared = f->base.extent.sharers ? f->sharers->size > 1 : !a->file_per_task;
    if (s3_has_pieces(o)) {
        f->way = S3_PIECES;
        return 0;
    }
    return f->writes ? choose_parts(f, err) : 0;
}

/* A file of one task whose parts are gathered gets its upload when one of them is full. */
static bool begins_upload(const struct s3_file *f)
{
    return !f->parts.single && (f->way == S3_PARTS || (f->way == S3_GATHERED && f->shared));
}

/* ---- open ---- */

static int find_url(struct s3_file *f, const char *path, struct weir_err *err)
{
    struct s3 *s3 = s3_of(f->base.s);

    f->url = s3->spare;
    s3->spare = (struct weir_str) { 0 };
    weir_str_clear(&f->url);
    weir_str_clear(&s3->bucket);
    weir_str_clear(&s3->key);
    if (s3_place(f->base.s->opt, path, &s3->bucket, &s3->key, err) < 0)
        return -1;
    s3_url(&s3->service, weir_str_text(&s3->bucket), weir_str_text(&s3->key), &f->url);
    return f->url.failed ? weir_refuse(err, WEIR_ESETUP, "no memory for the URL of '%s'", path) : 0;
}

static int find_size(struct s3_file *f, struct weir_err *err)
{
    struct s3 *s3 = s3_of(f->base.s);
    struct s3_call *c = &s3->alone.call;

    *c = (struct s3_call) { .method = S3_HEAD, .url = f->url.text };
    if (s3_call(s3->line, c, err) < 0)
        return -1;
    f->size = c->answer.length;
    return 0;
}

/* Is what is to be read there? Of objects that are a transfer the size is needed; who only writes has it. */
static int look(struct s3_file *f, unsigned flags, struct weir_err *err)
{
    if (f->way == S3_PIECES) {
        f->piece = f->base.extent.transfer;
        return f->creates || !(flags & WEIR_OPEN_READ) ? 0 : s3_piece_find(f, err);
    }
    return f->writes ? 0 : find_size(f, err);
}

int s3_file_upload(struct s3_file *f, struct weir_err *err)
{
    struct weir_session *s = f->base.s;
    const struct s3_target target = {
        .url = f->url.text, .parts = f->parts, .sharers = f->shared ? f->sharers : NULL, .exclusive = f->exclusive
    };

    f->upload = s3_upload_begin(s3_of(s)->line, s, &target, err);
    return f->upload ? 0 : -1;
}

/* All ranks of a shared file have the same upload, or none. */
static int begin_upload(struct s3_file *f, int rc, struct weir_err *err)
{
    if (f->shared)
        rc = weir_agree(f->sharers, rc, err);
    return rc < 0 ? -1 : s3_file_upload(f, err);
}

static void keep_spare(struct s3_file *f)
{
    struct s3 *s3 = s3_of(f->base.s);

    weir_str_free(&s3->spare);
    s3->spare = f->url;
    f->url = (struct weir_str) { 0 };
}

int s3_open(struct weir_session *s, const char *path, unsigned flags, struct weir_file *wf, struct weir_err *err)
{
    struct s3_file *f = (struct s3_file *)wf;
    int rc;

    (void)s;
    if (choose_way(f, flags, err) < 0)
        return -1;
    rc = find_url(f, path, err);
    if (rc == 0)
        rc = look(f, flags, err);
    if (begins_upload(f))
        rc = begin_upload(f, rc, err);
    if (rc == 0)
        return 0;
    keep_spare(f);
    return weir_err_within(err, "open '%s'", path);
}

/* ---- close ---- */

static int put_empty(struct s3_file *f, struct weir_err *err)
{
    struct s3 *s3 = s3_of(f->base.s);

    s3_put(f, f->url.text, NULL, 0, &s3->alone);
    return s3_call(s3->line, &s3->alone.call, err) < 0 && s3_move_end(&s3->alone) < 0 ? -1 : 0;
}

/* Is a file to which this rank has written nothing one of no bytes? Not where bytes are missing (a signal), and of transfers that
 * are objects another rank may have written some. */
static bool is_empty(const struct s3_file *f)
{
    if (!f->writes || f->written || f->failed || !f->creates || (f->parts.bytes > 0 && !f->base.s->access.stops))
        return false;
    return !f->shared || (f->way != S3_PIECES && f->sharers->rank == 0);
}

static int end_object(struct s3_file *f, struct weir_err *err)
{
    if (!is_empty(f))
        return 0;
    return f->way == S3_PIECES ? s3_piece_empty(f, err) : put_empty(f, err);
}

int s3_close(struct weir_file *wf, struct weir_err *err)
{
    struct s3_file *f = (struct s3_file *)wf;
    int rc = 0;

    if (f->way == S3_GATHERED)
        rc = s3_gather_end(f, !f->failed, err);
    if (f->upload) {
        if (s3_upload_end(f->upload, rc == 0 && !f->failed, rc < 0 ? NULL : err) < 0)
            rc = -1;
    } else if (rc == 0) {
        rc = end_object(f, err);
    }
    keep_spare(f);
    return rc < 0 ? weir_err_within(err, "close '%s'", wf->path) : 0;
}
