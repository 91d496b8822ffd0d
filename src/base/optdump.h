/* SPDX-License-Identifier: BSD-3-Clause */
/* optdump.h - the option rows as help text, man page, word list for completion, and JSON */
#ifndef WEIR_BASE_OPTDUMP_H
#define WEIR_BASE_OPTDUMP_H

#include "base/opt.h"
#include "base/str.h"

/* Append --help for a program: synopsis, "Flags", "Optional arguments", then one part for each
 * table with a title, in the shape of ior.md 1.4. 'only' (may be NULL) restricts it to the table
 * of that title or prefix without the dot, in upper or lower case; an unknown one is refused: err
 * (WEIR_EUSAGE) lists the names. Local. */
int weir_optdump_help(const struct weir_opts *o, const char *program, const char *brief,
                      const char *only, struct weir_str *out, struct weir_err *err);

/* Append the OPTIONS section of a man page in man(7) markup: every spelling, default, range,
 * choices, help. */
void weir_optdump_man(const struct weir_opts *o, struct weir_str *out);

/* Append every word a shell could complete, one a line: "-b", "--block-size", "--posix.odirect",
 * "-O blockSize=". */
void weir_optdump_words(const struct weir_opts *o, struct weir_str *out);

/* Append a JSON array of rows: table, type, letter, name, keys, default, min, max, choices, help.
 * Valid JSON. */
void weir_optdump_json(const struct weir_opts *o, struct weir_str *out);

#endif
