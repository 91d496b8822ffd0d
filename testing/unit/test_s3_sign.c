/* SPDX-License-Identifier: BSD-3-Clause */
/* test_s3_sign.c - signatures are those of the examples that the protocol is published with */
#include "backends/s3/s3-forms.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define EMPTY "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

/* "Examples: Signature Calculations" of the reference of the S3 API, header-based authentication. */
static struct s3_signing example(void)
{
    return (struct s3_signing){
        .id = "AKIAIOSFODNN7EXAMPLE",
        .secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        .region = "us-east-1",
        .verb = "GET",
        .path = "/",
        .payload = EMPTY,
        .when = "20130524T000000Z",
        .headers = { "Host: examplebucket.s3.amazonaws.com", "x-amz-content-sha256: " EMPTY,
                     "x-amz-date: 20130524T000000Z" },
        .n = 3,
    };
}

static void expect_signature(struct s3_signing *what, const char *names, const char *signature)
{
    struct s3_signer k = { 0 };
    char out[1024];

    for (int i = 0; i < 2; i++) { /* with a new key, and with the one that is kept */
        assert_int_equal(s3_sign(&k, what, out, sizeof(out)), 0);
        if (!strstr(out, names) || !strstr(out, signature))
            fail_msg("'%s' lacks %s or %s", out, names, signature);
    }
    s3_signer_end(&k);
}

static void a_get_of_a_range_is_signed_as_published(void **state)
{
    struct s3_signing what = example();

    (void)state;
    what.path = "/test.txt";
    what.headers[what.n++] = "Range: bytes=0-9";
    expect_signature(&what, "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,",
                     "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
}

static void a_query_is_signed_as_published(void **state)
{
    struct s3_signing what = example();

    (void)state;
    what.query = "max-keys=2&prefix=J";
    expect_signature(&what, "SignedHeaders=host;x-amz-content-sha256;x-amz-date,",
                     "Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
    what.query = "lifecycle=";
    expect_signature(&what, "SignedHeaders=host;x-amz-content-sha256;x-amz-date,",
                     "Signature=fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
}

static void the_body_of_a_put_is_signed_as_published(void **state)
{
    struct s3_signing what = example();
    char hash[S3_HEX], header[128] = "x-amz-content-sha256: ";

    (void)state;
    assert_int_equal(s3_sha256_hex("Welcome to Amazon S3.", 21, hash), 0);
    memcpy(header + strlen(header), hash, S3_HEX);
    what.verb = "PUT";
    what.path = "/test%24file.text";
    what.payload = hash;
    what.headers[1] = header;
    what.headers[what.n++] = "date:Fri,  24 May 2013 00:00:00 GMT ";
    what.headers[what.n++] = "X-Amz-Storage-Class: REDUCED_REDUNDANCY";
    expect_signature(&what, "SignedHeaders=date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class,",
                     "Signature=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");
}

static void a_text_without_room_is_refused(void **state)
{
    struct s3_signing what = example();
    struct s3_signer k = { 0 };
    char out[100];

    (void)state;
    assert_int_equal(s3_sign(&k, &what, out, sizeof(out)), -1);
    s3_signer_end(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_get_of_a_range_is_signed_as_published),
        cmocka_unit_test(a_query_is_signed_as_published),
        cmocka_unit_test(the_body_of_a_put_is_signed_as_published),
        cmocka_unit_test(a_text_without_room_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
