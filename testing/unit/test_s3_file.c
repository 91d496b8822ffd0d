/* SPDX-License-Identifier: BSD-3-Clause */
/* test_s3_file.c - files and names of S3 on a service whose answers are in a script: what is not sent, what is removed */
#include "backends/s3/s3-file.h"
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backends/s3/s3-multipart.h"
#include "backends/s3/s3-names.h"
#include "httpscript.h"

#define N(acts) ((int)(sizeof(acts) / sizeof(*(acts))))
#define DONE "HTTP/1.1 204 No Content\r\n\r\n"
#define GONE "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
#define OK "HTTP/1.1 200 OK\r\nETag: \"e\"\r\nContent-Length: 0\r\n\r\n"

/* A session that asks a server with a script. */
struct bench {
    struct s3_options o;
    struct s3 s3;
    struct weir_session_stats stats;
    struct weir_session s;
    struct weir_log log;
    struct weir_par par;
    struct http_server server;
    struct weir_err err;
    char url[128];
};

static struct bench *begin(const struct http_act *acts, int n, const char *object)
{
    struct bench *b = calloc(1, sizeof(*b));

    assert_non_null(b);
    http_start(&b->server, acts, n);
    b->o = (struct s3_options) { .bucket = "bucket",
                                 .object = object,
                                 .style = "path",
                                 .checksum = "none",
                                 .payload = "unsigned",
                                 .http = "2",
                                 .part_least = 1,
                                 .timeout = 2 };
    b->log = (struct weir_log) { .fd = 2 };
    b->s = (struct weir_session) {
        .opt = &b->o, .stats = &b->stats, .log = &b->log, .par = &b->par, .priv = &b->s3, .depth = 1
    };
    b->s3.service = (struct s3_service) { .o = &b->o, .endpoint = b->server.url, .region = (char[]) { "here" } };
    b->s3.line = s3_line_open(&b->s3.service, &b->s, 2, &b->err);
    assert_non_null(b->s3.line);
    assert_int_equal(s3_queue(&b->s, 1, &b->err), 0);
    (void)snprintf(b->url, sizeof(b->url), "%s/bucket/file", b->server.url);
    return b;
}

static void end(struct bench *b, int asked)
{
    s3_line_close(b->s3.line);
    s3_queue_end(&b->s3.queue);
    assert_int_equal(http_stop(&b->server), asked);
    free(b);
}

static struct s3_file file_of(struct bench *b, enum s3_way way, char *url)
{
    return (struct s3_file) { .base = { .s = &b->s },
                              .way = way,
                              .writes = true,
                              .creates = true,
                              .url = { .text = url, .len = strlen(url) },
                              .parts = { .size = 5, .n = 2, .bytes = 10 } };
}

/* No header has room for this host. */
static void a_write_that_is_not_sent_is_an_error(void **state)
{
    struct bench *b = begin(NULL, 0, "file");
    char url[600] = "http://", data[] = "hello";
    const struct weir_io io = { .dir = WEIR_DIR_WRITE, .buf = data, .len = 5 };
    struct weir_request r = { .io = io };
    struct s3_file f;

    (void)state;
    memset(url + 7, 'a', 500);
    memcpy(url + 507, "/bucket/file", 13);
    f = file_of(b, S3_WHOLE, url);
    r.file = &f.base;
    assert_int_equal(s3_xfer(&f.base, &io, &b->err), -1);
    assert_non_null(strstr(b->err.text, "too long"));
    assert_true(f.failed && !f.written);
    f.failed = false;
    assert_int_equal(s3_submit(&r, &b->err), -1);
    assert_true(f.failed && !f.written);
    end(b, 0);
}

static void parts_are_not_read_before_they_are_an_object(void **state)
{
    struct bench *b = begin(NULL, 0, "file");
    char data[5];
    const struct weir_io io = { .dir = WEIR_DIR_READ, .buf = data, .len = 5 };
    struct s3_file f = file_of(b, S3_PARTS, b->url);
    ssize_t n;

    (void)state;
    f.written = true;
    assert_int_equal(s3_move_begin(&f, &io, &b->s3.alone, &n, &b->err), -1);
    assert_non_null(strstr(b->err.text, "not complete before the file is closed"));
    end(b, 0);
}

/* ---- uploads ---- */

#define BEGUN "HTTP/1.1 200 OK\r\nContent-Length: 30\r\n\r\n<I><UploadId>u1</UploadId></I>"

static struct s3_upload *begin_upload(struct bench *b, bool exclusive)
{
    const struct s3_target t = { .url = b->url, .parts = { .size = 5, .n = 2, .bytes = 10 }, .exclusive = exclusive };
    struct s3_upload *u = s3_upload_begin(b->s3.line, &b->s, &t, &b->err);

    assert_non_null(u);
    return u;
}

static void more_calls_than_are_in_flight_send_parts(void **state)
{
    static const struct http_act acts[] = { { .must = "POST /bucket/file?uploads=", .answer = BEGUN },
                                            { .must = "DELETE", .answer = DONE },
                                            { .must = "DELETE", .answer = GONE } };
    struct bench *b = begin(acts, N(acts), "file");
    struct s3_upload *u = begin_upload(b, false);
    struct s3_call c[20] = { { .owner = NULL } };

    (void)state;
    for (int i = 0; i < N(c); i++) {
        assert_int_equal(s3_upload_part(u, 1, "hello", 5, &c[i], &b->err), 0);
        memcpy(c[i].answer.etag, "\"e\"", 4);
        assert_int_equal(s3_upload_keep(u, 1, 5, &c[i], &b->err), 0);
    }
    assert_int_equal(s3_upload_end(u, false, &b->err), 0);
    end(b, N(acts));
}

static void an_empty_object_is_put_only_where_none_is(void **state)
{
    static const struct http_act acts[] = { { .must = "HEAD /bucket/file ", .answer = GONE },
                                            { .must = "POST /bucket/file?uploads=", .answer = BEGUN },
                                            { .must = "DELETE", .answer = DONE },
                                            { .must = "DELETE", .answer = GONE },
                                            { .must = "If-None-Match: *", .answer = OK } };
    struct bench *b = begin(acts, N(acts), "file");

    (void)state;
    b->s.access.stops = "-D";
    assert_int_equal(s3_upload_end(begin_upload(b, true), true, &b->err), 0);
    end(b, N(acts));
}

static void an_upload_that_may_be_there_still_has_a_reason(void **state)
{
    static const struct http_act acts[] = { { .must = "DELETE /bucket/file?uploadId=u1", .answer = DONE },
                                            { .answer = "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n" } };
    struct bench *b = begin(acts, N(acts), "file");
    const struct s3_multipart m = { .line = b->s3.line, .o = &b->o, .url = b->url, .id = "u1" };

    (void)state;
    assert_int_equal(s3_multipart_abort(&m, &b->err), -1);
    assert_non_null(strstr(b->err.text, "403 Forbidden"));
    end(b, N(acts));
}

/* ---- --s3.object=transfer ---- */

#define LIST                                                                                       \
    "HTTP/1.1 200 OK\r\nContent-Length: 248\r\n\r\n"                                               \
    "<ListBucketResult><IsTruncated>false</IsTruncated>"                                           \
    "<Contents><Key>file/0000000000100000</Key><Size>5</Size></Contents>"                          \
    "<Contents><Key>file/beef</Key><Size>7</Size></Contents>"                                      \
    "<Contents><Key>file/theirs</Key><Size>7</Size></Contents></ListBucketResult>"

static void keys_that_are_no_transfers_of_a_file_stay(void **state)
{
    static const struct http_act acts[] = {
        { .must = "prefix=file%2F", .answer = LIST }, { .must = "prefix=file%2F", .answer = LIST },
        { .must = "Content-Length: 133", .answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n" }, /* of one key */
    };
    struct bench *b = begin(acts, N(acts), "transfer");
    uint64_t bytes;

    (void)state;
    assert_int_equal(s3_names.size(&b->s, "file", &bytes, &b->err), 0);
    assert_int_equal(bytes, 0x100005);
    assert_int_equal(s3_names.unlink(&b->s, "file", &b->err), 0);
    end(b, N(acts));
}

static void an_empty_file_is_one_that_is_found_and_removed(void **state)
{
    static const struct http_act acts[] = { { .must = "PUT /bucket/file/0000000000000000 ", .answer = OK } };
    struct bench *b = begin(acts, N(acts), "transfer");

    (void)state;
    assert_int_equal(s3_names.mknod(&b->s, "file", &b->err), 0);
    end(b, N(acts));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_write_that_is_not_sent_is_an_error),
        cmocka_unit_test(parts_are_not_read_before_they_are_an_object),
        cmocka_unit_test(more_calls_than_are_in_flight_send_parts),
        cmocka_unit_test(an_empty_object_is_put_only_where_none_is),
        cmocka_unit_test(an_upload_that_may_be_there_still_has_a_reason),
        cmocka_unit_test(keys_that_are_no_transfers_of_a_file_stay),
        cmocka_unit_test(an_empty_file_is_one_that_is_found_and_removed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
