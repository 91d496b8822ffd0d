/* SPDX-License-Identifier: BSD-3-Clause */
/* opthelp.h - the option rows as help for people: a first page, topics, backends, single options */
#ifndef WEIR_BASE_OPTIONS_OPTHELP_H
#define WEIR_BASE_OPTIONS_OPTHELP_H

#include "base/options/opt.h"
#include "base/str.h"

/* A command line to copy. */
struct weir_example {
    enum weir_topic topic; /* WEIR_TOPIC_NONE: for the first page */
    const char *args;      /* what follows the name of the program; NULL ends a table */
    const char *what;      /* what it does, in a few words */
};

/* What help is about, beside the option rows. */
struct weir_help {
    const char *program, *brief;
    const char *usage;                   /* the first line of every page; may be NULL */
    const char *more;                    /* one more sentence for the first page; may be NULL */
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

/* Append every example, the program's own ones first: a line of words and the command line under
 * it, as on the pages. Local. */
void weir_opthelp_examples(const struct weir_help *help, struct weir_str *out);

#endif
