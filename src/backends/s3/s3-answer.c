/* SPDX-License-Identifier: BSD-3-Clause */
/* s3-answer.c - what the service has sent: headers, body, and whether it is what was asked for */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "backends/s3/s3-line.h"
#include "base/clock.h"

#define BODY_MOST ((size_t)64 << 10) /* bytes of an error that are looked at */

void s3_answer_begin(struct s3_slot *slot)
{
    const struct s3_answer before = slot->c->answer;

    slot->reply = (struct s3_reply){ .has_length = false };
    slot->c->answer = (struct s3_answer){ .tried = before.tried, .unsure = before.unsure };
    weir_str_clear(&slot->body);
    slot->first_ns = 0;
    slot->error[0] = '\0';
    if (slot->c->text)
        weir_str_clear(slot->c->text);
}

/* Copies what fits: texts of the service are for people. */
static void keep(char *to, size_t room, const char *text, size_t len)
{
    if (len > room - 1)
        len = room - 1;
    memcpy(to, text, len);
    to[len] = '\0';
}

/* "HTTP/1.1 206 Partial Content": a new answer begins, and what one before it has said (100) does not hold. */
static void take_status(struct s3_slot *slot, const char *line, size_t len)
{
    const char *blank = memchr(line, ' ', len);

    if (!slot->first_ns)
        slot->first_ns = weir_now_ns();
    slot->reply = (struct s3_reply){ .has_length = false };
    slot->c->answer.status = blank ? (int)strtol(blank, NULL, 10) : 0;
}

static void take_length(struct s3_slot *slot, const char *value)
{
    slot->reply.has_length = true;
    slot->reply.length = strtoull(value, NULL, 10);
}

/* "bytes 0-99/1000", and "bytes * /1000" of a range that is not there. */
static void take_range(struct s3_slot *slot, const char *value)
{
    struct s3_reply *r = &slot->reply;

    r->has_range = sscanf(value, "bytes %" SCNu64 "-%" SCNu64, &r->from, &r->to) == 2;
    value = strchr(value, '/');
    r->has_total = value && sscanf(value, "/%" SCNu64, &r->total) == 1;
}

/* Only an error asks for it, and to read a date takes time. */
static void take_date(struct s3_slot *slot, const char *value)
{
    time_t t = slot->c->answer.status >= 300 ? curl_getdate(value, NULL) : -1;

    slot->reply.date = t < 0 ? 0 : t;
}

static void take_again(struct s3_slot *slot, const char *value)
{
    slot->reply.again_s = (int)strtol(value, NULL, 10);
}

static void take_etag(struct s3_slot *slot, const char *value)
{
    keep(slot->c->answer.etag, sizeof(slot->c->answer.etag), value, strlen(value));
}

static void take_id(struct s3_slot *slot, const char *value)
{
    keep(slot->reply.id, sizeof(slot->reply.id), value, strlen(value));
}

static void take_region(struct s3_slot *slot, const char *value)
{
    keep(slot->reply.region, sizeof(slot->reply.region), value, strlen(value));
}

static void take_checksum(struct s3_slot *slot, const char *value)
{
    keep(slot->reply.checksum, sizeof(slot->reply.checksum), value, strlen(value));
}

static void take_crc32c(struct s3_slot *slot, const char *value)
{
    if (strcmp(slot->l->sv->o->checksum, "crc32c") == 0)
        take_checksum(slot, value);
}

static void take_sha256(struct s3_slot *slot, const char *value)
{
    if (strcmp(slot->l->sv->o->checksum, "sha256") == 0)
        take_checksum(slot, value);
}

static void take_location(struct s3_slot *slot, const char *value)
{
    if (strlen(value) < sizeof(slot->reply.location)) /* a part of one leads elsewhere */
        keep(slot->reply.location, sizeof(slot->reply.location), value, strlen(value));
}

static const struct taker {
    const char *name;
    void (*take)(struct s3_slot *slot, const char *value);
} takers[] = {
    { "content-length", take_length },   { "content-range", take_range },
    { "etag", take_etag },               { "date", take_date },
    { "x-amz-request-id", take_id },     { "x-amz-bucket-region", take_region },
    { "location", take_location },       { "retry-after", take_again },
    { "x-amz-checksum-crc32c", take_crc32c }, { "x-amz-checksum-sha256", take_sha256 },
};

size_t s3_answer_header(char *data, size_t size, size_t n, void *user)
{
    struct s3_slot *slot = user;
    size_t len = size * n;
    const char *colon = memchr(data, ':', len);
    char value[sizeof(slot->reply.location)];
    size_t name;

    if (len > 5 && !memcmp(data, "HTTP/", 5)) {
        take_status(slot, data, len);
        return size * n;
    }
    if (!colon)
        return size * n;
    name = (size_t)(colon - data);
    while (len && strchr("\r\n \t", data[len - 1]))
        len--;
    for (colon++; colon < data + len && (*colon == ' ' || *colon == '\t'); colon++) {
        /* blanks before the value */
    }
    for (size_t i = 0; i < sizeof(takers) / sizeof(*takers); i++)
        if (strlen(takers[i].name) == name && !strncasecmp(takers[i].name, data, name)) {
            keep(value, sizeof(value), colon, (size_t)(data + len - colon));
            takers[i].take(slot, value);
        }
    return size * n;
}

static bool is_error(const struct s3_slot *slot)
{
    return slot->c->answer.status >= 300;
}

size_t s3_answer_body(char *data, size_t size, size_t n, void *user)
{
    struct s3_slot *slot = user;
    struct s3_call *c = slot->c;
    size_t len = size * n;

    if (is_error(slot)) {
        if (slot->body.len + len <= BODY_MOST)
            weir_str_add(&slot->body, data, len);
    } else if (c->text) {
        weir_str_add(c->text, data, len);
    } else if (c->into) {
        if (len > c->room - c->answer.moved) {
            slot->reply.excess = true;
            return 0; /* libcurl ends the request with an error */
        }
        memcpy((char *)c->into + c->answer.moved, data, len);
        c->answer.moved += len;
    }
    return len;
}

static int take_error(void *mine, const char *path, const char *words)
{
    struct s3_slot *slot = mine;

    if (!strcmp(path, "Error/Code"))
        keep(slot->c->answer.code, sizeof(slot->c->answer.code), words, strlen(words));
    else if (!strcmp(path, "Error/Message"))
        keep(slot->reply.message, sizeof(slot->reply.message), words, strlen(words));
    else if (!strcmp(path, "Error/Endpoint"))
        keep(slot->reply.endpoint, sizeof(slot->reply.endpoint), words, strlen(words));
    else if (!strcmp(path, "Error/Region"))
        take_region(slot, words);
    else if (!strcmp(path, "Error/RequestId"))
        take_id(slot, words);
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

static const struct meaning *meaning_of(int status)
{
    const struct meaning *m = meanings;

    while (m->status && m->status != status)
        m++;
    return m;
}

static void say(struct s3_answer *a, int sys, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static void say(struct s3_answer *a, int sys, const char *fmt, ...)
{
    va_list ap;

    a->sys = sys;
    va_start(ap, fmt);
    if (vsnprintf(a->why, sizeof(a->why), fmt, ap) < 0)
        a->why[0] = '\0';
    va_end(ap);
}

void s3_answer_fail(struct s3_slot *slot, const char *why)
{
    say(&slot->c->answer, EIO, "%s", why);
}

static void add_words(struct s3_answer *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void add_words(struct s3_answer *a, const char *fmt, ...)
{
    size_t len = strlen(a->why);
    va_list ap;

    va_start(ap, fmt);
    if (vsnprintf(a->why + len, sizeof(a->why) - len, fmt, ap) < 0)
        a->why[len] = '\0';
    va_end(ap);
}

/* Scheme, host and port of a URL; what else is in it may be a secret of somebody. */
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
    add_words(a, "; the service names another endpoint, which --s3.endpoints can give: %.*s%.*s", (int)begin, url, (int)len, host);
}

/* The remedy, where the answer tells it. */
static void add_remedy(const struct s3_slot *slot)
{
    struct s3_answer *a = &slot->c->answer;
    const struct s3_reply *r = &slot->reply;
    int64_t ahead_s = r->date ? (int64_t)time(NULL) - r->date : 0;

    if (strcmp(a->code, "RequestTimeTooSkewed") == 0 && ahead_s != 0)
        add_words(a, "; the clock of this node is %" PRId64 " s %s that of the service", ahead_s < 0 ? -ahead_s : ahead_s,
                  ahead_s < 0 ? "behind" : "ahead of");
    if (r->region[0] && strcmp(r->region, s3_route_region(&slot->l->route, slot->l->sv)) != 0 && a->status <= 400)
        add_words(a, "; the bucket is in region '%s': give --s3.region=%s", r->region, r->region);
    if (a->status < 400 && (r->location[0] || r->endpoint[0]))
        add_endpoint(a, r->endpoint[0] ? r->endpoint : r->location);
}

/* The service says no. */
static void judge_error(struct s3_slot *slot)
{
    struct s3_answer *a = &slot->c->answer;
    struct s3_reply *r = &slot->reply;
    const struct meaning *m = meaning_of(a->status);

    if (slot->body.len)
        (void)s3_xml(slot->body.text, slot->body.len, take_error, slot, NULL);
    say(a, m->sys, "%d %s%s%s%s%s%s", a->status, a->code[0] ? a->code : m->words, r->message[0] ? ": " : "",
        r->message, r->id[0] ? " (request " : "", r->id, r->id[0] ? ")" : "");
    add_remedy(slot);
}

static void judge_failure(struct s3_slot *slot, CURLcode result)
{
    struct s3_answer *a = &slot->c->answer;
    const char *words = result == CURLE_ABORTED_BY_CALLBACK ? "the connection was lost, and it is not to be sent again"
                        : slot->error[0]                    ? slot->error
                                                            : curl_easy_strerror(result);
    long sys = 0;

    if (slot->reply.excess) {
        say(a, EIO, "the service sends more than the %zu bytes that were asked for", slot->c->room);
        return;
    }
    (void)curl_easy_getinfo(slot->easy, CURLINFO_OS_ERRNO, &sys);
    say(a, result == CURLE_OPERATION_TIMEDOUT ? ETIMEDOUT : sys ? (int)sys : EIO, "%s", words);
}

/* Are the data those of the range? */
static void judge_range(struct s3_slot *slot)
{
    const struct s3_call *c = slot->c;
    struct s3_answer *a = &slot->c->answer;
    const struct s3_reply *r = &slot->reply;
    uint64_t last = c->off + c->room - 1;

    /* Some services give 200 also to a range. Without one it is all of the object, which is fine from its begin. */
    if (a->status == 200 && !r->has_range && c->off == 0) {
        a->length = a->moved;
    } else if (!r->has_range) {
        say(a, EIO, "asked for bytes %" PRIu64 "-%" PRIu64 ", and the answer (%d) does not say which it has", c->off,
            last, a->status);
    } else if (r->from != c->off || r->to > last || (r->to < last && (!r->has_total || r->to + 1 != r->total))) {
        say(a, EIO, "asked for bytes %" PRIu64 "-%" PRIu64 ", and the answer has %" PRIu64 "-%" PRIu64, c->off, last,
            r->from, r->to);
    } else if (a->moved != r->to - r->from + 1) {
        say(a, EIO, "the answer says that it has bytes %" PRIu64 "-%" PRIu64 ", and has %" PRIu64 " bytes", r->from,
            r->to, a->moved);
    } else {
        a->length = r->total;
    }
}

/* The checksum of an object is that of the data where they are all of it, and it was not sent in parts ("BASE64-N"). */
static void verify_received(struct s3_slot *slot)
{
    struct s3_answer *a = &slot->c->answer;
    const struct s3_reply *r = &slot->reply;
    const bool whole = a->status == 200 || (r->has_range && r->has_total && r->from == 0 && r->to + 1 == r->total);
    char header[S3_CHECKSUM_HEADER];
    const char *ours;

    slot->l->with_data += a->moved > 0;
    if (!r->checksum[0] || !whole || strchr(r->checksum, '-') || a->moved == 0)
        return;
    ours = s3_checksum_header(slot->l->sv->o->checksum, slot->c->into, (size_t)a->moved, header);
    if (ours && strcmp(ours, r->checksum) != 0)
        say(a, EBADMSG, "the data that came have the checksum %s (%s), and the service says that the object has %s", ours,
            slot->l->sv->o->checksum, r->checksum);
    slot->l->verified += ours != NULL;
}

/* A service that verifies checksums tells the one of what it has taken. Others take the data without a word. */
static void verify_sent(struct s3_slot *slot)
{
    struct s3_answer *a = &slot->c->answer;

    slot->l->with_sum += a->checksum[0] != '\0';
    slot->l->confirmed += a->checksum[0] && slot->reply.checksum[0];
    if (a->checksum[0] && slot->reply.checksum[0] && strcmp(a->checksum, slot->reply.checksum) != 0)
        say(a, EBADMSG, "the data that were sent have the checksum %s (%s), and the service has taken data with %s",
            a->checksum, slot->l->sv->o->checksum, slot->reply.checksum);
}

static void judge_data(struct s3_slot *slot)
{
    const struct s3_call *c = slot->c;
    struct s3_answer *a = &slot->c->answer;

    if (c->method == S3_PUT || c->method == S3_POST)
        a->moved = c->send_len;
    if (c->method == S3_PUT)
        verify_sent(slot);
    if (c->method == S3_GET && c->ranged)
        judge_range(slot);
    else if (c->method == S3_GET || c->method == S3_HEAD)
        a->length = slot->reply.has_length ? slot->reply.length : a->moved;
    if (c->method == S3_GET && c->into && !a->sys)
        verify_received(slot);
    if (c->text && c->text->failed)
        say(a, ENOMEM, "no memory for the answer");
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
static void take_times(struct s3_slot *slot)
{
    struct s3_times *ns = &slot->c->answer.ns;
    uint64_t now = weir_now_ns(), first = slot->first_ns ? slot->first_ns : now;
    uint64_t connected = info_ns(slot->easy, CURLINFO_CONNECT_TIME_T);
    uint64_t secured = info_ns(slot->easy, CURLINFO_APPCONNECT_TIME_T);
    long connects = 0;

    (void)curl_easy_getinfo(slot->easy, CURLINFO_NUM_CONNECTS, &connects);
    if (connects) {
        ns->connect = connected;
        ns->tls = after(secured, connected);
    }
    ns->first = after(first - slot->begin_ns, ns->connect + ns->tls);
    ns->last = now - first;
}

void s3_answer_judge(struct s3_slot *slot, CURLcode result)
{
    const struct s3_call *c = slot->c;

    take_times(slot);
    if (c->answer.status == 416 && c->method == S3_GET && c->ranged)
        slot->c->answer.length = slot->reply.total; /* after the end: nothing is there */
    else if (is_error(slot))
        judge_error(slot);
    else if (result != CURLE_OK)
        judge_failure(slot, result);
    else
        judge_data(slot);
}
