/* SPDX-License-Identifier: BSD-3-Clause */
/* s3-upload.c - an object that is written in parts: of one task, or of all together */
#include "backends/s3/s3-upload.h"
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/s3/s3-multipart.h"
#include "base/log.h"
#include "base/mem.h"
#include "par/agree.h"
#include "par/reduce.h"

#define ID_MOST 1024 /* bytes of an id, encoded: those of services have 10 to 200 */
#define QUERY_MOST (ID_MOST + 64)

/* The query of a call. */
struct query {
    const struct s3_call *c; /* NULL: free */
    char text[QUERY_MOST];
};

/* Parts in a list that grows. */
struct list {
    struct s3_part *part;
    size_t n, room;
    bool failed; /* no memory */
};

struct s3_upload {
    const struct weir_session *s;
    struct s3_target t;
    struct s3_multipart m;
    char id[ID_MOST];
    struct list list;
    uint64_t kept; /* parts, each time */
    struct query *query;
    int queries;
};

/* ---- the list of parts ---- */

static int by_number(const void *a, const void *b)
{
    const struct s3_part *x = a, *y = b;

    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* Sort it, and of parts that were sent again leave the last. */
static void put_in_order(struct list *l)
{
    size_t n = 0;

    if (l->n > 0)
        qsort(l->part, l->n, sizeof(*l->part), by_number);
    for (size_t i = 0; i < l->n; i++) {
        if (n > 0 && l->part[n - 1].number == l->part[i].number)
            n--;
        l->part[n++] = l->part[i];
    }
    l->n = n;
}

/* A file that is written again and again does not make it longer. */
static struct s3_part *add_part(struct list *l)
{
    if (l->n == l->room) {
        put_in_order(l);
        if (l->n >= l->room / 2 && !weir_mem_room(&l->part, l->room, &l->room, sizeof(*l->part))) {
            l->failed = true;
            return NULL;
        }
    }
    return &l->part[l->n++];
}

/* Parts of several ranks, whole ones. */
static void add_parts(void *arg, const char *bytes, size_t len)
{
    for (size_t at = 0; at < len; at += sizeof(struct s3_part)) {
        struct s3_part *p = add_part(arg);

        if (p)
            memcpy(p, bytes + at, sizeof(*p));
    }
}

/* ---- begin ---- */

static int take_memory(struct s3_upload *u, struct weir_err *err)
{
    size_t parts = u->t.parts.mine > 0 && u->t.parts.mine <= S3_PARTS_MOST ? (size_t)u->t.parts.mine : 64;

    u->queries = 2 * u->s->depth + 2;
    u->query = calloc((size_t)u->queries, sizeof(*u->query));
    u->list.room = 2 * parts + 2; /* half of it may be in use for long */
    u->list.part = calloc(u->list.room, sizeof(*u->list.part));
    return u->query && u->list.part ? 0 : weir_refuse(err, WEIR_ESETUP, "no memory for an upload");
}

/* The others that have a part in it; NULL: there are none. */
static const struct weir_par *sharers_of(const struct s3_target *t)
{
    return t->sharers && t->sharers->size > 1 ? t->sharers : NULL;
}

static struct s3_upload *make_upload(struct s3_line *l, const struct weir_session *s, const struct s3_target *t,
                                     struct weir_err *err)
{
    struct s3_upload *u = calloc(1, sizeof(*u));

    if (!u) {
        weir_refuse(err, WEIR_ESETUP, "no memory for an upload");
        return NULL;
    }
    u->s = s;
    u->t = *t;
    u->t.sharers = sharers_of(t);
    u->m = (struct s3_multipart) { .line = l, .o = s->opt, .url = t->url, .id = u->id, .exclusive = t->exclusive };
    if (take_memory(u, err) == 0)
        return u;
    free(u->query);
    free(u->list.part);
    free(u);
    return NULL;
}

static void free_upload(struct s3_upload *u)
{
    free(u->query);
    free(u->list.part);
    free(u);
}

/* From whichever rank it is: nobody else knows. */
static void note_unsure(const struct s3_upload *u, int unsure)
{
    struct weir_log log = *u->s->log;

    log.rank = 0;
    if (unsure > 0)
        weir_note(&log, "rank %d: up to %d unfinished uploads of %s may be left, which take space: the service has not answered each "
                  "request that begins one", u->s->par->rank, unsure, u->t.url);
}

static int ask_for_id(struct s3_upload *u, struct weir_err *err)
{
    struct weir_str id = { 0 };
    int unsure, rc = s3_multipart_begin(&u->m, &id, &unsure, err);

    note_unsure(u, unsure);
    if (rc == 0 && id.len >= sizeof(u->id))
        rc = weir_refuse(err, WEIR_EIO, "the service gave an upload an id of %zu bytes", id.len);
    if (rc == 0)
        memcpy(u->id, id.text, id.len + 1);
    weir_str_free(&id);
    return rc;
}

/* Agreement, where there are others. */
static int agree(const struct s3_upload *u, int rc, struct weir_err *err)
{
    return u->t.sharers ? weir_agree(u->t.sharers, rc, err) : rc;
}

static bool is_root(const struct s3_upload *u)
{
    return !u->t.sharers || u->t.sharers->rank == 0;
}

/* A rank without memory meets the others, too: the agreement on that comes first, so that nothing is begun in vain. */
struct s3_upload *s3_upload_begin(struct s3_line *l, const struct weir_session *s, const struct s3_target *t,
                                  struct weir_err *err)
{
    struct s3_upload *u = make_upload(l, s, t, err);
    const struct weir_par *sharers = sharers_of(t);
    int rc = u ? 0 : -1;

    if (sharers)
        rc = weir_agree(sharers, rc, err);
    if (rc == 0)
        rc = agree(u, is_root(u) ? ask_for_id(u, err) : 0, err);
    if (rc == 0 && sharers)
        weir_bcast(sharers, u->id, sizeof(u->id), 0);
    if (rc == 0)
        return u;
    if (u)
        free_upload(u);
    return NULL;
}

/* ---- parts ---- */

/* The place of this call, or a free one. */
static struct query *query_of(struct s3_upload *u, const struct s3_call *c)
{
    struct query *unused = NULL;

    for (int i = 0; i < u->queries; i++) {
        if (u->query[i].c == c)
            return &u->query[i];
        if (!u->query[i].c && !unused)
            unused = &u->query[i];
    }
    return unused;
}

static void leave_query(struct s3_upload *u, const struct s3_call *c)
{
    struct query *q = query_of(u, c);

    if (q)
        q->c = NULL;
}

int s3_upload_part(struct s3_upload *u, uint64_t number, const void *data, size_t len, struct s3_call *c,
                   struct weir_err *err)
{
    struct query *q = query_of(u, c);

    if (!q)
        return weir_refuse(err, WEIR_EBUG, "parts of more than %d calls", u->queries);
    if (number < 1 || number > S3_PARTS_MOST)
        return weir_refuse(err, WEIR_EIO, "an object has no part %" PRIu64 ", but 1 to %u", number, S3_PARTS_MOST);
    q->c = c;
    snprintf(q->text, sizeof(q->text), "partNumber=%" PRIu64 "&uploadId=%s", number, u->id);
    *c = (struct s3_call) { .method = S3_PUT,
                            .url = u->t.url,
                            .query = q->text,
                            .send = data,
                            .send_len = len,
                            .owner = c->owner };
    return 0;
}

int s3_upload_keep(struct s3_upload *u, uint64_t number, size_t len, const struct s3_call *c, struct weir_err *err)
{
    const struct s3_answer *a = &c->answer;
    struct s3_part *p;

    if (!a->etag[0])
        return weir_refuse(err, WEIR_EIO, "the service took part %" PRIu64 " and gave no ETag", number);
    p = add_part(&u->list);
    if (!p)
        return weir_refuse(err, WEIR_ESETUP, "no memory for the list of parts");
    *p = (struct s3_part) { .number = (uint32_t)number, .len = len, .order = u->kept++ };
    memcpy(p->etag, a->etag, sizeof(p->etag));
    memcpy(p->checksum, a->checksum, sizeof(p->checksum));
    leave_query(u, c);
    return 0;
}

/* ---- end ---- */

/* The parts of all ranks on rank 0. Messages: those of weir_pieces. */
static int gather_parts(struct s3_upload *u, struct list *all, struct weir_err *err)
{
    struct weir_str mine = { 0 };
    int64_t failed;
    int rc;

    put_in_order(&u->list);
    weir_str_add(&mine, (const char *)u->list.part, u->list.n * sizeof(*u->list.part));
    rc = weir_pieces(u->t.sharers, &mine, add_parts, all);
    weir_str_free(&mine);
    failed = rc < 0 || all->failed;
    weir_allmax_i64(u->t.sharers, &failed, 1);
    return failed ? weir_refuse(err, WEIR_ESETUP, "no memory for the list of parts") : 0;
}

/* How many of them are an object: each adjoins the one before, and is whole unless it is the last. */
static size_t adjoining(const struct s3_upload *u, const struct list *l, uint64_t *bytes)
{
    size_t n = 0;

    *bytes = 0;
    while (n < l->n && l->part[n].number == n + 1 && (n == 0 || l->part[n - 1].len == u->t.parts.size))
        *bytes += l->part[n++].len;
    return n;
}

static bool is_whole(const struct s3_upload *u, const struct list *l, size_t n, uint64_t bytes)
{
    return u->t.parts.n > 0 ? n == u->t.parts.n && bytes == u->t.parts.bytes : n == l->n && n > 0;
}

/* One that stays is told at once: an error that came first is all that others report. */
static int abort_upload(const struct s3_upload *u, struct weir_err *err)
{
    struct weir_err left = WEIR_ERR_INIT;

    if (s3_multipart_abort(&u->m, &left) == 0)
        return 0;
    weir_err_within(&left, "an unfinished upload is left, which takes space");
    weir_report_error(u->s->log, &left);
    weir_refuse(err, WEIR_EIO, "the upload was not given up");
    if (err)
        err->sys = left.sys;
    return -1;
}

/* A file that ends before its first part is full has none. */
static int put_empty(const struct s3_upload *u, struct weir_err *err)
{
    struct s3_call c = { .method = S3_PUT, .url = u->t.url, .headers = u->t.exclusive ? s3_only_new : NULL };

    return abort_upload(u, err) < 0 ? -1 : s3_call(u->m.line, &c, err);
}

/* It ends with what there is. An error of the end is the one to report, not that of giving up after it. */
static int make_object(const struct s3_upload *u, const struct list *all, struct weir_err *err)
{
    uint64_t bytes;
    size_t n = adjoining(u, all, &bytes);
    bool prefix = u->s->access.stops && !u->t.sharers;
    int rc;

    if (!is_whole(u, all, n, bytes) && !prefix) {
        rc = abort_upload(u, err);
        return rc < 0 ? -1
                      : weir_refuse(err, WEIR_EINTR,
                                    "of %" PRIu64 " parts %zu were written, so the upload was given up and there is no "
                                    "new object", u->t.parts.n, all->n);
    }
    if (n == 0)
        return put_empty(u, err);
    if (s3_multipart_complete(&u->m, all->part, n, bytes, err) == 0)
        return 0;
    abort_upload(u, NULL);
    return -1;
}

static int end_shared(struct s3_upload *u, bool ok, struct weir_err *err)
{
    struct list all = { 0 };
    int64_t bad = !ok;
    int rc = 0;

    weir_allmax_i64(u->t.sharers, &bad, 1); /* from here on no rank sends a part */
    if (!bad && gather_parts(u, &all, err) < 0)
        rc = -1;
    put_in_order(&all);
    if (is_root(u) && (bad || rc < 0))
        rc = abort_upload(u, rc < 0 ? NULL : err) < 0 ? -1 : rc;
    else if (is_root(u))
        rc = make_object(u, &all, err);
    free(all.part);
    return weir_agree(u->t.sharers, rc, err);
}

static int end_alone(struct s3_upload *u, bool ok, struct weir_err *err)
{
    put_in_order(&u->list);
    return ok ? make_object(u, &u->list, err) : abort_upload(u, err);
}

int s3_upload_end(struct s3_upload *u, bool ok, struct weir_err *err)
{
    int rc = u->t.sharers ? end_shared(u, ok, err) : end_alone(u, ok, err);

    free_upload(u);
    return rc;
}
