/* SPDX-License-Identifier: BSD-3-Clause */
/* test_path.c - where a path leads */
#include "base/text/path.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/str.h"

static struct weir_mount find(const char *path)
{
    struct weir_mount f = { .point = { 0 } };

    weir_mount_find(WEIR_MOUNTS, path, &f);
    return f;
}

static void assert_found(const char *path, const char *point, const char *type)
{
    struct weir_mount f = find(path);

    if (point)
        assert_string_equal(weir_str_text(&f.point), point);
    if (type)
        assert_string_equal(weir_str_text(&f.type), type);
    assert_true(f.point.len > 0 && f.type.len > 0);
    weir_mount_free(&f);
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
    struct weir_mount a, b;

    (void)state;
    assert_non_null(getcwd(here, sizeof(here)));
    a = find(here);
    b = find("some file that is not there");
    assert_string_equal(weir_str_text(&a.point), weir_str_text(&b.point));
    assert_string_equal(weir_str_text(&a.type), weir_str_text(&b.type));
    weir_mount_free(&b);
    assert_int_equal(chdir("/proc"), 0);
    assert_found("x", "/proc", "proc");
    assert_found("self/x", "/proc", "proc");
    assert_found("", "/proc", "proc");
    assert_int_equal(chdir(here), 0);
    weir_mount_free(&a);
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
    struct weir_mount f = find("/proc");

    (void)state;
    weir_mount_find(WEIR_MOUNTS, "/", &f);
    assert_string_equal(weir_str_text(&f.point), "/");
    assert_string_not_equal(weir_str_text(&f.type), "proc");
    weir_mount_free(&f);
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

/* The kernel takes no such path, whatever it leads to. It is not looked up part by part, which took minutes. */
static void a_path_that_no_call_takes_leads_nowhere(void **state)
{
    char *path = malloc(2 * PATH_MAX + 1), *real = weir_path_real("/");

    (void)state;
    assert_non_null(path);
    for (size_t i = 0; i < PATH_MAX; i++)
        memcpy(path + 2 * i, "/.", 3);
    assert_null(weir_path_real(path));
    path[PATH_MAX / 2] = '\0';
    assert_string_equal(real, "/");
    free(real);
    real = weir_path_real(path);
    assert_string_equal(real, "/");
    free(real);
    free(path);
}

/* A directory with this name, and a table in which it is a mount written like 'shown'. */
static void assert_decoded(const char *name, const char *shown)
{
    char dir[] = "/tmp/weir-mount-XXXXXX", place[128], table[64], below[160];
    struct weir_mount f = { .point = { 0 } };
    FILE *out;

    assert_non_null(mkdtemp(dir));
    assert_true(snprintf(place, sizeof(place), "%s/%s", dir, name) < (int)sizeof(place));
    assert_true(snprintf(table, sizeof(table), "%s/table", dir) < (int)sizeof(table));
    assert_true(snprintf(below, sizeof(below), "%s/file", place) < (int)sizeof(below));
    assert_int_equal(mkdir(place, 0700), 0);
    out = fopen(table, "w");
    assert_non_null(out);
    fprintf(out, "/dev/a / ext4 rw 0 0\n");
    fprintf(out, "/dev/b %s/%s odd rw,noatime 0 0\n", dir, shown);
    assert_int_equal(fclose(out), 0);
    weir_mount_find(table, below, &f);
    assert_string_equal(weir_str_text(&f.point), place);
    assert_string_equal(weir_str_text(&f.type), "odd");
    assert_string_equal(weir_str_text(&f.source), "/dev/b");
    weir_mount_free(&f);
    assert_int_equal(unlink(table), 0);
    assert_int_equal(rmdir(place), 0);
    assert_int_equal(rmdir(dir), 0);
}

static void a_blank_in_a_mount_point_is_decoded(void **state)
{
    (void)state;
    assert_decoded("my files", "my\\040files");
    assert_decoded(" ", "\\040");
    assert_decoded("a b c", "a\\040b\\040c");
}

static void tab_newline_and_backslash_are_decoded(void **state)
{
    (void)state;
    assert_decoded("a\tb", "a\\011b");
    assert_decoded("a\nb", "a\\012b");
    assert_decoded("a\\b", "a\\134b");
    assert_decoded("a\\040b", "a\\134040b");
}

static void options_of_any_length_are_no_trouble(void **state)
{
    char dir[] = "/tmp/weir-mount-XXXXXX", table[64];
    struct weir_mount f = { .point = { 0 } };
    FILE *out;

    (void)state;
    assert_non_null(mkdtemp(dir));
    assert_true(snprintf(table, sizeof(table), "%s/table", dir) < (int)sizeof(table));
    out = fopen(table, "w");
    assert_non_null(out);
    fprintf(out, "overlay / first lowerdir=");
    for (int i = 0; i < 100000; i++)
        fprintf(out, "/x");
    fprintf(out, ",rw 0 0\n/dev/b %s second rw 0 0\n", dir);
    assert_int_equal(fclose(out), 0);
    weir_mount_find(table, "/", &f);
    assert_string_equal(weir_str_text(&f.type), "first");
    weir_mount_find(table, table, &f);
    assert_string_equal(weir_str_text(&f.type), "second");
    weir_mount_free(&f);
    assert_int_equal(unlink(table), 0);
    assert_int_equal(rmdir(dir), 0);
}

static void options_of_a_mount_have_values_or_none(void **state)
{
    struct weir_mount m = { .point = { 0 } };
    char value[8] = "?";

    (void)state;
    assert_false(weir_mount_option(weir_str_text(&m.options), "rw", NULL, 0));
    weir_str_addf(&m.options, "rw,compress-force=zstd:3,x=,upperdir=/a/very/long/name");
    assert_true(weir_mount_option(weir_str_text(&m.options), "rw", value, sizeof(value)));
    assert_string_equal(value, "");
    assert_true(weir_mount_option(weir_str_text(&m.options), "compress-force", value, sizeof(value)));
    assert_string_equal(value, "zstd:3");
    assert_true(weir_mount_option(weir_str_text(&m.options), "x", value, sizeof(value)));
    assert_string_equal(value, "");
    assert_true(weir_mount_option(weir_str_text(&m.options), "upperdir", value, sizeof(value)));
    assert_string_equal(value, "/a/very");
    assert_false(weir_mount_option(weir_str_text(&m.options), "compress", NULL, 0));
    assert_false(weir_mount_option(weir_str_text(&m.options), "upper", NULL, 0));
    assert_false(weir_mount_option(weir_str_text(&m.options), "r", NULL, 0));
    weir_mount_free(&m);
}

static void a_backslash_without_three_digits_stays(void **state)
{
    (void)state;
    assert_decoded("a\\04", "a\\04");
    assert_decoded("a\\08x", "a\\08x");
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
        cmocka_unit_test(a_path_that_no_call_takes_leads_nowhere),
        cmocka_unit_test(a_blank_in_a_mount_point_is_decoded),
        cmocka_unit_test(tab_newline_and_backslash_are_decoded),
        cmocka_unit_test(options_of_any_length_are_no_trouble),
        cmocka_unit_test(options_of_a_mount_have_values_or_none),
        cmocka_unit_test(a_backslash_without_three_digits_stays),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
