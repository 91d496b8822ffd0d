/* SPDX-License-Identifier: BSD-3-Clause */
/* test_col.c - columns: IOR's number rule, text cells, CSV */
#include "base/text/columns.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/size.h"

struct record {
    const char *name;
    int64_t bytes;
    double ns, bw;
};

static void is_text(const struct weir_col *cols, const struct record *r, const char *expected)
{
    struct weir_str s = { 0 };

    weir_col_text(&s, cols, r);
    assert_string_equal(weir_str_text(&s), expected);
    weir_str_free(&s);
}

static void is_csv(const struct weir_col *cols, const struct record *r, const char *expected)
{
    struct weir_str s = { 0 };

    weir_col_csv(&s, cols, r);
    assert_string_equal(weir_str_text(&s), expected);
    weir_str_free(&s);
}

static void the_number_rule_is_that_of_ior(void **state)
{
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        { 0, "0.000000  " },           { 0.0078125, "0.007812  " }, { 0.9999999, "1.000000  " },
        { 1, "1.00      " },           { 2624.72, "2624.72   " },   { 3599.999, "3600.00   " },
        { 3600, "3600      " },        { 39946.4, "39946     " },   { 1e10, "10000000000" },
        { 123456789.5, "123456790 " }, { -1, "   -      " },        { -1e-300, "   -      " },
        { -0.0, "0.000000  " },        { NAN, "   -      " },       { -NAN, "   -      " },
        { INFINITY, "inf       " },    { -INFINITY, "   -      " },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct weir_str s = { 0 };

        weir_col_rule(&s, cases[i].value);
        assert_string_equal(weir_str_text(&s), cases[i].text);
        weir_str_free(&s);
    }
}

static const struct weir_col table[] = { { .key = "access",
                                           .csv = "access",
                                           .head = "access",
                                           .type = WEIR_COL_STR,
                                           .offset = offsetof(struct record, name),
                                           .width = -10 },
                                         { .key = "bytes",
                                           .csv = "bytes",
                                           .type = WEIR_COL_INT,
                                           .offset = offsetof(struct record, bytes) },
                                         { .key = "block",
                                           .csv = "block(KiB)",
                                           .head = "block",
                                           .type = WEIR_COL_INT,
                                           .offset = offsetof(struct record, bytes),
                                           .unit = 1024,
                                           .width = 9,
                                           .prec = 1,
                                           .gap = 1 },
                                         { .key = "latency",
                                           .csv = "Latency",
                                           .head = "Latency(s)",
                                           .type = WEIR_COL_RULE,
                                           .offset = offsetof(struct record, ns),
                                           .unit = 1e9,
                                           .gap = 2 },
                                         { .key = "bw",
                                           .csv = "bw",
                                           .head = "bw",
                                           .type = WEIR_COL_REAL,
                                           .offset = offsetof(struct record, bw),
                                           .width = 10,
                                           .prec = 2,
                                           .gap = 1 },
                                         { .head = "n",
                                           .type = WEIR_COL_INT,
                                           .offset = offsetof(struct record, bytes),
                                           .width = -6 },
                                         WEIR_COL_END };

static void a_record_becomes_a_line_of_the_table(void **state)
{
    const struct record r = { .name = "write", .bytes = 2048, .ns = 91000, .bw = 12.345 };

    (void)state;
    is_text(table, &r, "write           2.0 0.000091         12.35 2048  ");
}

static void a_table_that_is_kept_has_one_heading_and_an_end(void **state)
{
    static const struct weir_col cols[] = { { .head = "name", .type = WEIR_COL_STR, .width = -6 }, WEIR_COL_END };
    static const char end[] = "\n... the rest is in JSON";
    const struct record r = { .name = "write" };
    struct weir_str s = { 0 };
    size_t len = 0;

    (void)state;
    weir_col_keep(&s, "Kept", cols, &r);
    weir_col_keep(&s, "Kept", cols, &r);
    assert_string_equal(weir_str_text(&s), "\nKept:\nname\nwrite \nwrite ");
    for (; s.len != len; weir_col_keep(&s, "Kept", cols, &r))
        len = s.len;
    assert_true(len > (size_t)8 << 20 && strcmp(s.text + len - strlen(end), end) == 0);
    weir_str_free(&s);
}

static void the_heading_stands_where_the_cells_are(void **state)
{
    const struct weir_col ruled[] = {
        { .head = "left", .rule = "----", .type = WEIR_COL_STR, .width = -6, .gap = 1 },
        { .csv = "only" },
        { .head = "right", .type = WEIR_COL_INT, .width = 7, .gap = 1 },
        { .head = "time", .rule = "------", .type = WEIR_COL_RULE, .gap = 4 },
        WEIR_COL_END
    };
    const struct weir_col placed[] = {
        { .head = "a", .rule = "-", .type = WEIR_COL_STR, .width = -3, .gap = 1 },
        { .head = "at 5", .type = WEIR_COL_INT, .width = 20, .head_at = 5 },
        { .head = "at 14", .rule = "---", .type = WEIR_COL_INT, .width = 20, .head_at = 14 },
        WEIR_COL_END
    };
    struct weir_str s = { 0 };

    (void)state;
    weir_col_heading(&s, table);
    assert_string_equal(weir_str_text(&s), "access        block Latency(s)          bw n");
    weir_str_clear(&s);
    weir_col_heading(&s, placed);
    assert_string_equal(weir_str_text(&s), "a    at 5     at 14\n-             ---");
    weir_str_clear(&s);
    weir_col_heading(&s, ruled);
    assert_string_equal(weir_str_text(&s), "left     right time\n----           ------");
    weir_str_free(&s);
}

static void cells_overflow_and_are_not_cut(void **state)
{
    const struct record r = {
        .name = "a-very-long-name", .bytes = INT64_MAX, .ns = 1e25, .bw = 1e12
    };

    (void)state;
    is_text(table, &r,
            "a-very-long-name9007199254740992.0 10000000000000000  1000000000000.00 "
            "9223372036854775807");
}

static void what_is_missing_shows_as_its_column_says(void **state)
{
    static const struct weir_col marked[] = { { .head = "a",
                                                .type = WEIR_COL_STR,
                                                .offset = offsetof(struct record, name),
                                                .width = 5,
                                                .none = "?" },
                                              { .head = "b",
                                                .type = WEIR_COL_RULE,
                                                .offset = offsetof(struct record, ns),
                                                .none = "-",
                                                .gap = 2 },
                                              { .head = "c",
                                                .type = WEIR_COL_REAL,
                                                .offset = offsetof(struct record, bw),
                                                .width = -6,
                                                .none = "none" },
                                              WEIR_COL_END };
    const struct record r = { .bytes = 0, .ns = NAN, .bw = NAN };

    (void)state;
    is_text(table, &r, "NA              0.0    -                NA 0     ");
    is_text(marked, &r, "    ?-           none  ");
}

static void the_csv_heading_has_only_csv_columns(void **state)
{
    struct weir_str s = { 0 };

    (void)state;
    weir_col_csv(&s, table, NULL);
    assert_string_equal(weir_str_text(&s), "access,bytes,block(KiB),Latency,bw\n");
    weir_str_free(&s);
}

static void csv_numbers_are_whole_and_exact(void **state)
{
    const struct record r = { .name = "read", .bytes = INT64_MIN, .ns = 1, .bw = 0.1 + 0.2 };

    (void)state;
    is_csv(table, &r,
           "read,-9223372036854775808,-9007199254740992.0,0.000000001,0.30000000000000004\n");
}

static void csv_numbers_read_back_as_the_same(void **state)
{
    static const double values[] = { 0.1,  1.0 / 3, 1e300, 5e-324, 123456789012345678.0,
                                     1e22, 65536 };
    static const struct weir_col one[] = {
        { .csv = "x", .type = WEIR_COL_REAL, .offset = offsetof(struct record, bw) },
        WEIR_COL_END
    };

    (void)state;
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        const struct record r = { .bw = values[i] };
        struct weir_str s = { 0 };
        double back;

        weir_col_csv(&s, one, &r);
        weir_real_scan(weir_str_text(&s), &back);
        assert_true(back == values[i]);
        assert_null(strpbrk(weir_str_text(&s), "eE"));
        assert_non_null(strchr(weir_str_text(&s), '.'));
        weir_str_free(&s);
    }
    is_csv(one, &(struct record) { .bw = 0.1 }, "0.1\n");
    is_csv(one, &(struct record) { .bw = 65536 }, "65536.0\n");
    is_csv(one, &(struct record) { .bw = 7.1933e-05 }, "0.000071933\n");
    is_csv(one, &(struct record) { .bw = -120 }, "-120.0\n");
    is_csv(one, &(struct record) { .bw = 0 }, "0.0\n");
    is_csv(one, &(struct record) { .bw = INFINITY }, "inf\n");
}

static void missing_csv_fields_are_empty(void **state)
{
    const struct record r = { .bytes = 1, .ns = NAN, .bw = NAN };

    (void)state;
    is_csv(table, &r, ",1,0.0009765625,,\n");
}

static void csv_text_is_quoted_where_it_must_be(void **state)
{
    static const char *const cases[][2] = {
        { "plain text", "plain text\n" },
        { "a,b", "\"a,b\"\n" },
        { "say \"x\"", "\"say \"\"x\"\"\"\n" },
        { "two\nlines", "\"two\nlines\"\n" },
        { "cr\r", "\"cr\r\"\n" },
        { "f\xff,\xc3\xa9", "\"f\xef\xbf\xbd,\xc3\xa9\"\n" }, /* not UTF-8, and UTF-8 */
        { "", "\n" },
    };
    static const struct weir_col one[] = {
        { .csv = "x", .type = WEIR_COL_STR, .offset = offsetof(struct record, name) },
        WEIR_COL_END
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        is_csv(one, &(struct record) { .name = cases[i][0] }, cases[i][1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_number_rule_is_that_of_ior),
        cmocka_unit_test(a_record_becomes_a_line_of_the_table),
        cmocka_unit_test(a_table_that_is_kept_has_one_heading_and_an_end),
        cmocka_unit_test(the_heading_stands_where_the_cells_are),
        cmocka_unit_test(cells_overflow_and_are_not_cut),
        cmocka_unit_test(what_is_missing_shows_as_its_column_says),
        cmocka_unit_test(the_csv_heading_has_only_csv_columns),
        cmocka_unit_test(csv_numbers_are_whole_and_exact),
        cmocka_unit_test(csv_numbers_read_back_as_the_same),
        cmocka_unit_test(missing_csv_fields_are_empty),
        cmocka_unit_test(csv_text_is_quoted_where_it_must_be),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
