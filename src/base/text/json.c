/* SPDX-License-Identifier: BSD-3-Clause */
/* json.c - the one writer of JSON */
#include "base/text/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/size.h"
#include "base/text/quote.h"

/* ---- texts and numbers ---- */

static void add_ascii(struct weir_str *s, char c)
{
    static const char plain[] = "\"\\\b\f\n\r\t", letter[] = "\"\\bfnrt";
    const char *found = strchr(plain, c);

    if (found != NULL) {
        weir_str_addc(s, '\\');
        weir_str_addc(s, letter[found - plain]);
    } else if ((unsigned char)c < 0x20 || c == 0x7f) {
        weir_str_addf(s, "\\u%04x", (unsigned)c);
    } else {
        weir_str_addc(s, c);
    }
}

static void add_text(struct weir_str *s, const char *text)
{
    const char *c;
    size_t len;

    weir_str_addc(s, '"');
    while ((c = weir_utf8_next(&text, &len))) {
        if (len == 1)
            add_ascii(s, *c);
        else
            weir_str_add(s, c, len);
    }
    weir_str_addc(s, '"');
}

/* Sixteen digits at most: what a reader of decimal fractions keeps. The decimal point is a point,
 * also where the program around us has chosen another locale. */
static void add_real(struct weir_str *s, double value)
{
    double again;
    char text[64];

    for (int digits = 15; digits <= 16; digits++) {
        (void)snprintf(text, sizeof(text), "%.*g", digits, value);
        if (weir_real_scan(text, &again) != text && again == value)
            break;
    }
    weir_str_addf(s, strpbrk(text, ".e") ? "%s" : "%s.0", text);
}

/* ---- the frame of a member ---- */

static uint64_t bit(int level)
{
    return UINT64_C(1) << level;
}

static bool is_flat(const struct weir_json *j)
{
    return j->flat != 0 && j->base + j->depth >= j->flat;
}

static void new_line(struct weir_json *j)
{
    weir_str_addf(j->out, "\n%*s", 2 * (j->base + j->depth), "");
}

/* Writes the text before a value: a comma, a line, its name. */
static void begin_member(struct weir_json *j, const char *key)
{
    bool is_next;

    if (j->depth == 0)
        return;
    is_next = (j->begun & bit(j->depth - 1)) != 0;
    j->begun |= bit(j->depth - 1);
    if (is_next)
        weir_str_addc(j->out, ',');
    if (!is_flat(j))
        new_line(j);
    else if (is_next)
        weir_str_addc(j->out, ' ');
    if (!(j->lists & bit(j->depth - 1))) {
        add_text(j->out, key ? key : "");
        weir_str_add(j->out, ": ", 2);
    }
}

void weir_json_open(struct weir_json *j, const char *key, bool list)
{
    if (j->depth == WEIR_JSON_DEPTH)
        j->failed = true;
    if (j->failed)
        return;
    begin_member(j, key);
    weir_str_addc(j->out, list ? '[' : '{');
    j->lists = list ? j->lists | bit(j->depth) : j->lists & ~bit(j->depth);
    j->begun &= ~bit(j->depth);
    j->depth++;
}

void weir_json_close(struct weir_json *j)
{
    bool was_flat = is_flat(j), list, filled;

    if (j->failed || j->depth == 0)
        return;
    j->depth--;
    list = (j->lists & bit(j->depth)) != 0;
    filled = (j->begun & bit(j->depth)) != 0;
    if (filled && !was_flat)
        new_line(j);
    weir_str_addc(j->out, list ? ']' : '}');
}

/* ---- values ---- */

void weir_json_str(struct weir_json *j, const char *key, const char *text)
{
    begin_member(j, key);
    if (text != NULL)
        add_text(j->out, text);
    else
        weir_str_addf(j->out, "null");
}

void weir_json_int(struct weir_json *j, const char *key, int64_t value)
{
    begin_member(j, key);
    weir_str_addf(j->out, "%" PRId64, value);
}

void weir_json_real(struct weir_json *j, const char *key, double value)
{
    begin_member(j, key);
    if (isfinite(value))
        add_real(j->out, value);
    else
        weir_str_addf(j->out, "null");
}

void weir_json_text(struct weir_json *j, const char *key, const char *json)
{
    begin_member(j, key);
    weir_str_addf(j->out, "%s", json);
}
