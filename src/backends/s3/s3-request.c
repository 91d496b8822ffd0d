/* SPDX-License-Identifier: BSD-3-Clause */
/* s3-request.c - what libcurl is told for a request */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "backends/s3/s3-line.h"

#define HASH_HEADER "x-amz-content-sha256: "
#define WHEN_HEADER "x-amz-date: "
#define EMPTY_SHA256 "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

static const char *const verbs[] = {
    [S3_GET] = "GET", [S3_HEAD] = "HEAD", [S3_PUT] = "PUT", [S3_POST] = "POST", [S3_DELETE] = "DELETE",
};

const char *const s3_only_new[] = { "If-None-Match: *", NULL };

/* libcurl only reads the text, and only until the request has ended. */
static void add_header(struct s3_slot *slot, const char *text)
{
    struct curl_slist *h = &slot->headers[slot->n_headers++];

    h->data = (char *)(uintptr_t)text;
    h->next = NULL;
    if (slot->n_headers > 1)
        h[-1].next = h;
}

static bool has_body(const struct s3_call *c)
{
    return c->method == S3_PUT || c->method == S3_POST;
}

/* Words to the service are XML. Without ours libcurl would say that it is a form. A POST without words begins an upload, and
 * its type is that of the object. */
static const char *content_type(const struct s3_call *c)
{
    return c->method == S3_POST && c->send_len > 0 ? "Content-Type: application/xml" : "Content-Type: application/octet-stream";
}

/* We give the name of the host, as it is signed: libcurl leaves out some ports. */
static int set_host(struct s3_slot *slot, struct weir_err *err)
{
    const char *from = strstr(slot->url.text, "://");
    size_t len = from ? strcspn(from + 3, "/?") : 0;
    int n;

    if (!len)
        return weir_refuse(err, WEIR_EBUG, "'%s' is no URL", slot->url.text);
    n = snprintf(slot->host, sizeof(slot->host), "Host: %.*s", (int)len, from + 3);
    if (n < 0 || (size_t)n >= sizeof(slot->host))
        return weir_refuse(err, WEIR_EUSAGE, "the name of the host of '%s' is too long", slot->url.text);
    add_header(slot, slot->host);
    return 0;
}

static void add_range(struct s3_slot *slot)
{
    const struct s3_call *c = slot->c;

    if (!c->ranged || c->method != S3_GET)
        return;
    (void)snprintf(slot->range, sizeof(slot->range), "Range: bytes=%" PRIu64 "-%" PRIu64, c->off,
                   c->off + c->room - 1);
    add_header(slot, slot->range);
}

/* The data of an object or a part, not words to the service, are those of a PUT. Of data that are read the service tells
 * its checksum only where it is asked. */
static void add_checksum(struct s3_slot *slot)
{
    const char *kind = slot->l->sv->o->checksum, *value;
    struct s3_call *c = slot->c;

    if (c->method == S3_GET && c->into && strcmp(kind, "none") != 0)
        add_header(slot, "x-amz-checksum-mode: ENABLED");
    if (c->method != S3_PUT)
        return;
    value = s3_checksum_header(kind, c->send_len ? c->send : "", c->send_len, slot->checksum);
    if (!value)
        return;
    (void)snprintf(c->answer.checksum, sizeof(c->answer.checksum), "%s", value);
    add_header(slot, slot->checksum);
}

static int add_theirs(struct s3_slot *slot, struct weir_err *err)
{
    const char *const *theirs = slot->c->headers;

    for (int i = 0; theirs && theirs[i]; i++) {
        if (i == S3_HEADERS)
            return weir_refuse(err, WEIR_EBUG, "a request has more than %d headers of its own", S3_HEADERS);
        add_header(slot, theirs[i]);
    }
    return 0;
}

static void set_when(struct s3_slot *slot)
{
    time_t now = time(NULL);
    struct tm tm;

    (void)gmtime_r(&now, &tm);
    (void)strftime(slot->when, sizeof(slot->when), WHEN_HEADER "%Y%m%dT%H%M%SZ", &tm);
    add_header(slot, slot->when);
}

/* Sign all headers so far. */
static int add_signature(struct s3_slot *slot, struct weir_err *err)
{
    const struct s3_service *sv = slot->l->sv;
    const char *path = strchr(strstr(slot->c->url, "://") + 3, '/');
    char hash[S3_HEX];
    struct s3_signing what = {
        .id = sv->id, .secret = sv->secret, .region = s3_route_region(&slot->l->route, sv), .verb = verbs[slot->c->method],
        .path = path ? path : "/", .query = slot->c->query,
    };

    if (!has_body(slot->c) || slot->c->send_len == 0)
        what.payload = EMPTY_SHA256;
    else if (strcmp(sv->o->payload, "signed") != 0)
        what.payload = "UNSIGNED-PAYLOAD";
    else if (s3_sha256_hex(&slot->l->signer, slot->c->send, slot->c->send_len, hash) == 0)
        what.payload = hash;
    else
        return weir_refuse(err, WEIR_ESETUP, "cannot hash the data of a request");
    set_when(slot);
    what.when = slot->when + strlen(WHEN_HEADER);
    (void)snprintf(slot->hash, sizeof(slot->hash), HASH_HEADER "%s", what.payload);
    add_header(slot, slot->hash);
    if (slot->l->token)
        add_header(slot, slot->l->token);
    for (int i = 0; i < slot->n_headers; i++)
        what.headers[what.n++] = slot->headers[i].data;
    if (s3_sign(&slot->l->signer, &what, slot->sign, sizeof(slot->sign)) < 0)
        return weir_refuse(err, WEIR_ESETUP, "cannot sign a request");
    add_header(slot, slot->sign);
    return 0;
}

static int add_headers(struct s3_slot *slot, struct weir_err *err)
{
    slot->n_headers = 0;
    if (set_host(slot, err) < 0)
        return -1;
    if (has_body(slot->c))
        add_header(slot, content_type(slot->c));
    add_range(slot);
    add_checksum(slot);
    if (add_theirs(slot, err) < 0 || (slot->l->sv->id && add_signature(slot, err) < 0))
        return -1;
    add_header(slot, "Expect:"); /* the body is sent at once; not signed, as it is not sent */
    return 0;
}

static int set_url(struct s3_slot *slot, struct weir_err *err)
{
    const struct s3_call *c = slot->c;

    weir_str_clear(&slot->url);
    s3_route_url(&slot->l->route, slot->l->sv, c->url, &slot->url);
    weir_str_addf(&slot->url, "%s%s", c->query ? "?" : "", c->query ? c->query : "");
    slot->moved = slot->l->route.moved;
    if (slot->url.failed)
        return weir_refuse(err, WEIR_ESETUP, "no memory for a request");
    return 0;
}

static CURLcode set_method(struct s3_slot *slot)
{
    const struct s3_call *c = slot->c;
    CURL *easy = slot->easy;
    CURLcode rc;

    /* Bodies are those of a form: libcurl sends a short one together with the header, and needs nobody to rewind it. */
    if (has_body(c)) {
        rc = curl_easy_setopt(easy, CURLOPT_POST, 1L);
        if (rc == CURLE_OK)
            rc = curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)c->send_len);
        if (rc == CURLE_OK)
            rc = curl_easy_setopt(easy, CURLOPT_POSTFIELDS, c->send_len ? c->send : "");
    } else {
        rc = curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
        if (rc == CURLE_OK && c->method == S3_HEAD)
            rc = curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
    }
    if (rc == CURLE_OK)
        rc = curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST,
                              c->method == S3_PUT || c->method == S3_DELETE ? verbs[c->method] : NULL);
    return rc;
}

int s3_request_prepare(struct s3_slot *slot, struct weir_err *err)
{
    const struct s3_call *c = slot->c;
    CURLcode rc;

    if (c->ranged && !c->room)
        return weir_refuse(err, WEIR_EBUG, "a range of no bytes");
    s3_answer_begin(slot);
    slot->sent = 0;
    if (set_url(slot, err) < 0 || add_headers(slot, err) < 0)
        return -1;
    rc = set_method(slot);
    if (rc == CURLE_OK)
        rc = curl_easy_setopt(slot->easy, CURLOPT_URL, slot->url.text);
    if (rc == CURLE_OK)
        rc = curl_easy_setopt(slot->easy, CURLOPT_HTTPHEADER, slot->headers);
    if (rc != CURLE_OK)
        return weir_refuse(err, WEIR_ESETUP, "prepare a request: %s", curl_easy_strerror(rc));
    return 0;
}

/* Append the place of a URL of ours as people write it. */
static void add_place(const struct s3_service *sv, const char *url, struct weir_str *out)
{
    const char *host = strstr(url, "://");
    const char *rest = host ? strchr(host + 3, '/') : NULL;
    const char *dot = host && sv->host_style ? strchr(host, '.') : NULL;
    char *plain;

    weir_str_addf(out, S3_SCHEME);
    if (dot)
        weir_str_add(out, host + 3, (size_t)(dot - host - 3));
    if (!rest)
        return;
    plain = curl_easy_unescape(NULL, dot ? rest : rest + 1, 0, NULL);
    weir_str_addf(out, "%s", plain ? plain : rest);
    curl_free(plain);
}

int s3_call_reason(const struct s3_line *l, const struct s3_call *c, struct weir_err *err)
{
    const struct s3_answer *a = &c->answer;
    char tries[32] = "";
    const bool unsigned_too = a->status >= 400 && a->status <= 403 && !l->sv->id;
    struct weir_str place = { 0 };

    add_place(l->sv, c->url, &place);
    if (a->tried > 1)
        (void)snprintf(tries, sizeof(tries), " (tried %d times)", a->tried);
    weir_refuse(err, WEIR_EIO, "%s %s%s%s at %s: %s%s%s", verbs[c->method], weir_str_words(&place),
                c->query ? "?" : "", c->query ? c->query : "", s3_route_endpoint(&l->route, l->sv), a->why, tries,
                unsigned_too ? " (not signed: this task has found no keys; has the launcher passed on AWS_...?)" : "");
    weir_str_free(&place);
    if (err)
        err->sys = a->sys;
    return -1;
}
