/* SPDX-License-Identifier: BSD-3-Clause */
/* test_json.c - the writer of JSON */
#include "base/text/json.h"

#include <ctype.h>
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/size.h"

struct writer {
    struct weir_str out;
    struct weir_json j;
};

static int setup(void **state)
{
    struct writer *w = calloc(1, sizeof(*w));

    if (w != NULL)
        w->j.out = &w->out;
    *state = w;
    return w == NULL ? -1 : 0;
}

static int teardown(void **state)
{
    struct writer *w = *state;

    weir_str_free(&w->out);
    free(w);
    return 0;
}

static void expect(struct writer *w, const char *want)
{
    assert_string_equal(weir_str_text(&w->out), want);
    assert_false(w->out.failed || w->j.failed);
    weir_str_clear(&w->out);
}

static void strings_are_escaped(void **state)
{
    static const char *const cases[][2] = {
        { "", "\"\"" },
        { "a\"b\\c/d", "\"a\\\"b\\\\c/d\"" },
        { "\n\t\r\b\f\x01\x1f\x7f", "\"\\n\\t\\r\\b\\f\\u0001\\u001f\\u007f\"" },
        { "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x8c\x8a",
          "\"gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x8c\x8a\"" },
        { "\xff", "\"\xef\xbf\xbd\"" },
        { "\xc3", "\"\xef\xbf\xbd\"" },
        { "\xc3\"", "\"\xef\xbf\xbd\\\"\"" },
        { "\xc0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\"" },
        { "\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" },
        { "\xf4\x90\x80\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" },
        { NULL, "null" },
    };
    struct writer *w = *state;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        weir_json_str(&w->j, NULL, cases[i][0]);
        expect(w, cases[i][1]);
    }
}

static void integers_are_whole(void **state)
{
    struct writer *w = *state;

    weir_json_int(&w->j, NULL, INT64_MIN);
    expect(w, "-9223372036854775808");
    weir_json_int(&w->j, NULL, INT64_MAX);
    expect(w, "9223372036854775807");
    weir_json_str(&w->j, NULL, NULL);
    expect(w, "null");
}

static void reals_show_that_they_are(void **state)
{
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        { 0, "0.0" },
        { -0.0, "-0.0" },
        { 1, "1.0" },
        { -12345, "-12345.0" },
        { 0.1, "0.1" },
        { 1e300, "1e+300" },
        { 1e-5, "1e-05" },
        { NAN, "null" },
        { INFINITY, "null" },
        { -INFINITY, "null" },
        { 0.5, "0.5" },
        { 1e15, "1e+15" },
        { 123456789012345678.0, "1.234567890123457e+17" },
    };
    struct writer *w = *state;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        weir_json_real(&w->j, NULL, cases[i].value);
        expect(w, cases[i].text);
    }
}

/* Digits before an exponent, without zeros in front and without ".0". */
static int digits_of(const char *text)
{
    int n = 0;

    for (; *text != '\0' && *text != 'e' && strcmp(text, ".0") != 0; text++)
        n += isdigit((unsigned char)*text) && (n > 0 || *text != '0');
    return n;
}

/* What the digits of a decimal fraction can say of a double. */
static bool is_as_near_as_16_digits(double is, double value)
{
    return fabs(is - value) <= fabs(value) * 5e-16;
}

static void reals_have_sixteen_digits_at_most(void **state)
{
    static const double values[] = { 0.1 + 0.2, 1.0 / 3,     DBL_MIN, DBL_EPSILON,
                                     M_PI,      -M_E / 1e9, 1e22,    9007199254740993.0 };
    struct writer *w = *state;
    double back;

    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        weir_json_real(&w->j, NULL, values[i]);
        weir_real_scan(weir_str_text(&w->out), &back);
        assert_true(is_as_near_as_16_digits(back, values[i]));
        assert_non_null(strpbrk(weir_str_text(&w->out), ".e"));
        assert_true(digits_of(weir_str_text(&w->out)) <= 16);
        weir_str_clear(&w->out);
    }
}

static void add_members(struct weir_json *j)
{
    weir_json_open(j, NULL, false);
    weir_json_str(j, "a", "b");
    weir_json_open(j, "list", true);
    weir_json_int(j, NULL, 1);
    weir_json_int(j, "ignored", 2);
    weir_json_open(j, NULL, false);
    weir_json_close(j);
    weir_json_close(j);
    weir_json_open(j, "empty", true);
    weir_json_close(j);
    weir_json_real(j, "x\"", 0.5);
    weir_json_close(j);
}

static void members_stand_on_lines_of_their_own(void **state)
{
    struct writer *w = *state;

    add_members(&w->j);
    expect(w, "{\n  \"a\": \"b\",\n  \"list\": [\n    1,\n    2,\n    {}\n  ],\n  \"empty\": [],\n"
              "  \"x\\\"\": 0.5\n}");
}

static void deep_members_can_share_a_line(void **state)
{
    struct writer *w = *state;

    w->j.flat = 1;
    add_members(&w->j);
    expect(w, "{\"a\": \"b\", \"list\": [1, 2, {}], \"empty\": [], \"x\\\"\": 0.5}");
    w->j.flat = 2;
    add_members(&w->j);
    expect(w, "{\n  \"a\": \"b\",\n  \"list\": [1, 2, {}],\n  \"empty\": [],\n  \"x\\\"\": 0.5\n}");
}

/* A value can be made apart, with the blanks of the place where it will stand. */
static void a_value_made_apart_looks_the_same(void **state)
{
    struct writer *w = *state;
    struct weir_str part = { 0 };
    struct weir_json inner = { .out = &part, .base = 1 };

    weir_json_open(&inner, NULL, true);
    weir_json_int(&inner, NULL, 7);
    weir_json_close(&inner);
    weir_json_open(&w->j, NULL, false);
    weir_json_text(&w->j, "p", weir_str_text(&part));
    weir_json_close(&w->j);
    weir_str_free(&part);
    expect(w, "{\n  \"p\": [\n    7\n  ]\n}");
}

static void a_document_too_deep_is_an_error(void **state)
{
    struct writer *w = *state;

    for (int i = 0; i < WEIR_JSON_DEPTH; i++)
        weir_json_open(&w->j, "k", i % 2 == 0);
    assert_false(w->j.failed);
    weir_json_open(&w->j, "k", true);
    assert_true(w->j.failed);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(strings_are_escaped),
        T(integers_are_whole),
        T(reals_show_that_they_are),
        T(reals_have_sixteen_digits_at_most),
        T(members_stand_on_lines_of_their_own),
        T(deep_members_can_share_a_line),
        T(a_value_made_apart_looks_the_same),
        T(a_document_too_deep_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
