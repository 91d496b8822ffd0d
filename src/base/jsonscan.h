/* SPDX-License-Identifier: BSD-3-Clause */
/* jsonscan.h - reads the values of a JSON document, one after the other */
#ifndef WEIR_BASE_JSONSCAN_H
#define WEIR_BASE_JSONSCAN_H

#include "base/err.h"

enum weir_json_kind { WEIR_JSON_TEXT, WEIR_JSON_NUMBER, WEIR_JSON_END };

/* A value, or the end of an object. */
struct weir_json_value {
    const char *path; /* keys from the document to it, joined by '.': "tests.rates.median"; a list
                       * adds nothing */
    enum weir_json_kind kind;
    const char *text; /* WEIR_JSON_TEXT: as written, without quotes; escapes stay */
    double number;    /* WEIR_JSON_NUMBER; true is 1, false 0, null NaN */
};

/* Call take for each value in the order of the document, and after the last one of each object with
 * WEIR_JSON_END and the path of the object. What it is given is valid during the call. Local.
 * Returns 0, or -1 and err (WEIR_EUSAGE) with the line: not JSON, or nested deeper than
 * WEIR_JSON_DEPTH. */
int weir_json_scan(const char *text, void (*take)(void *to, const struct weir_json_value *v),
                   void *to, struct weir_err *err);

#endif
