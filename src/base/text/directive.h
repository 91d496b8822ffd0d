/* SPDX-License-Identifier: BSD-3-Clause */
/* directive.h - the grammar of "key=value, key=value # comment", for -O and for scripts */
#ifndef WEIR_BASE_TEXT_DIRECTIVE_H
#define WEIR_BASE_TEXT_DIRECTIVE_H

#include <stddef.h>

#include "base/err.h"

/* One piece of a list; the parts point into the list. */
struct weir_directive {
    const char *key, *value;
    size_t key_len, value_len;
};

/* Read the piece at *at, which ends at 'end' at the latest, and move *at after it and its
 * comma (past 'end' when there is no comma: start with *at <= end). Blanks around words are
 * dropped; a '#' outside double quotes ends the list; only a value that begins with a double
 * quote is a quoted one. Returns 1 with *d filled, 0 at the end of the list, -1 and err
 * (WEIR_EUSAGE) for a piece that is empty, has no "=value", or is quoted wrongly. Local. */
int weir_directive_next(const char **at, const char *end, struct weir_directive *d,
                        struct weir_err *err);

/* Bytes of the list before its comment. */
size_t weir_directive_uncomment(const char *list, size_t len);

#endif
