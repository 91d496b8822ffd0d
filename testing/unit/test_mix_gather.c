/* SPDX-License-Identifier: BSD-3-Clause */
/* test_mix_gather.c - weir-mix: the time in which all groups ran; warnings of their jobs are reported once each */
#include "programs/weir-mix/mix-run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- the window ---- */

/* A set of three groups, which began and ended their first run at these times. The last takes no part where its end is 0. */
static void find_window(const int64_t began[3], const int64_t ended[3], enum mix_end end, int64_t window[2])
{
    struct mix_test *t = calloc(1, sizeof(*t));
    const bool in[3] = { true, true, ended[2] != 0 };
    int64_t all[MIX_NUMBERS + 3 * MIX_OF_GROUP] = { 0 };
    struct mix_side s = { .t = t, .in = in, .with = MIX_ALL, .end = end, .numbers = { .all = all } };

    assert_non_null(t);
    t->plan.n = 3;
    for (int g = 0; g < 3; g++) {
        all[mix_at(g, MIX_BEGAN)] = began[g];
        all[mix_at(g, MIX_ENDED)] = ended[g];
    }
    mix_side_window(&s, window);
    free(t);
}

static void all_groups_run_from_the_last_begin_to_the_first_end(void **state)
{
    const int64_t began[] = { 100, 300, 200 }, ended[] = { 700, 600, 900 }, none[] = { 700, 600, 0 };
    const int64_t late[] = { 100, 200, 400 }, over[] = { 700, 650, 600 };
    int64_t window[2];

    (void)state;
    find_window(began, ended, MIX_END_FIRST, window);
    assert_true(window[0] == 300 && window[1] == 600);
    find_window(late, over, MIX_END_ALL, window);
    assert_true(window[0] == 400 && window[1] == 600);
    find_window(late, none, MIX_END_ALL, window); /* a group that takes no part delays nothing */
    assert_true(window[0] == 200 && window[1] == 600);
}

static void groups_that_are_repeated_run_until_the_last_has_ended_once(void **state)
{
    const int64_t began[] = { 100, 300, 200 }, ended[] = { 700, 600, 900 };
    int64_t window[2];

    (void)state;
    find_window(began, ended, MIX_END_REPEAT, window);
    assert_true(window[0] == 300 && window[1] == 900);
}

static void a_group_that_has_not_begun_or_that_ended_before_leaves_no_time(void **state)
{
    const int64_t never[] = { 100, 0, 200 }, late[] = { 100, 300, 800 }, ended[] = { 700, 600, 900 };
    int64_t window[2];

    (void)state;
    find_window(never, ended, MIX_END_ALL, window);
    assert_int_equal(window[0], window[1]);
    find_window(late, ended, MIX_END_ALL, window);
    assert_int_equal(window[0], window[1]);
}

/* ---- warnings ---- */

struct warnings {
    int n;
    char text[8][32];
};

static bool note_warning(void *arg, const char *kind, const char *text)
{
    struct warnings *w = arg;

    assert_string_equal(kind, "warning");
    assert_true(w->n < 8);
    snprintf(w->text[w->n++], sizeof(w->text[0]), "%s", text);
    return true;
}

/* The messages of this rank, each with its NUL, at the end of one set of groups. */
static void end_set(struct mix_side *s, const char *messages, size_t len)
{
    weir_str_clear(&s->messages);
    weir_str_add(&s->messages, messages, len);
    mix_side_warn(s);
    assert_false(s->run->report.lost);
}

static void a_warning_is_reported_once_in_the_run(void **state)
{
    struct warnings got = { 0 };
    struct weir_run run = { .log = { .fd = STDERR_FILENO, .observer = note_warning, .observer_arg = &got } };
    struct mix_test *t = calloc(1, sizeof(*t));
    struct mix_side s = { .t = t, .run = &run };

    (void)state;
    assert_non_null(t);
    weir_par_single(&run.par);
    end_set(&s, "[a] slow\0[b] full\0[a] slow", sizeof("[a] slow\0[b] full\0[a] slow"));
    assert_int_equal(got.n, 2);
    end_set(&s, "[b] full\0[b] slow\0[a] slow", sizeof("[b] full\0[b] slow\0[a] slow"));
    assert_int_equal(got.n, 3);
    assert_string_equal(got.text[0], "[a] slow");
    assert_string_equal(got.text[1], "[b] full");
    assert_string_equal(got.text[2], "[b] slow");
    weir_str_free(&s.messages);
    weir_set_free(&t->reported);
    free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_groups_run_from_the_last_begin_to_the_first_end),
        cmocka_unit_test(groups_that_are_repeated_run_until_the_last_has_ended_once),
        cmocka_unit_test(a_group_that_has_not_begun_or_that_ended_before_leaves_no_time),
        cmocka_unit_test(a_warning_is_reported_once_in_the_run),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
