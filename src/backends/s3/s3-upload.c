/* SPDX-License-Identifier: BSD-3-Clause */
/* s3-upload.c - an object that is written in parts: of one task, or of all together */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "backends/s3/s3-objects.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "par/agree.h"
#include "par/reduce.h"

#define ID_MOST 1024 /* bytes of an id, encoded: those of services have 10 to 200 */
#define ABORTS 3     /* a part whose answer was lost may still arrive after the first one */
#define BETWEEN_NS (WEIR_NS_PER_S / 5)

/* A part that the service has. Zeros: it has none of this number. */
struct part {
    uint64_t len;
    uint32_t number;   /* from 1 */
    char etag[80];     /* with its quotes */
    char checksum[64]; /* base64; "" none */
};

struct s3_upload {
    const struct s3_file *f;
    struct s3_object object;
    struct s3_client *client;
    const struct weir_par *sharers; /* the ranks that have parts in it; NULL: this one alone */
    char id[ID_MOST];  /* encoded, as a query has it */
    struct part *part; /* of number 1, 2, ...; on rank 0 of the sharers also theirs, at the end */
    size_t capacity;
};

/* The entry of a part. NULL: no memory. */
static struct part *part_of(struct s3_upload *u, uint64_t number)
{
    const size_t before = u->capacity;

    if (number > before) {
        if (!weir_mem_reserve(&u->part, (size_t)number - 1, &u->capacity, sizeof(*u->part)))
            return NULL;
        memset(u->part + before, 0, (u->capacity - before) * sizeof(*u->part));
    }
    return &u->part[number - 1];
}

/* ---- the requests of an upload ---- */

/* The service keeps checksums of parts only where the begin names their kind. */
static const struct algorithm {
    const char *option, *header, *element;
} algorithms[] = {
    { "crc32c", "x-amz-checksum-algorithm: CRC32C", "ChecksumCRC32C" },
    { "sha256", "x-amz-checksum-algorithm: SHA256", "ChecksumSHA256" },
    { "none", NULL, NULL },
};

static const struct algorithm *algorithm_of(const struct s3_upload *u)
{
    const struct algorithm *a = algorithms;

    while (strcmp(a->option, u->client->sv->o->checksum) != 0)
        a++;
    return a;
}

/* Services differ in the name of the element around it all. */
static bool is_in_any(const char *path, const char *name)
{
    const char *slash = strchr(path, '/');

    return slash && strcmp(slash + 1, name) == 0;
}

static int take_id(void *mine, const char *path, const char *words)
{
    if (is_in_any(path, "UploadId"))
        s3_encode(words, "", mine);
    return 0;
}

/* Services that do not know the condition would replace the object. */
static int check_absent(const struct s3_upload *u, struct weir_err *err)
{
    struct s3_call c = { .method = S3_HEAD, .object = u->object };

    if (s3_call(u->client, &c, err) == 0) {
        errno = EEXIST;
        return weir_fail(err, WEIR_EIO, "the object exists already");
    }
    return c.answer.sys == ENOENT ? 0 : -1;
}

/* Append the id of an upload that has begun. Sets *unsure to the number of other uploads that
 * may have begun, with unknown ids: their requests had no good answer, or one without an id. */
static int begin(const struct s3_upload *u, struct weir_str *id, int *unsure, struct weir_err *err)
{
    const char *const headers[] = { algorithm_of(u)->header, NULL };
    struct weir_str text = { 0 };
    struct s3_call c = { .method = S3_POST, .object = u->object, .query = "uploads=",
                         .headers = headers, .text = &text };
    int rc = s3_call(u->client, &c, err);

    *unsure = c.answer.unsure;
    if (rc == 0) {
        rc = s3_xml(&text, take_id, id, err);
        if (rc == 0 && (id->failed || id->len == 0))
            rc = weir_refuse(err, WEIR_EIO, "%s", id->failed ? "no memory for an upload" :
                             "the service created an upload, but gave no upload id");
        *unsure += rc < 0;
    }
    weir_str_free(&text);
    return rc;
}

static void add_element(struct weir_str *body, const struct part *p, const struct algorithm *a)
{
    weir_str_addf(body, "<Part><PartNumber>%" PRIu32 "</PartNumber>", p->number);
    s3_xml_add(body, "ETag", p->etag);
    if (a->element && p->checksum[0])
        s3_xml_add(body, a->element, p->checksum);
    weir_str_addf(body, "</Part>");
}

static int take_made(void *mine, const char *path, const char *words)
{
    *(bool *)mine |= is_in_any(path, "ETag");
    return 0;
}

/* Check that the answer names the object. */
static int check_made(const struct weir_str *text, struct weir_err *err)
{
    bool made = false;
    int rc = s3_xml(text, take_made, &made, err);

    if (rc == 0 && !made)
        rc = weir_refuse(err, WEIR_EIO, "the service responded 200, then reported no object");
    return rc < 0 ? weir_err_within(err, "complete an upload") : 0;
}

/* An earlier try may have made the object though its answer was lost: then there is no such upload any more, or an object
 * that was not to be there. */
static bool was_made(const struct s3_upload *u, const struct s3_answer *a, uint64_t bytes)
{
    struct s3_call head = { .method = S3_HEAD, .object = u->object };

    return a->unsure > 0 && (a->status == 404 || a->status == 412) &&
           s3_call(u->client, &head, NULL) == 0 && head.answer.length == bytes;
}

static int send_list(const struct s3_upload *u, struct s3_call *c, uint64_t bytes,
                     struct weir_err *err)
{
    if (s3_call(u->client, c, err) == 0)
        return check_made(c->text, err);
    if (was_made(u, &c->answer, bytes))
        return 0;
    return c->answer.status == 200 && c->answer.code[0]
               ? weir_refuse(err, WEIR_EIO, "complete an upload: %s", c->answer.why)
               : -1;
}

/* Make the object of the first n parts: 'bytes' together. -1 and err: there is no such object, the
 * upload may be there. */
static int complete(const struct s3_upload *u, size_t n, uint64_t bytes, struct weir_err *err)
{
    struct weir_str body = { 0 }, text = { 0 }, query = { 0 };
    struct s3_call c = { .method = S3_POST, .object = u->object, .text = &text,
                         .headers = u->f->exclusive ? s3_only_new : NULL };
    int rc;

    weir_str_addf(&query, "uploadId=%s", u->id);
    weir_str_addf(&body, "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">");
    for (size_t i = 0; i < n; i++)
        add_element(&body, &u->part[i], algorithm_of(u));
    weir_str_addf(&body, "</CompleteMultipartUpload>");
    c.query = weir_str_text(&query);
    c.send = weir_str_text(&body);
    c.send_len = body.len;
    rc = s3_has_memory(!body.failed && !query.failed, err) < 0 ? -1 : send_list(u, &c, bytes, err);
    weir_str_free(&text);
    weir_str_free(&body);
    weir_str_free(&query);
    return rc;
}

/* Asked until the service says that there is none, a few times. */
static int delete_upload(const struct s3_upload *u, const char *id, struct weir_err *err)
{
    struct weir_str query = { 0 };
    struct s3_call c = { .method = S3_DELETE, .object = u->object, .brief = true };
    int rc;

    weir_str_addf(&query, "uploadId=%s", id);
    c.query = weir_str_text(&query);
    rc = s3_has_memory(!query.failed, err);
    for (int i = 0; rc == 0 && i < ABORTS && c.answer.status != 404; i++) {
        if (i > 1)
            weir_sleep_ns(BETWEEN_NS);
        rc = s3_call(u->client, &c, err);
    }
    weir_str_free(&query);
    return c.answer.status == 404 ? 0 : rc;
}

/* Abort an upload, and report one that stays at once: the first error hides it from others. */
static int abort_upload(const struct s3_upload *u, const char *id, struct weir_err *err)
{
    struct weir_err left = WEIR_ERR_INIT;

    if (delete_upload(u, id, &left) == 0)
        return 0;
    weir_err_within(&left, "an unfinished multipart upload remains and uses space");
    weir_report_error(u->f->base.s->log, &left);
    weir_refuse(err, WEIR_EIO, "the upload was not aborted");
    if (err)
        err->sys = left.sys;
    return -1;
}

/* ---- begin ---- */

static void free_upload(struct s3_upload *u)
{
    if (u)
        free(u->part);
    free(u);
}

static const struct weir_par *sharers_of(const struct s3_file *f)
{
    return f->shared && f->sharers->size > 1 ? f->sharers : NULL;
}

static struct s3_upload *make_upload(const struct s3_file *f, struct weir_err *err)
{
    struct s3_upload *u = calloc(1, sizeof(*u));

    if (u) {
        u->f = f;
        u->object = (struct s3_object) { f->bucket.text, f->key.text };
        u->client = s3_of(f->base.s)->client;
        u->sharers = sharers_of(f);
        u->capacity = f->parts.n > 0 && f->parts.n <= S3_PARTS_MOST ? (size_t)f->parts.n : 64;
        u->part = calloc(u->capacity, sizeof(*u->part));
        if (u->part)
            return u;
    }
    free_upload(u);
    weir_refuse(err, WEIR_ESETUP, "no memory for an upload");
    return NULL;
}

/* From whichever rank it is: no other rank knows. */
static void note_unsure(const struct s3_upload *u, int unsure)
{
    struct weir_log log = *u->f->base.s->log;
    struct weir_str url = { 0 };

    if (unsure == 0)
        return;
    log.rank = 0;
    s3_route_url(&u->client->route, u->client->sv, &u->object, &url);
    weir_note(&log, "rank %d: up to %d unfinished uploads of %s can remain and use space: the "
                    "service has not answered all requests to create an upload",
                    u->f->base.s->par->rank, unsure, weir_str_words(&url));
    weir_str_free(&url);
}

static int ask_for_id(struct s3_upload *u, struct weir_err *err)
{
    struct weir_str id = { 0 };
    int unsure = 0, rc = u->f->exclusive ? check_absent(u, err) : 0;

    if (rc == 0)
        rc = begin(u, &id, &unsure, err);
    note_unsure(u, unsure);
    if (rc == 0 && id.len < sizeof(u->id)) {
        memcpy(u->id, id.text, id.len + 1);
    } else if (rc == 0) {
        rc = -1;
        if (abort_upload(u, id.text, err) == 0)
            weir_refuse(err, WEIR_EIO, "the service gave an upload id of %zu bytes, but at most %d "
                                       "are supported", id.len, ID_MOST - 1);
    }
    weir_str_free(&id);
    return rc;
}

static bool is_root(const struct s3_upload *u)
{
    return !u->sharers || u->sharers->rank == 0;
}

/* A rank without memory meets the others, too: the agreement on that comes first, so that nothing is begun in vain. */
int s3_upload_begin(struct s3_file *f, struct weir_err *err)
{
    const struct weir_par *sharers = sharers_of(f);
    struct s3_upload *u = make_upload(f, err);
    int rc = u ? 0 : -1;

    if (sharers)
        rc = weir_agree(sharers, rc, err);
    if (rc == 0) {
        rc = is_root(u) ? ask_for_id(u, err) : 0;
        rc = sharers ? weir_agree(sharers, rc, err) : rc;
    }
    if (rc == 0 && sharers)
        weir_bcast(sharers, u->id, sizeof(u->id), 0);
    if (rc == 0)
        f->upload = u;
    else
        free_upload(u);
    return rc;
}

/* ---- parts ---- */

int s3_upload_part(const struct s3_upload *u, uint64_t number, const void *data, size_t len,
                   struct s3_call *c, struct weir_str *query, struct weir_err *err)
{
    if (number < 1 || number > S3_PARTS_MOST)
        return weir_refuse(err, WEIR_EIO, "an object has no part %" PRIu64 ", but 1 to %u", number, S3_PARTS_MOST);
    weir_str_clear(query);
    weir_str_addf(query, "partNumber=%" PRIu64 "&uploadId=%s", number, u->id);
    *c = (struct s3_call) { .method = S3_PUT, .object = u->object, .query = query->text,
                            .send = data, .send_len = len, .owner = c->owner };
    return s3_has_memory(!query->failed, err);
}

int s3_upload_keep(struct s3_upload *u, uint64_t number, size_t len, const struct s3_answer *a,
                   struct weir_err *err)
{
    struct part *p;

    if (!a->etag[0])
        return weir_refuse(err, WEIR_EIO, "the service stored part %" PRIu64 ", but gave no ETag",
                                          number);
    p = part_of(u, number);
    if (!p)
        return weir_refuse(err, WEIR_ESETUP, "no memory for the list of parts");
    *p = (struct part) { .number = (uint32_t)number, .len = len };
    memcpy(p->etag, a->etag, sizeof(p->etag));
    memcpy(p->checksum, a->checksum, sizeof(p->checksum));
    return 0;
}

/* ---- end ---- */

/* Parts of one rank on rank 0. */
static void take_parts(void *arg, const char *bytes, size_t len)
{
    for (const char *end = bytes + len; bytes < end; bytes += sizeof(struct part)) {
        struct part one, *p;

        memcpy(&one, bytes, sizeof(one));
        p = part_of(arg, one.number); /* memory is reserved: the parts of a shared file are known */
        if (p)
            *p = one;
    }
}

/* The parts of all ranks on rank 0. Messages: those of weir_pieces. */
static int gather_parts(struct s3_upload *u, struct weir_err *err)
{
    struct weir_str mine = { 0 };
    int64_t failed;

    for (size_t i = 0; i < u->capacity; i++)
        if (u->part[i].number > 0)
            weir_str_add(&mine, (const char *)&u->part[i], sizeof(u->part[i]));
    failed = weir_pieces(u->sharers, &mine, take_parts, u) < 0;
    weir_str_free(&mine);
    weir_allmax_i64(u->sharers, &failed, 1);
    return failed ? weir_refuse(err, WEIR_ESETUP, "no memory for the list of parts") : 0;
}

/* Count the parts, and those that are an object: each adjoins the one before, and is whole
 * unless it is the last. */
static size_t adjoining(const struct s3_upload *u, size_t *all, uint64_t *bytes)
{
    size_t n = 0;

    *bytes = *all = 0;
    for (size_t i = 0; i < u->capacity; i++)
        *all += u->part[i].number > 0;
    while (n < u->capacity && u->part[n].number > 0 &&
           (n == 0 || u->part[n - 1].len == u->f->parts.size))
        *bytes += u->part[n++].len;
    return n;
}

/* The first n parts are the object; where parts are missing at its end in order, and access.stops
 * says why, too. An error of the end is the one to report, not that of giving up after it. */
static int make_object(const struct s3_upload *u, struct weir_err *err)
{
    struct s3_call empty = { .method = S3_PUT, .object = u->object,
                             .headers = u->f->exclusive ? s3_only_new : NULL };
    uint64_t bytes;
    size_t all, n = adjoining(u, &all, &bytes);
    const bool whole =
        u->f->parts.n > 0 ? n == u->f->parts.n && bytes == u->f->parts.bytes : n == all && n > 0;
    const bool prefix = u->f->base.s->access.stops && !u->sharers;

    if ((whole || prefix) && n > 0) {
        if (complete(u, n, bytes, err) == 0)
            return 0;
        abort_upload(u, u->id, NULL);
        return -1;
    }
    if (abort_upload(u, u->id, err) < 0)
        return -1;
    if (prefix) /* a file that ends before its first part is full has none */
        return s3_call(u->client, &empty, err);
    return weir_refuse(err, WEIR_EINTR, "of %" PRIu64 " parts %zu were written, so the upload was "
                                        "aborted and no object was created", u->f->parts.n, all);
}

static int end_shared(struct s3_upload *u, bool ok, struct weir_err *err)
{
    int64_t bad = !ok;
    int rc = 0;

    weir_allmax_i64(u->sharers, &bad, 1); /* from here on no rank sends a part */
    if (!bad && gather_parts(u, err) < 0)
        rc = -1;
    if (is_root(u) && (bad || rc < 0))
        rc = abort_upload(u, u->id, rc < 0 ? NULL : err) < 0 ? -1 : rc;
    else if (is_root(u))
        rc = make_object(u, err);
    return weir_agree(u->sharers, rc, err);
}

int s3_upload_end(struct s3_upload *u, bool ok, struct weir_err *err)
{
    int rc;

    if (u->sharers)
        rc = end_shared(u, ok, err);
    else
        rc = ok ? make_object(u, err) : abort_upload(u, u->id, err);
    free_upload(u);
    return rc;
}
