/* SPDX-License-Identifier: BSD-3-Clause */
/* test_size.c - numbers and sizes as people type and read them */
#include "base/size.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define KI INT64_C(1024)

struct reading {
    const char *text;
    int64_t value;
};

static void numbers_and_suffixes_are_read(void **state)
{
    static const struct reading good[] = {
        { "0", 0 }, { "7", 7 }, { "+7", 7 }, { "-7", -7 }, { "007", 7 }, { "-0", 0 },
        { "4k", 4 * KI }, { "4K", 4 * KI }, { "4KB", 4 * KI }, { "4kb", 4 * KI },
        { "4KiB", 4 * KI }, { "4kib", 4 * KI }, { "4KIB", 4 * KI },
        { "64MiB", 64 * KI * KI }, { "1g", KI * KI * KI }, { "2T", 2 * KI * KI * KI * KI },
        { "3p", 3 * KI * KI * KI * KI * KI }, { "-1k", -KI },
        { " 2 k", 2 * KI }, { "\t5m\n", 5 * KI * KI },
        { "9223372036854775807", INT64_MAX }, { "-9223372036854775808", INT64_MIN },
        { "8191p", 8191 * KI * KI * KI * KI * KI }, { "-8192p", INT64_MIN },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(good); i++) {
        struct weir_err err = WEIR_ERR_INIT;
        int64_t value = -99;

        if (weir_size_parse(good[i].text, INT64_MIN, INT64_MAX, &value, &err) < 0)
            fail_msg("%s", err.text);
        if (value != good[i].value)
            fail_msg("'%s' is read as %lld", good[i].text, (long long)value);
    }
}

static void anything_left_over_is_refused(void **state)
{
    static const char *const bad[] = {
        "", " ", "1.5m", "16x", "0x10", "4kk", "4Bi", "4kBi", "4ki", "4kiBs", "4B", "4iB", "k",
        "abc", "-", "+", "--4", "+-4", "- 4", "1 2", "4k 4", "4kib b", "1e3", "1,000", "12%",
        "4k B", "nan", "inf", "4\xc2\xb5", "4e",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++) {
        struct weir_err err = WEIR_ERR_INIT;
        int64_t value = -99;

        if (weir_size_parse(bad[i], INT64_MIN, INT64_MAX, &value, &err) == 0)
            fail_msg("'%s' is accepted", bad[i]);
        assert_int_equal(value, -99);
        assert_int_equal(err.code, WEIR_EUSAGE);
        assert_non_null(strstr(err.text, " is not a whole number"));
    }
}

static void the_message_says_what_was_read(void **state)
{
    struct weir_err err = WEIR_ERR_INIT;
    int64_t value;

    (void)state;
    assert_int_equal(weir_size_parse("1.5m", 0, 9, &value, &err), -1);
    assert_string_equal(err.text,
                        "'1.5m' is not a whole number with an optional suffix k, m, g, t or p; write 1536k");
    assert_int_equal(weir_size_parse("10", 1, 9, &value, &err), -1);
    assert_string_equal(err.text, "'10' is out of range: it must be from 1 to 9");
    assert_int_equal(weir_size_parse("1p", 4096, INT64_C(1) << 40, &value, &err), -1);
    assert_string_equal(err.text, "'1p' is out of range: it must be from 4k to 1t");
}

static void overflow_is_refused_with_the_range(void **state)
{
    static const char *const big[] = {
        "9223372036854775808", "-9223372036854775809", "99999999999999999999999999999999", "8192p",
        "-8193p", "9223372036854775807k", "18446744073709551616", "18446744073709551617",
        "36893488147419103232k",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(big); i++) {
        struct weir_err err = WEIR_ERR_INIT;
        int64_t value = -99;

        if (weir_size_parse(big[i], INT64_MIN, INT64_MAX, &value, &err) == 0)
            fail_msg("'%s' is accepted", big[i]);
        assert_int_equal(value, -99);
        assert_int_equal(err.code, WEIR_EUSAGE);
        assert_non_null(strstr(err.text, "from -9223372036854775808 to 9223372036854775807"));
    }
}

static void the_range_includes_its_ends(void **state)
{
    int64_t value;

    (void)state;
    assert_int_equal(weir_size_parse("1", 1, 3, &value, NULL), 0);
    assert_int_equal(weir_size_parse("3", 1, 3, &value, NULL), 0);
    assert_int_equal(value, 3);
    assert_int_equal(weir_size_parse("0", 1, 3, &value, NULL), -1);
    assert_int_equal(weir_size_parse("4", 1, 3, &value, NULL), -1);
    assert_int_equal(weir_size_parse("1k", 1, 1023, &value, NULL), -1);
    assert_int_equal(value, 3);
}

static void a_share_is_told_from_a_size(void **state)
{
    int64_t bytes = -99;
    double percent = -99;

    (void)state;
    assert_int_equal(weir_share_parse("2g", &bytes, &percent, NULL), 0);
    assert_true(bytes == 2 * KI * KI * KI && percent == -1);
    assert_int_equal(weir_share_parse("75%", &bytes, &percent, NULL), 0);
    assert_true(percent == 75);
    assert_int_equal(weir_share_parse(" 0 % ", &bytes, &percent, NULL), 0);
    assert_true(percent == 0);
    assert_int_equal(weir_share_parse("100%", &bytes, &percent, NULL), 0);
    assert_true(percent == 100);
    assert_int_equal(weir_share_parse("50", &bytes, &percent, NULL), 0);
    assert_true(bytes == 50 && percent == -1);
}

static void an_impossible_share_is_refused(void **state)
{
    static const char *const bad[] = {
        "", "%", "101%", "-1%", "5%%", "5%x", "x%", "5k%", "1.5%", "-4", "%5",
        "99999999999999999999%",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++) {
        struct weir_err err = WEIR_ERR_INIT;
        int64_t bytes = -99;
        double percent = -99;

        if (weir_share_parse(bad[i], &bytes, &percent, &err) == 0)
            fail_msg("'%s' is accepted", bad[i]);
        assert_true(bytes == -99 && percent == -99);
        assert_int_equal(err.code, WEIR_EUSAGE);
        assert_true(strlen(err.text) > 0);
    }
}

static void sizes_are_shown_in_the_largest_unit(void **state)
{
    static const struct reading shown[] = {
        { "0 bytes", 0 }, { "1 bytes", 1 }, { "262144 bytes", 262144 },
        { "1048575 bytes", 1048575 },
        { "1 MiB", KI * KI }, { "1.50 MiB", 3 * KI * KI / 2 }, { "1024.00 MiB", KI * KI * KI - 1 },
        { "1 GiB", KI * KI * KI }, { "1.00 GiB", KI * KI * KI + 1 }, { "241.06 MiB", 252769730 },
        { "1 TiB", KI * KI * KI * KI }, { "2048 TiB", 2 * KI * KI * KI * KI * KI },
        { "8388608.00 TiB", INT64_MAX }, { "-", -1 }, { "-", INT64_MIN },
    };
    char out[WEIR_SIZE_TEXT];

    (void)state;
    for (size_t i = 0; i < COUNT(shown); i++) {
        assert_ptr_equal(weir_size_show(shown[i].value, out), out);
        assert_string_equal(out, shown[i].text);
    }
}

static void a_number_is_read_up_to_its_end(void **state)
{
    static const struct {
        const char *text;
        double value;
        size_t len;
    } good[] = { { "0.5", 0.5, 3 }, { " 1e-3,x", 1e-3, 5 }, { "-7%", -7, 2 }, { "0,5", 0, 1 } };
    const char *const bad[] = { "", "x", "inf", "nan", "0x10", ",5", "+" };
    double value;

    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
        assert_ptr_equal(weir_real_scan(good[i].text, &value), good[i].text + good[i].len);
        assert_true(value == good[i].value);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        assert_ptr_equal(weir_real_scan(bad[i], &value), bad[i]);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_number_is_read_up_to_its_end),
        cmocka_unit_test(numbers_and_suffixes_are_read),
        cmocka_unit_test(anything_left_over_is_refused),
        cmocka_unit_test(the_message_says_what_was_read),
        cmocka_unit_test(overflow_is_refused_with_the_range),
        cmocka_unit_test(the_range_includes_its_ends),
        cmocka_unit_test(a_share_is_told_from_a_size),
        cmocka_unit_test(an_impossible_share_is_refused),
        cmocka_unit_test(sizes_are_shown_in_the_largest_unit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
