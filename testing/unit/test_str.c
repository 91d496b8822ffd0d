/* SPDX-License-Identifier: BSD-3-Clause */
/* test_str.c - a string that grows */
#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void an_untouched_string_is_empty(void **state)
{
    struct weir_str s = { .text = NULL };

    (void)state;
    assert_string_equal(weir_str_text(&s), "");
    assert_null(s.text);
    weir_str_clear(&s);
    weir_str_free(&s);
}

static void white_space_at_both_ends_is_cut(void **state)
{
    static const char *const rows[][2] = {
        { "a b", "a b" }, { " \t\v\f\r\na \t b\n\r ", "a \t b" }, { "", "" }, { " \n", "" }, { "x ", "x" }, { " x", "x" }
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        char text[32];
        size_t len = strlen(rows[i][0]);
        const char *begin;

        memcpy(text, rows[i][0], len + 1);
        begin = weir_trimmed(rows[i][0], &len);
        assert_int_equal(len, strlen(rows[i][1]));
        assert_memory_equal(begin, rows[i][1], len);
        assert_string_equal(weir_trim(text), rows[i][1]);
    }
}

static void pieces_follow_each_other(void **state)
{
    struct weir_str s = { .text = NULL };

    (void)state;
    weir_str_addf(&s, "%d-%s", 4, "x");
    weir_str_addc(&s, '!');
    weir_str_add(&s, "abcdef", 3);
    weir_str_add(&s, NULL, 0);
    weir_str_addf(&s, "%s", "");
    assert_string_equal(weir_str_text(&s), "4-x!abc");
    assert_int_equal(s.len, 7);
    assert_false(s.failed);
    weir_str_free(&s);
}

static void nothing_added_is_still_a_text(void **state)
{
    struct weir_str s = { .text = NULL };

    (void)state;
    weir_str_add(&s, "", 0);
    assert_non_null(s.text);
    assert_string_equal(s.text, "");
    weir_str_free(&s);
}

static void it_grows_over_every_boundary(void **state)
{
    struct weir_str one = { .text = NULL }, many = { .text = NULL };

    (void)state;
    for (int i = 0; i < 3000; i++) {
        weir_str_addc(&one, (char)('a' + i % 26));
        weir_str_clear(&many);
        weir_str_addf(&many, "%s", weir_str_text(&one));
        assert_int_equal(many.len, i + 1);
        assert_string_equal(many.text, one.text);
    }
    weir_str_free(&one);
    weir_str_free(&many);
}

static void formatted_text_of_any_first_length_fits(void **state)
{
    (void)state;
    for (int width = 1; width < 300; width++) {
        struct weir_str s = { .text = NULL };

        weir_str_addf(&s, "%*d", width, 7);
        assert_int_equal(s.len, width);
        assert_int_equal(strlen(s.text), width);
        assert_int_equal(s.text[width - 1], '7');
        weir_str_free(&s);
    }
}

static void nul_bytes_are_kept(void **state)
{
    struct weir_str s = { .text = NULL };

    (void)state;
    weir_str_add(&s, "a\0b", 3);
    weir_str_addc(&s, '\0');
    weir_str_addc(&s, 'c');
    assert_int_equal(s.len, 5);
    assert_memory_equal(s.text, "a\0b\0c", 6);
    weir_str_free(&s);
}

static void clearing_keeps_the_memory(void **state)
{
    struct weir_str s = { .text = NULL };
    const char *before;

    (void)state;
    weir_str_addf(&s, "%1000d", 1);
    before = s.text;
    weir_str_clear(&s);
    assert_int_equal(s.len, 0);
    assert_string_equal(weir_str_text(&s), "");
    weir_str_addf(&s, "%1000d", 2);
    assert_ptr_equal(s.text, before);
    weir_str_free(&s);
    assert_null(s.text);
    assert_int_equal(s.cap, 0);
}

static void after_a_failure_the_text_stays_as_it_was(void **state)
{
    struct weir_str s = { .text = NULL };

    (void)state;
    weir_str_addf(&s, "kept");
    weir_str_add(&s, "", SIZE_MAX); /* no such memory: refused before it is read */
    assert_true(s.failed);
    weir_str_addf(&s, "lost");
    weir_str_addc(&s, 'x');
    assert_string_equal(weir_str_text(&s), "kept");
    weir_str_clear(&s);
    assert_true(s.failed);
    weir_str_free(&s);
    assert_false(s.failed);
}

static void a_list_has_texts_with_any_byte_but_nul(void **state)
{
    struct weir_str s = { .text = NULL };
    const char *at;

    (void)state;
    assert_null(weir_str_next(&s, NULL));
    weir_str_addf(&s, "a\nb%c%c,c%c", 0, 0, 0);
    assert_string_equal(at = weir_str_next(&s, NULL), "a\nb");
    assert_string_equal(at = weir_str_next(&s, at), "");
    assert_string_equal(at = weir_str_next(&s, at), ",c");
    assert_null(weir_str_next(&s, at));
    weir_str_free(&s);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_untouched_string_is_empty),
        cmocka_unit_test(white_space_at_both_ends_is_cut),
        cmocka_unit_test(pieces_follow_each_other),
        cmocka_unit_test(nothing_added_is_still_a_text),
        cmocka_unit_test(it_grows_over_every_boundary),
        cmocka_unit_test(formatted_text_of_any_first_length_fits),
        cmocka_unit_test(nul_bytes_are_kept),
        cmocka_unit_test(a_list_has_texts_with_any_byte_but_nul),
        cmocka_unit_test(clearing_keeps_the_memory),
        cmocka_unit_test(after_a_failure_the_text_stays_as_it_was),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
