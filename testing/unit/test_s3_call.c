/* SPDX-License-Identifier: BSD-3-Clause */
/* test_s3_call.c - requests to a service of S3 whose answers are in a script: right ones, wrong ones, none */
#include "backends/s3/s3-request.h"

#include <dlfcn.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "httpscript.h"

#define OK "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
#define N(acts) ((int)(sizeof(acts) / sizeof(*(acts))))

/* One test: options, a service, and a client of a server with a script. */
struct bench {
    struct s3_options o;
    struct s3_service sv;
    struct weir_session_stats stats;
    struct weir_session s;
    struct weir_log log;
    struct weir_par par;
    struct weir_service_stats service;
    struct http_server server;
    struct s3_client *client;
    struct weir_err err;
    char into[64];
};

static struct bench *begin(const struct http_act *acts, int n)
{
    static char region[] = "here";
    struct bench *b = calloc(1, sizeof(*b));

    assert_non_null(b);
    http_start(&b->server, acts, n);
    b->o = (struct s3_options){ .checksum = "none", .payload = "unsigned", .http = "2", .retries = 3, .timeout = 2 };
    b->sv = (struct s3_service){ .o = &b->o, .endpoint = b->server.url, .region = region };
    b->log = (struct weir_log){ .fd = 2 };
    b->s = (struct weir_session){ .opt = &b->o, .stats = &b->stats, .log = &b->log, .par = &b->par };
    return b;
}

static void open_client(struct bench *b, int depth)
{
    b->client = s3_client_open(&b->sv, &b->s, depth, s3_answer_header, s3_answer_body, &b->err);
    assert_non_null(b->client);
}

static void end(struct bench *b, int asked)
{
    s3_client_close(b->client);
    assert_int_equal(http_stop(&b->server), asked);
    free(b);
}

static struct s3_call get(struct bench *b, size_t room)
{
    return (struct s3_call){ .method = S3_GET, .object = { "bucket", "a key" }, .into = b->into, .limit = room };
}

static struct s3_call get_range(struct bench *b, uint64_t off, size_t room)
{
    struct s3_call c = get(b, room);

    c.ranged = true;
    c.off = off;
    return c;
}

static void requests_say_what_is_wanted_and_answers_are_taken(void **state)
{
    static const struct http_act acts[] = {
        { .must = "PUT /bucket/a%20key HTTP/1.1", .lacks = "Expect",
          .answer = "HTTP/1.1 200 OK\r\nETag: \"e1\"\r\nContent-Length: 0\r\n\r\n" },
        { .must = "GET /bucket/a%20key HTTP/1.1", .lacks = "Range",
          .answer = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello" },
        { .must = "\r\nRange: bytes=1-3",
          .answer = "HTTP/1.1 206 Partial\r\nContent-Length: 3\r\nContent-Range: bytes 1-3/5\r\n\r\nell" },
        { .must = "HEAD /bucket/a%20key HTTP/1.1", .answer = "HTTP/1.1 200 OK\r\nContent-Length: 77\r\n\r\n" },
        { .must = "POST /bucket/a%20key?uploads= HTTP/1.1", .lacks = "application/xml",
          .answer = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n<a/>" },
        { .must = "\r\nContent-Type: application/xml\r\n", .lacks = "octet-stream",
          .answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n" },
        { .must = "DELETE /bucket/a%20key HTTP/1.1", .lacks = "Authorization",
          .answer = "HTTP/1.1 204 No Content\r\n\r\n" },
    };
    struct bench *b = begin(acts, N(acts));
    struct weir_str text = { 0 };
    struct s3_call c = { .method = S3_PUT, .object = { "bucket", "a key" }, .send = "hello", .send_len = 5 };

    (void)state;
    open_client(b, 1);
    assert_int_equal(s3_call(b->client, &c, &b->err), 0);
    assert_string_equal(c.answer.etag, "\"e1\"");
    assert_int_equal(c.answer.moved, 5);
    c = get(b, 5);
    assert_int_equal(s3_call(b->client, &c, &b->err), 0);
    assert_int_equal(c.answer.moved, 5);
    assert_memory_equal(b->into, "hello", 5);
    c = get_range(b, 1, 3);
    assert_int_equal(s3_call(b->client, &c, &b->err), 0);
    assert_memory_equal(b->into, "ell", 3);
    assert_int_equal(c.answer.length, 5);
    c = (struct s3_call){ .method = S3_HEAD, .object = { "bucket", "a key" } };
    assert_int_equal(s3_call(b->client, &c, &b->err), 0);
    assert_int_equal(c.answer.length, 77);
    c = (struct s3_call){ .method = S3_POST, .object = { "bucket", "a key" }, .query = "uploads=", .text = &text };
    assert_int_equal(s3_call(b->client, &c, &b->err), 0);
    assert_string_equal(text.text, "<a/>");
    weir_str_free(&text);
    c = (struct s3_call){ .method = S3_POST, .object = { "bucket", "a key" }, .query = "delete=", .send = "<b/>", .send_len = 4 };
    assert_int_equal(s3_call(b->client, &c, &b->err), 0);
    c = (struct s3_call){ .method = S3_DELETE, .object = { "bucket", "a key" } };
    assert_int_equal(s3_call(b->client, &c, &b->err), 0);
    end(b, N(acts));
}

/* A GET of a range, its one answer, and what the error says. */
static void range_fails(const char *answer, const char *words)
{
    const struct http_act acts[] = { { .answer = answer, .closes = true } };
    struct bench *b = begin(acts, 1);
    struct s3_call c = get_range(b, 10, 4);

    open_client(b, 1);
    b->o.retries = 0;
    assert_int_equal(s3_call(b->client, &c, &b->err), -1);
    if (!strstr(b->err.text, words) || !strstr(b->err.text, "GET s3://bucket/a key at http://127.0.0.1:"))
        fail_msg("'%s' lacks '%s'", b->err.text, words);
    end(b, 1);
}

static void data_that_were_not_asked_for_are_refused(void **state)
{
    (void)state;
    range_fails("HTTP/1.1 206 P\r\nContent-Length: 4\r\nContent-Range: bytes 11-14/100\r\n\r\nabcd",
                "bytes 10-13 were requested, but the response has 11-14");
    range_fails("HTTP/1.1 206 P\r\nContent-Length: 3\r\nContent-Range: bytes 10-12/100\r\n\r\nabc",
                "bytes 10-13 were requested, but the response has 10-12");
    range_fails("HTTP/1.1 206 P\r\nContent-Length: 3\r\nContent-Range: bytes 10-13/100\r\n\r\nabc",
                "reports bytes 10-13, but has 3 bytes");
    range_fails("HTTP/1.1 206 P\r\nContent-Length: 4\r\n\r\nabcd", "does not report its range");
    range_fails("HTTP/1.1 200 P\r\nContent-Length: 4\r\n\r\nabcd", "does not report its range");
    range_fails("HTTP/1.1 206 P\r\nContent-Length: 9\r\nContent-Range: bytes 10-18/100\r\n\r\nabcdefghi",
                "more than the 4 requested bytes");
}

static void the_end_of_an_object_is_no_error(void **state)
{
    static const struct http_act acts[] = {
        { .answer = "HTTP/1.1 206 P\r\nContent-Length: 2\r\nContent-Range: bytes 10-11/12\r\n\r\nab" },
        { .answer = "HTTP/1.1 416 R\r\nContent-Length: 0\r\nContent-Range: bytes */12\r\n\r\n" },
    };
    struct bench *b = begin(acts, N(acts));
    struct s3_call c = get_range(b, 10, 4);

    (void)state;
    open_client(b, 1);
    assert_int_equal(s3_call(b->client, &c, &b->err), 0);
    assert_int_equal(c.answer.moved, 2);
    c = get_range(b, 12, 4);
    assert_int_equal(s3_call(b->client, &c, &b->err), 0);
    assert_int_equal(c.answer.moved, 0);
    assert_int_equal(c.answer.length, 12);
    end(b, N(acts));
}

static void the_words_of_the_service_are_in_the_error(void **state)
{
    static const struct http_act acts[] = {
        { .answer = "HTTP/1.1 404 Not Found\r\nContent-Length: 116\r\n\r\n<?xml version=\"1.0\"?><Error><Code>NoSuchKey"
                    "</Code><Message>It is gone</Message><RequestId>R1</RequestId></Error>      " },
    };
    struct bench *b = begin(acts, N(acts));
    struct s3_call c = get(b, 4);

    (void)state;
    open_client(b, 1);
    assert_int_equal(s3_call(b->client, &c, &b->err), -1);
    assert_non_null(strstr(b->err.text, ": 404 NoSuchKey: It is gone (request R1)"));
    assert_int_equal(b->err.sys, ENOENT);
    end(b, N(acts));
}

static void the_path_of_an_endpoint_is_not_the_bucket(void **state)
{
    static const struct http_act acts[] = { { .must = "GET /store/v1/bucket/a%20key ",
                                              .answer = "HTTP/1.1 404 N\r\nContent-Length: 0\r\n\r\n" } };
    struct bench *b = begin(acts, N(acts));
    char endpoint[96];
    struct s3_call c = get(b, 4);

    (void)state;
    (void)snprintf(endpoint, sizeof(endpoint), "%s/store/v1", b->server.url);
    b->sv.endpoint = endpoint;
    open_client(b, 1);
    assert_int_equal(s3_call(b->client, &c, &b->err), -1);
    assert_non_null(strstr(b->err.text, "GET s3://bucket/a key at http://127.0.0.1:"));
    assert_non_null(strstr(b->err.text, "/store/v1: 404"));
    end(b, N(acts));
}

/* A list, an error, and a body that nobody reads: each has more bytes than any answer of the protocol. */
static void an_answer_without_an_end_is_refused(void **state)
{
    static const char *const heads[] = { "200 OK", "403 Forbidden", "200 OK" };
    static const size_t body = 17 << 20;
    char *answer = malloc(body + 128);

    (void)state;
    assert_non_null(answer);
    for (int i = 0; i < N(heads); i++) {
        int head = snprintf(answer, 128, "HTTP/1.1 %s\r\nContent-Length: 99999999\r\n\r\n", heads[i]);
        const struct http_act acts[] = { { .answer = answer, .closes = true } };
        struct weir_str text = { 0 };
        struct bench *b;
        struct s3_call c;

        memset(answer + head, 'x', body);
        answer[(size_t)head + body] = '\0';
        b = begin(acts, 1);
        c = (struct s3_call){ .method = i < 2 ? S3_GET : S3_DELETE, .object = { "bucket", "a key" }, .text = i < 2 ? &text : NULL };
        open_client(b, 1);
        assert_int_equal(s3_call(b->client, &c, &b->err), -1);
        assert_non_null(strstr(b->err.text, i == 1 ? "403 Forbidden" : "more than 16 MiB"));
        assert_true(text.len <= (size_t)16 << 20);
        weir_str_free(&text);
        end(b, 1);
    }
    free(answer);
}

static void an_error_in_a_good_answer_is_an_error_and_repeated_where_that_may_help(void **state)
{
    static const struct http_act acts[] = {
        { .answer = "HTTP/1.1 200 OK\r\nContent-Length: 36\r\n\r\n<Error><Code>SlowDown</Code></Error>" },
        { .answer = "HTTP/1.1 200 OK\r\nContent-Length: 63\r\n\r\n"
                    "<?xml version=\"1.0\"?>\n <Error><Code>AccessDenied</Code></Error>" },
    };
    struct bench *b = begin(acts, N(acts));
    struct weir_str text = { 0 };
    struct s3_call c = { .method = S3_POST, .object = { "bucket", "" }, .query = "delete=", .text = &text };

    (void)state;
    open_client(b, 1);
    assert_int_equal(s3_call(b->client, &c, &b->err), -1);
    assert_non_null(strstr(b->err.text, "the service responded 200, then reported AccessDenied"));
    assert_non_null(strstr(b->err.text, "(tried 2 times)"));
    weir_str_free(&text);
    end(b, N(acts));
}

static void requests_are_in_flight_beside_a_blocking_one(void **state)
{
    static const struct http_act acts[] = {
        { .answer = OK, .wait_ms = 1000 }, /* longer than a busy machine needs for all that comes before its end */
        { .answer = OK, .wait_ms = 1000 },
        { .answer = "HTTP/1.1 204 N\r\n\r\n" },
    };
    struct bench *b = begin(acts, N(acts));
    struct s3_call c[2], blocking = { .method = S3_DELETE, .object = { "bucket", "a key" } };
    struct s3_call *done[4];
    int n = 0;

    (void)state;
    open_client(b, 2);
    for (int i = 0; i < 2; i++) {
        c[i] = (struct s3_call){ .method = S3_PUT, .object = { "bucket", "a key" } };
        assert_int_equal(s3_start(b->client, &c[i], &b->err), 0);
        assert_int_equal(s3_wait(b->client, 0, 4, done), 0);
        usleep(20000);
        assert_int_equal(s3_wait(b->client, 0, 4, done), 0);
    }
    assert_int_equal(s3_call(b->client, &blocking, &b->err), 0);
    n = s3_wait(b->client, 2, 4, done);
    assert_int_equal(n, 2);
    assert_int_equal(s3_wait(b->client, 1, 4, done), 0);
    end(b, N(acts));
}

static void requests_and_the_parts_of_their_times_are_counted(void **state)
{
    static const struct http_act acts[] = { { .answer = OK, .wait_ms = 50 }, { .answer = OK } };
    struct weir_service_stats *stats = calloc(1, sizeof(*stats));
    struct bench *b = begin(acts, N(acts));
    struct s3_call c = { .method = S3_DELETE, .object = { "bucket", "a key" } };

    (void)state;
    assert_non_null(stats);
    b->s.service = stats;
    open_client(b, 1);
    for (int i = 0; i < N(acts); i++)
        assert_int_equal(s3_call(b->client, &c, &b->err), 0);
    assert_int_equal(stats->count[WEIR_SENT], 2);
    assert_true(stats->count[WEIR_SENT_CONNECTIONS] >= 1 && stats->count[WEIR_SENT_CONNECTIONS] <= 2);
    assert_int_equal(stats->part[WEIR_PART_CONNECT].n, stats->count[WEIR_SENT_CONNECTIONS]);
    assert_int_equal(stats->part[WEIR_PART_TLS].n, 0);
    assert_int_equal(stats->part[WEIR_PART_FIRST].n, 2);
    assert_int_equal(stats->part[WEIR_PART_LAST].n, 2);
    assert_true(stats->part[WEIR_PART_FIRST].max_ns >= 40000000); /* the server waits in it */
    end(b, N(acts));
    free(stats);
}

#define BUSY "HTTP/1.1 503 Slow Down\r\nContent-Length: 37\r\n\r\n<Error><Code>SlowDown</Code></Error>\n"
#define FAULT "HTTP/1.1 500 Internal\r\nContent-Length: 0\r\n\r\n"
#define FINE "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"

static void data_are_sent_with_their_checksum(void **state)
{
    static const struct http_act acts[] = {
        { .must = "\r\nx-amz-checksum-crc32c: mnG7TA==\r\n", .answer = FINE },
        { .must = "\r\nx-amz-checksum-sha256: LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=\r\n", .answer = FINE },
        { .lacks = "x-amz-checksum", .answer = FINE },
    };
    struct bench *b = begin(acts, N(acts));
    struct s3_call c = { .method = S3_PUT, .object = { "bucket", "a key" }, .send = "hello", .send_len = 5 };
    const char *const kinds[] = { "crc32c", "sha256", "none" };

    (void)state;
    open_client(b, 1);
    for (size_t i = 0; i < N(kinds); i++) {
        b->o.checksum = kinds[i];
        assert_int_equal(s3_call(b->client, &c, &b->err), 0);
        assert_int_equal(strlen(c.answer.checksum), i == 0 ? 8 : i == 1 ? 44 : 0);
    }
    end(b, N(acts));
    assert_int_equal(s3_crc32c(0, "123456789", 9), 0xe3069283);
    assert_int_equal(s3_crc32c(s3_crc32c(0, "1234567890", 4), "56789", 5), 0xe3069283);
}

static bool count_notes(void *notes, const char *kind, const char *text)
{
    (void)kind;
    *(int *)notes += strstr(text, "has confirmed only 1 of 3 checksums that task 0 has sent") != NULL;
    return true;
}

static void checksums_that_are_not_confirmed_are_noted_at_the_end(void **state)
{
    static const struct http_act acts[] = {
        { .answer = "HTTP/1.1 200 OK\r\nx-amz-checksum-crc32c: mnG7TA==\r\nContent-Length: 0\r\n\r\n" },
        { .answer = FINE },
        { .answer = FINE },
    };
    struct bench *b = begin(acts, N(acts));
    struct s3_call c = { .method = S3_PUT, .object = { "bucket", "a key" }, .send = "hello", .send_len = 5 };
    int notes = 0;

    (void)state;
    b->log.observer = count_notes;
    b->log.observer_arg = &notes;
    b->o.checksum = "crc32c";
    open_client(b, 1);
    for (int i = 0; i < 3; i++)
        assert_int_equal(s3_call(b->client, &c, &b->err), 0);
    assert_int_equal(notes, 0);
    s3_client_close(b->client);
    b->client = NULL;
    assert_int_equal(notes, 1);
    end(b, N(acts));
}

#define CHECKED(sum) "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nx-amz-checksum-crc32c: " sum "\r\n\r\nhello"

/* What the service says of all of an object is compared; the checksum of an object of parts is that of their checksums. */
static void data_that_are_read_are_compared_with_their_checksum(void **state)
{
    static const struct http_act acts[] = {
        { .must = "\r\nx-amz-checksum-mode: ENABLED", .answer = CHECKED("mnG7TA==") },
        { .answer = CHECKED("AAAAAA==") },
        { .answer = CHECKED("AAAAAA==-3") },
        { .must = "\r\nRange: bytes=0-4",
          .answer = "HTTP/1.1 206 P\r\nContent-Length: 5\r\nContent-Range: bytes 0-4/9\r\nx-amz-checksum-crc32c: AAAAAA==\r\n\r\nhello" },
        { .must = "PUT", .answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nx-amz-checksum-crc32c: AAAAAA==\r\n\r\n" },
        { .lacks = "x-amz-checksum-mode", .answer = CHECKED("AAAAAA==") },
    };
    struct bench *b = begin(acts, N(acts));
    struct s3_call whole = get(b, 5), range = get_range(b, 0, 5);
    struct s3_call put = { .method = S3_PUT, .object = { "bucket", "a key" }, .send = "hello", .send_len = 5 };

    (void)state;
    open_client(b, 1);
    b->o.checksum = "crc32c";
    assert_int_equal(s3_call(b->client, &whole, &b->err), 0);
    assert_int_equal(s3_call(b->client, &whole, &b->err), -1);
    assert_non_null(strstr(b->err.text, "have the checksum mnG7TA== (crc32c), but the service reports AAAAAA== for the object"));
    assert_int_equal(b->err.sys, EBADMSG);
    assert_int_equal(s3_call(b->client, &whole, &b->err), 0);
    assert_int_equal(s3_call(b->client, &range, &b->err), 0);
    assert_int_equal(b->client->with_data, 4);
    assert_int_equal(b->client->verified, 2);
    assert_int_equal(s3_call(b->client, &put, &b->err), -1);
    assert_non_null(strstr(b->err.text, "received data with AAAAAA=="));
    b->o.checksum = "none";
    assert_int_equal(s3_call(b->client, &whole, &b->err), 0);
    end(b, N(acts));
}

#define WITH_SHA256(sum)                                                                           \
    "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nx-amz-checksum-sha256: " sum "\r\n\r\nhello"

/* A checksum of another kind than the one that is asked for says nothing. */
static void data_that_are_read_are_compared_with_their_sha256(void **state)
{
    static const struct http_act acts[] = {
        { .answer = WITH_SHA256("LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=") },
        { .answer = WITH_SHA256("AAAA") },
        { .answer = WITH_SHA256("AAAA") },
    };
    struct bench *b = begin(acts, N(acts));
    struct s3_call whole = get(b, 5);

    (void)state;
    open_client(b, 1);
    b->o.checksum = "sha256";
    assert_int_equal(s3_call(b->client, &whole, &b->err), 0);
    assert_int_equal(b->client->verified, 1);
    assert_int_equal(s3_call(b->client, &whole, &b->err), -1);
    assert_non_null(strstr(b->err.text, "(sha256), but the service reports AAAA"));
    assert_int_equal(b->err.sys, EBADMSG);
    b->o.checksum = "crc32c";
    assert_int_equal(s3_call(b->client, &whole, &b->err), 0);
    end(b, N(acts));
}

/* ---- libcurl that has no memory ---- */

/* Calls of libcurl that still succeed, of those that a test lets fail; negative: all. */
static int adds = -1, performs = -1;

static bool may_go_on(int *left)
{
    return *left < 0 || (*left)-- > 0;
}

CURLMcode curl_multi_add_handle(CURLM *multi, CURL *easy)
{
    CURLMcode (*add)(CURLM *, CURL *);

    *(void **)&add = dlsym(RTLD_NEXT, "curl_multi_add_handle");
    return may_go_on(&adds) ? add(multi, easy) : CURLM_OUT_OF_MEMORY;
}

CURLMcode curl_multi_perform(CURLM *multi, int *running)
{
    CURLMcode (*perform)(CURLM *, int *);

    *(void **)&perform = dlsym(RTLD_NEXT, "curl_multi_perform");
    return may_go_on(&performs) ? perform(multi, running) : CURLM_OUT_OF_MEMORY;
}

/* The client is as it was before: a later request is sent. */
static void a_request_that_libcurl_does_not_take_is_an_error(void **state)
{
    static const struct http_act acts[] = { { .answer = OK } };
    struct bench *b = begin(acts, N(acts));
    struct s3_call c = get(b, 5);

    (void)state;
    open_client(b, 1);
    adds = 0;
    assert_int_equal(s3_start(b->client, &c, &b->err), -1);
    adds = -1;
    assert_int_equal(b->err.code, WEIR_ESETUP);
    assert_string_equal(b->err.text, "S3: Out of memory");
    assert_int_equal(b->client->in_flight, 0);
    assert_int_equal(s3_call(b->client, &c, NULL), 0);
    end(b, N(acts));
}

static void all_requests_in_flight_fail_where_libcurl_cannot_go_on(void **state)
{
    static const struct http_act acts[] = { { .wait_ms = 60000 }, { .wait_ms = 60000 } };
    struct bench *b = begin(acts, N(acts));
    struct s3_call c[2] = { get(b, 5), get(b, 5) }, *done[2];

    (void)state;
    open_client(b, 2);
    assert_int_equal(s3_start(b->client, &c[0], &b->err), 0);
    assert_int_equal(s3_start(b->client, &c[1], &b->err), 0);
    performs = 0;
    assert_int_equal(s3_wait(b->client, 2, 2, done), 2);
    performs = -1;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(c[i].answer.sys, EIO);
        assert_string_equal(c[i].answer.why, "Out of memory");
    }
    assert_int_equal(b->client->in_flight, 0);
    s3_client_close(b->client);
    (void)http_stop(&b->server);
    free(b);
}

static void a_request_that_cannot_be_sent_again_has_the_reason(void **state)
{
    static const struct http_act acts[] = {
        { .answer = "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n" },
    };
    struct bench *b = begin(acts, N(acts));
    struct s3_call c = get(b, 5);

    (void)state;
    open_client(b, 1);
    adds = 1;
    assert_int_equal(s3_call(b->client, &c, &b->err), -1);
    adds = -1;
    assert_int_equal(c.answer.sys, EIO);
    assert_string_equal(c.answer.why, "Out of memory");
    end(b, N(acts));
}

/* Entities of a few lines could make gigabytes. */
static void an_answer_that_declares_a_type_is_refused(void **state)
{
    static char words[] = "<!DOCTYPE a [<!ENTITY b \"words\">]>\n"
                          "<ListBucketResult>&b;</ListBucketResult>";
    const struct weir_str text = { .text = words, .len = strlen(words) };
    struct weir_err err = WEIR_ERR_INIT;

    (void)state;
    assert_int_equal(s3_xml(&text, NULL, NULL, &err), -1);
    assert_non_null(strstr(err.text, "is not S3 XML: it has a document type declaration"));
}

/* A second one is an error, with what would reach the place. */
static void a_request_is_sent_to_another_region_once(void **state)
{
    static const struct http_act acts[] = {
        { .answer = "HTTP/1.1 301 Moved\r\nx-amz-bucket-region: there\r\nContent-Length: 0\r\n\r\n" },
        { .must = "/there/s3/aws4_request", .answer = FINE },
        { .must = "/there/s3/aws4_request", .answer = FINE },
        { .answer = "HTTP/1.1 301 Moved\r\nx-amz-bucket-region: far\r\nContent-Length: 0\r\n\r\n" },
    };
    struct bench *b = begin(acts, N(acts));
    struct weir_service_stats counts = { .count = { 0 } };
    struct s3_call c = get(b, 5);

    (void)state;
    b->sv.keys.id = (char[]){ "id" };
    b->sv.keys.secret = (char[]){ "secret" };
    b->s.service = &counts;
    open_client(b, 1);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(s3_call(b->client, &c, &b->err), 0);
        assert_int_equal(c.answer.tried, 1);
    }
    assert_int_equal(b->stats.retries, 0);
    assert_int_equal(s3_call(b->client, &c, &b->err), -1);
    assert_int_equal(counts.count[WEIR_SENT_MOVED], 1);
    assert_int_equal(counts.count[WEIR_SENT_REFUSED] + counts.count[WEIR_SENT_LOST], 0);
    assert_non_null(strstr(b->err.text, "301 Moved Permanently; the bucket is in region 'far': give --s3.region=far"));
    end(b, N(acts));
}

static void what_is_refused_for_now_is_sent_again(void **state)
{
    static const struct http_act acts[] = {
        { .answer = BUSY }, { .answer = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe", .closes = true }, { .answer = FINE },
    };
    struct bench *b = begin(acts, N(acts));
    struct weir_service_stats counts = { .count = { 0 } };
    struct s3_call c = get(b, 5);

    (void)state;
    b->s.service = &counts;
    open_client(b, 1);
    assert_int_equal(s3_call(b->client, &c, &b->err), 0);
    assert_memory_equal(b->into, "hello", 5);
    assert_int_equal(c.answer.tried, 3);
    assert_int_equal(b->stats.retries, 0); /* those of a service are counted apart */
    assert_int_equal(counts.count[WEIR_SENT], 3);
    assert_int_equal(counts.count[WEIR_SENT_REFUSED] + counts.count[WEIR_SENT_LOST], 2);
    end(b, N(acts));
}

static void what_is_refused_too_often_is_an_error(void **state)
{
    static const struct http_act acts[] = { { .answer = BUSY }, { .answer = BUSY }, { .answer = FAULT }, { .answer = FAULT }, { .answer = BUSY }, { .answer = FINE } };
    struct bench *b = begin(acts, N(acts));
    struct s3_call c = get(b, 5);

    (void)state;
    open_client(b, 1);
    b->o.retries = 1;
    assert_int_equal(s3_call(b->client, &c, &b->err), -1);
    assert_non_null(strstr(b->err.text, "503 SlowDown (tried 2 times)"));
    assert_int_equal(c.answer.unsure, 0); /* 503: nothing of it was done */
    c = get(b, 5);
    assert_int_equal(s3_call(b->client, &c, &b->err), -1);
    assert_int_equal(c.answer.unsure, 1);
    assert_int_equal(s3_call(b->client, &c, &b->err), 0);
    assert_int_equal(c.answer.unsure, 0);
    end(b, N(acts));
}

/* libcurl does that by itself. */
static void what_is_lost_with_a_kept_connection_is_counted_or_not_sent_twice(void **state)
{
    static const struct http_act acts[] = { { .answer = FINE }, { .answer = NULL }, { .answer = FINE }, { .answer = NULL } };
    struct bench *b = begin(acts, N(acts));
    struct weir_service_stats counts = { .count = { 0 } };
    struct s3_call c = get(b, 5);

    (void)state;
    b->s.service = &counts;
    open_client(b, 1);
    assert_int_equal(s3_call(b->client, &c, &b->err), 0);
    c = get(b, 5);
    assert_int_equal(s3_call(b->client, &c, &b->err), 0);
    assert_int_equal(c.answer.tried, 2);
    assert_int_equal(counts.count[WEIR_SENT], 3);
    assert_int_equal(counts.count[WEIR_SENT_LOST], 1);
    assert_int_equal(c.answer.unsure, 1);
    b->o.retries = 0;
    c = get(b, 5);
    assert_int_equal(s3_call(b->client, &c, &b->err), -1);
    assert_non_null(strstr(b->err.text, "cannot be repeated"));
    end(b, N(acts));
}

static void others_go_on_while_one_waits_to_be_sent_again(void **state)
{
    static const struct http_act acts[] = {
        { .answer = "HTTP/1.1 503 Slow Down\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n" }, { .answer = FINE }, { .answer = FINE },
    };
    struct bench *b = begin(acts, N(acts));
    struct s3_call first = get(b, 5), other = get(b, 5), *done = NULL;

    (void)state;
    open_client(b, 2);
    assert_int_equal(s3_start(b->client, &first, &b->err), 0);
    assert_int_equal(s3_call(b->client, &other, &b->err), 0);
    assert_int_equal(s3_wait(b->client, 1, 1, &done), 1);
    assert_int_equal(first.answer.tried + other.answer.tried, 3);
    assert_int_equal(first.answer.sys, 0);
    end(b, N(acts));
}

static void the_time_between_tries_doubles_within_limits(void **state)
{
    (void)state;
    assert_int_equal(s3_backoff_ns(1, 0, 0), 50000000);
    assert_int_equal(s3_backoff_ns(1, 0, 50000000), 100000000);
    assert_int_equal(s3_backoff_ns(3, 0, 0), 200000000);
    assert_int_equal(s3_backoff_ns(1000, 0, 0), 10000000000);
    assert_int_equal(s3_backoff_ns(1, 3, 7), 3000000000);
    assert_int_equal(s3_backoff_ns(1, 1000000, 7), 60000000000);
}

static void a_clock_that_is_wrong_is_told(void **state)
{
    static const struct http_act acts[] = { {
        .answer = "HTTP/1.1 403 Forbidden\r\nDate: Thu, 01 Jan 1970 00:00:10 GMT\r\nContent-Length: 48\r\n\r\n"
                  "<Error><Code>RequestTimeTooSkewed</Code></Error>" } };
    struct bench *b = begin(acts, 1);
    struct s3_call c = get(b, 5);

    (void)state;
    open_client(b, 1);
    assert_int_equal(s3_call(b->client, &c, &b->err), -1);
    assert_non_null(strstr(b->err.text, " s ahead of that of the service"));
    end(b, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_say_what_is_wanted_and_answers_are_taken),
        cmocka_unit_test(data_that_were_not_asked_for_are_refused),
        cmocka_unit_test(the_end_of_an_object_is_no_error),
        cmocka_unit_test(the_words_of_the_service_are_in_the_error),
        cmocka_unit_test(the_path_of_an_endpoint_is_not_the_bucket),
        cmocka_unit_test(an_answer_without_an_end_is_refused),
        cmocka_unit_test(an_error_in_a_good_answer_is_an_error_and_repeated_where_that_may_help),
        cmocka_unit_test(requests_are_in_flight_beside_a_blocking_one),
        cmocka_unit_test(requests_and_the_parts_of_their_times_are_counted),
        cmocka_unit_test(data_are_sent_with_their_checksum),
        cmocka_unit_test(checksums_that_are_not_confirmed_are_noted_at_the_end),
        cmocka_unit_test(data_that_are_read_are_compared_with_their_checksum),
        cmocka_unit_test(data_that_are_read_are_compared_with_their_sha256),
        cmocka_unit_test(a_request_that_libcurl_does_not_take_is_an_error),
        cmocka_unit_test(all_requests_in_flight_fail_where_libcurl_cannot_go_on),
        cmocka_unit_test(a_request_that_cannot_be_sent_again_has_the_reason),
        cmocka_unit_test(an_answer_that_declares_a_type_is_refused),
        cmocka_unit_test(a_request_is_sent_to_another_region_once),
        cmocka_unit_test(what_is_refused_for_now_is_sent_again),
        cmocka_unit_test(what_is_refused_too_often_is_an_error),
        cmocka_unit_test(what_is_lost_with_a_kept_connection_is_counted_or_not_sent_twice),
        cmocka_unit_test(others_go_on_while_one_waits_to_be_sent_again),
        cmocka_unit_test(the_time_between_tries_doubles_within_limits),
        cmocka_unit_test(a_clock_that_is_wrong_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
