/* SPDX-License-Identifier: BSD-3-Clause */
/* s3-request.c - a request as libcurl sends it, and those in flight */
#include "backends/s3/s3-request.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"

#define HASH_HEADER "x-amz-content-sha256: "
#define WHEN_HEADER "x-amz-date: "
#define EMPTY_SHA256 "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

static const char *const verbs[] = {
    [S3_GET] = "GET", [S3_HEAD] = "HEAD", [S3_PUT] = "PUT", [S3_POST] = "POST", [S3_DELETE] = "DELETE",
};

const char *const s3_only_new[] = { "If-None-Match: *", NULL };

_Static_assert(S3_OWN_HEADERS + S3_HEADERS <= S3_SIGNED_MOST, "all headers can be signed");

/* ---- headers ---- */

/* libcurl only reads the text, and only until the request has ended. */
static void add_header(struct s3_handle *h, const char *text)
{
    struct curl_slist *header = &h->headers[h->n_headers++];

    header->data = (char *)(uintptr_t)text;
    header->next = NULL;
    if (h->n_headers > 1)
        header[-1].next = header;
}

static bool has_body(const struct s3_call *call)
{
    return call->method == S3_PUT || call->method == S3_POST;
}

/* We give the name of the host, as it is signed: libcurl leaves out some ports. */
static int add_host(struct s3_handle *h, struct weir_err *err)
{
    const char *from = strstr(h->url.text, "://") + 3;
    int n = snprintf(h->host, sizeof(h->host), "Host: %.*s", (int)strcspn(from, "/?"), from);

    if (n < 0 || (size_t)n >= sizeof(h->host))
        return weir_refuse(err, WEIR_EUSAGE, "the host name of '%s' is too long",
                           h->url.text);
    add_header(h, h->host);
    return 0;
}

/* The data of an object or a part, not words to the service, are those of a PUT. The service
 * reports the checksum of data that are read only where it is asked. */
static void add_checksum(struct s3_handle *h)
{
    const char *kind = h->client->sv->o->checksum, *value;
    struct s3_call *call = h->call;

    if (call->method == S3_GET && call->into && strcmp(kind, "none") != 0)
        add_header(h, "x-amz-checksum-mode: ENABLED");
    if (call->method != S3_PUT)
        return;
    value = s3_checksum_header(kind, call->send_len ? call->send : "", call->send_len, h->checksum);
    if (!value)
        return;
    (void)snprintf(call->answer.checksum, sizeof(call->answer.checksum), "%s", value);
    add_header(h, h->checksum);
}

static int hash_data(struct s3_handle *h, struct weir_err *err)
{
    const struct s3_call *call = h->call;
    char hash[S3_HEX] = "UNSIGNED-PAYLOAD";

    if (!has_body(call) || call->send_len == 0)
        memcpy(hash, EMPTY_SHA256, sizeof(hash));
    else if (strcmp(h->client->sv->o->payload, "signed") == 0 &&
             s3_sha256_hex(call->send, call->send_len, hash) < 0)
        return weir_refuse(err, WEIR_ESETUP, "cannot hash the data of a request");
    (void)snprintf(h->hash, sizeof(h->hash), HASH_HEADER "%s", hash);
    add_header(h, h->hash);
    return 0;
}

static void add_time(struct s3_handle *h)
{
    time_t now = time(NULL);
    struct tm tm;

    (void)gmtime_r(&now, &tm);
    (void)strftime(h->when, sizeof(h->when), WHEN_HEADER "%Y%m%dT%H%M%SZ", &tm);
    add_header(h, h->when);
}

/* Sign all headers so far. The URL has no query yet. */
static int add_signature(struct s3_handle *h, struct weir_err *err)
{
    const struct s3_service *sv = h->client->sv;
    struct s3_signing what = {
        .id = sv->keys.id,
        .secret = sv->keys.secret,
        .region = s3_route_region(&h->client->route, sv),
        .verb = verbs[h->call->method],
        .path = strchr(strstr(h->url.text, "://") + 3, '/'),
        .query = h->call->query,
        .payload = h->hash + strlen(HASH_HEADER),
        .when = h->when + strlen(WHEN_HEADER),
    };

    add_time(h);
    if (hash_data(h, err) < 0)
        return -1;
    if (h->client->token)
        add_header(h, h->client->token);
    for (int i = 0; i < h->n_headers; i++)
        what.headers[what.n++] = h->headers[i].data;
    if (s3_sign(&h->client->signer, &what, h->sign, sizeof(h->sign)) < 0)
        return weir_refuse(err, WEIR_ESETUP, "cannot sign a request");
    add_header(h, h->sign);
    return 0;
}

/* Words to the service are XML. Without a type of ours libcurl would say that it is a form. A POST
 * without words begins an upload, and its type is that of the object. */
static int add_headers(struct s3_handle *h, struct weir_err *err)
{
    const struct s3_call *call = h->call;

    h->n_headers = 0;
    if (add_host(h, err) < 0)
        return -1;
    if (has_body(call))
        add_header(h, call->method == S3_POST && call->send_len > 0
                          ? "Content-Type: application/xml"
                          : "Content-Type: application/octet-stream");
    if (call->ranged) {
        (void)snprintf(h->range, sizeof(h->range), "Range: bytes=%" PRIu64 "-%" PRIu64, call->off,
                       call->off + call->limit - 1);
        add_header(h, h->range);
    }
    add_checksum(h);
    for (int i = 0; call->headers && call->headers[i] && i < S3_HEADERS; i++)
        add_header(h, call->headers[i]);
    if (h->client->sv->keys.id && add_signature(h, err) < 0)
        return -1;
    add_header(h, "Expect:"); /* the body is sent at once; not signed, as it is not sent */
    return 0;
}

/* ---- one request ---- */

#define SET(option, value) (rc = rc == CURLE_OK ? curl_easy_setopt(h->easy, option, value) : rc)

/* Bodies are those of a form: libcurl sends a short one together with the header, and needs no
 * function to rewind it. */
static CURLcode set_request(struct s3_handle *h)
{
    const struct s3_call *call = h->call;
    CURLcode rc = CURLE_OK;

    if (has_body(call)) {
        SET(CURLOPT_POST, 1L);
        SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)call->send_len);
        SET(CURLOPT_POSTFIELDS, call->send_len ? call->send : "");
    } else {
        SET(CURLOPT_HTTPGET, 1L);
        if (call->method == S3_HEAD)
            SET(CURLOPT_NOBODY, 1L);
    }
    SET(CURLOPT_CUSTOMREQUEST,
        call->method == S3_PUT || call->method == S3_DELETE ? verbs[call->method] : NULL);
    SET(CURLOPT_URL, h->url.text);
    SET(CURLOPT_HTTPHEADER, h->headers);
    return rc;
}
#undef SET

/* Prepare the handle for its call, from the first byte on, and give it to libcurl. It is signed
 * each time: the time is part of that. */
static int send_call(struct s3_handle *h, struct weir_err *err)
{
    struct s3_client *c = h->client;
    CURLcode rc;
    CURLMcode added;

    s3_answer_begin(h);
    h->sent = 0;
    h->allowed = c->sv->o->retries + 2 - h->call->answer.tried;
    h->moved = c->route.moved;
    weir_str_clear(&h->url);
    s3_route_url(&c->route, c->sv, &h->call->object, &h->url);
    if (s3_has_memory(!h->url.failed, err) < 0 || add_headers(h, err) < 0)
        return -1;
    if (h->call->query)
        weir_str_addf(&h->url, "?%s", h->call->query);
    if (s3_has_memory(!h->url.failed, err) < 0)
        return -1;
    rc = set_request(h);
    if (rc != CURLE_OK)
        return weir_refuse(err, WEIR_ESETUP, "%s", curl_easy_strerror(rc));
    h->begin_ns = weir_now_ns();
    added = curl_multi_add_handle(c->multi, h->easy);
    return added == CURLM_OK ? 0 : weir_refuse(err, WEIR_ESETUP, "%s", curl_multi_strerror(added));
}

/* The call is done: it has an answer, or the reason why it has none. */
static void finish(struct s3_handle *h)
{
    struct s3_client *c = h->client;
    struct s3_call *call = h->call;

    h->call = NULL;
    h->next = c->idle;
    c->idle = h;
    c->in_flight--;
    c->n_done++;
    call->handle = NULL;
    call->next = c->done;
    c->done = call;
}

/* A request and its times; one without an answer has none. */
static void count(const struct s3_handle *h)
{
    struct weir_service_stats *stats = h->client->s->service;
    const struct s3_answer *a = &h->call->answer;
    const uint64_t ns[] = { [WEIR_PART_CONNECT] = a->ns.connect, [WEIR_PART_TLS] = a->ns.tls,
                            [WEIR_PART_FIRST] = a->ns.first, [WEIR_PART_LAST] = a->ns.last };
    long connections = 0, version = 0;

    (void)curl_easy_getinfo(h->easy, CURLINFO_NUM_CONNECTS, &connections);
    (void)curl_easy_getinfo(h->easy, CURLINFO_HTTP_VERSION, &version);
    h->client->answered |= a->status > 0;
    h->client->http2 |= version == CURL_HTTP_VERSION_2;
    h->client->connections += (uint64_t)connections;
    if (!stats)
        return;
    stats->count[WEIR_SENT] += h->sent > 0 ? (uint64_t)h->sent : 1;
    stats->count[WEIR_SENT_LOST] += h->sent > 1 ? (uint64_t)h->sent - 1 : 0;
    stats->count[WEIR_SENT_CONNECTIONS] += (uint64_t)connections;
    for (size_t i = 0; i < sizeof(ns) / sizeof(*ns) && a->status > 0; i++)
        if (ns[i] > 0 || i >= WEIR_PART_FIRST)
            weir_hist_add(&stats->part[i], ns[i]);
}

static void end_request(struct s3_handle *h, CURLcode result)
{
    const int repeated = h->sent > 1 ? h->sent - 1 : 0; /* by libcurl */

    s3_answer_judge(h, result);
    h->call->answer.tried += repeated;
    h->call->answer.unsure += repeated;
    count(h);
    if (!s3_retry_later(h, result))
        finish(h);
}

/* ---- those in flight ---- */

/* libcurl cannot go on (memory): all calls in flight have failed. */
static void end_all(struct s3_client *c, CURLMcode rc)
{
    if (rc == CURLM_OK)
        return;
    c->later = NULL;
    for (int i = 0; i <= c->depth; i++) {
        struct s3_handle *h = &c->handles[i];

        if (!h->call)
            continue;
        (void)curl_multi_remove_handle(c->multi, h->easy);
        s3_fail(&h->call->answer, EIO, "%s", curl_multi_strerror(rc));
        finish(h);
    }
}

/* Send what is due. Returns the ms until the next one is. */
static int send_due(struct s3_client *c)
{
    struct weir_err why = WEIR_ERR_INIT;
    struct s3_handle *h;
    int wait_ms;

    while ((h = s3_retry_due(c, &wait_ms)))
        if (send_call(h, &why) < 0) {
            s3_fail(&h->call->answer, EIO, "%s", why.text);
            finish(h);
        }
    return wait_ms;
}

/* Move what can be moved, without waiting. */
static void move_all(struct s3_client *c)
{
    int running, more;
    CURLMsg *m;

    (void)send_due(c);
    end_all(c, curl_multi_perform(c->multi, &running));
    while ((m = curl_multi_info_read(c->multi, &more))) {
        CURLcode result = m->data.result;
        struct s3_handle *h;

        if (m->msg != CURLMSG_DONE ||
            curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &h) != CURLE_OK)
            continue;
        (void)curl_multi_remove_handle(c->multi, h->easy);
        end_request(h, result);
    }
}

/* Wait until one can be moved. */
static void move_next(struct s3_client *c)
{
    end_all(c, curl_multi_poll(c->multi, NULL, 0, send_due(c), NULL));
    move_all(c);
}

static int start(struct s3_client *c, struct s3_call *call, struct weir_err *err)
{
    struct s3_handle *h = c->idle;

    if (!h)
        return weir_refuse(err, WEIR_EBUG, "a request more than the %d allowed", c->depth + 1);
    h->call = call;
    call->answer.tried = 1;
    call->answer.unsure = 0;
    if (send_call(h, err) < 0) {
        h->call = NULL;
        return weir_err_within(err, "S3");
    }
    c->idle = h->next;
    call->handle = h;
    c->in_flight++;
    return 0;
}

int s3_start(struct s3_client *c, struct s3_call *call, struct weir_err *err)
{
    int running;

    if (start(c, call, err) < 0)
        return -1;
    /* Only the new one: a perform would ask the system for each request. An error shows at the next
     * one, too. */
    (void)curl_multi_socket_action(c->multi, CURL_SOCKET_TIMEOUT, 0, &running);
    return 0;
}

static struct s3_call *take_done(struct s3_client *c, struct s3_call **at)
{
    struct s3_call *call = *at;

    *at = call->next;
    c->n_done--;
    return call;
}

int s3_wait(struct s3_client *c, int least, int most, struct s3_call **done)
{
    int n = 0;

    move_all(c);
    while (c->n_done < least && c->in_flight)
        move_next(c);
    while (n < most && c->done)
        done[n++] = take_done(c, &c->done);
    return n;
}

/* The answer to HEAD has no body, so a GET of one byte asks for the error message of the service. */
static void find_words(struct s3_client *c, struct s3_call *call)
{
    const struct s3_answer *a = &call->answer;
    struct weir_str text = { 0 };
    struct s3_call get = { .method = S3_GET, .object = call->object, .query = call->query,
                           .headers = call->headers, .text = &text, .ranged = true, .limit = 1 };

    if (call->method != S3_HEAD || a->code[0] || a->status < 300 || a->status > 403)
        return;
    if (s3_call(c, &get, NULL) < 0 && get.answer.status == a->status) {
        get.answer.tried = a->tried;
        call->answer = get.answer;
    }
    weir_str_free(&text);
}

int s3_call(struct s3_client *c, struct s3_call *call, struct weir_err *err)
{
    struct s3_call **at = &c->done;

    if (start(c, call, err) < 0)
        return -1;
    move_all(c);
    while (call->handle)
        move_next(c);
    while (*at != call)
        at = &(*at)->next;
    (void)take_done(c, at);
    if (call->answer.sys)
        find_words(c, call);
    return call->answer.sys ? s3_call_reason(c, call, err) : 0;
}

/* ---- words ---- */

int s3_call_reason(const struct s3_client *c, const struct s3_call *call, struct weir_err *err)
{
    const struct s3_answer *a = &call->answer;
    const struct s3_object *o = &call->object;
    const bool is_unsigned = a->status >= 400 && a->status <= 403 && !c->sv->keys.id;
    struct weir_str text = { 0 };

    weir_str_addf(&text, S3_SCHEME "%s%s%s%s%s at %s: %s", o->bucket,
                  *o->key || c->sv->host_style ? "/" : "", o->key, call->query ? "?" : "",
                  call->query ? call->query : "", s3_route_endpoint(&c->route, c->sv), a->why);
    if (a->tried > 1)
        weir_str_addf(&text, " (tried %d times)", a->tried);
    if (is_unsigned)
        weir_str_addf(&text, " (not signed: this task has found no keys; has the launcher passed "
                             "on AWS_...?)");
    weir_refuse(err, WEIR_EIO, "%s %s", verbs[call->method], weir_str_words(&text));
    weir_str_free(&text);
    if (err)
        err->sys = a->sys;
    return -1;
}
