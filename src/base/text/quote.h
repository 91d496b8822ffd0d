/* SPDX-License-Identifier: BSD-3-Clause */
/* quote.h - text of unknown origin made fit for one line of a message, and the word that was
 * probably meant */
#pragma once

#include <stddef.h>

#include "base/err.h"

#define WEIR_QUOTE_TEXT 256

/* Copy len bytes of text to out for a message: control characters and bytes that are not UTF-8
 * become "\x1b", and what goes beyond about 200 characters becomes "...". Adds no quotation
 * marks. NULL reads as "". Returns out. */
const char *weir_quote(const char *text, size_t len, char out[WEIR_QUOTE_TEXT]);

/* As weir_quote, for a NUL-terminated text. */
const char *weir_quote_str(const char *text, char out[WEIR_QUOTE_TEXT]);

/* Bytes (1-4) of the well-formed UTF-8 character at the start of text, 0 when there is none. */
size_t weir_utf8_len(const char *text, size_t len);

/* Returns the next character of a text, of *len bytes, and moves *at behind it; NULL at the end. A byte
 * that is not UTF-8 becomes U+FFFD. */
const char *weir_utf8_next(const char **at, size_t *len);

/* ---- the word that was probably meant ---- */

/* Return the number of letters to insert, delete or replace to make b of a, in upper or lower
 * case. More than WEIR_NEAR_MAX when a word is too long to be compared. Local. */
#define WEIR_NEAR_MAX 64
int weir_near_edits(const char *a, size_t na, const char *b, size_t nb);

/* Return the number of edits that may be a slip in a word of that length. */
int weir_near_limit(size_t len);

/* Append " (did you mean 'WORD'?)" to the text of a recorded error. WORD is the one of the words
 * (ends with NULL) that is nearest to the len bytes typed; nothing is appended where none is near.
 * Local. Returns -1. */
int weir_near_ask(struct weir_err *err, const char *typed, size_t len, const char *const *words);
