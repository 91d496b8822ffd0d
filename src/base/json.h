/* SPDX-License-Identifier: BSD-3-Clause */
/* json.h - strings as JSON */
#ifndef WEIR_BASE_JSON_H
#define WEIR_BASE_JSON_H

#include "base/str.h"

/* Append text as a JSON string with its quotation marks. Everything is escaped that must be;
 * bytes that are not UTF-8 become U+FFFD, so the document stays valid whatever a path contains.
 * NULL is appended as null. */
void weir_str_add_json(struct weir_str *s, const char *text);

#endif
