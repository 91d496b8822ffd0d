/* SPDX-License-Identifier: BSD-3-Clause */
/* test_addline.c - a line is added whole or not at all, and what others have added stays */
#include "engine/report/report.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

struct place {
    char dir[32], path[48];
    const char *others; /* what another process writes into the file during the next fsync; NULL: nothing */
    int sys;            /* errno with which that fsync fails; 0: it succeeds */
};

/* fsync below has no argument for it. */
static struct place here;

static void append(const char *text)
{
    int fd = open(here.path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    assert_int_equal(close(fd), 0);
}

/* In the place of that of the C library. The other writer takes no lock. */
int fsync(int fd)
{
    (void)fd;
    if (here.others)
        append(here.others);
    errno = here.sys;
    return here.sys ? -1 : 0;
}

static int make_place(void **state)
{
    (void)state;
    here = (struct place) { .dir = "/tmp/weir-addline-XXXXXX" };
    if (!mkdtemp(here.dir))
        return -1;
    snprintf(here.path, sizeof(here.path), "%s/lines", here.dir);
    return 0;
}

static int remove_place(void **state)
{
    (void)state;
    return unlink(here.path) == 0 && rmdir(here.dir) == 0 ? 0 : -1;
}

static void check_file(const char *want)
{
    char text[128] = "";
    int fd = open(here.path, O_RDONLY | O_CLOEXEC);

    assert_true(fd >= 0);
    assert_true(read(fd, text, sizeof(text) - 1) >= 0);
    assert_int_equal(close(fd), 0);
    assert_string_equal(text, want);
}

static void a_line_comes_after_those_that_are_there(void **state)
{
    (void)state;
    assert_int_equal(weir_addline(here.path, "one", NULL), 0);
    assert_int_equal(weir_addline(here.path, "two", NULL), 0);
    check_file("one\ntwo\n");
}

static void a_line_that_was_left_without_its_end_is_ended(void **state)
{
    (void)state;
    append("half");
    assert_int_equal(weir_addline(here.path, "one", NULL), 0);
    check_file("half\none\n");
}

static void a_line_that_is_not_on_the_disk_is_taken_back(void **state)
{
    struct weir_err err = WEIR_ERR_INIT;

    (void)state;
    append("one\n");
    here.sys = EIO;
    assert_int_equal(weir_addline(here.path, "two", &err), -1);
    assert_int_equal(err.code, WEIR_ESETUP);
    assert_int_equal(err.sys, EIO);
    check_file("one\n");
}

static void a_line_that_a_writer_without_lock_has_added_meanwhile_stays(void **state)
{
    (void)state;
    append("one\n");
    here.sys = ENOSPC;
    here.others = "other\n";
    assert_int_equal(weir_addline(here.path, "two", NULL), -1);
    check_file("one\ntwo\nother\n");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, make_place, remove_place)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_line_comes_after_those_that_are_there),
        TEST(a_line_that_was_left_without_its_end_is_ended),
        TEST(a_line_that_is_not_on_the_disk_is_taken_back),
        TEST(a_line_that_a_writer_without_lock_has_added_meanwhile_stays),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
