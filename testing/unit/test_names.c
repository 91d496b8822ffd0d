/* SPDX-License-Identifier: BSD-3-Clause */
/* test_names.c - texts without the names in them */
#include "engine/about/names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void check(const char *text, const char *expected)
{
    struct weir_names n = { 0 };
    struct weir_str out = { 0 };

    weir_names_add(&n, 0, "b07.cluster.example");
    weir_names_add(&n, 1, "b071");
    weir_names_add(&n, WEIR_NAME_WORD, "jane");
    weir_names_add(&n, WEIR_NAME_FILE, "f");
    weir_names_add(&n, WEIR_NAME_FILE, "runs/one");
    weir_names_add(&n, WEIR_NAME_FILE, "/none/o'one");
    weir_names_add(&n, WEIR_NAME_WORD, NULL);
    weir_names_add(&n, WEIR_NAME_FILE, "");
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

/* Slots of the set of names that a text looks at, with so many hosts. */
static uint64_t looked_at(int hosts, const char *text, const char *expected)
{
    struct weir_names n = { 0 };
    struct weir_str out = { 0 };
    uint64_t looked = 0;
    char host[64];

    for (int i = 0; i < hosts; i++) {
        snprintf(host, sizeof(host), "node%06d.cluster.example", i);
        weir_names_add(&n, i, host);
    }
    n.texts.looked = &looked;
    weir_names_hide(&n, text, &out);
    assert_string_equal(weir_str_text(&out), expected);
    weir_str_free(&out);
    weir_names_free(&n);
    return looked;
}

static void a_text_takes_no_longer_with_many_hosts(void **state)
{
    static const char text[] = "rank 3 (host node000007): node000007.cluster.example was late, node000009-ib0 was not, "
                               "Intel(R) Xeon(R) Processor, 4.1.4 (Parallel)";
    static const char shown[] = "rank 3 (host host7): host7 was late, host9-ib0 was not, "
                                "Intel(R) Xeon(R) Processor, 4.1.4 (Parallel)";
    uint64_t few = looked_at(10, text, shown);

    (void)state;
    assert_true(looked_at(1000, text, shown) <= 4 * few);
    assert_true(looked_at(100000, text, shown) <= 4 * few);
}

static void what_was_added_first_stays(void **state)
{
    struct weir_names n = { 0 };
    struct weir_str out = { 0 };

    (void)state;
    weir_names_add(&n, 0, "b1.a");
    weir_names_add(&n, 1, "b1.b");
    weir_names_add(&n, WEIR_NAME_WORD, "b1");
    weir_names_hide(&n, "b1 b1.b b1.a", &out);
    assert_string_equal(weir_str_text(&out), "host0 host1 host0");
    weir_str_free(&out);
    weir_names_free(&n);
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
        cmocka_unit_test(a_text_takes_no_longer_with_many_hosts),
        cmocka_unit_test(what_was_added_first_stays),
        cmocka_unit_test(other_texts_stay_as_they_are),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
