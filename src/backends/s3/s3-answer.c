/* SPDX-License-Identifier: BSD-3-Clause */
/* s3-answer.c - what the service has sent: headers, body, and whether it is what was asked for */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "backends/s3/s3-request.h"
#include "base/clock.h"

#define ERROR_MOST ((size_t)64 << 10) /* bytes of an error that are read as XML */
#define WORDS_MOST 16 /* MiB of an answer that is not data; a list of 1000 keys has 8 MiB at most */

void s3_answer_begin(struct s3_handle *h)
{
    const struct s3_answer before = h->call->answer;

    h->reply = (struct s3_reply){ .has_length = false };
    h->call->answer = (struct s3_answer){ .tried = before.tried, .unsure = before.unsure };
    weir_str_clear(&h->body);
    h->first_ns = 0;
    h->error[0] = '\0';
    if (h->call->text)
        weir_str_clear(h->call->text);
}

/* Copies what fits: texts of the service are for people. */
static void keep(char *to, size_t limit, const char *text, size_t len)
{
    if (len > limit - 1)
        len = limit - 1;
    memcpy(to, text, len);
    to[len] = '\0';
}

#define KEEP(to, text) keep(to, sizeof(to), text, strlen(text))

/* "HTTP/1.1 206 Partial Content": a new answer begins, and what one before it has said (100) does not hold. */
static void take_status(struct s3_handle *h, const char *line, size_t len)
{
    const char *blank = memchr(line, ' ', len);

    if (!h->first_ns)
        h->first_ns = weir_now_ns();
    h->reply = (struct s3_reply) { .has_length = false };
    h->call->answer.status = blank ? (int)strtol(blank, NULL, 10) : 0;
}

/* "bytes 0-99/1000", and "bytes * /1000" of a range that is not there. */
static void take_range(struct s3_reply *r, const char *value)
{
    r->has_range = sscanf(value, "bytes %" SCNu64 "-%" SCNu64, &r->from, &r->to) == 2;
    value = strchr(value, '/');
    r->has_total = value && sscanf(value, "/%" SCNu64, &r->total) == 1;
}

static void take_header(struct s3_handle *h, const char *name, const char *value)
{
    struct s3_reply *r = &h->reply;
    struct s3_answer *a = &h->call->answer;
    const char *kind = h->client->sv->o->checksum;
    const size_t sums = strlen("x-amz-checksum-");

    if (strcasecmp(name, "content-length") == 0) {
        r->has_length = true;
        r->length = strtoull(value, NULL, 10);
    } else if (strcasecmp(name, "content-range") == 0)
        take_range(r, value);
    else if (strcasecmp(name, "etag") == 0)
        KEEP(a->etag, value);
    else if (strcasecmp(name, "date") == 0 && a->status >= 300) /* only an error needs it */
        r->date = curl_getdate(value, NULL);
    else if (strcasecmp(name, "x-amz-request-id") == 0)
        KEEP(r->id, value);
    else if (strcasecmp(name, "x-amz-bucket-region") == 0)
        KEEP(r->region, value);
    else if (strcasecmp(name, "location") == 0 && strlen(value) < sizeof(r->location)) /* all of it */
        KEEP(r->location, value);
    else if (strcasecmp(name, "retry-after") == 0)
        r->again_s = (int)strtol(value, NULL, 10);
    else if (strncasecmp(name, "x-amz-checksum-", sums) == 0 && strcasecmp(name + sums, kind) == 0)
        KEEP(r->checksum, value);
}

size_t s3_answer_header(char *data, size_t size, size_t n, void *user)
{
    struct s3_handle *h = user;
    size_t len = size * n;
    char line[sizeof(h->reply.location) + 64], *value;

    if (len > 5 && memcmp(data, "HTTP/", 5) == 0)
        take_status(h, data, len);
    while (len > 0 && strchr("\r\n \t", data[len - 1]))
        len--;
    keep(line, sizeof(line), data, len);
    value = strchr(line, ':');
    if (!value)
        return size * n;
    *value++ = '\0';
    take_header(h, line, value + strspn(value, " \t"));
    return size * n;
}

static bool is_error(const struct s3_handle *h)
{
    return h->call->answer.status >= 300;
}

/* Data of an object. A service that sends more is wrong, and libcurl ends the request where this
 * returns 0. */
static size_t take_data(struct s3_handle *h, const char *data, size_t len)
{
    struct s3_call *c = h->call;

    h->reply.excess = len > c->limit - c->answer.moved;
    if (h->reply.excess)
        return 0;
    memcpy((char *)c->into + c->answer.moved, data, len);
    c->answer.moved += len;
    return len;
}

/* Take XML, or a body that is ignored. It may have no end. */
static size_t take_words(struct s3_handle *h, const char *data, size_t len)
{
    h->reply.words += len;
    h->reply.excess = h->reply.words > (size_t)WORDS_MOST << 20;
    if (h->reply.excess)
        return 0;
    if (!is_error(h) && h->call->text)
        weir_str_add(h->call->text, data, len);
    else if (is_error(h) && h->reply.words <= ERROR_MOST)
        weir_str_add(&h->body, data, len);
    return len;
}

size_t s3_answer_body(char *data, size_t size, size_t n, void *user)
{
    struct s3_handle *h = user;

    if (h->call->into && !is_error(h))
        return take_data(h, data, size * n);
    return take_words(h, data, size * n);
}

static int take_error(void *mine, const char *path, const char *words)
{
    struct s3_handle *h = mine;

    if (strcmp(path, "Error/Code") == 0)
        KEEP(h->call->answer.code, words);
    else if (strcmp(path, "Error/Message") == 0)
        KEEP(h->reply.message, words);
    else if (strcmp(path, "Error/Endpoint") == 0)
        KEEP(h->reply.endpoint, words);
    else if (strcmp(path, "Error/Region") == 0)
        KEEP(h->reply.region, words);
    else if (strcmp(path, "Error/RequestId") == 0)
        KEEP(h->reply.id, words);
    return 0;
}

static const struct meaning {
    int status, sys;
    const char *words;
} meanings[] = {
    { 301, EREMCHG, "Moved Permanently" },
    { 307, EREMCHG, "Temporary Redirect" },
    { 400, EINVAL, "Bad Request" },
    { 401, EACCES, "Unauthorized" },
    { 403, EACCES, "Forbidden" },
    { 404, ENOENT, "Not Found" },
    { 405, EPERM, "Method Not Allowed" },
    { 408, ETIMEDOUT, "Request Timeout" },
    { 409, EBUSY, "Conflict" },
    { 412, EEXIST, "Precondition Failed" },
    { 413, EFBIG, "Content Too Large" },
    { 416, ENXIO, "Range Not Satisfiable" },
    { 429, EBUSY, "Too Many Requests" },
    { 431, EINVAL, "Request Header Fields Too Large" },
    { 500, EIO, "Internal Server Error" },
    { 501, ENOTSUP, "Not Implemented" },
    { 502, EIO, "Bad Gateway" },
    { 503, EBUSY, "Service Unavailable" },
    { 504, ETIMEDOUT, "Gateway Timeout" },
    { 507, ENOSPC, "Insufficient Storage" },
    { 0, EIO, "without a reason that S3 knows" },
};

static void add_words(struct s3_answer *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void add_words(struct s3_answer *a, const char *fmt, ...)
{
    const size_t len = strlen(a->why);
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(a->why + len, sizeof(a->why) - len, fmt, ap);
    va_end(ap);
}

void s3_fail(struct s3_answer *a, int sys, const char *fmt, ...)
{
    va_list ap;

    a->sys = sys;
    va_start(ap, fmt);
    (void)vsnprintf(a->why, sizeof(a->why), fmt, ap);
    va_end(ap);
}

/* Add scheme, host and port of a URL; the rest may be a secret. */
static void add_endpoint(struct s3_answer *a, const char *url)
{
    const char *host = strstr(url, "://"), *at;
    size_t begin = host ? (size_t)(host + 3 - url) : 0, len = strcspn(url + begin, "/?#");

    host = url + begin;
    at = memchr(host, '@', len);
    if (at) {
        len -= (size_t)(at + 1 - host);
        host = at + 1;
    }
    add_words(a, "; the service names another endpoint (give it with --s3.endpoints): %.*s%.*s",
              (int)begin, url, (int)len, host);
}

/* The remedy, where the answer tells it. */
static void add_remedy(const struct s3_handle *h)
{
    struct s3_answer *a = &h->call->answer;
    const struct s3_reply *r = &h->reply;
    int64_t ahead_s = r->date > 0 ? (int64_t)time(NULL) - r->date : 0;

    if (strcmp(a->code, "RequestTimeTooSkewed") == 0 && ahead_s != 0)
        add_words(a, "; the clock of this node is %" PRId64 " s %s that of the service",
                  ahead_s < 0 ? -ahead_s : ahead_s, ahead_s < 0 ? "behind" : "ahead of");
    if (r->region[0] && a->status <= 400 &&
        strcmp(r->region, s3_route_region(&h->client->route, h->client->sv)) != 0)
        add_words(a, "; the bucket is in region '%s': give --s3.region=%s", r->region, r->region);
    if (a->status < 400 && (r->location[0] || r->endpoint[0]))
        add_endpoint(a, r->endpoint[0] ? r->endpoint : r->location);
}

/* The service says no. */
static void judge_error(struct s3_handle *h)
{
    struct s3_answer *a = &h->call->answer;
    struct s3_reply *r = &h->reply;
    const struct meaning *m = meanings;

    while (m->status && m->status != a->status)
        m++;
    if (h->body.len)
        (void)s3_xml(&h->body, take_error, h, NULL);
    s3_fail(a, m->sys, "%d %s%s%s%s%s%s", a->status, a->code[0] ? a->code : m->words,
            r->message[0] ? ": " : "", r->message, r->id[0] ? " (request " : "", r->id,
            r->id[0] ? ")" : "");
    add_remedy(h);
}

/* True where a service that has begun a good answer before it knew reports an error in the body. */
static bool is_late_error(const struct s3_handle *h)
{
    const char *at = h->call->text ? strchr(weir_str_text(h->call->text), '<') : NULL;

    while (at && at[1] == '?')
        at = strchr(at + 1, '<');
    return at && strncmp(at, "<Error", strlen("<Error")) == 0;
}

static void judge_late_error(struct s3_handle *h)
{
    struct s3_answer *a = &h->call->answer;

    (void)s3_xml(h->call->text, take_error, h, NULL);
    s3_fail(a, EIO, "the service responded 200, then reported %s%s%s",
            a->code[0] ? a->code : "no object", h->reply.message[0] ? ": " : "", h->reply.message);
}

static void judge_failure(struct s3_handle *h, CURLcode result)
{
    struct s3_answer *a = &h->call->answer;
    const char *words = result == CURLE_ABORTED_BY_CALLBACK ? "the connection was lost, and this "
                                                              "request cannot be repeated"
                        : h->error[0]                    ? h->error
                                                            : curl_easy_strerror(result);
    long sys = 0;

    if (h->reply.excess) {
        if (h->call->into)
            s3_fail(a, EIO, "the service sends more than the %zu requested bytes", h->call->limit);
        else
            s3_fail(a, EIO, "the response has more than %d MiB, so it is not an S3 response",
                    WORDS_MOST);
        return;
    }
    (void)curl_easy_getinfo(h->easy, CURLINFO_OS_ERRNO, &sys);
    s3_fail(a, result == CURLE_OPERATION_TIMEDOUT ? ETIMEDOUT : sys ? (int)sys : EIO, "%s", words);
}

/* Check that the data are those of the range. */
static void judge_range(struct s3_handle *h)
{
    const struct s3_call *c = h->call;
    struct s3_answer *a = &h->call->answer;
    const struct s3_reply *r = &h->reply;
    uint64_t last = c->off + c->limit - 1;

    /* Some services give 200 also to a range. Without one it is all of the object, which is fine from its begin. */
    if (a->status == 200 && !r->has_range && c->off == 0) {
        a->length = a->moved;
    } else if (!r->has_range) {
        s3_fail(a, EIO, "bytes %" PRIu64 "-%" PRIu64 " were requested, but the response (%d) does "
                        "not report its range", c->off, last, a->status);
    } else if (r->from != c->off || r->to > last || (r->to < last && (!r->has_total || r->to + 1 != r->total))) {
        s3_fail(a, EIO, "bytes %" PRIu64 "-%" PRIu64 " were requested, but the response has "
                        "%" PRIu64 "-%" PRIu64, c->off, last, r->from, r->to);
    } else if (a->moved != r->to - r->from + 1) {
        s3_fail(a, EIO, "the response reports bytes %" PRIu64 "-%" PRIu64 ", but has %" PRIu64
                        " bytes", r->from, r->to, a->moved);
    } else {
        a->length = r->total;
    }
}

/* The checksum of an object is that of the data where they are all of it, and it was not sent in parts ("BASE64-N"). */
static void verify_received(struct s3_handle *h)
{
    struct s3_answer *a = &h->call->answer;
    const struct s3_reply *r = &h->reply;
    const bool whole = a->status == 200 || (r->has_range && r->has_total && r->from == 0 && r->to + 1 == r->total);
    char header[S3_CHECKSUM_HEADER];
    const char *ours;

    h->client->with_data += a->moved > 0;
    if (!r->checksum[0] || !whole || strchr(r->checksum, '-') || a->moved == 0)
        return;
    ours = s3_checksum_header(h->client->sv->o->checksum, h->call->into, (size_t)a->moved, header);
    if (ours && strcmp(ours, r->checksum) != 0)
        s3_fail(a, EBADMSG, "the received data have the checksum %s (%s), but the service reports "
                            "%s for the object", ours, h->client->sv->o->checksum, r->checksum);
    h->client->verified += ours != NULL;
}

/* A service that verifies checksums tells the one of what it has taken. Others take the data without a word. */
static void verify_sent(struct s3_handle *h)
{
    struct s3_answer *a = &h->call->answer;

    h->client->with_sum += a->checksum[0] != '\0';
    h->client->confirmed += a->checksum[0] && h->reply.checksum[0];
    if (a->checksum[0] && h->reply.checksum[0] && strcmp(a->checksum, h->reply.checksum) != 0)
        s3_fail(a, EBADMSG, "the sent data have the checksum %s (%s), but the service received "
                            "data with %s", a->checksum, h->client->sv->o->checksum,
                h->reply.checksum);
}

static void judge_data(struct s3_handle *h)
{
    const struct s3_call *c = h->call;
    struct s3_answer *a = &h->call->answer;

    if (c->method == S3_PUT || c->method == S3_POST)
        a->moved = c->send_len;
    if (c->method == S3_PUT)
        verify_sent(h);
    if (c->method == S3_GET && c->ranged)
        judge_range(h);
    else if (c->method == S3_GET || c->method == S3_HEAD)
        a->length = h->reply.has_length ? h->reply.length : a->moved;
    if (c->method == S3_GET && c->into && !a->sys)
        verify_received(h);
    if (c->text && c->text->failed)
        s3_fail(a, ENOMEM, "no memory for the response");
}

static uint64_t info_ns(CURL *easy, CURLINFO what)
{
    curl_off_t us = 0;

    (void)curl_easy_getinfo(easy, what, &us);
    return (uint64_t)us * 1000;
}

static uint64_t after(uint64_t t, uint64_t before)
{
    return t > before ? t - before : 0;
}

/* libcurl's own time of the first byte is that of the first one of either side. */
static void take_times(struct s3_handle *h)
{
    struct s3_times *ns = &h->call->answer.ns;
    uint64_t now = weir_now_ns(), first = h->first_ns ? h->first_ns : now;
    long connects = 0;

    (void)curl_easy_getinfo(h->easy, CURLINFO_NUM_CONNECTS, &connects);
    if (connects) {
        ns->connect = info_ns(h->easy, CURLINFO_CONNECT_TIME_T);
        ns->tls = after(info_ns(h->easy, CURLINFO_APPCONNECT_TIME_T), ns->connect);
    }
    ns->first = after(first - h->begin_ns, ns->connect + ns->tls);
    ns->last = now - first;
    h->call->answer.end_ns = now;
}

void s3_answer_judge(struct s3_handle *h, CURLcode result)
{
    const struct s3_call *c = h->call;

    take_times(h);
    if (c->answer.status == 416 && c->method == S3_GET && c->ranged)
        h->call->answer.length = h->reply.total; /* after the end: nothing is there */
    else if (is_error(h))
        judge_error(h);
    else if (result != CURLE_OK)
        judge_failure(h, result);
    else if (is_late_error(h))
        judge_late_error(h);
    else
        judge_data(h);
}
