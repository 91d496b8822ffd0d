/* SPDX-License-Identifier: BSD-3-Clause */
/* columns.c - column rows as a text table and as CSV */
#include "base/text/columns.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "base/text/quote.h"

#define KEPT_MAX ((size_t)8 << 20)

enum { RULE_WIDTH = 10 };

void weir_col_rule(struct weir_str *out, double value)
{
    if (isnan(value) || value < 0) {
        weir_str_addf(out, "   -      ");
        return;
    }
    value = fabs(value); /* -0 is 0 */
    if (value < 1)
        weir_str_addf(out, "%-10.6f", value);
    else if (value < 3600)
        weir_str_addf(out, "%-10.2f", value);
    else
        weir_str_addf(out, "%-10.0f", value);
}

const char *weir_col_string(const struct weir_col *col, const void *record)
{
    return *(const char *const *)((const char *)record + col->offset);
}

static int64_t integer_of(const struct weir_col *col, const void *record)
{
    return *(const int64_t *)((const char *)record + col->offset);
}

/* True when the integer is shown unchanged. One with a unit of its own becomes a fraction. */
static bool is_whole(const struct weir_col *col)
{
    return col->type == WEIR_COL_INT && (col->unit == 0 || col->unit == 1);
}

double weir_col_number(const struct weir_col *col, const void *record)
{
    double value = col->type == WEIR_COL_INT
                       ? (double)integer_of(col, record)
                       : *(const double *)((const char *)record + col->offset);

    return col->unit == 0 ? value : value / col->unit;
}

bool weir_col_is_missing(const struct weir_col *col, const void *record)
{
    if (col->type == WEIR_COL_STR)
        return weir_col_string(col, record) == NULL;
    return col->type != WEIR_COL_INT && isnan(weir_col_number(col, record));
}

/* Appends the sign of a missing value: of the row, else of IOR's number rule, else "NA". */
static void add_missing(struct weir_str *out, const struct weir_col *col)
{
    const char *none = col->none != NULL ? col->none : "NA";

    if (col->type != WEIR_COL_RULE)
        weir_str_addf(out, "%*s", col->width, none);
    else if (col->none != NULL)
        weir_str_addf(out, "%-*s", RULE_WIDTH, none);
    else
        weir_col_rule(out, NAN);
}

/* One line of the heading: a word of each column in the text table. */
static void add_words(struct weir_str *out, const struct weir_col *cols, bool rules)
{
    size_t begin = out->len;

    for (; !weir_col_is_end(cols); cols++) {
        const char *word = rules ? cols->rule : cols->head;
        int width = cols->type == WEIR_COL_RULE ? -RULE_WIDTH : cols->width;

        if (cols->head == NULL)
            continue;
        while (!out->failed && cols->head_at > 0 && out->len - begin < (size_t)cols->head_at)
            weir_str_addc(out, ' ');
        if (cols->head_at > 0)
            weir_str_addf(out, "%s", word != NULL ? word : "");
        else
            weir_str_addf(out, "%*s%*s", width, word != NULL ? word : "", cols->gap, "");
    }
    while (out->len > 0 && out->text[out->len - 1] == ' ')
        out->text[--out->len] = '\0';
}

void weir_col_heading(struct weir_str *out, const struct weir_col *cols)
{
    bool ruled = false;

    for (const struct weir_col *c = cols; !weir_col_is_end(c); c++)
        ruled |= c->rule != NULL;
    add_words(out, cols, false);
    if (!ruled)
        return;
    weir_str_addc(out, '\n');
    add_words(out, cols, true);
}

void weir_col_text(struct weir_str *out, const struct weir_col *cols, const void *record)
{
    for (; !weir_col_is_end(cols); cols++) {
        if (cols->head == NULL)
            continue;
        if (weir_col_is_missing(cols, record))
            add_missing(out, cols);
        else if (cols->type == WEIR_COL_STR)
            weir_str_addf(out, "%*s", cols->width, weir_col_string(cols, record));
        else if (is_whole(cols))
            weir_str_addf(out, "%*" PRId64, cols->width, integer_of(cols, record));
        else if (cols->type == WEIR_COL_RULE)
            weir_col_rule(out, weir_col_number(cols, record));
        else if (cols->digits > 0)
            weir_str_addf(out, "%*.*g", cols->width, cols->digits, weir_col_number(cols, record));
        else
            weir_str_addf(out, "%*.*f", cols->width, cols->prec, weir_col_number(cols, record));
        weir_str_addf(out, "%*s", cols->gap, "");
    }
}

void weir_col_keep(struct weir_str *out, const char *title, const struct weir_col *cols, const void *record)
{
    if (out->len > KEPT_MAX)
        return;
    if (out->len == 0) {
        weir_str_addf(out, "\n%s:\n", title);
        weir_col_heading(out, cols);
    }
    weir_str_addc(out, '\n');
    weir_col_text(out, cols, record);
    if (out->len > KEPT_MAX)
        weir_str_addf(out, "\n... the rest is in JSON");
}

/* A CSV field as RFC 4180 wants it, in UTF-8. */
static void add_field(struct weir_str *out, const char *text)
{
    bool quoted = strpbrk(text, ",\"\r\n") != NULL;
    const char *c;
    size_t len;

    if (quoted)
        weir_str_addc(out, '"');
    while ((c = weir_utf8_next(&text, &len))) {
        if (*c == '"')
            weir_str_addc(out, '"');
        weir_str_add(out, c, len);
    }
    if (quoted)
        weir_str_addc(out, '"');
}

/* The shortest decimal fraction that reads back as the same number, never with an exponent:
 * calculators and patterns of old parsers take digits and a point. */
static void add_fixed(struct weir_str *out, double value)
{
    char text[400]; /* the largest double has 309 digits, the smallest 340 after the point */
    int digits = DBL_DIG, decimals, len;
    double again;

    if (!isfinite(value)) {
        weir_str_addf(out, "%g", value);
        return;
    }
    do {
        (void)snprintf(text, sizeof(text), "%.*e", digits - 1, value);
        weir_real_scan(text, &again);
    } while (again != value && ++digits <= DBL_DECIMAL_DIG);
    decimals = digits - 1 - (int)strtol(strchr(text, 'e') + 1, NULL, 10);
    len = snprintf(text, sizeof(text), "%.*f", decimals > 1 ? decimals : 1, value);
    while (text[len - 1] == '0' && text[len - 2] >= '0' && text[len - 2] <= '9')
        len--;
    text[len] = '\0';
    weir_str_add(out, text, (size_t)len);
}

static void add_cell(struct weir_str *out, const struct weir_col *col, const void *record)
{
    if (!record)
        add_field(out, col->csv);
    else if (weir_col_is_missing(col, record))
        return;
    else if (col->type == WEIR_COL_STR)
        add_field(out, weir_col_string(col, record));
    else if (is_whole(col))
        weir_str_addf(out, "%" PRId64, integer_of(col, record));
    else
        add_fixed(out, weir_col_number(col, record));
}

void weir_col_csv(struct weir_str *out, const struct weir_col *cols, const void *record)
{
    bool is_first = true;

    for (; !weir_col_is_end(cols); cols++) {
        if (cols->csv == NULL)
            continue;
        if (!is_first)
            weir_str_addc(out, ',');
        is_first = false;
        add_cell(out, cols, record);
    }
    weir_str_addc(out, '\n');
}
