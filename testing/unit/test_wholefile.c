/* SPDX-License-Identifier: BSD-3-Clause */
/* test_wholefile.c - a file is whole or not there, also after a crash: its data are on the disk before its name */
#include "base/text/wholefile.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

struct place {
    char dir[32], path[48];
    int syncs;     /* of a file with all of the new text, while the old one is in the place */
    int sys;       /* errno with which they fail; 0: they succeed */
};

/* fsync below has no argument for it. */
static struct place here;

#define OLD "what was there\n"
#define NEW "all of the new text\n"

static void read_file(int fd, char text[64])
{
    ssize_t n;

    assert_true(fd >= 0);
    n = pread(fd, text, 63, 0);
    assert_true(n >= 0);
    text[n] = '\0';
}

static void check_place(const char *want)
{
    char text[64];
    int fd = open(here.path, O_RDONLY | O_CLOEXEC);

    read_file(fd, text);
    assert_int_equal(close(fd), 0);
    assert_string_equal(text, want);
}

/* In the place of that of the C library. */
int fsync(int fd)
{
    char text[64];

    read_file(fd, text);
    assert_string_equal(text, NEW);
    check_place(OLD);
    here.syncs++;
    errno = here.sys;
    return here.sys ? -1 : 0;
}

static int make_place(void **state)
{
    int fd;

    (void)state;
    here = (struct place) { .dir = "/tmp/weir-whole-XXXXXX" };
    if (!mkdtemp(here.dir))
        return -1;
    snprintf(here.path, sizeof(here.path), "%s/file", here.dir);
    fd = open(here.path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    return fd >= 0 && write(fd, OLD, strlen(OLD)) == (ssize_t)strlen(OLD) && close(fd) == 0 ? 0 : -1;
}

/* rmdir fails where anything else was left. */
static int remove_place(void **state)
{
    (void)state;
    return unlink(here.path) == 0 && rmdir(here.dir) == 0 ? 0 : -1;
}

static void data_are_on_the_disk_before_they_have_the_name(void **state)
{
    (void)state;
    assert_int_equal(weir_wholefile_put(here.path, NEW, NULL), 0);
    assert_int_equal(here.syncs, 1);
    check_place(NEW);
}

static void data_that_do_not_reach_the_disk_leave_the_old_file(void **state)
{
    struct weir_err err = WEIR_ERR_INIT;

    (void)state;
    here.sys = EIO;
    assert_int_equal(weir_wholefile_put(here.path, NEW, &err), -1);
    assert_int_equal(err.code, WEIR_ESETUP);
    assert_int_equal(err.sys, EIO);
    check_place(OLD);
}

static void a_file_that_is_not_kept_leaves_the_old_one_and_needs_no_sync(void **state)
{
    struct weir_wholefile w;

    (void)state;
    assert_int_equal(weir_wholefile_prepare(&w, here.path, NULL), 0);
    assert_non_null(w.place);
    assert_int_equal(weir_wholefile_open(&w, NULL), 0);
    assert_true(fputs(NEW, w.out) >= 0);
    assert_int_equal(weir_wholefile_close(&w, false, NULL), 0);
    assert_int_equal(here.syncs, 0);
    check_place(OLD);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, make_place, remove_place)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(data_are_on_the_disk_before_they_have_the_name),
        TEST(data_that_do_not_reach_the_disk_leave_the_old_file),
        TEST(a_file_that_is_not_kept_leaves_the_old_one_and_needs_no_sync),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
