/* SPDX-License-Identifier: BSD-3-Clause */
/* test_names.c - texts without the names in them */
#include "base/text/names.h"
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void check(const char *text, const char *expected)
{
    struct weir_names n = { 0 };
    struct weir_str out = { 0 };

    weir_names_add_host(&n, "b07.cluster.example", 0);
    weir_names_add_host(&n, "b071", 1);
    weir_names_add_word(&n, "jane");
    weir_names_add_file(&n, "f");
    weir_names_add_file(&n, "runs/one");
    weir_names_add_file(&n, "/none/o'one");
    weir_names_add_word(&n, NULL);
    weir_names_add_file(&n, "");
    weir_names_hide(&n, text, &out);
    assert_string_equal(weir_str_text(&out), expected);
    weir_str_free(&out);
    weir_names_free(&n);
}

static void hosts_are_numbered_under_their_full_and_short_names(void **state)
{
    (void)state;
    check("b07 b07.cluster.example (b071)", "host0 host0 (host1)");
    check("rank 3 (host b07): late", "rank 3 (host host0): late");
    check("b070 xb07 x-b07", "b070 xb07 x-b07");
    check("b07-ib0 b07_x", "host0-ib0 host0_x");
    check("Linux b071", "Linux host1");
}

static void users_and_addresses_are_left_out(void **state)
{
    (void)state;
    check("jane janet jane-2", "(left out) janet (left out)-2");
    check("package: Open MPI root@build.example Distribution",
          "package: Open MPI (left out) Distribution");
    check("3 @ 4", "3 @ 4");
}

static void paths_are_left_out_up_to_their_end(void **state)
{
    (void)state;
    check("open '/scratch/a b/c': No such file", "open '(left out)': No such file");
    check("ROMIO_HINTS=/home/x/hints,a", "ROMIO_HINTS=(left out),a");
    check("./f ../x ~/y", "(left out) (left out) (left out)");
    check("runs/one.0001 is there", "(left out) is there");
    check("open '/none/o'one', '/none/o'one.0': x", "open '(left out)', '(left out)': x");
    check("12 MiB/s, 1 / 2, ops/s", "12 MiB/s, 1 / 2, ops/s");
}

static void bare_names_of_files_are_left_out_in_quotes_only(void **state)
{
    (void)state;
    check("open 'f.00000001': x", "open '(left out)': x");
    check("open 'f-0001', 'f_part': x", "open '(left out)', '(left out)': x");
    check("a file f-1 is f", "a file f-1 is f");
    check("option 'foo'", "option 'foo'");
    check("open '0/f.00000001', 'a/b/f': x", "open '(left out)', '(left out)': x");
    check("open '0/foo', 12 f/s", "open '0/foo', 12 f/s");
}

static void other_texts_stay_as_they_are(void **state)
{
    (void)state;
    check("", "");
    check("Intel(R) Xeon(R) Processor, 4.1.4 (Parallel), +-13 %",
          "Intel(R) Xeon(R) Processor, 4.1.4 (Parallel), +-13 %");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hosts_are_numbered_under_their_full_and_short_names),
        cmocka_unit_test(users_and_addresses_are_left_out),
        cmocka_unit_test(paths_are_left_out_up_to_their_end),
        cmocka_unit_test(bare_names_of_files_are_left_out_in_quotes_only),
        cmocka_unit_test(other_texts_stay_as_they_are),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
