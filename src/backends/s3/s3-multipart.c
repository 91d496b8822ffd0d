/* SPDX-License-Identifier: BSD-3-Clause */
/* s3-multipart.c - the requests of one upload: begin it, complete it with its parts, give it up */
#include "backends/s3/s3-multipart.h"
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"

#define ABORTS 3 /* a part whose answer was lost may still arrive after the first one */
#define BETWEEN_NS (WEIR_NS_PER_S / 5)

/* The service keeps checksums of parts only where it is told which at the begin. */
static const struct algorithm {
    const char *option, *header, *element;
} algorithms[] = {
    { "crc32c", "x-amz-checksum-algorithm: CRC32C", "ChecksumCRC32C" },
    { "sha256", "x-amz-checksum-algorithm: SHA256", "ChecksumSHA256" },
};

static const struct algorithm *algorithm_of(const struct s3_options *o)
{
    for (size_t i = 0; i < sizeof(algorithms) / sizeof(*algorithms); i++)
        if (strcmp(algorithms[i].option, o->checksum) == 0)
            return &algorithms[i];
    return NULL;
}

/* ---- begin ---- */

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
static int check_absent(const struct s3_multipart *m, struct weir_err *err)
{
    struct s3_call c = { .method = S3_HEAD, .url = m->url };

    if (s3_call(m->line, &c, err) == 0) {
        errno = EEXIST;
        return weir_fail(err, WEIR_EIO, "the object is there, and it was to be made");
    }
    return c.answer.sys == ENOENT ? 0 : -1;
}

int s3_multipart_begin(const struct s3_multipart *m, struct weir_str *id, int *unsure, struct weir_err *err)
{
    const struct algorithm *a = algorithm_of(m->o);
    const char *const headers[] = { a ? a->header : NULL, NULL };
    struct weir_str text = { 0 };
    struct s3_call c = { .method = S3_POST, .url = m->url, .query = "uploads=", .headers = headers, .text = &text };
    int rc = m->exclusive ? check_absent(m, err) : 0;

    if (rc == 0)
        rc = s3_call(m->line, &c, err);
    *unsure = c.answer.unsure;
    if (rc == 0)
        rc = s3_xml(weir_str_text(&text), text.len, take_id, id, err);
    if (rc == 0 && (id->failed || id->len == 0))
        rc = weir_refuse(err, WEIR_EIO, "%s",
                         id->failed ? "no memory for an upload" : "the service began an upload and gave no id of it");
    weir_str_free(&text);
    return rc;
}

/* ---- complete ---- */

static void add_words(struct weir_str *body, const char *element, const char *words)
{
    weir_str_addf(body, "<%s>", element);
    s3_xml_add(words, body);
    weir_str_addf(body, "</%s>", element);
}

static void add_part(struct weir_str *body, const struct s3_part *p, const struct algorithm *a)
{
    weir_str_addf(body, "<Part><PartNumber>%" PRIu32 "</PartNumber>", p->number);
    add_words(body, "ETag", p->etag);
    if (a && p->checksum[0])
        add_words(body, a->element, p->checksum);
    weir_str_addf(body, "</Part>");
}

struct outcome {
    char code[64], message[256];
    bool made; /* the answer names the object */
};

static int take_outcome(void *mine, const char *path, const char *words)
{
    struct outcome *o = mine;

    if (strcmp(path, "Error/Code") == 0)
        snprintf(o->code, sizeof(o->code), "%s", words);
    else if (strcmp(path, "Error/Message") == 0)
        snprintf(o->message, sizeof(o->message), "%s", words);
    else if (is_in_any(path, "ETag"))
        o->made = true;
    return 0;
}

/* The service answers 200 before it knows, and says in the body how it went. */
static int read_outcome(const struct weir_str *text, struct outcome *o, struct weir_err *err)
{
    *o = (struct outcome) { .made = false };
    if (s3_xml(weir_str_text(text), text->len, take_outcome, o, err) < 0)
        return weir_err_within(err, "the answer to the end of an upload");
    if (o->made)
        return 0;
    return weir_refuse(err, WEIR_EIO, "the end of an upload: the service answered 200, then %s%s%s",
                       o->code[0] ? o->code : "not that there is an object", o->message[0] ? ": " : "", o->message);
}

/* An earlier try may have made the object though its answer was lost: then there is no such upload any more, or an object
 * that was not to be there. */
static bool was_made(const struct s3_multipart *m, const struct s3_answer *a, int tried, uint64_t bytes)
{
    struct s3_call look = { .method = S3_HEAD, .url = m->url };

    return (tried > 1 || a->unsure > 0) && (a->status == 404 || a->status == 412) && s3_call(m->line, &look, NULL) == 0 &&
           look.answer.length == bytes;
}

static bool may_pass(const struct outcome *o)
{
    return strcmp(o->code, "InternalError") == 0 || strcmp(o->code, "SlowDown") == 0 ||
           strcmp(o->code, "ServiceUnavailable") == 0 || strcmp(o->code, "RequestTimeout") == 0;
}

/* A request with an error in the body of a good answer is repeated here: the transport does not see it. */
static int complete(const struct s3_multipart *m, struct s3_call *c, uint64_t bytes, struct weir_err *err)
{
    struct outcome how;

    for (int tried = 1;; tried++) {
        if (s3_call(m->line, c, err) < 0)
            return was_made(m, &c->answer, tried, bytes) ? 0 : -1;
        if (read_outcome(c->text, &how, err) == 0)
            return 0;
        if (!may_pass(&how) || !s3_line_again(m->line, tried))
            return -1;
    }
}

int s3_multipart_complete(const struct s3_multipart *m, const struct s3_part *part, size_t n, uint64_t bytes,
                          struct weir_err *err)
{
    struct weir_str body = { 0 }, text = { 0 }, query = { 0 };
    struct s3_call c = { .method = S3_POST, .url = m->url, .text = &text, .headers = m->exclusive ? s3_only_new : NULL };
    const struct algorithm *a = algorithm_of(m->o);
    int rc;

    weir_str_addf(&query, "uploadId=%s", m->id);
    weir_str_addf(&body, "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">");
    for (size_t i = 0; i < n; i++)
        add_part(&body, &part[i], a);
    weir_str_addf(&body, "</CompleteMultipartUpload>");
    c.query = weir_str_text(&query);
    c.send = weir_str_text(&body);
    c.send_len = body.len;
    rc = body.failed || query.failed ? weir_refuse(err, WEIR_ESETUP, "no memory for the list of %zu parts", n)
                                     : complete(m, &c, bytes, err);
    weir_str_free(&text);
    weir_str_free(&body);
    weir_str_free(&query);
    return rc;
}

/* ---- give up ---- */

int s3_multipart_abort(const struct s3_multipart *m, struct weir_err *err)
{
    struct weir_str query = { 0 };
    struct s3_call c = { .method = S3_DELETE, .url = m->url, .brief = true };
    int rc = 0;

    weir_str_addf(&query, "uploadId=%s", m->id);
    c.query = weir_str_text(&query);
    if (query.failed)
        return weir_refuse(err, WEIR_ESETUP, "no memory to give up an upload");
    for (int i = 0; i < ABORTS; i++) {
        if (i > 1)
            weir_sleep_ns(BETWEEN_NS);
        rc = s3_call(m->line, &c, err);
        if (c.answer.status == 404) {
            rc = 0;
            break;
        }
        if (rc < 0)
            break;
    }
    weir_str_free(&query);
    return rc;
}
