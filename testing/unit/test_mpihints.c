/* SPDX-License-Identifier: BSD-3-Clause */
/* test_mpihints.c - lines that are hints for MPI-IO, and those that are not */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "par/io/mpisession.h"

static enum weir_hint_kind parse(const char *line, struct weir_hint *hint)
{
    return weir_mpihints_parse(line, strlen(line), hint);
}

static void assert_hint(const char *line, const char *key, const char *value)
{
    struct weir_hint h;

    assert_int_equal(parse(line, &h), WEIR_HINT_MPI);
    assert_int_equal(h.key_len, strlen(key));
    assert_memory_equal(h.key, key, h.key_len);
    assert_int_equal(h.value_len, strlen(value));
    assert_memory_equal(h.value, value, h.value_len);
}

static void both_prefixes_are_stripped(void **state)
{
    (void)state;
    assert_hint("IOR_HINT__MPI__cb_nodes=4", "cb_nodes", "4");
    assert_hint("IOR_HINT__GPFS__hint=on", "hint", "on");
}

static void a_value_may_contain_an_equals_sign_and_blanks(void **state)
{
    (void)state;
    assert_hint("IOR_HINT__MPI__list=a=b c", "list", "a=b c");
}

static void blanks_around_and_a_carriage_return_are_dropped(void **state)
{
    (void)state;
    assert_hint("  IOR_HINT__MPI__cb_nodes = 4 \r", "cb_nodes", "4");
}

static void other_lines_are_no_hints(void **state)
{
    static const char *const lines[] = { "",
                                         " ",
                                         "# IOR_HINT__MPI__a=b",
                                         "PATH=/bin",
                                         "IOR_HIN",
                                         "ior_hint__MPI__a=b",
                                         "setenv IOR_HINT__MPI__a b",
                                         NULL };
    struct weir_hint h;

    (void)state;
    for (const char *const *l = lines; *l; l++)
        assert_int_equal(parse(*l, &h), WEIR_HINT_NONE);
}

static void another_kind_or_an_empty_half_is_left_out(void **state)
{
    static const char *const lines[] = { "IOR_HINT",           "IOR_HINT__QQQ__a=b",
                                         "IOR_HINT__MPI__",    "IOR_HINT__MPI__=b",
                                         "IOR_HINT__MPI__a=",  "IOR_HINT__MPI__a= ",
                                         "IOR_HINT__MPI__a",   "IOR_HINT__MPI=__a",
                                         "IOR_HINT__mpi__a=b", NULL };
    struct weir_hint h;

    (void)state;
    for (const char *const *l = lines; *l; l++)
        assert_int_equal(parse(*l, &h), WEIR_HINT_UNKNOWN);
}

static void a_nul_byte_is_not_taken(void **state)
{
    static const char line[] = "IOR_HINT__MPI__a=b\0c";
    struct weir_hint h;

    (void)state;
    assert_int_equal(weir_mpihints_parse(line, sizeof(line) - 1, &h), WEIR_HINT_UNKNOWN);
}

static void a_key_or_value_fits_up_to_the_last_byte(void **state)
{
    char line[MPI_MAX_INFO_VAL + 64];
    struct weir_hint h;
    int n = snprintf(line, sizeof(line), "IOR_HINT__MPI__k=");

    (void)state;
    memset(line + n, 'v', MPI_MAX_INFO_VAL);
    assert_int_equal(weir_mpihints_parse(line, (size_t)n + MPI_MAX_INFO_VAL - 1, &h),
                     WEIR_HINT_MPI);
    assert_int_equal(weir_mpihints_parse(line, (size_t)n + MPI_MAX_INFO_VAL, &h),
                     WEIR_HINT_TOO_LONG);
}

static void a_number_that_no_library_survives_is_refused(void **state)
{
    static const char *const good[][2] = { { "cb_nodes", "1" },
                                           { "cb_nodes", "2147483647" },
                                           { "striping_unit", "0" },
                                           { "striping_factor", "-1" },
                                           { "nc_var_align_size", "4294967296" },
                                           { "romio_cb_write", "enable" },
                                           { "of_another_library", "-1" } };
    static const char *const bad[][2] = { { "cb_nodes", "0" },
                                          { "cb_nodes", "-1" },
                                          { "cb_nodes", "2147483648" },
                                          { "cb_nodes", "4x" },
                                          { "cb_nodes", "x" },
                                          { "cb_nodes", "" },
                                          { "cb_buffer_size", "1m" },
                                          { "cb_buffer_size", "-1" },
                                          { "striping_unit", "-1" },
                                          { "cb_nodes", "0x10" },
                                          { "ind_wr_buffer_size", "0" },
                                          { "nc_var_align_size", "-4" },
                                          { "nc_var_align_size", "99999999999999999999" } };
    struct weir_err err = WEIR_ERR_INIT;

    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
        assert_int_equal(weir_hint_check(good[i][0], good[i][1], NULL), 0);
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        assert_int_equal(weir_hint_check(bad[i][0], bad[i][1], NULL), -1);
    assert_int_equal(weir_hint_check("cb_nodes", "0", &err), -1);
    assert_int_equal(err.code, WEIR_EUSAGE);
    assert_string_equal(err.text,
                        "must be a whole number from 1 to 2147483647 (tasks), without a suffix");
}

static void a_driver_prefix_is_no_part_of_the_path(void **state)
{
    (void)state;
    assert_string_equal(weir_mpi_path("ufs:/no/such/file"), "/no/such/file");
    assert_string_equal(weir_mpi_path("/no/ufs:file"), "/no/ufs:file");
    assert_string_equal(weir_mpi_path("ufs:"), "ufs:");
    assert_string_equal(weir_mpi_path("other:file"), "other:file");
    assert_string_equal(weir_mpi_path("./ufs:file"), "./ufs:file");
    assert_string_equal(weir_mpi_path("Lustre:/file"), "/file");
}

static void no_library_reads_a_driver_that_nobody_wrote(void **state)
{
    static const struct {
        const char *path, *reads, *not_read;
    } names[] = { { "file", "./file", "./file" },
                  { "f", "./f", "./f" },
                  { "a:b", "ufs:a:b", "./a:b" },
                  { "run-10:00/f", "ufs:run-10:00/f", "run-10:00/f" },
                  { "./ufs:f", "ufs:./ufs:f", "./ufs:f" },
                  { "nfs:a:b", "nfs:a:b", "./a:b" },
                  { "ufs:f", "ufs:f", "./f" },
                  { "ufs:/d/f", "ufs:/d/f", "/d/f" } };
    char text[WEIR_MPI_NAME_TEXT];

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        enum weir_mpi_drivers reads = WEIR_DRIVERS_READ;
        enum weir_mpi_drivers not_read = WEIR_DRIVERS_NOT_READ;

        assert_string_equal(weir_mpi_name(&reads, names[i].path, text, NULL), names[i].reads);
        assert_string_equal(weir_mpi_name(&not_read, names[i].path, text, NULL), names[i].not_read);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_prefixes_are_stripped),
        cmocka_unit_test(a_value_may_contain_an_equals_sign_and_blanks),
        cmocka_unit_test(blanks_around_and_a_carriage_return_are_dropped),
        cmocka_unit_test(other_lines_are_no_hints),
        cmocka_unit_test(another_kind_or_an_empty_half_is_left_out),
        cmocka_unit_test(a_nul_byte_is_not_taken),
        cmocka_unit_test(a_key_or_value_fits_up_to_the_last_byte),
        cmocka_unit_test(a_number_that_no_library_survives_is_refused),
        cmocka_unit_test(a_driver_prefix_is_no_part_of_the_path),
        cmocka_unit_test(no_library_reads_a_driver_that_nobody_wrote),
    };

    return cmocka_run_group_tests_name("mpihints", tests, NULL, NULL);
}
