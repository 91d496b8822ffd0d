/* SPDX-License-Identifier: BSD-3-Clause */
/* test_jsonfile.c - a JSON document that grows in a file */
#include "base/text/jsonfile.h"
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/text/wholefile.h"

struct place {
    char dir[32], path[64], left[64];
};

static int setup(void **state)
{
    struct place *p = calloc(1, sizeof(*p));

    assert_non_null(p);
    memcpy(p->dir, "/tmp/weir-XXXXXX", sizeof("/tmp/weir-XXXXXX"));
    assert_non_null(mkdtemp(p->dir));
    (void)snprintf(p->path, sizeof(p->path), "%s/d", p->dir);
    (void)snprintf(p->left, sizeof(p->left), "%s/.d.incomplete", p->dir);
    *state = p;
    return 0;
}

static int teardown(void **state)
{
    struct place *p = *state;

    unlink(p->left);
    unlink(p->path);
    assert_int_equal(rmdir(p->dir), 0); /* nothing else is left */
    free(p);
    return 0;
}

static void put(struct weir_jsonfile *f, struct weir_jsonpart *in, const char *key, int64_t value)
{
    struct weir_str text = { 0 };
    struct weir_json j = weir_jsonfile_member(in, &text);

    weir_json_int(&j, key, value);
    weir_jsonfile_put(f, in, &text);
}

/* What the file holds now, without tabs. */
static char *content(const char *path)
{
    static char text[1 << 25];
    FILE *in = fopen(path, "r");
    size_t n, kept = 0;

    assert_non_null(in);
    n = fread(text, 1, sizeof(text) - 1, in);
    fclose(in);
    for (size_t i = 0; i < n; i++)
        if (text[i] != '\t')
            text[kept++] = text[i];
    text[kept] = '\0';
    return text;
}

static const char whole[] = "{\n  \"a\": 1,\n  \"l\": [\n    {\n      \"x\": [\n        7\n      ],\n      \"b\": 2\n    },\n    {}\n  ],\n"
                            "  \"m\": [\n    8\n  ],\n  \"z\": 3\n}\n";

static void a_document_is_complete_after_each_step(void **state)
{
    const struct place *p = *state;
    struct weir_jsonfile f = { .failed = false };
    struct weir_jsonpart *list, *object, *rows;
    FILE *out;

    assert_int_equal(weir_jsonfile_open(&f, p->path, NULL), 0);
    assert_string_equal(content(p->left), "{\n  \"unfinished\": 1\n}\n");
    assert_false(weir_jsonfile_begun(&f));
    put(&f, f.root, "a", 1);
    list = weir_jsonfile_enter(&f, f.root, "l", true);
    object = weir_jsonfile_enter(&f, list, NULL, false);
    rows = weir_jsonfile_list(&f, object, "x");
    weir_growing_flush(&f.file);
    assert_string_equal(content(p->left), "{\n  \"unfinished\": 1,\n  \"a\": 1,\n  \"l\": [\n    {\n      \"x\": []\n    }\n  ]\n}\n");
    put(&f, object, "b", 2);
    put(&f, rows, NULL, 7);
    assert_ptr_equal(weir_jsonfile_list(&f, object, "x"), rows);
    weir_jsonfile_leave(&f, object);
    put(&f, weir_jsonfile_list(&f, f.root, "m"), NULL, 8);
    weir_jsonfile_leave(&f, weir_jsonfile_enter(&f, list, NULL, false));
    weir_jsonfile_leave(&f, list);
    put(&f, f.root, "z", 3);
    weir_growing_flush(&f.file);
    assert_memory_equal(content(p->left) + strlen("{\n  \"unfinished\": 1,"), whole + 1, sizeof(whole) - 1);
    out = fopen(p->path, "w");
    assert_int_equal(weir_jsonfile_write(&f, false, out), 0);
    fclose(out);
    weir_jsonfile_close(&f, false);
    assert_string_equal(content(p->path), whole);
    assert_int_equal(access(p->left, F_OK), -1);
}

/* Of a process that is killed before that nothing is left. */
static void a_file_has_no_name_until_it_is_whole(void **state)
{
    const struct place *p = *state;
    struct weir_wholefile w;
    int fd = open(p->dir, O_TMPFILE | O_RDWR, 0600), entries = 0;
    DIR *dir = opendir(p->dir);

    assert_int_equal(weir_wholefile_prepare(&w, p->path, NULL), 0);
    assert_int_equal(weir_wholefile_open(&w, NULL), 0);
    fputs("whole\n", w.out);
    while (readdir(dir))
        entries++;
    assert_int_equal(entries, fd < 0 ? 3 : 2); /* "." and ".."; some file systems have no such files */
    closedir(dir);
    close(fd);
    assert_int_equal(weir_wholefile_close(&w, true, NULL), 0);
    assert_string_equal(content(p->path), "whole\n");
}

/* Two lists side by side, of which each row needs more room now and then. */
static void lists_grow_side_by_side(void **state)
{
    const struct place *p = *state;
    struct weir_jsonfile f = { .failed = false };
    size_t seen = 0;
    char *at;

    assert_int_equal(weir_jsonfile_open(&f, p->path, NULL), 0);
    for (int64_t i = 0; i < 20000; i++) {
        put(&f, weir_jsonfile_list(&f, f.root, "even"), NULL, 2 * i + 100000);
        put(&f, weir_jsonfile_list(&f, f.root, "odd"), NULL, 2 * i + 100001);
    }
    assert_false(f.failed);
    weir_jsonfile_close(&f, true);
    at = content(p->left);
    for (int64_t side = 0; side < 2; side++) {
        at = strchr(at, '[');
        for (int64_t i = 0; i < 20000; i++, seen++)
            assert_int_equal(strtoll(at + 1, &at, 10), 2 * i + 100000 + side);
    }
    assert_int_equal(seen, 40000);
}

/* Bytes that this process has written. */
static uint64_t written(void)
{
    FILE *in = fopen("/proc/self/io", "r");
    char line[80];
    uint64_t n = 0;

    while (in && fgets(line, sizeof(line), in))
        if (strncmp(line, "wchar:", 6) == 0)
            n = strtoull(line + 6, NULL, 10);
    if (in)
        fclose(in);
    return n;
}

/* Each object needs more room than it has at first, but the file is not copied for each. */
static void what_is_written_for_many_objects_is_in_proportion(void **state)
{
    const struct place *p = *state;
    struct weir_jsonfile f = { .failed = false };
    uint64_t before = written();
    struct weir_jsonpart *list;
    size_t found = 0;
    char *at;
    FILE *out;

    assert_int_equal(weir_jsonfile_open(&f, p->path, NULL), 0);
    list = weir_jsonfile_enter(&f, f.root, "tests", true);
    for (int64_t i = 0; i < 300; i++) {
        struct weir_jsonpart *object = weir_jsonfile_enter(&f, list, NULL, false);

        for (int64_t k = 0; k < 1000; k++) {
            put(&f, weir_jsonfile_list(&f, object, "even"), NULL, 1000000);
            put(&f, weir_jsonfile_list(&f, object, "odd"), NULL, 1000001);
        }
        for (int64_t k = 0; k < 20; k++)
            put(&f, weir_jsonfile_list(&f, object, "last"), NULL, 7777777);
        weir_jsonfile_leave(&f, object);
    }
    weir_jsonfile_leave(&f, list);
    out = fopen(p->path, "w");
    assert_int_equal(weir_jsonfile_write(&f, false, out), 0);
    fclose(out);
    weir_jsonfile_close(&f, false);
    at = content(p->path);
    assert_true(written() - before < 40 * strlen(at));
    while ((at = strstr(at, "7777777"))) {
        found++;
        at++;
    }
    assert_int_equal(found, 300 * 20);
}

/* What fits stays, and parses; nothing is written after the first failure. */
static void a_file_that_cannot_grow_keeps_what_it_has(void **state)
{
    const struct rlimit small = { 400000, RLIM_INFINITY };
    const struct place *p = *state;
    struct weir_jsonfile f = { .failed = false };
    struct rlimit before;
    char *text;

    getrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    assert_int_equal(weir_jsonfile_open(&f, p->path, NULL), 0);
    for (int64_t i = 0; i < 40000; i++)
        put(&f, weir_jsonfile_list(&f, f.root, "l"), NULL, i);
    setrlimit(RLIMIT_FSIZE, &before);
    put(&f, weir_jsonfile_list(&f, f.root, "l"), NULL, 1);
    assert_true(f.failed);
    assert_int_equal(weir_jsonfile_write(&f, false, NULL), EFBIG);
    weir_jsonfile_close(&f, true);
    text = content(p->left);
    assert_true(strlen(text) > 1000);
    assert_string_equal(text + strlen(text) - 6, "  ]\n}\n");
}

/* The first one goes on under a name of its own, or without one. */
static void two_documents_of_one_place_do_not_mix(void **state)
{
    const struct place *p = *state;
    struct weir_jsonfile one = { .failed = false }, two = { .failed = false };
    FILE *out;

    assert_int_equal(weir_jsonfile_open(&one, p->path, NULL), 0);
    assert_int_equal(weir_jsonfile_open(&two, p->path, NULL), 0);
    assert_string_not_equal(one.file.name, two.file.name);
    put(&two, two.root, "two", 2);
    for (int64_t i = 0; i < 20000; i++)
        put(&one, weir_jsonfile_list(&one, one.root, "l"), NULL, i);
    weir_jsonfile_close(&two, false);
    assert_int_equal(access(p->left, F_OK), 0);
    unlink(p->left); /* as where there are no locks */
    assert_int_equal(weir_jsonfile_open(&two, p->path, NULL), 0);
    put(&two, two.root, "three", 3);
    for (int64_t i = 20000; i < 80000; i++)
        put(&one, weir_jsonfile_list(&one, one.root, "l"), NULL, i);
    weir_growing_flush(&two.file);
    assert_string_equal(content(p->left), "{\n  \"unfinished\": 1,\n  \"three\": 3\n}\n");
    out = fopen(p->path, "w");
    assert_int_equal(weir_jsonfile_write(&one, false, out), 0);
    fclose(out);
    assert_non_null(strstr(content(p->path), "79999"));
    weir_jsonfile_close(&one, false);
    assert_int_equal(access(p->left, F_OK), 0);
    weir_jsonfile_close(&two, false);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_file_has_no_name_until_it_is_whole),
        CASE(a_document_is_complete_after_each_step),
        CASE(lists_grow_side_by_side),
        CASE(what_is_written_for_many_objects_is_in_proportion),
        CASE(a_file_that_cannot_grow_keeps_what_it_has),
        CASE(two_documents_of_one_place_do_not_mix),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
