/* SPDX-License-Identifier: BSD-3-Clause */
/* test_s3_route.c - where requests go after a service has sent them to another region */
#include "backends/s3/s3-client.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct s3_service service(char *endpoint, bool host_style)
{
    static char region[] = "here";

    return (struct s3_service){ .endpoint = endpoint, .region = region, .host_style = host_style,
                                .https = strncmp(endpoint, "https:", 6) == 0 };
}

struct elsewhere {
    int status;
    struct s3_reply reply;
};

static struct elsewhere elsewhere(int status, const char *region, const char *location, const char *endpoint)
{
    struct elsewhere e = { .status = status };

    snprintf(e.reply.region, sizeof(e.reply.region), "%s", region);
    snprintf(e.reply.location, sizeof(e.reply.location), "%s", location);
    snprintf(e.reply.endpoint, sizeof(e.reply.endpoint), "%s", endpoint);
    return e;
}

/* An object of the service, an answer, and the URL that is asked then; NULL: there is no other place. */
static void leads(const struct s3_service *sv, const char *bucket, const char *key, struct elsewhere e, const char *to)
{
    const struct s3_object object = { bucket, key };
    struct s3_route r = { .moved = false };
    struct weir_str before = { 0 }, after = { 0 };
    bool moved;

    s3_route_url(&r, sv, &object, &before);
    moved = s3_route_move(&r, sv, bucket, e.status, &e.reply);
    s3_route_url(&r, sv, &object, &after);
    assert_int_equal(moved, to != NULL);
    assert_string_equal(after.text, to ? to : before.text);
    assert_string_equal(s3_route_region(&r, sv), to && *e.reply.region ? e.reply.region : "here");
    weir_str_free(&before);
    weir_str_free(&after);
}

static void a_url_or_a_host_of_an_answer_is_asked(void **state)
{
    struct s3_service sv = service((char[]){ "https://s.net:9" }, false);

    (void)state;
    leads(&sv, "buck", "a b", elsewhere(307, "there", "https://t.net:8/buck/a%20b?x=", ""), "https://t.net:8/buck/a%20b");
    leads(&sv, "buck", "a b", elsewhere(307, "", "https://buck.t.net/a%20b", ""), "https://t.net/buck/a%20b");
    leads(&sv, "buck", "a b", elsewhere(301, "there", "", "buck.t.net"), "https://t.net/buck/a%20b");
    leads(&sv, "buck", "a b", elsewhere(301, "", "", "t.net"), "https://t.net/buck/a%20b");
    leads(&sv, "buck", "", elsewhere(307, "", "", "t.net"), "https://t.net/buck");
}

static void a_region_alone_changes_the_signature(void **state)
{
    struct s3_service sv = service((char[]){ "https://s.net" }, false);

    (void)state;
    leads(&sv, "buck", "", elsewhere(400, "there", "", ""), "https://s.net/buck");
    leads(&sv, "buck", "", elsewhere(301, "there", "", ""), "https://s.net/buck");
}

static void the_path_of_an_endpoint_stays(void **state)
{
    struct s3_service sv = service((char[]){ "https://s.net/store" }, false);

    (void)state;
    leads(&sv, "buck", "a", elsewhere(400, "there", "", ""), "https://s.net/store/buck/a");
    leads(&sv, "buck", "a", elsewhere(307, "", "", "t.net"), "https://t.net/store/buck/a");
}

static void the_bucket_stays_before_the_host(void **state)
{
    struct s3_service sv = service((char[]){ "https://s.net" }, true);

    (void)state;
    leads(&sv, "buck", "a", elsewhere(307, "there", "https://buck.t.net/a", ""), "https://buck.t.net/a");
    leads(&sv, "my.buck", "a", elsewhere(301, "there", "", "my.buck.t.net"), "https://my.buck.t.net/a");
}

static void amazon_names_only_the_region_of_some(void **state)
{
    struct s3_service sv = service((char[]){ "https://s3.here.amazonaws.com" }, false);

    (void)state;
    leads(&sv, "buck", "a", elsewhere(301, "eu-west-3", "", ""),
          "https://s3.eu-west-3.amazonaws.com/buck/a");
}

static void other_answers_lead_nowhere(void **state)
{
    struct s3_service sv = service((char[]){ "https://s.net" }, false);

    (void)state;
    leads(&sv, "buck", "a", elsewhere(307, "there", "http://s.net/buck/a", ""), NULL); /* less security */
    leads(&sv, "buck", "a", elsewhere(307, "there", "https://user@t.net/buck/a", ""), NULL);
    leads(&sv, "buck", "a", elsewhere(301, "", "", "a b"), NULL);
    leads(&sv, "buck", "a", elsewhere(301, "there@x", "", ""), NULL);
    leads(&sv, "buck", "a", elsewhere(400, "here", "", ""), NULL);
    leads(&sv, "buck", "a", elsewhere(404, "there", "", ""), NULL);
    leads(&sv, "buck", "a", elsewhere(307, "", "https://s.net/buck/a", ""), NULL); /* the same place */
}

static void a_place_is_left_once(void **state)
{
    struct s3_service sv = service((char[]){ "http://s.net" }, false);
    struct s3_route r = { .moved = false };
    struct elsewhere e = elsewhere(307, "", "", "t.net"), other = elsewhere(307, "", "", "u.net");

    (void)state;
    assert_true(s3_route_move(&r, &sv, "buck", e.status, &e.reply));
    assert_false(s3_route_move(&r, &sv, "buck", other.status, &other.reply));
    assert_string_equal(s3_route_endpoint(&r, &sv), "http://t.net");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_url_or_a_host_of_an_answer_is_asked),
        cmocka_unit_test(a_region_alone_changes_the_signature),
        cmocka_unit_test(the_path_of_an_endpoint_stays),
        cmocka_unit_test(the_bucket_stays_before_the_host),
        cmocka_unit_test(amazon_names_only_the_region_of_some),
        cmocka_unit_test(other_answers_lead_nowhere),
        cmocka_unit_test(a_place_is_left_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
