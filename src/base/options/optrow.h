/* SPDX-License-Identifier: BSD-3-Clause */
/* optrow.h - one option row as text for people: for the pages of help */
#ifndef WEIR_BASE_OPTIONS_OPTROW_H
#define WEIR_BASE_OPTIONS_OPTROW_H

#include <stdbool.h>
#include <stddef.h>

#include "base/options/opt.h"
#include "base/str.h"

#define WEIR_OPTROW_WIDTH 80 /* columns of a line, those of a terminal */

/* Append words from column 'at' on, in lines of that width at most, and a line end; further lines
 * begin at column 'indent'. Local, as all here. */
void weir_optrow_wrap(struct weir_str *out, size_t at, size_t indent, const char *text);

/* Has the row neither letter nor long name? Then -O must go before its key. */
bool weir_optrow_has_only_key(const struct weir_opt *row);

/* Append letter and long name (or the key) with the value that the option has now: "-b,
 * --block-size=1m"; a flag that is on shows " (1)". */
void weir_optrow_names(const struct weir_optset *set, const struct weir_opt *row,
                       struct weir_str *out);

/* Append the row as lines of a list: names, value, sentence, choices. */
void weir_optrow_add(const struct weir_optset *set, const struct weir_opt *row,
                     struct weir_str *out);

/* Append the option with a value to show, as it would be typed: "-b 16m", "--posix.odirect". */
void weir_optrow_sample(const struct weir_optset *set, const struct weir_opt *row,
                        struct weir_str *out);

#endif
