/* SPDX-License-Identifier: BSD-3-Clause */
/* help.h - the option rows as text: help for people, man page, words, completion, JSON */
#pragma once

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
    /* Examples of all programs; may be NULL. Their arguments follow those of the first of
     * 'examples'. They fill the first page, whatever their topic, and serve a topic for which
     * 'examples' has none. */
    const struct weir_example *common;
};

/* The names of the topics in order, from WEIR_TOPIC_NONE + 1 on, and their titles; NULL at the
 * end. */
extern const char *const weir_topic_names[], *const weir_topic_titles[];

/* A walk over the rows in the order of help and man page: the topics of the tables without title,
 * their rows without topic, each table with a title. Begin with zeros and, as 'takes', a predicate
 * that chooses rows (NULL: all). */
struct weir_optwalk {
    bool (*takes)(const struct weir_opt *row);
    struct weir_optrow at; /* the row */
    bool begins;           /* it is the first of its group */
    int group;
};

/* Move to the next row. Local. Returns false when there is none. */
bool weir_optwalk_next(const struct weir_opts *o, struct weir_optwalk *w);

/* The topic of the walk's group; WEIR_TOPIC_NONE for tables with a title and rows without topic.
 * Local. */
enum weir_topic weir_optwalk_topic(const struct weir_optwalk *w);

/* An option or a backend of another benchmark, and what weir has for it. */
struct weir_foreign {
    const char *of, *name, *ours, *what;
};

/* The next row with this name, after 'at' (NULL: from the first on). A backend: in upper or lower
 * case, each row a way. Else: an option or a benchmark. Local. Returns NULL when there is none. */
const struct weir_foreign *weir_foreign_next(const struct weir_foreign *at, const char *name,
                                             bool backend);

/* Append what --help=what shows. what NULL or "": the first page, at most 40 lines. "all":
 * every option. Other words: a topic; the title or prefix of a table (case-insensitive); an
 * option in any of its spellings. Else: the options that have the word in a name or in their
 * help, and those of other benchmarks with that name. Lines have 80 columns at most. Without
 * any of them err (WEIR_EUSAGE) has the names of the topics. Local. Returns 0 or -1. */
int weir_opthelp(const struct weir_opts *o, const struct weir_help *help, const char *what,
                 struct weir_str *out, struct weir_err *err);

#define WEIR_HELP_WIDTH 80 /* columns of a line, those of a terminal */

/* Append words from column 'at' on, in lines of that width at most, and a line end; further lines
 * begin at column 'indent'. Local, as all here. */
void weir_help_wrap(struct weir_str *out, size_t at, size_t indent, const char *text);

/* Append command lines to copy (examples.c), each below a line of words, the program's own ones
 * first: all, or those of a topic. */
void weir_examples(const struct weir_help *help, bool all, enum weir_topic topic,
                   struct weir_str *out);

/* Append the example of a row: the first one of the program, with row->example. Nothing when the row has
 * none. */
void weir_example_of_row(const struct weir_help *help, const struct weir_opt *row,
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

/* Append the completions of a word that begins as 'typed', where the word before it is 'before'
 * ("": there is none). A completion is a line: the whole word, a tab, a sentence that may be
 * empty. There are names of options, values of one (of a list, the last), keys and values of -O.
 * A word that ends with '=' or ':' goes on. Nothing: files, perhaps. more may be NULL. Local. */
void weir_opt_complete(const struct weir_opts *o, const char *before, const char *typed,
                       weir_opt_values_fn *more, struct weir_str *out);

/* Append a JSON array of rows: table, type, letter, name, keys, default, min, max, choices, topic,
 * help. Valid JSON. */
void weir_optdump_json(const struct weir_opts *o, struct weir_str *out);
