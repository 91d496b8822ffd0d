/* SPDX-License-Identifier: BSD-3-Clause */
/* test_fortran.c - G16.8 as gfortran writes it */
#include "base/size.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void numbers_look_as_in_fortran(void **state)
{
    static const struct {
        double value;
        const char *text;
    } rows[] = {
        { 0.13183594, "  0.13183594    " },  { 0.042915344, "  0.42915344E-01" },
        { 0.00057220459, "  0.57220459E-03" }, { 232.99333, "   232.99333    " },
        { 74.781142, "   74.781142    " },   { 0, "   0.0000000    " },
        { 498255.39, "   498255.39    " },   { 99999999, "   99999999.    " },
        { 0.0999999999, "  0.10000000    " }, { 1e8, "  0.10000000E+09" },
        { -2.5, "  -2.5000000    " },        { -1e-5, " -0.10000000E-04" },
        { 1e120, "  0.10000000E+121" },
    };
    char text[WEIR_FORTRAN_TEXT];

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        assert_string_equal(weir_fortran_g(rows[i].value, text), rows[i].text);
    assert_string_equal(weir_fortran_g(NAN, text), "             NaN");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(numbers_look_as_in_fortran) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
