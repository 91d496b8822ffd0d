/* SPDX-License-Identifier: BSD-3-Clause */
/* test_err.c - errors as values */
#include "base/err.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void a_failure_names_the_attempt_and_the_reason(void **state)
{
    struct weir_err err = WEIR_ERR_INIT;

    (void)state;
    errno = ENOENT;
    assert_int_equal(weir_fail(&err, WEIR_EIO, "open '%s'", "/a/b"), -1);
    assert_string_equal(err.text, "open '/a/b': No such file or directory");
    assert_int_equal(err.code, WEIR_EIO);
    assert_int_equal(err.sys, ENOENT);
    assert_int_equal(errno, ENOENT);
}

static void a_refusal_has_no_errno(void **state)
{
    struct weir_err err = WEIR_ERR_INIT;

    (void)state;
    errno = EIO;
    err.sys = EIO;
    assert_int_equal(weir_refuse(&err, WEIR_EUSAGE, "%d is odd", 3), -1);
    assert_string_equal(err.text, "3 is odd");
    assert_int_equal(err.code, WEIR_EUSAGE);
    assert_int_equal(err.sys, 0);
}

static void an_internal_error_says_that_it_is_one(void **state)
{
    struct weir_err err = WEIR_ERR_INIT;

    (void)state;
    weir_refuse(&err, WEIR_EBUG, "%d is odd", 3);
    assert_string_equal(err.text, "internal error: 3 is odd");
    weir_err_within(&err, "rank %d", 1);
    assert_string_equal(err.text, "rank 1: internal error: 3 is odd");
}

static void context_goes_in_front(void **state)
{
    struct weir_err err = WEIR_ERR_INIT;

    (void)state;
    weir_refuse(&err, WEIR_EUSAGE, "'x' is no number");
    assert_int_equal(weir_err_within(&err, "option %s", "-b"), -1);
    assert_int_equal(weir_err_within(&err, "%s:%d", "file", 7), -1);
    assert_string_equal(err.text, "file:7: option -b: 'x' is no number");
    assert_int_equal(err.code, WEIR_EUSAGE);
}

static void words_are_appended_as_far_as_they_fit(void **state)
{
    static struct weir_err err = WEIR_ERR_INIT;

    (void)state;
    weir_refuse(&err, WEIR_EUSAGE, "'x' is none");
    assert_int_equal(weir_err_add(&err, " of %d", 7), -1);
    assert_string_equal(err.text, "'x' is none of 7");
    assert_int_equal(err.code, WEIR_EUSAGE);
    for (int i = 0; i < 3; i++)
        weir_err_add(&err, "%4000s", "y");
    assert_int_equal(strlen(err.text), WEIR_ERR_TEXT - 1);
    assert_int_equal(weir_err_add(NULL, "nothing"), -1);
}

static void context_of_an_empty_text_stands_alone(void **state)
{
    struct weir_err err = WEIR_ERR_INIT;

    (void)state;
    weir_err_within(&err, "there");
    assert_string_equal(err.text, "there");
}

static void without_a_place_for_it_nothing_is_recorded(void **state)
{
    (void)state;
    assert_int_equal(weir_fail(NULL, WEIR_EIO, "x"), -1);
    assert_int_equal(weir_refuse(NULL, WEIR_EIO, "x"), -1);
    assert_int_equal(weir_err_within(NULL, "x"), -1);
}

static void the_reason_survives_long_words(void **state)
{
    static const char tail[] = ": No space left on device";
    static char path[3 * WEIR_ERR_TEXT];
    struct weir_err err = WEIR_ERR_INIT;
    size_t len;

    (void)state;
    memset(path, 'p', sizeof(path) - 1);
    errno = ENOSPC;
    weir_fail(&err, WEIR_EIO, "write '%s'", path);
    len = strlen(err.text);
    assert_in_range(len, WEIR_ERR_TEXT - 1024, WEIR_ERR_TEXT - 1);
    assert_string_equal(err.text + len - strlen(tail), tail);
    weir_err_within(&err, "rank 1 on a host"); /* there is room for it */
    len = strlen(err.text);
    assert_string_equal(err.text + len - strlen(tail), tail);
    weir_fail(&err, WEIR_EIO, "write '%s'", path);
    assert_memory_equal(err.text, "write 'ppp", 10);
}

static void long_refusals_and_contexts_are_clipped(void **state)
{
    static char words[3 * WEIR_ERR_TEXT];
    struct weir_err err = WEIR_ERR_INIT;

    (void)state;
    memset(words, 'w', sizeof(words) - 1);
    weir_refuse(&err, WEIR_EUSAGE, "%s", words);
    assert_int_equal(strlen(err.text), WEIR_ERR_TEXT - 1);
    weir_err_within(&err, "here");
    assert_int_equal(strlen(err.text), WEIR_ERR_TEXT - 1);
    assert_memory_equal(err.text, "here: www", 9);
    weir_err_within(&err, "%s", words);
    assert_int_equal(strlen(err.text), WEIR_ERR_TEXT - 1);
    assert_memory_equal(err.text, "www", 3);
}

static void the_text_may_be_an_argument(void **state)
{
    struct weir_err err = WEIR_ERR_INIT;

    (void)state;
    weir_refuse(&err, WEIR_EUSAGE, "inner");
    weir_refuse(&err, WEIR_EIO, "outer (%s)", err.text);
    assert_string_equal(err.text, "outer (inner)");
}

static void of_two_statuses_the_worse_holds(void **state)
{
    static const enum weir_code worst_first[] = { WEIR_EBUG,   WEIR_EDATA, WEIR_EIO,      WEIR_ESETUP,
                                                  WEIR_EUSAGE, WEIR_EINTR, WEIR_EINVALID, WEIR_OK };
    const int n = sizeof(worst_first) / sizeof(*worst_first);

    (void)state;
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++)
            assert_int_equal(weir_code_worse(worst_first[a], worst_first[b]),
                             worst_first[a < b ? a : b]);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failure_names_the_attempt_and_the_reason),
        cmocka_unit_test(a_refusal_has_no_errno),
        cmocka_unit_test(an_internal_error_says_that_it_is_one),
        cmocka_unit_test(context_goes_in_front),
        cmocka_unit_test(words_are_appended_as_far_as_they_fit),
        cmocka_unit_test(context_of_an_empty_text_stands_alone),
        cmocka_unit_test(without_a_place_for_it_nothing_is_recorded),
        cmocka_unit_test(the_reason_survives_long_words),
        cmocka_unit_test(long_refusals_and_contexts_are_clipped),
        cmocka_unit_test(the_text_may_be_an_argument),
        cmocka_unit_test(of_two_statuses_the_worse_holds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
