/* SPDX-License-Identifier: BSD-3-Clause */
/* test_jsonlog.c - a JSON document that is written from lines in a file */
#include "base/text/jsonlog.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
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

static void put(struct weir_jsonlog *log, const char *key, int64_t value)
{
    struct weir_json j;

    if (weir_jsonlog_member(log, key, &j)) {
        weir_json_int(&j, NULL, value);
        weir_jsonlog_end(log);
    }
}

static void put_row(struct weir_jsonlog *log, const char *key, int64_t value)
{
    struct weir_json j = weir_jsonlog_row(log, key);

    weir_json_int(&j, NULL, value);
    weir_jsonlog_end(log);
}

/* What a file holds now. */
static const char *content(const char *path)
{
    static char text[1 << 20];
    FILE *in = fopen(path, "r");
    size_t n;

    assert_non_null(in);
    n = fread(text, 1, sizeof(text) - 1, in);
    fclose(in);
    text[n] = '\0';
    return text;
}

static const char *document(struct weir_jsonlog *log, const struct place *p, bool marked, bool flat)
{
    FILE *out = fopen(p->path, "w");

    assert_non_null(out);
    assert_int_equal(weir_jsonlog_write(log, marked, flat, out), 0);
    assert_int_equal(fclose(out), 0);
    return content(p->path);
}

/* Texts that look like other parts of a line, a row with members, lists whose rows take turns. */
static void fill(struct weir_jsonlog *log)
{
    struct weir_json j;

    put(log, "a", 1);
    put(log, "a", 2); /* the first one holds */
    weir_jsonlog_enter(log, "l", true);
    weir_jsonlog_enter(log, NULL, false);
    put_row(log, "x", 7);
    put_row(log, "y", 8);
    put_row(log, "x", 9);
    assert_int_equal(weir_jsonlog_list(log, "x"), 2);
    weir_jsonlog_enter(log, "\"],\\", false);
    put(log, "a", 3);
    weir_jsonlog_leave(log);
    assert_true(weir_jsonlog_member(log, "t", &j));
    weir_json_str(&j, NULL, "{}], \"b\": [\n\\");
    weir_jsonlog_end(log);
    weir_jsonlog_leave(log);
    weir_jsonlog_enter(log, NULL, false);
    weir_jsonlog_leave(log);
    weir_jsonlog_leave(log);
    assert_int_equal(weir_jsonlog_list(log, "none"), 0);
    j = weir_jsonlog_row(log, "m");
    weir_json_open(&j, NULL, false);
    weir_json_str(&j, "s", "one, {two}: \"3\"");
    weir_json_real(&j, "r", 0.5);
    weir_json_close(&j);
    weir_jsonlog_end(log);
    put(log, "z", 3);
}

static void a_document_is_written_from_its_lines(void **state)
{
    const struct place *p = *state;
    struct weir_jsonlog log = { .depth = 0 };

    assert_int_equal(weir_jsonlog_open(&log, p->path, NULL), 0);
    assert_string_equal(content(p->left), "[[\"unfinished\"],1]\n");
    assert_false(weir_jsonlog_begun(&log));
    fill(&log);
    weir_spool_flush(&log.file);
    assert_string_equal(content(p->left),
                        "[[\"unfinished\"],1]\n[[\"a\"],1]\n[[\"l\"],[]]\n[[\"l\",0],{}]\n[[\"l\",0,\"x\"],[]]\n"
                        "[[\"l\",0,\"x\",0],7]\n[[\"l\",0,\"y\"],[]]\n[[\"l\",0,\"y\",0],8]\n[[\"l\",0,\"x\",1],9]\n"
                        "[[\"l\",0,\"\\\"],\\\\\"],{}]\n[[\"l\",0,\"\\\"],\\\\\",\"a\"],3]\n"
                        "[[\"l\",0,\"t\"],\"{}], \\\"b\\\": [\\n\\\\\"]\n[[\"l\",1],{}]\n[[\"none\"],[]]\n[[\"m\"],[]]\n"
                        "[[\"m\",0],{\"s\": \"one, {two}: \\\"3\\\"\", \"r\": 0.5}]\n[[\"z\"],3]\n");
    assert_string_equal(document(&log, p, false, false),
                        "{\n  \"a\": 1,\n  \"l\": [\n    {\n      \"x\": [\n        7,\n        9\n      ],\n"
                        "      \"y\": [\n        8\n      ],\n      \"\\\"],\\\\\": {\n        \"a\": 3\n      },\n"
                        "      \"t\": \"{}], \\\"b\\\": [\\n\\\\\"\n    },\n    {}\n  ],\n  \"none\": [],\n  \"m\": [\n    {\n"
                        "      \"s\": \"one, {two}: \\\"3\\\"\",\n      \"r\": 0.5\n    }\n  ],\n  \"z\": 3\n}\n");
    assert_string_equal(document(&log, p, true, true),
                        "{\"unfinished\": 1, \"a\": 1, \"l\": [{\"x\": [7, 9], \"y\": [8], \"\\\"],\\\\\": {\"a\": 3}, "
                        "\"t\": \"{}], \\\"b\\\": [\\n\\\\\"}, {}], \"none\": [], "
                        "\"m\": [{\"s\": \"one, {two}: \\\"3\\\"\", \"r\": 0.5}], \"z\": 3}");
    weir_jsonlog_close(&log, false);
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

/* Rows of two lists in each of many objects, as phases with their ranks. */
static void memory_does_not_grow_with_rows(void **state)
{
    const struct place *p = *state;
    struct weir_jsonlog log = { .depth = 0 };
    size_t before, peak;
    char *text = NULL;
    size_t len;
    FILE *out;

    assert_int_equal(weir_jsonlog_open(&log, p->path, NULL), 0);
    weir_jsonlog_enter(&log, "tests", true);
    before = mallinfo2().uordblks;
    for (int i = 0; i < 30; i++) {
        weir_jsonlog_enter(&log, NULL, false);
        for (int k = 0; k < 1000; k++) {
            put_row(&log, "even", 1000000);
            put_row(&log, "odd", 1000001);
        }
        weir_jsonlog_leave(&log);
    }
    weir_jsonlog_leave(&log);
    peak = mallinfo2().uordblks;
    assert_true(peak < before + (200 << 10)); /* the window */
    out = fopen(p->path, "w");
    assert_int_equal(weir_jsonlog_write(&log, false, false, out), 0);
    assert_true(mallinfo2().uordblks < before + (200 << 10));
    fclose(out);
    out = open_memstream(&text, &len);
    assert_int_equal(weir_jsonlog_write(&log, false, true, out), 0);
    fclose(out);
    assert_int_equal(len, strlen("{\"tests\": []}") + 30 * (strlen("{\"even\": [], \"odd\": []}") + 2 * (9 * 1000 - 2)) + 2 * 29);
    free(text);
    weir_jsonlog_close(&log, false);
}

/* What fits stays; nothing is written after the first failure. */
static void a_file_that_cannot_grow_keeps_what_it_has(void **state)
{
    const struct rlimit small = { 100000, RLIM_INFINITY };
    const struct place *p = *state;
    struct weir_jsonlog log = { .depth = 0 };
    struct rlimit before;

    getrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    assert_int_equal(weir_jsonlog_open(&log, p->path, NULL), 0);
    for (int64_t i = 0; i < 10000; i++)
        put_row(&log, "l", i);
    setrlimit(RLIMIT_FSIZE, &before);
    put_row(&log, "l", 1);
    assert_true(log.failed);
    assert_int_equal(weir_jsonlog_write(&log, false, false, stderr), EFBIG);
    weir_jsonlog_close(&log, true);
    assert_int_equal(strlen(content(p->left)), 100000);
}

/* Of a line that a kill has cut nothing comes into the document. */
static void a_line_that_is_cut_off_is_left_out(void **state)
{
    const struct place *p = *state;
    struct weir_jsonlog log = { .depth = 0 };

    assert_int_equal(weir_jsonlog_open(&log, p->path, NULL), 0);
    put(&log, "a", 1);
    put(&log, "b", 2);
    weir_spool_flush(&log.file);
    weir_spool_cut(&log.file, log.file.size - 1);
    assert_string_equal(document(&log, p, true, true), "{\"unfinished\": 1, \"a\": 1}");
    weir_jsonlog_close(&log, true);
    assert_string_equal(content(p->left), "[[\"unfinished\"],1]\n[[\"a\"],1]\n[[\"b\"],2]");
}

/* The first one goes on under a name of its own, or without one. */
static void two_documents_of_one_place_do_not_mix(void **state)
{
    const struct place *p = *state;
    struct weir_jsonlog one = { .depth = 0 }, two = { .depth = 0 };

    assert_int_equal(weir_jsonlog_open(&one, p->path, NULL), 0);
    assert_int_equal(weir_jsonlog_open(&two, p->path, NULL), 0);
    assert_string_not_equal(one.file.name, two.file.name);
    put(&two, "two", 2);
    put(&one, "one", 1);
    weir_jsonlog_close(&two, false);
    assert_int_equal(access(p->left, F_OK), 0);
    unlink(p->left); /* as where there are no locks */
    assert_int_equal(weir_jsonlog_open(&two, p->path, NULL), 0);
    put(&two, "three", 3);
    weir_spool_flush(&two.file);
    assert_string_equal(content(p->left), "[[\"unfinished\"],1]\n[[\"three\"],3]\n");
    assert_string_equal(document(&one, p, false, true), "{\"one\": 1}");
    weir_jsonlog_close(&one, false);
    assert_int_equal(access(p->left, F_OK), 0);
    weir_jsonlog_close(&two, false);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_file_has_no_name_until_it_is_whole),
        CASE(a_document_is_written_from_its_lines),
        CASE(memory_does_not_grow_with_rows),
        CASE(a_file_that_cannot_grow_keeps_what_it_has),
        CASE(a_line_that_is_cut_off_is_left_out),
        CASE(two_documents_of_one_place_do_not_mix),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
