/* SPDX-License-Identifier: BSD-3-Clause */
/* test_npy.c - the form of a timeline's file */
#include "engine/observe/timeline.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void a_header_has_its_length_whatever_the_number(void **state)
{
    const uint64_t numbers[] = { 0, 1, 10000000, UINT64_MAX };
    const char *const shapes[] = { "(0,)", "(1,)", "(10000000,)", "(18446744073709551615,)" };

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        char h[WEIR_NPY_HEADER], text[WEIR_NPY_HEADER - 9];

        weir_npy_header(h, numbers[i], i % 2 ? WEIR_NPY_RECORD : WEIR_NPY_SAMPLED);
        assert_memory_equal(h, "\x93NUMPY\x01\x00", 8);
        assert_int_equal((unsigned char)h[8] + 256 * (unsigned char)h[9], WEIR_NPY_HEADER - 10);
        memcpy(text, h + 10, sizeof(text) - 1);
        text[sizeof(text) - 1] = '\0';
        assert_non_null(strstr(text, shapes[i]));
        assert_int_equal(strlen(text), WEIR_NPY_HEADER - 10);
        assert_int_equal(text[WEIR_NPY_HEADER - 11], '\n');
    }
}

static void a_record_is_little_endian_without_gaps(void **state)
{
    const struct weir_npy_record r = {
        1, 0x0102030405060708, -1, 3, 0x01020304, 5, 0x0607, 8, -9, 10, 0x0B0C
    };
    const unsigned char want[WEIR_NPY_SAMPLED] = {
        1, 0, 0, 0, 0, 0, 0, 0, 8, 7, 6, 5, 4, 3, 2, 1, 255, 255, 255, 255, 255, 255, 255, 255,
        3, 0, 0, 0, 0, 0, 0, 0, 4, 3, 2, 1, 5, 0, 0, 0, 7,   6,   8,   0,   247, 255, 255, 255,
        10, 0, 0, 0, 0, 0, 0, 0, 12, 11, 0, 0, 0, 0, 0, 0,
    };
    unsigned char got[WEIR_NPY_SAMPLED + 1] = { 0 };

    (void)state;
    weir_npy_record(got, &r, WEIR_NPY_RECORD);
    assert_memory_equal(got, want, WEIR_NPY_RECORD);
    assert_int_equal(got[WEIR_NPY_RECORD], 0);
    weir_npy_record(got, &r, WEIR_NPY_SAMPLED);
    assert_memory_equal(got, want, sizeof(want));
    assert_int_equal(got[WEIR_NPY_SAMPLED], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_header_has_its_length_whatever_the_number),
        cmocka_unit_test(a_record_is_little_endian_without_gaps),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
