/* SPDX-License-Identifier: BSD-3-Clause */
/* test_assume.c - rates from an earlier result, and the reader of JSON */
#include "config.h"
#include "engine/assume.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/jsonscan.h"

static void log_value(void *to, const struct weir_json_value *v)
{
    struct weir_str *log = to;

    weir_str_addf(log, "%s", v->path);
    if (v->kind == WEIR_JSON_TEXT)
        weir_str_addf(log, "='%s' ", v->text);
    else if (v->kind == WEIR_JSON_NUMBER)
        weir_str_addf(log, "=%g ", v->number);
    else
        weir_str_addf(log, "} ");
}

static void values_come_with_their_paths(void **state)
{
    struct weir_str log = { 0 };
    struct weir_err err = WEIR_ERR_INIT;

    (void)state;
    assert_int_equal(weir_json_scan(" {\"a\": [1, {\"b\\\"\" : \"x\\\\\"}, []],\n\"c\":{},\"d\":null, "
                                    "\"e\": [true,false, -2.5e1]} \n",
                                    log_value, &log, &err),
                     0);
    assert_string_equal(weir_str_text(&log),
                        "a=1 a.b\\\"='x\\\\' a} c} d=nan e=1 e=0 e=-25 } ");
    weir_str_free(&log);
}

static void what_is_not_json_is_refused(void **state)
{
    static const char *const cases[] = { "",     "{",        "{\"a\": 1",  "[1,]",  "[1 2]", "{\"a\" 1}",
                                         "\"a",  "[1] x",    "{1: 2}",     "nil",   "[-]",   "\"a\nb\"",
                                         "{\"",  "[\"\\",    "{\"a\":}",   "]",     "+1",    "hello" };
    struct weir_str log = { 0 };
    char deep[WEIR_JSON_DEPTH + 4];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct weir_err err = WEIR_ERR_INIT;

        assert_int_equal(weir_json_scan(cases[i], log_value, &log, &err), -1);
        assert_int_equal(err.code, WEIR_EUSAGE);
        assert_non_null(strstr(err.text, "this is not JSON"));
    }
    memset(deep, '[', sizeof(deep) - 1);
    deep[sizeof(deep) - 1] = '\0';
    assert_int_equal(weir_json_scan(deep, log_value, &log, NULL), -1);
    weir_str_free(&log);
}

#define RATE(op, median, unit)                                                                     \
    "{\"operation\": \"" op "\", \"repetitions\": 3, \"median\": " median ", \"unit\": \"" unit "\"}"

static void the_last_test_of_a_kind_counts(void **state)
{
    static const char result[] = "{\"tests\": [{\"rates\": [" RATE("write", "100.5", "bytes/s") ", "
        RATE("read", "300", "bytes/s") "]}, {\"rates\": [" RATE("write", "200", "bytes/s") ", "
        RATE("remove", "7", "ops/s") "]}], \"rates\": [" RATE("read", "1", "bytes/s") "]}";
    struct weir_assumed a;

    (void)state;
    assert_int_equal(weir_assumed_scan(&a, result, NULL), 0);
    assert_float_equal(weir_assumed_rate(&a, "write"), 200, 0);
    assert_float_equal(weir_assumed_rate(&a, "read"), 300, 0);
    assert_true(isnan(weir_assumed_rate(&a, "remove")));
    a = (struct weir_assumed) { .any = 5 };
    assert_float_equal(weir_assumed_rate(&a, "read"), 5, 0);
}

static void a_result_without_rates_is_refused(void **state)
{
    static const char *const cases[] = {
        "{}", "{\"tests\": []}", "{\"tests\": [{\"rates\": [" RATE("write", "null", "bytes/s") "]}]}",
        "{\"tests\": [{\"rates\": [" RATE("write", "0", "bytes/s") "]}]}",
        "{\"tests\": [{\"rates\": [" RATE("create", "5", "ops/s") "]}]}",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct weir_err err = WEIR_ERR_INIT;
        struct weir_assumed a;

        assert_int_equal(weir_assumed_scan(&a, cases[i], &err), -1);
        assert_non_null(strstr(err.text, "no rate in bytes/s"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_come_with_their_paths),
        cmocka_unit_test(what_is_not_json_is_refused),
        cmocka_unit_test(the_last_test_of_a_kind_counts),
        cmocka_unit_test(a_result_without_rates_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
