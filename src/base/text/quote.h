/* SPDX-License-Identifier: BSD-3-Clause */
/* quote.h - text of unknown origin made fit for one line of a message */
#ifndef WEIR_BASE_TEXT_QUOTE_H
#define WEIR_BASE_TEXT_QUOTE_H

#include <stddef.h>

#define WEIR_QUOTE_TEXT 256

/* Copy len bytes of text to out for a message: control characters and bytes that are not UTF-8
 * become "\x1b", and what goes beyond about 200 characters becomes "...". Adds no quotation
 * marks. NULL reads as "". Returns out. */
const char *weir_quote(const char *text, size_t len, char out[WEIR_QUOTE_TEXT]);

/* The same for a NUL-terminated text. */
const char *weir_quote_str(const char *text, char out[WEIR_QUOTE_TEXT]);

/* Bytes (1-4) of the well-formed UTF-8 character at the start of text, 0 when there is none. */
size_t weir_utf8_len(const char *text, size_t len);

#endif
