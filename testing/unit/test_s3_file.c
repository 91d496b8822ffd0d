/* SPDX-License-Identifier: BSD-3-Clause */
/* test_s3_file.c - files and names of S3 on a service whose answers are in a script: what is not sent, what is removed */
#include "backends/s3/s3-objects.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

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
    b->s3.client = s3_client_open(&b->s3.service, &b->s, 2, s3_answer_header, s3_answer_body,
                                  &b->err);
    assert_non_null(b->s3.client);
    assert_int_equal(s3_queue(&b->s, 1, &b->err), 0);
    return b;
}

static void end(struct bench *b, int asked)
{
    s3_client_close(b->s3.client);
    s3_queue_end(&b->s3.queue);
    assert_int_equal(http_stop(&b->server), asked);
    free(b);
}

static struct s3_file file_of(struct bench *b, enum s3_way way)
{
    static char bucket[] = "bucket", key[] = "file", keys[] = "file/";
    const bool split = way == S3_SPLIT;

    return (struct s3_file) { .base = { .s = &b->s, .path = "file" },
                              .way = way,
                              .writes = true,
                              .creates = true,
                              .bucket = { .text = bucket, .len = 6 },
                              .key = { .text = split ? keys : key, .len = split ? 5 : 4 },
                              .parts = { .size = 5, .n = 2, .bytes = 10 } };
}

/* No header has room for this host. */
static void a_write_that_is_not_sent_is_an_error(void **state)
{
    struct bench *b = begin(NULL, 0, "file");
    char endpoint[600] = "http://", data[] = "hello";
    const struct weir_io io = { .dir = WEIR_DIR_WRITE, .buf = data, .len = 5 };
    struct weir_request r = { .io = io };
    struct s3_file f;

    (void)state;
    memset(endpoint + 7, 'a', 500);
    b->s3.service.endpoint = endpoint;
    f = file_of(b, S3_WHOLE);
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
    struct s3_file f = file_of(b, S3_PARTS);

    (void)state;
    f.written = true;
    assert_int_equal(s3_move_begin(&f, &io, &b->s3.single, &b->err), -1);
    assert_non_null(strstr(b->err.text, "not complete before the file is closed"));
    end(b, 0);
}

/* ---- uploads ---- */

#define BEGUN "HTTP/1.1 200 OK\r\nContent-Length: 30\r\n\r\n<I><UploadId>u1</UploadId></I>"

static struct s3_upload *begin_upload(struct bench *b, struct s3_file *f)
{
    *f = file_of(b, S3_PARTS);
    assert_int_equal(s3_upload_begin(f, &b->err), 0);
    return f->upload;
}

static void the_name_of_a_bucket_is_no_file(void **state)
{
    struct bench *b = begin(NULL, 0, "file");
    struct s3_file f = { .base = { .s = &b->s } };

    (void)state;
    assert_int_equal(s3_open(&b->s, "s3://bucket/", WEIR_OPEN_READ, &f.base, &b->err), -1);
    assert_non_null(strstr(b->err.text, "add a name after the bucket 'bucket'"));
    end(b, 0);
}

static void an_upload_whose_id_is_too_long_is_aborted(void **state)
{
    static char begun[2048], abort[1200] = "DELETE /bucket/file?uploadId=";
    static const struct http_act acts[] = { { .must = "POST /bucket/file?uploads=", .answer = begun },
                                            { .must = abort, .answer = DONE },
                                            { .must = abort, .answer = GONE } };
    const size_t at = strlen(abort);
    struct s3_file f;
    struct bench *b;

    (void)state;
    memset(abort + at, 'u', 1100);
    (void)snprintf(begun, sizeof(begun), "HTTP/1.1 200 OK\r\nContent-Length: 1128\r\n\r\n<I><UploadId>%s</UploadId></I>",
                   abort + at);
    b = begin(acts, N(acts), "file");
    f = file_of(b, S3_PARTS);
    assert_int_equal(s3_upload_begin(&f, &b->err), -1);
    assert_non_null(strstr(b->err.text, "an upload id of 1100 bytes"));
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
    struct s3_file f = file_of(b, S3_PARTS);

    (void)state;
    b->s.access.stops = "-D";
    f.exclusive = true;
    assert_int_equal(s3_upload_begin(&f, &b->err), 0);
    assert_int_equal(s3_upload_end(f.upload, true, &b->err), 0);
    end(b, N(acts));
}

static void an_upload_that_may_be_there_still_is_an_error(void **state)
{
    static const struct http_act acts[] = { { .must = "POST /bucket/file?uploads=", .answer = BEGUN },
                                            { .must = "DELETE /bucket/file?uploadId=u1", .answer = DONE },
                                            { .answer = "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n" } };
    struct bench *b = begin(acts, N(acts), "file");
    struct s3_file f;

    (void)state;
    assert_int_equal(s3_upload_end(begin_upload(b, &f), false, &b->err), -1);
    assert_string_equal(b->err.text, "the upload was not aborted");
    assert_int_equal(b->err.sys, EACCES);
    end(b, N(acts));
}

/* The answer to the first request to complete it is lost, to the second one there is no such upload, and an object of that
 * length. What completing it returns. */
static int complete_with(const char *object, bool is_made)
{
    const struct http_act acts[] = { { .must = "POST /bucket/file?uploads=", .answer = BEGUN },
                                     { .must = "POST /bucket/file?uploadId=u1", .answer = NULL },
                                     { .must = "POST /bucket/file?uploadId=u1", .answer = GONE },
                                     { .must = "HEAD /bucket/file ", .answer = object },
                                     { .must = "DELETE /bucket/file?uploadId=u1", .answer = GONE } };
    struct bench *b = begin(acts, N(acts), "file");
    struct s3_file f;
    struct s3_upload *u = begin_upload(b, &f);
    const struct s3_answer a = { .etag = "\"e\"" };
    int rc;

    b->o.retries = 1;
    assert_int_equal(s3_upload_keep(u, 1, 5, &a, &b->err), 0);
    assert_int_equal(s3_upload_keep(u, 2, 5, &a, &b->err), 0);
    rc = s3_upload_end(u, true, &b->err);
    end(b, N(acts) - is_made);
    return rc;
}

static void an_upload_that_is_gone_was_completed_where_the_object_has_its_length(void **state)
{
    (void)state;
    assert_int_equal(complete_with("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n", true), 0);
    assert_int_equal(complete_with("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", false), -1); /* the one before it */
    assert_int_equal(complete_with(GONE, false), -1);
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

/* A task that wrote nothing has made no object at 0. Keys that are no offsets do not count. */
static void the_size_of_a_transfer_is_that_of_any_object_of_the_file(void **state)
{
    static const char list[] = "HTTP/1.1 200 OK\r\nContent-Length: 258\r\n\r\n"
                               "<ListBucketResult><IsTruncated>false</IsTruncated>"
                               "<Contents><Key>file/beef</Key><Size>7</Size></Contents>"
                               "<Contents><Key>file/0000000000100000</Key><Size>5</Size></Contents>"
                               "<Contents><Key>file/0000000000200000</Key><Size>3</Size></Contents></ListBucketResult>";
    static const struct http_act acts[] = { { .must = "HEAD /bucket/file/0000000000000000 ", .answer = GONE },
                                            { .must = "prefix=file%2F", .answer = list } };
    struct bench *b = begin(acts, N(acts), "transfer");
    struct s3_file f = file_of(b, S3_SPLIT);

    (void)state;
    assert_int_equal(strlen(strstr(list, "<List")), 258);
    assert_int_equal(s3_find_size(&f, &b->err), 0);
    assert_int_equal(f.object_len, 5);
    end(b, N(acts));
}

static void a_file_of_transfers_that_has_none_is_an_empty_object_at_0(void **state)
{
    static const struct http_act acts[] = { { .must = "PUT /bucket/file/0000000000000000 ", .answer = OK },
                                            { .must = "PUT /bucket/file/0000000000000000 ",
                                              .answer = "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n" } };
    struct bench *b = begin(acts, N(acts), "transfer");
    struct s3_file f = file_of(b, S3_SPLIT);

    (void)state;
    assert_int_equal(s3_put_empty(&f, &b->err), 0);
    assert_int_equal(s3_put_empty(&f, &b->err), -1);
    assert_non_null(strstr(b->err.text, "403 Forbidden"));
    end(b, N(acts));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_write_that_is_not_sent_is_an_error),
        cmocka_unit_test(parts_are_not_read_before_they_are_an_object),
        cmocka_unit_test(the_name_of_a_bucket_is_no_file),
        cmocka_unit_test(an_upload_whose_id_is_too_long_is_aborted),
        cmocka_unit_test(an_empty_object_is_put_only_where_none_is),
        cmocka_unit_test(an_upload_that_may_be_there_still_is_an_error),
        cmocka_unit_test(an_upload_that_is_gone_was_completed_where_the_object_has_its_length),
        cmocka_unit_test(keys_that_are_no_transfers_of_a_file_stay),
        cmocka_unit_test(an_empty_file_is_one_that_is_found_and_removed),
        cmocka_unit_test(the_size_of_a_transfer_is_that_of_any_object_of_the_file),
        cmocka_unit_test(a_file_of_transfers_that_has_none_is_an_empty_object_at_0),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
