/* SPDX-License-Identifier: BSD-3-Clause */
/* test_md_workbench.c - data sets, positions, quartiles and rates of md-workbench */
#include "programs/md-workbench/mdw.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- data sets ---- */

static void make_sets(struct mdw_test *t, struct mdw_options *o, int rank, int size, int offset,
                      int sets)
{
    const struct weir_run run = { .par = { .rank = rank, .size = size } };
    struct weir_err err = WEIR_ERR_INIT;

    *o = (struct mdw_options) { .prefix = "p", .offset = offset, .sets = sets, .population = 3 };
    *t = (struct mdw_test) { .o = o };
    assert_int_equal(mdw_sets_init(t, &run, &err), 0);
}

static void sets_further_on_belong_to_ranks_further_away(void **state)
{
    struct mdw_options o;
    struct mdw_test t;

    (void)state;
    make_sets(&t, &o, 1, 5, 1, 3);
    assert_int_equal(t.set[0].from_rank, 0); /* (1 - 1 * (0 + 1)) mod 5 */
    assert_int_equal(t.set[1].from_rank, 4);
    assert_int_equal(t.set[2].from_rank, 3);
    assert_int_equal(t.set[0].to_rank, 2);
    assert_int_equal(t.set[1].to_rank, 3);
    assert_int_equal(t.set[2].to_rank, 4);
    mdw_sets_free(&t);
}

/* What one rank takes as its source, that rank knows as its reader; likewise for writing. */
static void ranks_agree_on_who_reads_and_writes(void **state)
{
    static const int offsets[] = { 0, 1, 3, -2, 2000000000, -2000000000 };
    struct mdw_options o, oo;
    struct mdw_test t, other;

    (void)state;
    for (size_t i = 0; i < sizeof(offsets) / sizeof(*offsets); i++)
        for (int rank = 0; rank < 4; rank++) {
            make_sets(&t, &o, rank, 4, offsets[i], 5);
            for (int d = 0; d < 5; d++) {
                make_sets(&other, &oo, mdw_set_of(&t, (uint64_t)d)->from_rank, 4, offsets[i], 5);
                assert_int_equal(mdw_set_of(&other, (uint64_t)d)->reader, rank);
                mdw_sets_free(&other);
                make_sets(&other, &oo, mdw_set_of(&t, (uint64_t)d)->to_rank, 4, offsets[i], 5);
                assert_int_equal(mdw_set_of(&other, (uint64_t)d)->writer, rank);
                mdw_sets_free(&other);
            }
            mdw_sets_free(&t);
        }
}

static void names_are_those_of_the_original(void **state)
{
    struct mdw_options o;
    struct mdw_test t;

    (void)state;
    make_sets(&t, &o, 1, 2, 1, 2);
    assert_string_equal(mdw_name_dir(&t.own, 1, 1), "p/1_1");
    assert_string_equal(mdw_name_object(&t.from, 0, 0, 0), "p/0_0/file-0");
    assert_string_equal(mdw_name_object(&t.from, 0, 0, 120), "p/0_0/file-120");
    assert_string_equal(mdw_name_object(&t.from, 0, 0, 7), "p/0_0/file-7");
    assert_string_equal(mdw_name_object(&t.to, INT32_MAX, INT32_MAX, UINT64_MAX),
                        "p/2147483647_2147483647/file-18446744073709551615");
    assert_string_equal(mdw_name_dir(&t.from, 0, 0), "p/0_0");
    mdw_sets_free(&t);
}

/* ---- positions ---- */

static int load(const char *text, int64_t v[3], struct weir_err *err)
{
    char path[] = "/tmp/weir-position-XXXXXX";
    int fd = mkstemp(path), rc;
    FILE *f = fdopen(fd, "w");

    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    v[0] = 0;
    v[1] = v[2] = -1;
    rc = mdw_position_load(path, v, err);
    unlink(path);
    return rc;
}

static void a_position_is_a_line(void **state)
{
    struct weir_err err = WEIR_ERR_INIT;
    int64_t v[3];

    (void)state;
    assert_int_equal(load("pos: 42\n", v, &err), 0);
    assert_int_equal(v[0], 42);
    assert_int_equal(v[1], -1);
    assert_int_equal(load("pos: 42", v, &err), 0);
    assert_int_equal(load("pos: 42\nfirst: 40\nend: 45\n", v, &err), 0);
    assert_int_equal(v[1], 40);
    assert_int_equal(v[2], 45);
}

static void what_is_no_position_is_refused(void **state)
{
    static const char *const bad[] = { "",
                                       "42\n",
                                       "pos 42\n",
                                       "pos: \n",
                                       "pos: x\n",
                                       "pos: -1\n",
                                       "pos: 1 2\n",
                                       "pos: 99999999999999999999\n",
                                       "pos: 1\nfirst: 1\n",
                                       "pos: 1\nend: 1\nfirst: 1\n",
                                       "pos: 1\nfirst: 3\nend: 2\n" };
    int64_t v[3];

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        struct weir_err err = WEIR_ERR_INIT;

        assert_int_equal(load(bad[i], v, &err), -1);
        assert_int_equal(err.code, WEIR_EUSAGE);
        assert_non_null(strstr(err.text, "run-info file"));
    }
}

static void a_missing_file_is_told(void **state)
{
    struct weir_err err = WEIR_ERR_INIT;
    int64_t v[3];

    (void)state;
    assert_int_equal(mdw_position_load("/nonexistent/file", v, &err), -1);
    assert_int_equal(err.code, WEIR_ESETUP);
}

/* ---- numbers ---- */

static void quartiles_are_ordered_and_near(void **state)
{
    double q[MDW_QUARTILES];
    struct weir_hist h = { 0 };

    (void)state;
    for (uint64_t i = 1; i <= 1000; i++)
        weir_hist_add(&h, i * 1000);
    mdw_quartiles(q, &h);
    assert_true(fabs(q[0] - 1e-6) < 1e-12 && fabs(q[6] - 1e-3) < 1e-12);
    assert_true(fabs(q[1] - 250e-6) < 0.032 * 250e-6);
    assert_true(fabs(q[2] - 500e-6) < 0.032 * 500e-6);
    assert_true(fabs(q[3] - 750e-6) < 0.032 * 750e-6);
    assert_true(fabs(q[4] - 900e-6) < 0.032 * 900e-6);
    assert_true(fabs(q[5] - 990e-6) < 0.032 * 990e-6);
    for (int i = 1; i < MDW_QUARTILES; i++)
        assert_true(q[i] >= q[i - 1]);
}

static void the_median_of_two_is_no_more_than_the_third_quartile(void **state)
{
    double q[MDW_QUARTILES];
    struct weir_hist h = { 0 };

    (void)state;
    weir_hist_add(&h, 1000);
    weir_hist_add(&h, 5000);
    mdw_quartiles(q, &h);
    assert_true(q[1] <= q[2] && q[2] <= q[3]);
}

static void nothing_measured_has_no_quartiles(void **state)
{
    double q[MDW_QUARTILES];
    const struct weir_hist h = { 0 };

    (void)state;
    mdw_quartiles(q, &h);
    for (int i = 0; i < MDW_QUARTILES; i++)
        assert_true(isnan(q[i]));
}

static void rates_count_what_the_phase_is_about(void **state)
{
    struct mdw_options o = { .size = 1 << 20 };
    const struct mdw_test t = { .o = &o };
    struct mdw_measure m = { .phase = MDW_BENCHMARK, .seconds = 2 };

    (void)state;
    m.done[MDW_READ] = 10;
    m.done[MDW_CREATE] = 6;
    m.done[MDW_DELETE] = 4;
    m.done[MDW_SET_CREATE] = 2;
    m.done[MDW_SET_DELETE] = 1;
    m.failed[MDW_STAT] = 3;
    m.failed[MDW_SET_DELETE] = 1;
    assert_true(mdw_iops(&t, &m) == 20.0 && mdw_objects(&m) == 10);
    assert_true(mdw_throughput(&t, &m) == 8.0);
    assert_int_equal(mdw_errors(&m), 4);
    o.read_only = true;
    assert_true(mdw_iops(&t, &m) == 10.0);
    m.phase = MDW_PRECREATE;
    assert_true(mdw_iops(&t, &m) == 4.0 && mdw_objects(&m) == 6);
    m.phase = MDW_CLEANUP;
    assert_true(mdw_iops(&t, &m) == 2.5 && mdw_objects(&m) == 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets_further_on_belong_to_ranks_further_away),
        cmocka_unit_test(ranks_agree_on_who_reads_and_writes),
        cmocka_unit_test(names_are_those_of_the_original),
        cmocka_unit_test(a_position_is_a_line),
        cmocka_unit_test(what_is_no_position_is_refused),
        cmocka_unit_test(a_missing_file_is_told),
        cmocka_unit_test(quartiles_are_ordered_and_near),
        cmocka_unit_test(the_median_of_two_is_no_more_than_the_third_quartile),
        cmocka_unit_test(nothing_measured_has_no_quartiles),
        cmocka_unit_test(rates_count_what_the_phase_is_about),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
