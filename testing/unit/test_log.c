/* SPDX-License-Identifier: BSD-3-Clause */
/* test_log.c - messages for people */
#include "base/log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

/* A log that writes into a datagram socket: each write is one message there. */
struct ears {
    int end[2];
    struct weir_log log;
    char kind[16], text[64];
    int heard;
    bool takes; /* messages, so that they are not written */
};

static bool hear(void *arg, const char *kind, const char *text)
{
    struct ears *e = arg;

    e->heard++;
    assert_true(snprintf(e->kind, sizeof(e->kind), "%s", kind) > 0);
    assert_true(snprintf(e->text, sizeof(e->text), "%s", text) > 0);
    return e->takes;
}

static int listen_to(void **state)
{
    static struct ears e; /* the test's own fixture */

    memset(&e, 0, sizeof(e));
    if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, e.end) < 0)
        return -1;
    e.log = (struct weir_log) { .fd = e.end[1], .observer = hear, .observer_arg = &e };
    *state = &e;
    return 0;
}

static int stop_listening(void **state)
{
    struct ears *e = *state;

    close(e->end[0]);
    close(e->end[1]);
    return 0;
}

static void expect_message(struct ears *e, const char *want)
{
    char got[WEIR_ERR_TEXT + 64];
    ssize_t n = recv(e->end[0], got, sizeof(got) - 1, 0);

    assert_true(n > 0);
    got[n] = '\0';
    assert_string_equal(got, want);
}

static void expect_silence(struct ears *e)
{
    char got[16];

    assert_int_equal(recv(e->end[0], got, sizeof(got), 0), -1);
}

static void a_warning_is_one_line_in_one_write(void **state)
{
    struct ears *e = *state;
    struct weir_err err = WEIR_ERR_INIT;

    assert_int_equal(weir_warn(&e->log, &err, "%d files", 3), 0);
    expect_message(e, "WARNING: 3 files\n");
    expect_silence(e);
    assert_int_equal(err.code, WEIR_OK);
    assert_int_equal(e->heard, 1);
    assert_string_equal(e->kind, "warning");
    assert_string_equal(e->text, "3 files");
}

static void a_note_is_one_line_in_one_write(void **state)
{
    struct ears *e = *state;

    weir_note(&e->log, "kept '%s'", "x");
    expect_message(e, "NOTE: kept 'x'\n");
    expect_silence(e);
    assert_string_equal(e->kind, "note");
    assert_string_equal(e->text, "kept 'x'");
}

static void other_ranks_only_report_errors(void **state)
{
    struct ears *e = *state;
    struct weir_err err = { .code = WEIR_EIO, .text = "disk on fire" };

    e->log.rank = 1;
    assert_int_equal(weir_warn(&e->log, NULL, "w"), 0);
    weir_note(&e->log, "n");
    expect_silence(e);
    assert_int_equal(e->heard, 0);
    weir_report_error(&e->log, &err);
    expect_message(e, "ERROR: disk on fire\n");
    assert_string_equal(e->kind, "error");
}

static void a_warning_can_be_an_error_on_every_rank(void **state)
{
    struct ears *e = *state;

    e->log.warnings_are_errors = true;
    for (e->log.rank = 0; e->log.rank < 2; e->log.rank++) {
        struct weir_err err = WEIR_ERR_INIT;

        assert_int_equal(weir_warn(&e->log, &err, "odd %s", "name"), -1);
        assert_int_equal(err.code, WEIR_EUSAGE);
        assert_string_equal(err.text, "odd name");
    }
    expect_silence(e);
    assert_int_equal(e->heard, 0);
}

static void line_breaks_in_a_message_become_blanks(void **state)
{
    struct ears *e = *state;

    weir_note(&e->log, "file 'a\nb\r'");
    expect_message(e, "NOTE: file 'a b '\n");
    assert_string_equal(e->text, "file 'a\nb\r'");
}

static void without_a_tap_messages_still_appear(void **state)
{
    struct ears *e = *state;

    e->log.observer = NULL;
    weir_note(&e->log, "x");
    expect_message(e, "NOTE: x\n");
}

static void what_the_observer_takes_is_not_written(void **state)
{
    struct ears *e = *state;

    e->takes = true;
    weir_note(&e->log, "x");
    assert_string_equal(e->text, "x");
    expect_silence(e);
}

static void the_longest_error_is_not_cut(void **state)
{
    struct ears *e = *state;
    static struct weir_err err;
    static char want[WEIR_ERR_TEXT + 64];

    e->log.observer = NULL;
    memset(err.text, 'e', sizeof(err.text) - 1);
    assert_true(snprintf(want, sizeof(want), "ERROR: %s\n", err.text) > WEIR_ERR_TEXT);
    weir_report_error(&e->log, &err);
    expect_message(e, want);
}

static void a_closed_descriptor_is_no_catastrophe(void **state)
{
    struct ears *e = *state;

    e->log.fd = -1;
    weir_note(&e->log, "nobody hears this");
    assert_int_equal(e->heard, 1);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, listen_to, stop_listening)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(a_warning_is_one_line_in_one_write),
        TEST(a_note_is_one_line_in_one_write),
        TEST(other_ranks_only_report_errors),
        TEST(a_warning_can_be_an_error_on_every_rank),
        TEST(line_breaks_in_a_message_become_blanks),
        TEST(without_a_tap_messages_still_appear),
        TEST(what_the_observer_takes_is_not_written),
        TEST(the_longest_error_is_not_cut),
        TEST(a_closed_descriptor_is_no_catastrophe),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
