/* SPDX-License-Identifier: BSD-3-Clause */
/* fortran.c - numbers as programs in Fortran write them */
#include "config.h"
#include "base/fortran.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *weir_fortran_g(double value, char out[WEIR_FORTRAN_TEXT])
{
    char exact[WEIR_FORTRAN_TEXT];
    int exponent;

    if (isnan(value) || isinf(value)) {
        snprintf(out, WEIR_FORTRAN_TEXT, "%16s", isnan(value) ? "NaN" : "Infinity");
        return out;
    }
    snprintf(exact, sizeof(exact), "%.7e", value); /* 8 digits: rounding may need one more before */
    exponent = value == 0 ? 0 : (int)strtol(strchr(exact, 'e') + 1, NULL, 10);
    if (value == 0 || (exponent >= -1 && exponent <= 7)) {
        snprintf(out, WEIR_FORTRAN_TEXT, "%#12.*f    ", 7 - exponent, value);
        return out;
    }
    snprintf(out, WEIR_FORTRAN_TEXT, "%s0.%c%.7sE%+03d", value < 0 ? " -" : "  ", exact[value < 0],
             exact + 2 + (value < 0), exponent + 1);
    return out;
}
