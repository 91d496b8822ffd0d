/* SPDX-License-Identifier: BSD-3-Clause */
/* json.h - the one writer of JSON */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

#define WEIR_JSON_DEPTH 64 /* objects and lists inside each other */

/* A document, or one value of it, that is written into a text. Zero-initialise but for 'out'. A
 * caller may take the text from 'out' (weir_str_clear) between two calls, so that a document
 * need not be in memory. Each object or list begins a new line and indents its members by two
 * blanks; from level 'flat' on (0: never) they are on one line. */
struct weir_json {
    struct weir_str *out;
    int flat;
    int depth;             /* objects and lists that are open */
    int base;              /* levels around the value, which the caller has written */
    uint64_t lists, begun; /* bit of each open level: it is a list; it has a member */
    bool failed;           /* nested deeper than WEIR_JSON_DEPTH; see also out->failed */
};

/* Every function below is local and adds one member to what is open. 'key' is its name in an
 * object; it is not read in a list and around the whole document. Numbers and texts are always
 * valid JSON, whatever comes in. */

/* Open an object or a list; close the last one that was opened. */
void weir_json_open(struct weir_json *j, const char *key, bool list);
void weir_json_close(struct weir_json *j);

/* Text: everything is escaped that must be, and a byte that is not UTF-8 becomes U+FFFD. NULL is
 * null. */
void weir_json_str(struct weir_json *j, const char *key, const char *text);

void weir_json_int(struct weir_json *j, const char *key, int64_t value);

/* The shortest text of at most 16 digits that reads back as the same number, else the nearest one;
 * it has a point or an exponent. NaN and infinity are null. */
void weir_json_real(struct weir_json *j, const char *key, double value);

/* A value that another writer has made. */
void weir_json_text(struct weir_json *j, const char *key, const char *json);
