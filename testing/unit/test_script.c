/* SPDX-License-Identifier: BSD-3-Clause */
/* test_script.c - IOR script files: keywords, tests, comments, errors with file and line */
#include "base/text/script.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/str.h"

/* Writes down what a script says: directives in brackets, RUN as "|". */
struct notebook {
    struct weir_str text;
    const char *bad; /* this list is refused */
    int bad_run;     /* so is this RUN, counted from 1; 0: none */
    int runs;
};

static int note_list(void *arg, const char *list, struct weir_err *err)
{
    struct notebook *book = arg;

    if (book->bad != NULL && strcmp(list, book->bad) == 0)
        return weir_refuse(err, WEIR_EUSAGE, "bad list");
    weir_str_addf(&book->text, "[%s]", list);
    return 0;
}

static int note_run(void *arg, struct weir_err *err)
{
    struct notebook *book = arg;

    weir_str_addc(&book->text, '|');
    return ++book->runs == book->bad_run ? weir_refuse(err, WEIR_EIO, "bad run") : 0;
}

static int read_script(struct notebook *book, const char *text, size_t len,
                       struct weir_err *err)
{
    const struct weir_script_sink sink = { .directives = note_list,
                                           .run = note_run,
                                           .arg = book };
    char *exact = test_malloc(len > 0 ? len : 1); /* no NUL after it: reading on is an error */
    int rc;

    memcpy(exact, text, len);
    *err = (struct weir_err)WEIR_ERR_INIT;
    rc = weir_script_read(exact, len, "file.ior", &sink, err);
    test_free(exact);
    return rc;
}

static void says_bytes(const char *text, size_t len, const char *expected)
{
    struct notebook book = { .bad = NULL };
    struct weir_err err;

    if (read_script(&book, text, len, &err) != 0)
        fail_msg("%s", err.text);
    assert_string_equal(weir_str_text(&book.text), expected);
    weir_str_free(&book.text);
}

static void says(const char *text, const char *expected)
{
    says_bytes(text, strlen(text), expected);
}

static void is_refused(const char *text, size_t len, const char *message)
{
    struct notebook book = { .bad = "bad=1" };
    struct weir_err err;

    assert_int_equal(read_script(&book, text, len, &err), -1);
    assert_int_equal(err.code, WEIR_EUSAGE);
    assert_string_equal(err.text, message);
    weir_str_free(&book.text);
}

static void each_run_is_one_test(void **state)
{
    (void)state;
    says("IOR START\na=1\nRUN\nb=2\nRUN\nIOR STOP\n", "[a=1]|[b=2]|");
    says("IOR START\na=1\nRUN\nRUN\nRUN\nIOR STOP\n", "[a=1]|||");
    says("IOR START\nRUN\nIOR STOP\n", "|");
}

static void directives_behind_the_last_run_are_a_test(void **state)
{
    (void)state;
    says("IOR START\na=1\nRUN\nb=2\nIOR STOP\n", "[a=1]|[b=2]|");
    says("IOR START\na=1\nRUN\n# nothing\n\nIOR STOP\n", "[a=1]|");
    says("IOR START\na=1\nRUN\nb=2", "[a=1]|[b=2]|");
}

static void a_script_without_run_is_one_test(void **state)
{
    (void)state;
    says("IOR START\nIOR STOP\n", "|");
    says("IOR START", "|");
    says("IOR START\na=1\nb=2\nIOR STOP\n", "[a=1][b=2]|");
}

static void what_is_around_the_script_is_skipped(void **state)
{
    (void)state;
    says("#!/usr/bin/ior\nwhatever, really\nbad=1\nIOR START\na=1\nRUN\nIOR STOP\nRUN\nc=3\n",
         "[a=1]|");
    says_bytes("IOR START\na=1\nIOR STOP\n\0\0", 25, "[a=1]|");
}

static void keywords_are_read_in_any_case_and_spacing(void **state)
{
    (void)state;
    says("  ior \t start \n run\nRun\t\n\tiOr  sToP\nx=1\n", "||");
    says("IOR START # go\nRUN # once\nIOR STOP # end\nx=1\n", "|");
    says("IOR START\nRUNNER=1\nIOR END\nRUN RUN\nIOR\n", "[RUNNER=1][IOR END][RUN RUN][IOR]|");
}

static void comments_and_line_ends_are_dropped(void **state)
{
    (void)state;
    says("IOR START\r\n  a = 1 , b=2\t# c=3\r\n#x\r\n   # y\r\nRUN\r\nIOR STOP\r\n",
         "[a = 1 , b=2]|");
    says("IOR START\na=x#y\n", "[a=x]|");
}

static void a_quoted_number_sign_is_no_comment(void **state)
{
    (void)state;
    says("IOR START\na=\"x # y\", b= \"#\" # c\n", "[a=\"x # y\", b= \"#\"]|");
    says("IOR START\na=x\"#\"\n", "[a=x\"]|");
    says("IOR START\na=\"open # end\n", "[a=\"open # end]|");
}

static void a_line_may_be_a_mebibyte_long(void **state)
{
    struct notebook book = { .bad = NULL };
    struct weir_err err;
    struct weir_str text = { 0 };

    (void)state;
    weir_str_addf(&text, "IOR START\na=");
    for (int i = 0; i < 1 << 20; i++)
        weir_str_addc(&text, 'x');
    assert_false(text.failed);
    assert_int_equal(read_script(&book, text.text, text.len, &err), 0);
    assert_int_equal(book.text.len,
                     (1 << 20) + 5); /* brackets, "a=" and the bar of the only test */
    weir_str_free(&text);
    weir_str_free(&book.text);
}

#define REFUSED(text, message) is_refused(text, sizeof(text) - 1, message)

static void a_text_without_start_has_options(void **state)
{
    (void)state;
    says("a=1\nb=2 # c=3\n", "[a=1][b=2]|");
    says("a=1\nRUN\nb=2\nIOR STOP\nc=3", "[a=1]|[b=2]|");
    REFUSED("bad=1", "file.ior:1 (no line \"IOR START\", so all lines are options): bad list");
    REFUSED("", "file.ior: no line \"IOR START\", and no option");
    REFUSED("\n# x\n", "file.ior: no line \"IOR START\", and no option");
}

static void a_nul_byte_is_refused(void **state)
{
    (void)state;
    REFUSED("IOR START\na=1\nb=\0\n", "file.ior:3: a NUL byte; this is not a text file");
    REFUSED("\x7f"
            "ELF\0\0\nIOR START\n",
            "file.ior:1: a NUL byte; this is not a text file");
}

static void an_error_carries_file_and_line(void **state)
{
    (void)state;
    REFUSED("# 1\nIOR START\na=1\nbad=1\nRUN\n", "file.ior:4: bad list");
    REFUSED("IOR START\nbad=1", "file.ior:2: bad list");
    REFUSED("IOR START\r\n\r\nbad=1\r\n", "file.ior:3: bad list");
}

static void an_error_of_a_test_ends_the_script(void **state)
{
    struct notebook book = { .bad_run = 2 };
    struct weir_err err;
    static const char text[] = "IOR START\na=1\nRUN\nb=1\nRUN\nc=1\nRUN\n";

    (void)state;
    assert_int_equal(read_script(&book, text, sizeof(text) - 1, &err), -1);
    assert_int_equal(err.code, WEIR_EIO);
    assert_string_equal(err.text, "file.ior:5: bad run");
    assert_string_equal(weir_str_text(&book.text), "[a=1]|[b=1]|");
    weir_str_free(&book.text);
    book = (struct notebook) { .bad_run = 1 };
    assert_int_equal(read_script(&book, "IOR START\na=1\n", 14, &err), -1);
    assert_string_equal(err.text, "file.ior:2: bad run");
    weir_str_free(&book.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_run_is_one_test),
        cmocka_unit_test(directives_behind_the_last_run_are_a_test),
        cmocka_unit_test(a_script_without_run_is_one_test),
        cmocka_unit_test(what_is_around_the_script_is_skipped),
        cmocka_unit_test(keywords_are_read_in_any_case_and_spacing),
        cmocka_unit_test(comments_and_line_ends_are_dropped),
        cmocka_unit_test(a_quoted_number_sign_is_no_comment),
        cmocka_unit_test(a_line_may_be_a_mebibyte_long),
        cmocka_unit_test(a_text_without_start_has_options),
        cmocka_unit_test(a_nul_byte_is_refused),
        cmocka_unit_test(an_error_carries_file_and_line),
        cmocka_unit_test(an_error_of_a_test_ends_the_script),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
