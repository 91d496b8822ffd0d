/* SPDX-License-Identifier: BSD-3-Clause */
/* test_s3_place.c - bucket and key that a name stands for, and their encoding */
#include "backends/s3/s3-forms.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct location {
    struct weir_str bucket, key;
    struct weir_err err;
    int rc;
};

static struct location place_of(const char *bucket, const char *path)
{
    const struct s3_options o = { .bucket = bucket, .style = "path" };
    struct location p = { .rc = 0 };

    p.rc = s3_locate(&o, path, &p.bucket, &p.key, &p.err);
    return p;
}

static void release(struct location *p)
{
    weir_str_free(&p->bucket);
    weir_str_free(&p->key);
}

static void assert_place(const char *option, const char *path, const char *bucket, const char *key)
{
    struct location p = place_of(option, path);

    assert_int_equal(p.rc, 0);
    assert_string_equal(weir_str_text(&p.bucket), bucket);
    assert_string_equal(weir_str_text(&p.key), key);
    release(&p);
}

static void assert_refused(const char *option, const char *path, const char *words)
{
    struct location p = place_of(option, path);

    assert_int_equal(p.rc, -1);
    assert_int_equal(p.err.code, WEIR_EUSAGE);
    if (!strstr(p.err.text, words))
        fail_msg("'%s' has no '%s'", p.err.text, words);
    release(&p);
}

static void a_url_has_bucket_and_key(void **state)
{
    (void)state;
    assert_place(NULL, "s3://data/a/b.00000001", "data", "a/b.00000001");
    assert_place(NULL, "S3://data/x", "data", "x");
    assert_place("other", "s3://data/x", "data", "x");
}

static void with_a_bucket_a_plain_name_is_the_key(void **state)
{
    (void)state;
    assert_place("data", "file", "data", "file");
    assert_place("data", "/scratch/me/file", "data", "scratch/me/file");
    assert_place("data", "./file", "data", "file");
    assert_place("data", "s3:/file", "data", "s3:/file");
}

static void slashes_and_dots_without_a_meaning_are_left_out(void **state)
{
    (void)state;
    assert_place(NULL, "s3://data//a///b/./c/", "data", "a/b/c");
    assert_place("data", "././/a/.", "data", "a");
    assert_place("data", "a/...", "data", "a/...");
    assert_place("data", ".a/b.", "data", ".a/b.");
}

static void a_way_up_is_refused(void **state)
{
    (void)state;
    assert_refused("data", "a/../b", "'..'");
    assert_refused("data", "..", "'..'");
    assert_refused(NULL, "s3://data/..", "'..'");
    assert_place("data", "a..b/..c/d..", "data", "a..b/..c/d..");
}

static void a_name_without_bucket_or_key_is_refused(void **state)
{
    (void)state;
    assert_refused(NULL, "file", "--s3.bucket=BUCKET");
    assert_refused(NULL, "s3:///file", "has no bucket");
}

static void a_directory_may_be_the_bucket(void **state)
{
    const struct s3_options o = { .style = "path" };
    struct location p = { .rc = 0 };

    (void)state;
    assert_int_equal(s3_locate(&o, "s3://data/", &p.bucket, &p.key, &p.err), 0);
    assert_string_equal(weir_str_text(&p.bucket), "data");
    assert_string_equal(weir_str_text(&p.key), "");
    release(&p);
}

static void names_that_no_bucket_has_are_refused(void **state)
{
    static const struct {
        const char *name, *words;
    } bad[] = {
        { "ab", "3 to 63" },
        { "a123456789012345678901234567890123456789012345678901234567890123", "3 to 63" },
        { "Data", "small letters" },
        { "my_data", "small letters" },
        { "-data", "begins and ends" },
        { "data.", "begins and ends" },
        { "my..data", "two dots" },
        { "192.168.1.1", "no IP address" },
        { "xn--data", "xn--" },
        { "d\xc3\xa4ta", "small letters" },
    };
    struct weir_err err = WEIR_ERR_INIT;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_refused(bad[i].name, "file", bad[i].words);
    assert_refused(NULL, "s3://no_bucket/x", "'no_bucket'");
    assert_int_equal(s3_bucket_check("abc", &err), 0);
    assert_int_equal(s3_bucket_check("1.2.3", &err), 0);
    assert_int_equal(s3_bucket_check("a12345678901234567890123456789012345678901234567890123456789012", &err), 0);
}

static void a_dotted_bucket_goes_before_no_host(void **state)
{
    const struct s3_options o = { .style = "host" };
    struct location p = { .rc = 0 };

    (void)state;
    assert_int_equal(s3_locate(&o, "s3://my.data/x", &p.bucket, &p.key, &p.err), -1);
    assert_non_null(strstr(p.err.text, "--s3.style=path"));
    release(&p);
}

static void a_key_has_1024_bytes_of_utf8_at_most(void **state)
{
    char key[1026];

    (void)state;
    memset(key, 'k', sizeof(key));
    key[1024] = '\0';
    assert_place("data", key, "data", key);
    key[1024] = 'k';
    key[1025] = '\0';
    assert_refused("data", key, "1024");
    assert_refused("data", "a\xff", "UTF-8");
    assert_refused("data", "a\nb", "control");
    assert_place("data", "\xe6\x97\xa5/\xc3\xa4 b", "data", "\xe6\x97\xa5/\xc3\xa4 b");
}

static void all_but_unreserved_bytes_are_encoded(void **state)
{
    struct weir_str out = { 0 };

    (void)state;
    s3_encode("aZ09-._~/ +%&=:@!*'(),;\xc3\xa4", "", &out);
    assert_string_equal(weir_str_text(&out),
                        "aZ09-._~%2F%20%2B%25%26%3D%3A%40%21%2A%27%28%29%2C%3B%C3%A4");
    weir_str_clear(&out);
    s3_encode("a/b c/~d", "/", &out);
    assert_string_equal(weir_str_text(&out), "a/b%20c/~d");
    weir_str_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_url_has_bucket_and_key),
        cmocka_unit_test(with_a_bucket_a_plain_name_is_the_key),
        cmocka_unit_test(slashes_and_dots_without_a_meaning_are_left_out),
        cmocka_unit_test(a_way_up_is_refused),
        cmocka_unit_test(a_name_without_bucket_or_key_is_refused),
        cmocka_unit_test(a_directory_may_be_the_bucket),
        cmocka_unit_test(names_that_no_bucket_has_are_refused),
        cmocka_unit_test(a_dotted_bucket_goes_before_no_host),
        cmocka_unit_test(a_key_has_1024_bytes_of_utf8_at_most),
        cmocka_unit_test(all_but_unreserved_bytes_are_encoded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
