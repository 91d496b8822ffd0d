/* SPDX-License-Identifier: BSD-3-Clause */
/* test_mount.c - on which mount a path lies */
#include "config.h"
#include "base/mount.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/str.h"

struct found {
    struct weir_str point, type;
};

static struct found find(const char *path)
{
    struct found f = { .point = { 0 } };

    weir_mount_find(path, &f.point, &f.type);
    return f;
}

static void forget(struct found *f)
{
    weir_str_free(&f->point);
    weir_str_free(&f->type);
}

static void assert_found(const char *path, const char *point, const char *type)
{
    struct found f = find(path);

    if (point)
        assert_string_equal(weir_str_text(&f.point), point);
    if (type)
        assert_string_equal(weir_str_text(&f.type), type);
    assert_true(f.point.len > 0 && f.type.len > 0);
    forget(&f);
}

static void the_root_is_a_mount(void **state)
{
    (void)state;
    assert_found("/", "/", NULL);
}

static void a_path_below_a_mount_lies_on_it(void **state)
{
    (void)state;
    assert_found("/proc", "/proc", "proc");
    assert_found("/proc/self/status", "/proc", "proc");
    assert_found("/proc/", "/proc", "proc");
    assert_found("/proc/../proc/./self", "/proc", "proc");
}

static void a_path_that_need_not_exist_lies_where_its_directory_does(void **state)
{
    (void)state;
    assert_found("/proc/no/such/thing", "/proc", "proc");
    assert_found("/no-such-directory-of-ours/x", "/", NULL);
}

static void a_name_that_only_begins_like_a_mount_is_not_on_it(void **state)
{
    (void)state;
    assert_found("/procession", "/", NULL);
    assert_found("/processes/of/law", "/", NULL);
}

static void a_relative_path_begins_at_the_working_directory(void **state)
{
    char here[PATH_MAX];
    struct found a, b;

    (void)state;
    assert_non_null(getcwd(here, sizeof(here)));
    a = find(here);
    b = find("some file that is not there");
    assert_string_equal(weir_str_text(&a.point), weir_str_text(&b.point));
    assert_string_equal(weir_str_text(&a.type), weir_str_text(&b.type));
    forget(&b);
    assert_int_equal(chdir("/proc"), 0);
    assert_found("x", "/proc", "proc");
    assert_found("self/x", "/proc", "proc");
    assert_found("", "/proc", "proc");
    assert_int_equal(chdir(here), 0);
    forget(&a);
}

static void a_link_is_followed(void **state)
{
    char dir[] = "/tmp/weir-mount-XXXXXX", link[64];

    (void)state;
    assert_non_null(mkdtemp(dir));
    assert_true(snprintf(link, sizeof(link), "%s/link", dir) < (int)sizeof(link));
    assert_int_equal(symlink("/proc", link), 0);
    assert_found(link, "/proc", "proc");
    assert_int_equal(unlink(link), 0);
    assert_int_equal(rmdir(dir), 0);
}

static void a_second_answer_replaces_the_first(void **state)
{
    struct found f = find("/proc");

    (void)state;
    weir_mount_find("/", &f.point, &f.type);
    assert_string_equal(weir_str_text(&f.point), "/");
    assert_string_not_equal(weir_str_text(&f.type), "proc");
    forget(&f);
}

static void a_very_long_path_is_no_trouble(void **state)
{
    size_t len = 100000;
    char *path = malloc(len + 1);

    (void)state;
    assert_non_null(path);
    for (size_t i = 0; i < len; i++)
        path[i] = i % 50 ? 'x' : '/';
    path[len] = '\0';
    assert_found(path, "/", NULL);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_root_is_a_mount),
        cmocka_unit_test(a_path_below_a_mount_lies_on_it),
        cmocka_unit_test(a_path_that_need_not_exist_lies_where_its_directory_does),
        cmocka_unit_test(a_name_that_only_begins_like_a_mount_is_not_on_it),
        cmocka_unit_test(a_relative_path_begins_at_the_working_directory),
        cmocka_unit_test(a_link_is_followed),
        cmocka_unit_test(a_second_answer_replaces_the_first),
        cmocka_unit_test(a_very_long_path_is_no_trouble),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
