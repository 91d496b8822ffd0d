/* SPDX-License-Identifier: BSD-3-Clause */
/* help.h - the option rows as text: help for people, man page, words, completion, JSON */
#ifndef WEIR_BASE_OPTIONS_HELP_H
#define WEIR_BASE_OPTIONS_HELP_H

#include "base/options/option.h"
#include "base/str.h"

/* A command line to copy. */
struct weir_example {
    enum weir_topic topic; /* WEIR_TOPIC_NONE: for the first page */
    const char *args;      /* what follows the name of the program; NULL ends a table */
    const char *what;      /* what it does, in a few words */
};

/* The facts about a program that help needs beside the option rows. */
struct weir_help {
    const char *program, *brief;
    const char *usage;                   /* the first line of every page; may be NULL */
    const struct weir_example *examples; /* may be NULL */
    int tasks;                           /* of the command lines; 0: 4 */
    /* Of all programs; may be NULL. Their arguments follow those of the first of 'examples'. They
     * fill the first page, whatever their topic, and serve a topic for which 'examples' has
     * none. */
    const struct weir_example *common;
};

/* The names of the topics in order, from WEIR_TOPIC_NONE + 1 on, and their titles; NULL at the
 * end. */
extern const char *const weir_topic_names[], *const weir_topic_titles[];

/* Append what --help=what shows. what NULL or "": the first page, at most 40 lines. "all": every
 * option. A name of a topic; the title or prefix of a table (case-insensitive); else an option in
 * any of its spellings. Lines have 80 columns at most. Anything else is refused: err
 * (WEIR_EUSAGE) has the names. Local. Returns 0 or -1. */
int weir_opthelp(const struct weir_opts *o, const struct weir_help *help, const char *what,
                 struct weir_str *out, struct weir_err *err);

#define WEIR_HELP_WIDTH 80 /* columns of a line, those of a terminal */

/* Append words from column 'at' on, in lines of that width at most, and a line end; further lines
 * begin at column 'indent'. Local, as all here. */
void weir_help_wrap(struct weir_str *out, size_t at, size_t indent, const char *text);

/* Append command lines to copy (examples.c): every one, the program's own ones first, each below a
 * line of words; those of a topic; one that sets a row of a backend's table or, row NULL, only
 * names the backend. */
void weir_examples(const struct weir_help *help, struct weir_str *out);
void weir_examples_of_topic(const struct weir_help *help, enum weir_topic topic,
                            struct weir_str *out);
void weir_example_of_row(const struct weir_opts *o, const struct weir_help *help,
                         const struct weir_optset *set, const struct weir_opt *row,
                         struct weir_str *out);

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
