/* SPDX-License-Identifier: BSD-3-Clause */
/* test_io500_places.c - the directories of weir-io500: the last rehearsal, and files of others */
#include "programs/weir-io500/io500-run.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* A run of one rank, below a directory of its own. */
struct bench {
    char base[64];
    struct weir_run run;
    struct io500_options o;
    struct io500 t;
    struct weir_str text;
    struct weir_err err;
};

static struct bench *begin(const char *keys)
{
    struct bench *b = calloc(1, sizeof(*b));
    struct weir_str notes = { 0 };

    assert_non_null(b);
    memcpy(b->base, "/tmp/weir-places.XXXXXX", 24);
    assert_non_null(mkdtemp(b->base));
    b->run.world.size = b->run.par.size = 1;
    b->t.o = &b->o;
    b->err = (struct weir_err) WEIR_ERR_INIT;
    weir_str_addf(&b->text, "[global]\ndatadir = %s/data\nresultdir = %s\n%s", b->base, b->base,
                  keys);
    assert_int_equal(io500_config_read(b->text.text, b->text.len, "c.ini", &b->run.arena,
                                       &b->t.config, &notes, &b->err),
                     0);
    assert_int_equal(notes.len, 0);
    weir_str_free(&notes);
    b->t.text = b->text.text;
    return b;
}

static void end(struct bench *b)
{
    struct weir_str command = { 0 };

    weir_str_addf(&command, "rm -r '%s'", b->base);
    assert_int_equal(system(weir_str_text(&command)), 0);
    weir_str_free(&command);
    weir_str_free(&b->text);
    weir_arena_free(&b->run.arena);
    free(b);
}

static void make(const struct bench *b, const char *name)
{
    struct weir_str path = { 0 };

    weir_str_addf(&path, "%s/%s", b->base, name);
    assert_int_equal(mkdir(weir_str_text(&path), 0777), 0);
    weir_str_free(&path);
}

/* A directory with a file that was changed at 'second'. */
static void put(const struct bench *b, const char *name, const char *file, time_t second)
{
    const struct timespec when[2] = { { .tv_sec = second }, { .tv_sec = second } };
    struct weir_str path = { 0 };
    int fd;

    make(b, name);
    weir_str_addf(&path, "%s/%s/%s", b->base, name, file);
    fd = open(weir_str_text(&path), O_CREAT | O_WRONLY, 0666);
    assert_true(fd >= 0);
    assert_int_equal(futimens(fd, when), 0);
    close(fd);
    weir_str_free(&path);
}

/* ---- the last rehearsal ---- */

static void the_last_rehearsal_is_the_one_that_kept_something_last(void **state)
{
    struct bench *b = begin("");
    struct weir_str expected = { 0 };

    (void)state;
    put(b, "2026.01.02-00.00.00", IO500_STATE, 300);
    put(b, "2026.01.03-00.00.00", IO500_STATE, 200);
    put(b, "2026.01.04-00.00.00", "result.txt", 400);
    put(b, ".hidden", IO500_STATE, 500);
    put(b, "a-name-that-is-longer-than-a-stamp", IO500_STATE, 600);
    b->o.cleanup = true;
    assert_int_equal(io500_places_find(&b->run, &b->t, &b->err), 0);
    assert_string_equal(b->t.stamp, "2026.01.02-00.00.00");
    weir_str_addf(&expected, "%s/2026.01.02-00.00.00", b->base);
    assert_string_equal(b->t.place.results, weir_str_text(&expected));
    weir_str_free(&expected);
    end(b);
}

static void where_no_rehearsal_kept_something_none_is_the_last(void **state)
{
    struct bench *b = begin("");

    (void)state;
    put(b, "2026.01.04-00.00.00", "result.txt", 400);
    b->o.resume = true;
    assert_int_equal(io500_places_find(&b->run, &b->t, &b->err), -1);
    assert_int_equal(b->err.code, WEIR_EUSAGE);
    assert_non_null(strstr(b->err.text, "there is no rehearsal in '"));
    end(b);
}

/* ---- files of others ---- */

static void directories_that_are_empty_are_used_and_are_not_ours(void **state)
{
    struct bench *b = begin("timestamp-datadir = FALSE\ntimestamp-resultdir = FALSE\n");

    (void)state;
    make(b, "data");
    make(b, "data/ior-easy");
    assert_int_equal(io500_places_find(&b->run, &b->t, &b->err), 0);
    assert_int_equal(io500_places_data(&b->run, &b->t, &b->err), 0);
    assert_true(b->t.made[IO500_IOR_EASY].inode && !b->t.made[IO500_IOR_EASY].ours);
    assert_true(b->t.made[IO500_IOR_HARD].inode && b->t.made[IO500_IOR_HARD].ours);
    end(b);
}

static void a_directory_with_files_of_others_is_refused(void **state)
{
    struct bench *b = begin("timestamp-datadir = FALSE\ntimestamp-resultdir = FALSE\n");

    (void)state;
    make(b, "data");
    put(b, "data/mdtest-hard", "theirs", 1);
    assert_int_equal(io500_places_find(&b->run, &b->t, &b->err), 0);
    assert_int_equal(io500_places_data(&b->run, &b->t, &b->err), -1);
    assert_int_equal(b->err.code, WEIR_EUSAGE);
    assert_non_null(strstr(b->err.text, "[global] datadir: '"));
    assert_non_null(
        strstr(b->err.text, "/data/mdtest-hard' is not empty: it has 'theirs'; remove it"));
    end(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_rehearsal_is_the_one_that_kept_something_last),
        cmocka_unit_test(where_no_rehearsal_kept_something_none_is_the_last),
        cmocka_unit_test(directories_that_are_empty_are_used_and_are_not_ours),
        cmocka_unit_test(a_directory_with_files_of_others_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
