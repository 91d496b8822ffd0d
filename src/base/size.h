/* SPDX-License-Identifier: BSD-3-Clause */
/* size.h - numbers and sizes as people type and read them */
#pragma once

#include <stdint.h>

#include "base/err.h"

/* Parse a whole decimal number with optional sign and surrounding blanks. A binary suffix k m g t p may
 * follow, in upper or lower case, bare or with B or iB ("4k" "4KB" "4KiB" "64MiB"). It is a power of
 * 1024. Anything else left over, a fraction, hexadecimal, an empty text, overflow or a value
 * outside [min, max] is refused. Then err (WEIR_EUSAGE) has what was read and what would be right, but
 * not the name of the option: callers add it with weir_err_within. *out is set only on success.
 * Local. */
int weir_size_parse(const char *text, int64_t min, int64_t max, int64_t *out, struct weir_err *err);

/* Parse a size as weir_size_parse does, or "NN%" (0-100): *percent gets the number, or -1 for a
 * plain size. For -M. */
int weir_share_parse(const char *text, int64_t *bytes, double *percent, struct weir_err *err);

/* Read the number at the beginning of a text, after blanks: 10, 0.5, 1e-3, with an optional sign;
 * the point is a point. Returns where it ends, or the text itself where there is none. errno is
 * ERANGE where the number is too large or too close to 0. Local. */
const char *weir_real_scan(const char *text, double *out);

#define WEIR_SIZE_TEXT 32
/* Format a size for people, as IOR does: TiB from 2^40 on, GiB from 2^30, MiB from 2^20, an
 * integer if exact ("1 MiB"), else two decimals ("1.50 MiB"). Smaller ones are "%lld bytes",
 * negative ones "-". Returns out. */
const char *weir_size_show(int64_t bytes, char out[WEIR_SIZE_TEXT]);

/* Format a size as an option takes it, always exact: "1m" for 1048576. Returns out. */
const char *weir_size_typed(int64_t bytes, char out[WEIR_SIZE_TEXT]);

/* a * b, or UINT64_MAX where that is more. */
static inline uint64_t weir_product(uint64_t a, uint64_t b)
{
    uint64_t n;

    return __builtin_mul_overflow(a, b, &n) ? UINT64_MAX : n;
}

/* a + b, as large as possible when that does not fit. */
static inline uint64_t weir_sum(uint64_t a, uint64_t b)
{
    uint64_t n;

    return __builtin_add_overflow(a, b, &n) ? UINT64_MAX : n;
}

/* n as a signed number, as large as possible when that does not fit. */
static inline int64_t weir_signed(uint64_t n)
{
    return n < INT64_MAX ? (int64_t)n : INT64_MAX;
}

#define WEIR_FORTRAN_TEXT 32

/* The edit descriptor G16.8: 16 characters with 8 digits, the exponent only where it is needed.
 * Local. Returns out. */
const char *weir_fortran_g(double value, char out[WEIR_FORTRAN_TEXT]);
