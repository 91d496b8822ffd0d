/* SPDX-License-Identifier: BSD-3-Clause */
/* test_s3_service.c - endpoint, region and keys of a task */
#include "backends/s3/s3-client.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct s3_options usual = {
    .spread = "rank", .style = "path", .object = "file", .checksum = "none", .payload = "unsigned", .part_least = 5 << 20,
};

static int no_environment(void **state)
{
    static const char *const names[] = {
        "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL_S3",
        "AWS_ENDPOINT_URL", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE", "AWS_CONFIG_FILE",
        "AWS_SHARED_CREDENTIALS_FILE", "AWS_CA_BUNDLE", "HOME",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        unsetenv(names[i]);
    return 0;
}

/* What begin says with these options on that rank. */
struct outcome {
    struct weir_par par;
    struct weir_log log;
    struct weir_session s;
    struct s3_service sv;
    struct weir_err err;
    int rc;
};

static void begin(struct outcome *c, const struct s3_options *o, int rank, int node)
{
    *c = (struct outcome) { .par = { .rank = rank, .node = node, .size = 8, .nodes = 4 },
                            .log = { .rank = 1, .fd = 2 } };
    c->s = (struct weir_session) { .opt = o, .par = &c->par, .log = &c->log };
    c->rc = s3_service_begin(&c->sv, &c->s, &c->err);
}

static void assert_endpoint(const struct s3_options *o, int rank, int node, const char *url)
{
    struct outcome c;

    begin(&c, o, rank, node);
    assert_int_equal(c.rc, 0);
    assert_string_equal(c.sv.endpoint, url);
    s3_service_end(&c.sv);
}

static void assert_refused(const struct s3_options *o, const char *words)
{
    struct outcome c;

    begin(&c, o, 0, 0);
    assert_int_equal(c.rc, -1);
    assert_null(c.sv.endpoint);
    if (!strstr(c.err.text, words))
        fail_msg("'%s' has no '%s'", c.err.text, words);
}

static void without_an_endpoint_it_is_that_of_the_region(void **state)
{
    struct s3_options o = usual;

    (void)state;
    assert_endpoint(&o, 0, 0, "https://s3.us-east-1.amazonaws.com");
    setenv("AWS_DEFAULT_REGION", "eu-west-2", 1);
    assert_endpoint(&o, 0, 0, "https://s3.eu-west-2.amazonaws.com");
    setenv("AWS_REGION", "eu-west-1", 1);
    assert_endpoint(&o, 0, 0, "https://s3.eu-west-1.amazonaws.com");
    o.region = "cn-north-1";
    assert_endpoint(&o, 0, 0, "https://s3.cn-north-1.amazonaws.com.cn");
    o.region = "no region";
    assert_refused(&o, "--s3.region: 'no region'");
}

static void the_option_wins_over_the_environment(void **state)
{
    struct s3_options o = usual;

    (void)state;
    setenv("AWS_ENDPOINT_URL", "http://all:1", 1);
    assert_endpoint(&o, 0, 0, "http://all:1");
    setenv("AWS_ENDPOINT_URL_S3", "http://s3:2", 1);
    assert_endpoint(&o, 0, 0, "http://s3:2");
    o.endpoints = "http://option:3/";
    assert_endpoint(&o, 0, 0, "http://option:3");
}

static void endpoints_are_taken_in_turn(void **state)
{
    struct s3_options o = usual;

    (void)state;
    o.endpoints = "http://a:1, http://b:2 ,http://c:3";
    assert_endpoint(&o, 0, 0, "http://a:1");
    assert_endpoint(&o, 2, 0, "http://c:3");
    assert_endpoint(&o, 7, 3, "http://b:2");
    o.spread = "node";
    assert_endpoint(&o, 7, 3, "http://a:1");
    assert_endpoint(&o, 7, 2, "http://c:3");
}

static void urls_lose_what_means_nothing(void **state)
{
    static const char *const pairs[][2] = {
        { "HTTP://Host.Example:80/", "http://host.example" },
        { "https://h:443", "https://h" },
        { "http://[::1]:9000", "http://[::1]:9000" },
        { "https://[FE80::1]", "https://[fe80::1]" },
        { "http://h:8000///", "http://h:8000" },
        { "http://h/storage/v1/", "http://h/storage/v1" },
    };
    struct s3_options o = usual;

    (void)state;
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        o.endpoints = pairs[i][0];
        assert_endpoint(&o, 0, 0, pairs[i][1]);
    }
}

static void what_is_no_url_is_refused(void **state)
{
    static const char *const pairs[][2] = {
        { "h:9000", "does not begin with http://" },
        { "ftp://h", "does not begin with http://" },
        { "", "does not begin with http://" },
        { "http://a,", "URL 2, ''" },
        { "http://", "no valid host name" },
        { "http://:80", "no valid host name" },
        { "http://h:0", "a port from 1" },
        { "http://h:65536", "a port from 1" },
        { "http://h:99999999999999999999", "a port from 1" },
        { "http://h:", "a port from 1" },
        { "http://h x", "':PORT', '/' or nothing" },
        { "http://[::1", "no valid host name" },
        { "http://[x]", "no valid IPv6 address" },
        { "http://h/a/../b", "begins with a dot" },
        { "http://h/a b", "a path with characters" },
        { "http://a,HTTP://A:80/", "URLs 1 and 2 are the same" },
        { "http://h?x=1", "query" },
        { "http://h/#a", "fragment" },
    };
    struct s3_options o = usual;

    (void)state;
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        o.endpoints = pairs[i][0];
        assert_refused(&o, pairs[i][1]);
    }
}

static void a_url_with_a_password_is_refused_and_not_shown(void **state)
{
    struct s3_options o = usual;
    struct outcome c;

    (void)state;
    o.endpoints = "http://a,http://me:hidden@h:9000/";
    begin(&c, &o, 0, 0);
    assert_int_equal(c.rc, -1);
    assert_non_null(strstr(c.err.text, "URL 2 has a user or a password"));
    assert_null(strstr(c.err.text, "hidden"));
}

static void certificates_need_https(void **state)
{
    struct s3_options o = usual;

    (void)state;
    o.endpoints = "http://h";
    o.insecure = true;
    assert_refused(&o, "--s3.insecure is about");
    o.insecure = false;
    o.ca_file = "/dev/null";
    assert_refused(&o, "--s3.ca-file is about");
    o.endpoints = "https://h";
    assert_refused(&o, "/dev/null' is not a regular file");
    o.ca_file = "/proc/self/exe";
    assert_endpoint(&o, 0, 0, "https://h");
    o.ca_file = "/no/such/file";
    assert_refused(&o, "/no/such/file");
}

static void an_address_has_no_bucket_before_it(void **state)
{
    struct s3_options o = usual;

    (void)state;
    o.style = "host";
    o.endpoints = "http://127.0.0.1:9000";
    assert_refused(&o, "is an IP address");
    o.endpoints = "http://[::1]:9000";
    assert_refused(&o, "is an IP address");
    o.endpoints = "http://h/path";
    assert_refused(&o, "has a path");
    o.endpoints = "http://localhost:9000";
    assert_endpoint(&o, 0, 0, "http://localhost:9000");
}

static void assert_url(const struct s3_options *o, const char *bucket, const char *key, const char *url)
{
    struct weir_str out = { 0 };
    struct outcome c;

    begin(&c, o, 0, 0);
    assert_int_equal(c.rc, 0);
    s3_route_url(&(struct s3_route) { .moved = false }, &c.sv, &(struct s3_object) { bucket, key }, &out);
    assert_string_equal(weir_str_text(&out), url);
    weir_str_free(&out);
    s3_service_end(&c.sv);
}

static void an_object_has_a_url(void **state)
{
    struct s3_options o = usual;

    (void)state;
    o.endpoints = "https://h:9000/";
    assert_url(&o, "data", "a/b c", "https://h:9000/data/a/b%20c");
    assert_url(&o, "data", "", "https://h:9000/data");
    o.style = "host";
    assert_url(&o, "data", "a/b c", "https://data.h:9000/a/b%20c");
    assert_url(&o, "data", "", "https://data.h:9000/");
}

static void facts_have_no_secret(void **state)
{
    struct s3_options o = usual;
    struct weir_str out = { 0 };
    struct outcome c;

    (void)state;
    setenv("AWS_ACCESS_KEY_ID", "the-id", 1);
    setenv("AWS_SECRET_ACCESS_KEY", "the-secret", 1);
    setenv("AWS_SESSION_TOKEN", "the-token", 1);
    o.endpoints = "http://a,http://b";
    begin(&c, &o, 1, 0);
    assert_int_equal(c.rc, 0);
    assert_string_equal(c.sv.keys.secret, "the-secret");
    s3_service_describe(&c.sv, &out);
    assert_non_null(strstr(weir_str_text(&out), "endpoints = 2\n"));
    assert_non_null(strstr(weir_str_text(&out), "keys = the environment\n"));
    assert_null(strstr(weir_str_text(&out), "the-"));
    weir_str_free(&out);
    s3_service_end(&c.sv);
    assert_null(c.sv.keys.secret);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(without_an_endpoint_it_is_that_of_the_region, no_environment),
        cmocka_unit_test_setup(the_option_wins_over_the_environment, no_environment),
        cmocka_unit_test_setup(endpoints_are_taken_in_turn, no_environment),
        cmocka_unit_test_setup(urls_lose_what_means_nothing, no_environment),
        cmocka_unit_test_setup(what_is_no_url_is_refused, no_environment),
        cmocka_unit_test_setup(a_url_with_a_password_is_refused_and_not_shown, no_environment),
        cmocka_unit_test_setup(certificates_need_https, no_environment),
        cmocka_unit_test_setup(an_address_has_no_bucket_before_it, no_environment),
        cmocka_unit_test_setup(an_object_has_a_url, no_environment),
        cmocka_unit_test_setup(facts_have_no_secret, no_environment),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
