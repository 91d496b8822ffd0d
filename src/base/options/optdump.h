/* SPDX-License-Identifier: BSD-3-Clause */
/* optdump.h - the option rows as man page, words, completion and JSON */
#ifndef WEIR_BASE_OPTIONS_OPTDUMP_H
#define WEIR_BASE_OPTIONS_OPTDUMP_H

#include "base/options/opt.h"
#include "base/options/opthelp.h"
#include "base/str.h"

/* Append two sections of a man page in man(7) markup: OPTIONS with every spelling, default, range,
 * choices and help, and EXAMPLES with those of 'help'. */
void weir_optdump_man(const struct weir_opts *o, const struct weir_help *help,
                      struct weir_str *out);

/* Append every word a shell could complete, one a line: "-b", "--block-size", "--posix.odirect",
 * "-O blockSize=". */
void weir_optdump_words(const struct weir_opts *o, struct weir_str *out);

/* A value that a shell offers, and a sentence for it. 'end' follows it where the value goes on. */
struct weir_opt_word {
    const char *text, *end, *help;
};

/* The i-th value of a row that its tables do not know (names of backends), text NULL: there are no
 * more. */
typedef struct weir_opt_word weir_opt_values_fn(const struct weir_opt *row, int i);

/* Append what a shell could offer for a word that begins as 'typed' does, where the word before it
 * is 'before' ("": there is none): one a line, the whole word, a tab, a sentence that may be
 * empty. Names of options, values of one (of a list, the last), keys and values of -O. A word that
 * ends with '=' or ':' goes on. Nothing: files, perhaps. more may be NULL. Local. */
void weir_opt_complete(const struct weir_opts *o, const char *before, const char *typed,
                       weir_opt_values_fn *more, struct weir_str *out);

/* Append a JSON array of rows: table, type, letter, name, keys, default, min, max, choices, topic,
 * help. Valid JSON. */
void weir_optdump_json(const struct weir_opts *o, struct weir_str *out);

#endif
