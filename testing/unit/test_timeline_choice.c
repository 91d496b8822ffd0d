/* SPDX-License-Identifier: BSD-3-Clause */
/* test_timeline_choice.c - the words after the name of a timeline */
#include "engine/observe/timeline.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "par/comm.h"

static void words_say_which_operations_are_kept(void **state)
{
    struct weir_arena arena = { 0 };
    struct weir_timeline_choice c;
    struct weir_err err = WEIR_ERR_INIT;

    (void)state;
    assert_int_equal(weir_timeline_choice_read("a,b.npy", &arena, &c, &err), 0);
    assert_string_equal(c.path, "a,b.npy");
    assert_true(c.sample == 0 && c.slowest == 0 && !c.ranks && !weir_timeline_samples(&c));
    assert_int_equal(weir_timeline_choice_read("a.npy,slowest=3,ranks=0,4-6,9,sample=1/10,seed=7", &arena,
                                               &c, &err), 0);
    assert_string_equal(c.path, "a.npy");
    assert_string_equal(c.ranks, "0,4-6,9");
    assert_true(c.sample == 10 && c.slowest == 3 && c.seed == 7 && weir_timeline_samples(&c));
    assert_int_equal(weir_timeline_choice_read("a.npy,b.npy,ranks=leaders", &arena, &c, &err), 0);
    assert_string_equal(c.path, "a.npy,b.npy");
    assert_string_equal(c.ranks, "leaders");
    weir_arena_free(&arena);
}

static void ranks_are_those_of_the_list(void **state)
{
    struct weir_timeline_choice c = { .ranks = "0,4-6,9,5" };
    struct weir_par par = { .leader = 4 };
    struct weir_err err = WEIR_ERR_INIT;

    (void)state;
    for (par.rank = 0; par.rank < 12; par.rank++)
        assert_int_equal(weir_timeline_has_rank(&c, &par),
                         par.rank == 0 || (par.rank >= 4 && par.rank <= 6) || par.rank == 9);
    assert_int_equal(weir_timeline_check_ranks(&c, 10, &err), 0);
    assert_int_equal(weir_timeline_check_ranks(&c, 9, &err), -1);
    assert_non_null(strstr(err.text, "there is no rank 9, the last one is 8"));
    c.ranks = "9,1-7:3";
    for (par.rank = 0; par.rank < 12; par.rank++)
        assert_int_equal(weir_timeline_has_rank(&c, &par),
                         par.rank == 1 || par.rank == 4 || par.rank == 7 || par.rank == 9);
    c.ranks = "leaders";
    for (par.rank = 0; par.rank < 12; par.rank++)
        assert_int_equal(weir_timeline_has_rank(&c, &par), par.rank == 4);
    assert_int_equal(weir_timeline_check_ranks(&c, 1, &err), 0);
    c.ranks = NULL;
    assert_true(weir_timeline_has_rank(&c, &par));
}

static void words_that_cannot_be_are_refused(void **state)
{
    static const char *const bad[][2] = {
        { "sample=0", "'sample=0' is not sample=1/N, N from 1 to 1000000000" },
        { "sample=2", "'sample=2' is not sample=1/N" },
        { "sample=1/0", "'sample=1/0' is not sample=1/N" },
        { "sample=1/-3", "'sample=1/-3'" },
        { "sample=0.1", "'sample=0.1'" },
        { "sample=1/1000000001", "'sample=1/1000000001'" },
        { "ranks=", "'ranks=' is not ranks=LIST" },
        { "ranks=3-1", "'ranks=3-1'" },
        { "ranks=0,99999999999", "'ranks=0,99999999999'" },
        { "ranks=0,5x", "'ranks=0,5x'" },
        { "ranks=-3", "'ranks=-3'" },
        { "ranks=0-9:0", "'ranks=0-9:0'" },
        { "ranks=0-:2", "'ranks=0-:2'" },
        { "ranks=3:2", "'ranks=3:2'" },
        { "ranks=0,,1", "'' is not one of the words" },
        { "ranks=nodes", "'ranks=nodes'" },
        { "slowest=0", "'slowest=0' is not slowest=K" },
        { "slowest=100001", "K from 1 to 100000" },
        { "slowest", "'slowest' is not slowest=K" },
        { "fastest=3", "'fastest=3' is not one of the words" },
        { "", "'' is not one of the words" },
        { "sample=1/2,sample=1/3", "'sample=1/3' is given twice" },
        { "seed=1", "seed=N is for a sample" },
        { "seed=-1,sample=1/2", "'seed=-1' is not seed=N" },
    };
    struct weir_arena arena = { 0 };

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        char value[80] = "t.npy,";
        struct weir_timeline_choice c;
        struct weir_err err = WEIR_ERR_INIT;

        memcpy(value + 6, bad[i][0], strlen(bad[i][0]) + 1);
        assert_int_equal(weir_timeline_choice_read(value, &arena, &c, &err), -1);
        assert_int_equal(err.code, WEIR_EUSAGE);
        assert_non_null(strstr(err.text, bad[i][1]));
    }
    weir_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_say_which_operations_are_kept),
        cmocka_unit_test(ranks_are_those_of_the_list),
        cmocka_unit_test(words_that_cannot_be_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
