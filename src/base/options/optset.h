/* SPDX-License-Identifier: BSD-3-Clause */
/* optset.h - find a row by name and give it a value: for the readers of options only */
#ifndef WEIR_BASE_OPTIONS_OPTSET_H
#define WEIR_BASE_OPTIONS_OPTSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/options/opt.h"
#include "base/text/quote.h"

/* A name as it was typed. */
struct weir_optname {
    char letter;      /* not 0: this letter, in its case */
    const char *text; /* else len bytes, any case, without leading dashes: long name or key */
    size_t len;
    char shown[WEIR_QUOTE_TEXT]; /* as typed, fit for a message */
};

/* A value as its row understands it. */
struct weir_optvalue {
    struct weir_optlist list; /* LIST */
    int64_t number;   /* FLAG, COUNT, INT, SIZE */
    double real;      /* REAL */
    const char *text; /* STR: borrowed from the text that was parsed, or from the choices */
    bool below;       /* RESET: it was below min */
    double asked;     /* then: what it was */
};

/* The length of a buffer that weir_opt_fullname fills; the tables keep to it
 * (weir_opts_selfcheck). */
#define WEIR_OPT_NAME 128

/* Is this the row that ends a table? */
bool weir_opt_is_end(const struct weir_opt *row);

/* Does the name mean this row of this table? */
bool weir_opt_matches(const struct weir_optset *set, const struct weir_opt *row,
                      const struct weir_optname *name);

/* The row of a table with this name or key, in upper or lower case, NULL when there is none. */
const struct weir_opt *weir_opt_row_of(const struct weir_opt *rows, const char *key);

/* The first row of all tables that the name means, NULL when there is none. */
const struct weir_opt *weir_opt_find(const struct weir_opts *o, const struct weir_optname *name);

/* Has the row a use today, so that help and completion name it? */
bool weir_opt_is_current(const struct weir_opt *row);

/* Must a value follow the option? */
bool weir_opt_takes_value(const struct weir_opt *row);

/* Is it a spelling of other options (WEIR_OPT_ALIAS, WEIR_OPT_OLD)? */
bool weir_opt_stands_for(const struct weir_opt *row);

/* Prefix and name in out. Returns out. */
const char *weir_opt_fullname(const struct weir_optset *set, const char *name,
                              char out[WEIR_OPT_NAME]);

/* The word for a row's value in texts: "SIZE". */
const char *weir_opt_meta(const struct weir_opt *row);

/* Append the choices of a row between two pieces of text; nothing when it has none. */
void weir_opt_add_choices(const struct weir_opt *row, const char *before, const char *after,
                          struct weir_str *out);

/* The range of a row's numbers. */
void weir_opt_range(const struct weir_opt *row, int64_t *min, int64_t *max);

/* Parse a value for FLAG, COUNT, INT, SIZE, REAL, STR. err->text does not name the option.
 * Local. */
int weir_opt_parse(const struct weir_opt *row, const char *text, struct weir_optvalue *value,
                   struct weir_err *err);

/* The numbers of a LIST between commas or blanks; and as text with commas, appended to s. Local. */
int weir_optlist_parse(const struct weir_opt *row, const char *text, struct weir_optlist *list,
                       struct weir_err *err);
void weir_optlist_show(const struct weir_optlist *list, struct weir_str *s);

/* A whole number in the range of the row. Local. */
int weir_opt_parse_number(const struct weir_opt *row, const char *text, struct weir_optvalue *value,
                          struct weir_err *err);

/* Has the row numbers of 64 bits? */
bool weir_opt_is_wide(const struct weir_opt *row);

/* Put a parsed value into its field; strings are copied to the arena. Local. */
int weir_opt_store(struct weir_opts *o, const struct weir_optset *set, const struct weir_opt *row,
                   const struct weir_optvalue *value, struct weir_err *err);

/* Give every row that the name means the value (NULL: named without one). Local. err
 * (WEIR_EUSAGE) names the option. */
int weir_opt_apply(struct weir_opts *o, const struct weir_optname *name, const char *value,
                   struct weir_err *err);

/* Refuse a name that nothing matches, with the nearest known one when there is a near one.
 * Returns -1. */
int weir_opt_refuse_unknown(const struct weir_opts *o, const struct weir_optname *name,
                            struct weir_err *err);

#endif
