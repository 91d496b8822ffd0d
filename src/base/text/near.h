/* SPDX-License-Identifier: BSD-3-Clause */
/* near.h - the word that was probably meant */
#ifndef WEIR_BASE_TEXT_NEAR_H
#define WEIR_BASE_TEXT_NEAR_H

#include <stddef.h>

#include "base/str.h"

/* How many letters must be put in, left out or changed to make b of a; upper and lower case are the
 * same. More than WEIR_NEAR_MOST where a word is too long to be compared. Local. */
#define WEIR_NEAR_MOST 64
int weir_near_edits(const char *a, size_t na, const char *b, size_t nb);

/* So many edits of a word of that length may be a slip. */
int weir_near_limit(size_t len);

/* Append " (did you mean 'WORD'?)" with the nearest of the words (ends with NULL); nothing where
 * none is near. Local. */
void weir_near_ask(const char *typed, const char *const *words, struct weir_str *out);

#endif
