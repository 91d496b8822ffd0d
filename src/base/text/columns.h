/* SPDX-License-Identifier: BSD-3-Clause */
/* columns.h - column rows: one row feeds the text table, CSV, JSON and the documentation */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

enum weir_col_type {
    WEIR_COL_STR,  /* const char * */
    WEIR_COL_INT,  /* int64_t */
    WEIR_COL_REAL, /* double in base units; NaN: not measured */
    WEIR_COL_RULE  /* as REAL, shown by IOR's number rule */
};

/* Divisors of bytes that people read. */
#define WEIR_KIB 1024.0
#define WEIR_MIB 1048576.0
#define WEIR_GIB 1073741824.0

/* One column. Records hold base units (bytes, nanoseconds, counts); 'unit' divides for every
 * reader. Text cell: value formatted to 'width' (negative: left) with 'prec' decimals, or
 * 'digits' digits unless that is 0, then 'gap' blanks. */
struct weir_col {
    const char *key;  /* JSON key; NULL: not in JSON */
    const char *csv;  /* CSV heading; NULL: not in CSV */
    const char *head; /* text heading, placed as the cells are; NULL: not in the text table */
    const char *rule; /* what stands under it, dashes; NULL: nothing */
    int head_at; /* blanks and words before head and rule in their lines; 0: as the cells are */
    const char *none; /* what a missing value looks like in text; NULL: "NA" */
    enum weir_col_type type;
    size_t offset, record; /* of the field; size of the whole record */
    double unit; /* 0 counts as 1 */
    int width, prec, digits, gap;
    bool optional;    /* not in JSON where it is missing; others are null then */
    const char *help; /* one sentence for the documentation: what it is, unit, formula */
};

/* Rows for the field F of the record S. Further fields may follow as designated initialisers:
 * .csv = "iter", .unit = 1e9. */
#define COL_STR(S, F, k, h, ...) COL_OF(WEIR_COL_STR, S, F, k, h, __VA_ARGS__)
#define COL_INT(S, F, k, h, ...) COL_OF(WEIR_COL_INT, S, F, k, h, __VA_ARGS__)
#define COL_REAL(S, F, k, h, ...) COL_OF(WEIR_COL_REAL, S, F, k, h, __VA_ARGS__)
#define COL_RULE(S, F, k, h, ...) COL_OF(WEIR_COL_RULE, S, F, k, h, __VA_ARGS__)
#define COL_OF(t, S, F, k, h, ...)                                                                 \
    {                                                                                              \
        .key = (k), .type = (t), .offset = offsetof(S, F), .record = sizeof(S), .help = (h),       \
        __VA_ARGS__                                                                                \
    }

#define WEIR_COL_END                                                                               \
    {                                                                                              \
        .key = NULL, .csv = NULL, .head = NULL                                                     \
    }

/* The row that ends the columns of a table. */
static inline bool weir_col_is_end(const struct weir_col *col)
{
    return !col->key && !col->csv && !col->head;
}

/* The text of a record in a column of texts; its number in the unit of any other column. */
const char *weir_col_string(const struct weir_col *col, const void *record);
double weir_col_number(const struct weir_col *col, const void *record);

/* True when this column was not measured: a real number that is NaN, a text that is NULL. */
bool weir_col_is_missing(const struct weir_col *col, const void *record);

/* IOR's number rule, left-justified in ten columns: negative or NaN "   -      ", < 1 "%-10.6f", <
 * 3600 "%-10.2f", else "%-10.0f". */
void weir_col_rule(struct weir_str *out, double value);

/* Append the text heading without final newline: the headings of all columns, and in a second
 * line their rules when there are any. No line ends with a blank. */
void weir_col_heading(struct weir_str *out, const struct weir_col *cols);

/* Append one record as a text line without newline. cols ends with WEIR_COL_END. */
void weir_col_text(struct weir_str *out, const struct weir_col *cols, const void *record);

/* Append a line of a table that is kept as text until it is shown as a whole: the title and the heading
 * first where out is empty. No newline at the end. After 8 MiB the last line says that JSON has the rest. */
void weir_col_keep(struct weir_str *out, const char *title, const struct weir_col *cols, const void *record);

/* Append a record as a CSV line, or the heading where record is NULL. Quoting is that of RFC
 * 4180. Texts are in UTF-8: another byte is U+FFFD. Real numbers have full precision, with a
 * point and without exponent; they are empty when missing. */
void weir_col_csv(struct weir_str *out, const struct weir_col *cols, const void *record);
