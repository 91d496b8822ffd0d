/* SPDX-License-Identifier: BSD-3-Clause */
/* size.c - numbers and sizes as people type and read them */
#include "base/size.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum reading { READ_WELL, READ_GARBAGE, READ_TOO_BIG };

/* A unit for people. */
struct unit {
    int64_t bytes;
    const char *name;
};

static const struct unit units[] = {
    { .bytes = INT64_C(1) << 40, .name = "TiB" },
    { .bytes = INT64_C(1) << 30, .name = "GiB" },
    { .bytes = INT64_C(1) << 20, .name = "MiB" },
};

static const char suffixes[] = "kmgtp";

static const char *skip_blanks(const char *s)
{
    while (isspace((unsigned char)*s))
        s++;
    return s;
}

/* The digits at *s, which a sign may precede, as a number. */
static enum reading read_digits(const char **s, int64_t *out)
{
    const char *first = *s + (**s == '-' || **s == '+');
    char *end;

    if (!isdigit((unsigned char)*first))
        return READ_GARBAGE;
    errno = 0;
    *out = strtoll(*s, &end, 10);
    *s = end;
    return errno == ERANGE ? READ_TOO_BIG : READ_WELL;
}

/* The suffix at *s, if any, as a number of bits to shift; 0 without one. */
static int read_suffix(const char **s)
{
    int letter = tolower((unsigned char)**s);
    const char *found = letter ? strchr(suffixes, letter) : NULL;

    if (!found)
        return 0;
    (*s)++;
    if ((**s == 'i' || **s == 'I') && ((*s)[1] == 'b' || (*s)[1] == 'B'))
        *s += 2;
    else if (**s == 'b' || **s == 'B')
        (*s)++;
    return 10 * (int)(found - suffixes + 1);
}

/* Read one number with an optional suffix; *s is left after it and the blanks that follow. */
static enum reading read_number(const char **s, int64_t *out)
{
    enum reading how;
    int bits;

    *s = skip_blanks(*s);
    how = read_digits(s, out);
    if (how == READ_GARBAGE)
        return how;
    *s = skip_blanks(*s);
    bits = read_suffix(s);
    *s = skip_blanks(*s);
    if (__builtin_mul_overflow(*out, INT64_C(1) << bits, out))
        how = READ_TOO_BIG;
    return how;
}

/* Bytes of a decimal fraction with a suffix, "1.5g", as a whole number with one, "1536m"; nothing
 * where it is no such text or not whole. */
static void suggest_whole(const char *text, char out[WEIR_SIZE_TEXT])
{
    const char *point = strchr(text, '.'), *s = text;
    int64_t whole = 0, parts = 0, scale = 1;
    int bits;

    out[0] = '\0';
    if (!point || !isdigit((unsigned char)*s) || read_digits(&s, &whole) != READ_WELL ||
        s != point || whole > 1 << 20)
        return;
    for (s++; isdigit((unsigned char)*s) && scale < 1000000; s++, scale *= 10)
        parts = 10 * parts + (*s - '0');
    bits = read_suffix(&s);
    whole = whole * scale + parts;
    if (*s || bits == 0 || __builtin_mul_overflow(whole, INT64_C(1) << bits, &whole) || whole % scale)
        return;
    weir_size_typed(whole / scale, out);
}

int weir_size_parse(const char *text, int64_t min, int64_t max, int64_t *out, struct weir_err *err)
{
    const char *s = text;
    int64_t value = 0;
    enum reading how = read_number(&s, &value);
    char instead[WEIR_SIZE_TEXT], low[WEIR_SIZE_TEXT], high[WEIR_SIZE_TEXT];

    if (how == READ_GARBAGE || *s != '\0') {
        suggest_whole(text, instead);
        return weir_refuse(err, WEIR_EUSAGE,
                           "'%s' is not a whole number with an optional suffix k, m, g, t or p%s%s",
                           text, *instead ? "; write " : "", instead);
    }
    if (how == READ_WELL && value >= min && value <= max) {
        *out = value;
        return 0;
    }
    if (min < 0)
        return weir_refuse(err, WEIR_EUSAGE, "'%s' is out of range: it must be from %lld to %lld",
                           text, (long long)min, (long long)max);
    if (max == INT64_MAX)
        return weir_refuse(err, WEIR_EUSAGE, "'%s' is out of range: it must be from %s to 2^63-1",
                           text, weir_size_typed(min, low));
    return weir_refuse(err, WEIR_EUSAGE, "'%s' is out of range: it must be from %s to %s", text,
                       weir_size_typed(min, low), weir_size_typed(max, high));
}

#undef strtod /* here alone */

const char *weir_real_scan(const char *text, double *out)
{
    const char *first = text + strspn(text, " \t");
    char *end;

    *out = strtod(text, &end);
    if (end == text || strspn(first, "+-.0123456789eE") < (size_t)(end - first))
        return text;
    return end;
}

int weir_share_parse(const char *text, int64_t *bytes, double *percent, struct weir_err *err)
{
    const char *s = skip_blanks(text);
    enum reading how;
    int64_t value = 0;

    if (!strchr(text, '%')) {
        if (weir_size_parse(text, 0, INT64_MAX, bytes, err) < 0)
            return -1;
        *percent = -1;
        return 0;
    }
    how = read_digits(&s, &value);
    s = skip_blanks(s);
    if (how == READ_GARBAGE || *s != '%' || *skip_blanks(s + 1) != '\0')
        return weir_refuse(err, WEIR_EUSAGE, "'%s' is not a whole number followed by %%", text);
    if (how == READ_TOO_BIG || value < 0 || value > 100)
        return weir_refuse(err, WEIR_EUSAGE,
                           "'%s' is out of range: a percentage must be from 0%% to 100%%", text);
    *bytes = 0;
    *percent = (double)value;
    return 0;
}

const char *weir_size_show(int64_t bytes, char out[WEIR_SIZE_TEXT])
{
    const struct unit *unit = units, *end = units + sizeof(units) / sizeof(*units);

    while (unit < end && bytes < unit->bytes)
        unit++;
    if (bytes < 0)
        (void)snprintf(out, WEIR_SIZE_TEXT, "-");
    else if (unit == end)
        (void)snprintf(out, WEIR_SIZE_TEXT, "%lld bytes", (long long)bytes);
    else if (bytes % unit->bytes == 0)
        (void)snprintf(out, WEIR_SIZE_TEXT, "%lld %s", (long long)(bytes / unit->bytes),
                       unit->name);
    else
        (void)snprintf(out, WEIR_SIZE_TEXT, "%.2f %s", (double)bytes / (double)unit->bytes,
                       unit->name);
    return out;
}

const char *weir_size_typed(int64_t bytes, char out[WEIR_SIZE_TEXT])
{
    int unit = 0;

    for (; bytes != 0 && bytes % 1024 == 0 && suffixes[unit]; unit++)
        bytes /= 1024;
    (void)snprintf(out, WEIR_SIZE_TEXT, "%lld%.1s", (long long)bytes,
                   unit > 0 ? suffixes + unit - 1 : "");
    return out;
}

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
