/* SPDX-License-Identifier: BSD-3-Clause */
/* option.h - typed option rows: the one place where an option's names, default, range and help
 * stand */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text/quote.h"

enum weir_opt_type {
    WEIR_OPT_FLAG,  /* bool: on when named, "=0/1/yes/no/true/false/on/off" sets it; so do y, n and
                     * the logicals of Fortran, .true. or t */
    WEIR_OPT_COUNT, /* int: each naming adds one, "=N" sets it */
    WEIR_OPT_INT,   /* int: decimal, binary suffix allowed */
    WEIR_OPT_SIZE,  /* int64_t: bytes or a 64-bit count, binary suffix allowed */
    WEIR_OPT_REAL, /* double: a decimal number, "10", "0.5", "1e-3"; whole ones may have a binary
                    * suffix */
    WEIR_OPT_STR, /* const char *: owned by the option set's arena; NULL when the default is NULL */
    WEIR_OPT_LIST, /* struct weir_optlist: numbers as of SIZE, "8,8" or one in each word: --minels
                    * 8 8 */
    WEIR_OPT_DIRECTIVES, /* no field: the value is a list key=value[,key=value...] (ior -O) */
    WEIR_OPT_ALIAS, /* no field: another spelling of 'def', a directive as of WEIR_OPT_OLD; no note
                     * is made */
    WEIR_OPT_OLD, /* no field: an old spelling; 'def' is today's directive, %s the value; "": no
                   * effect */
    WEIR_OPT_GONE, /* no field: an error; 'help' says what became of it */
    WEIR_OPT_SHARED, /* in the table of a program: stands for a row that all programs have */
    WEIR_OPT_SHARED_UP_TO /* and for several such rows (engine/options.h) */
};

/* The topic of an option: its place in help and manual page (base/options/help.h has names and
 * titles). */
enum weir_topic {
    WEIR_TOPIC_NONE,
    WEIR_TOPIC_FILES,
    WEIR_TOPIC_ORDER,
    WEIR_TOPIC_DATA,
    WEIR_TOPIC_TIME,
    WEIR_TOPIC_OUTPUT,
    WEIR_TOPIC_TRUST
};

#define WEIR_OPTLIST_MAX 32

/* The value of a LIST. The program checks its length. */
struct weir_optlist {
    int n;
    int64_t v[WEIR_OPTLIST_MAX];
};

/* Give a value to each of 'dims' dimensions; a single one serves all. name: of the option;
 * what: of the option that says how many. Local. Returns 0, or -1 and err (WEIR_EUSAGE). */
int weir_optlist_spread(const struct weir_optlist *list, const char *name, int dims,
                        const char *what, uint64_t *out, struct weir_err *err);

/* Flags of a row. */
enum {
    /* INT, SIZE, STR: the argument may be left out (--help[=NAME]); the value is then 1 or "". Only
     * "=value" is taken, with NEXT also "-bVALUE" and a next word that does not begin with '-'. */
    WEIR_OPT_OPTARG = 1u << 0,
    WEIR_OPT_NEXT = 1u << 7,
    WEIR_OPT_ARGV_ONLY = 1u << 1, /* not a key of scripts and -O (-f, -h) */
    WEIR_OPT_HIDDEN = 1u << 2,    /* not in --help, but in the man page */
    WEIR_OPT_RESET = 1u << 3, /* a value below min is set to min with a warning, not refused */
    /* STR: the value names a file that is read; one that is written; one that the tests of a script
     * write one after the other. No two of them may be one file. */
    WEIR_OPT_READS = 1u << 4,
    WEIR_OPT_WRITES = 1u << 5,
    WEIR_OPT_ADDS = 1u << 6,
    /* The value does not change what is measured: it says how often, where or how it is shown.
     * Results with other values can be compared: it is left out of a test's configuration. */
    WEIR_OPT_NEUTRAL = 1u << 8,
    WEIR_OPT_PLACES = 1u << 9,   /* STR: names joined by '@'; only their number is a part of it */
    WEIR_OPT_PRIVATE = 1u << 10, /* STR: names, or words of the user's own, in any other form */
    WEIR_OPT_ABBREV = 1u << 11, /* STR: the first letter of a suggestion stands for it; a note is
                                 * printed when the other letters of the value differ from it */
    WEIR_OPT_APPEND = 1u << 12, /* STR: a list with commas; later values are appended to it */
    WEIR_OPT_PLACE = 1u << 13, /* STR: where files are made; without a value the working directory */
    WEIR_OPT_WORD = 1u << 14, /* STR: a word of a command line that begins without a dash is its value */
    WEIR_OPT_NONE = 1u << 15, /* STR: "none" takes it back, as if it had not been given */
    /* The build lacks a library that the option needs: a value is refused where it is used, and help,
     * completion and man page leave the option out of lists. */
    WEIR_OPT_ABSENT = 1u << 16
};

/* One option. name: the long name without dashes; key, key2: names used in scripts and -O, also
 * accepted after "--". help: one sentence without final period, in our own words. Unused fields
 * stay 0. */
struct weir_opt {
    enum weir_opt_type type;
    char letter;
    const char *name, *key, *key2;
    size_t offset;
    const char *def;  /* default as text, parsed by the same parser; NULL: 0, false, NULL */
    const char *meta; /* metavariable: SIZE, N, FILE ... */
    const char *help;
    int64_t min,
        max; /* INT, SIZE, REAL, COUNT, each of LIST; both 0: any value of the type; min above max
              * 0: no upper limit */
    const char *const
        *choices; /* STR: NULL-terminated list, compared without case; NULL: anything */
    unsigned flags;
    enum weir_topic topic;
    bool first;          /* on the first page of --help: some twelve of a program */
    const char *example; /* words of a command line that show the option in help, after those of the
                          * first example of the program; NULL: none */
    const char *missing; /* what else may be meant where the value is missing, for a row whose value
                          * does not begin with a dash */
    const char *const
        *suggestions; /* STR: NULL-terminated, values that a shell offers; others are fine, too */
    const char *ends; /* STR: the end of the name of a file, after which words may follow: a.npy,word=1 */
};

/* The topic of a row, as a last field; and for those on the first page of --help. */
#define OPT_IN(T) .topic = WEIR_TOPIC_##T
#define OPT_FIRST(T) .topic = WEIR_TOPIC_##T, .first = true

/* The offset of a field, and a compile error when its C type is not T. */
#define WEIR_OPT_FIELD(T, S, F) (offsetof(S, F) + 0 * sizeof(_Generic(((S *)0)->F, T : (char)0)))

/* Rows. Further fields may follow as designated initialisers: .key2 = "reorderTasks", .min = 0,
 * .max = 5. */
#define OPT_ROW(T, C, l, n, k, S, F, h, ...)                                                       \
    {                                                                                              \
        .type = WEIR_OPT_##T, .letter = (l), .name = (n), .key = (k),                              \
        .offset = WEIR_OPT_FIELD(C, S, F), .help = (h), __VA_ARGS__                                \
    }
#define OPT_FLAG(l, n, k, S, F, h, ...) OPT_ROW(FLAG, bool, l, n, k, S, F, h, __VA_ARGS__)
#define OPT_COUNT(l, n, k, S, F, h, ...) OPT_ROW(COUNT, int, l, n, k, S, F, h, __VA_ARGS__)
#define OPT_INT(l, n, k, S, F, d, m, h, ...)                                                       \
    OPT_ROW(INT, int, l, n, k, S, F, h, .def = (d), .meta = (m), __VA_ARGS__)
#define OPT_SIZE(l, n, k, S, F, d, m, h, ...)                                                      \
    OPT_ROW(SIZE, int64_t, l, n, k, S, F, h, .def = (d), .meta = (m), __VA_ARGS__)
#define OPT_REAL(l, n, k, S, F, d, m, h, ...)                                                      \
    OPT_ROW(REAL, double, l, n, k, S, F, h, .def = (d), .meta = (m), __VA_ARGS__)
#define OPT_STR(l, n, k, S, F, d, m, h, ...)                                                       \
    OPT_ROW(STR, const char *, l, n, k, S, F, h, .def = (d), .meta = (m), __VA_ARGS__)
#define OPT_LIST(l, n, k, S, F, d, m, h, ...)                                                      \
    OPT_ROW(LIST, struct weir_optlist, l, n, k, S, F, h, .def = (d), .meta = (m), __VA_ARGS__)
/* An old spelling: it means the directives 'd', with %s for its value where it has one ('m' names
 * it). */
#define OPT_ALIAS(l, n, d, h, ...)                                                                 \
    {                                                                                              \
        .type = WEIR_OPT_ALIAS, .letter = (l), .name = (n), .def = (d), .help = (h), __VA_ARGS__   \
    }
#define OPT_OLD(l, k, d, m, h)                                                                     \
    {                                                                                              \
        .type = WEIR_OPT_OLD, .letter = (l), .key = (k), .def = (d), .meta = (m), .help = (h)      \
    }
#define OPT_GONE(l, k, h)                                                                          \
    {                                                                                              \
        .type = WEIR_OPT_GONE, .letter = (l), .key = (k), .help = (h)                              \
    }
#define OPT_END                                                                                    \
    {                                                                                              \
        .name = NULL, .letter = 0, .key = NULL                                                     \
    }

#define WEIR_OPT_TYPED 256 /* rows of a table that has a note of them, at most */

/* Which rows of a table, by their numbers, were given a value, be it their default. */
struct weir_opt_typed {
    uint64_t bits[WEIR_OPT_TYPED / 64];
};

/* One table with its values. prefix is "" for the program and the engine, "posix." and so on for a
 * backend. */
struct weir_optset {
    const char *prefix;
    const char *title; /* heading in help and man page ("Module POSIX"); NULL: the main list */
    const struct weir_opt *rows; /* ends with OPT_END */
    void *values;                /* the struct that offsets point into */
    size_t size;                 /* of that struct */
    const struct weir_opt
        *given; /* the first row that was given a value as one of this table only */
    struct weir_opt_typed *typed; /* NULL: no note is taken */
};

#define WEIR_OPTSETS 32

/* The names that the value of an option with WEIR_OPT_PLACES has: how many, and the i-th, of *len
 * bytes. Local. */
int weir_places_count(const char *list);
const char *weir_places_at(const char *list, int i, size_t *len);

/* Return the length of the file name at the beginning of a value: up to the ',' after row->ends
 * (words follow), or all of it. Local. */
size_t weir_opt_file_length(const struct weir_opt *row, const char *value);

/* All tables a program understands. An option that several tables know is set in all of them. */
struct weir_opts {
    struct weir_optset set[WEIR_OPTSETS];
    int n;
    struct weir_arena *arena; /* owns the string values */
    void (*note)(void *arg,
                 const char *text); /* called for old spellings and resets, once each; may be
                                     * NULL */
    void *note_arg;
    bool several; /* an old spelling is being applied that sets options of several tables */
    bool on_line; /* a command line is being read */
    const char *program; /* whose options these are; NULL: of none */
};

/* Append a table. Local. -1 and err (WEIR_EBUG) when there are too many. */
int weir_opts_add(struct weir_opts *o, const struct weir_optset *set, struct weir_err *err);

/* Call 'note' with a text. Local. */
void weir_opts_note(const struct weir_opts *o, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Give every field its default. Local. Returns 0, or -1 and err. */
int weir_opts_defaults(struct weir_opts *o, struct weir_err *err);

/* Set one option by a name of scripts and -O, in upper or lower case: a key or a long name
 * (either with leading dashes), "-b", "--posix.odirect" or "posix.odirect". A value of NULL
 * means "named without a value". Then err (WEIR_EUSAGE) names the option, the value and what
 * would be right. Local. */
int weir_opts_set(struct weir_opts *o, const char *name, const char *value, struct weir_err *err);

/* Read a command line in IOR's spellings, argv[1] .. argv[argc-1], all of it or up to the first error.
 * '-b 4k', '-b4k', '-b=4k', '--block-size=4k' and '--blockSize 4k' give a value, '-G -1' a negative one.
 * '-vvv', '-wrk' and '-wrb 8k' are groups of letters. '-k', '-k=1' and '--keepFile' set a flag.
 * '-O key=v,key=v' sets values by their keys. '--minels 8 8' is a list. '-C ' and '-Q 1' may be one word.
 * An attached value is consumed whole. Letters of a group before an option with a value are flags. An unknown letter
 * in a group is an error, but for a dash before a known one ("-z-k"), which begins a word and is noted. A word without
 * a dash is an error; "-b=" is "argument missing". Names after "--" match in upper or lower case. Local. */
int weir_opts_argv(struct weir_opts *o, int argc, char *const *argv, struct weir_err *err);

/* Read a directive list "key=value[,key=value...]": blanks around words are dropped, '#' starts a
 * comment, a value may contain '='; a value in double quotes may contain commas, blanks and '#'. A
 * piece without "=value" is an error. Empty pieces (a trailing comma) are errors. Local. */
int weir_opts_directives(struct weir_opts *o, const char *list, struct weir_err *err);

/* The value of a row as text, as it would be typed ("1048576", "1", "POSIX", "8,8"; "" for NULL).
 * Appends to s. */
struct weir_str;
void weir_opt_show(const struct weir_opt *row, const void *values, struct weir_str *s);

/* The value of a row whose type is FLAG, COUNT, INT, SIZE or REAL (0 for others). True: it is a
 * whole number, and also in *whole. Local. */
bool weir_opt_number(const struct weir_opt *row, const void *values, int64_t *whole, double *real);

/* ---- a row by its name, and what is known of it ---- */

/* A name as it was typed. */
struct weir_optname {
    char letter;      /* not 0: this letter, in its case */
    const char *text; /* else len bytes, any case, without leading dashes: long name or key */
    size_t len;
    char shown[WEIR_QUOTE_TEXT]; /* as typed, fit for a message */
};

/* The name that len bytes of a list or a script mean, as "-b", "blockSize" or "--block-size". Local. */
struct weir_optname weir_optname_of(const char *word, size_t len);

/* A value as its row understands it. */
struct weir_optvalue {
    struct weir_optlist list; /* LIST */
    int64_t number;   /* FLAG, COUNT, INT, SIZE */
    double real;      /* REAL */
    const char *text; /* STR: borrowed from the text that was parsed, or from the choices */
    bool below;       /* RESET: it was below min */
    double asked;     /* then: what it was */
};

/* The length of a buffer that weir_opt_fullname fills; the tables keep to it (tests check them). */
#define WEIR_OPT_NAME 128

/* A row of one of the tables, and the table. */
struct weir_optrow {
    int table; /* its number */
    const struct weir_optset *set;
    const struct weir_opt *row;
};

/* The next row of all tables; before the first *at is zeros. false: there are no more. */
bool weir_opts_next(const struct weir_opts *o, struct weir_optrow *at);

/* True for the row that ends a table. */
bool weir_opt_is_end(const struct weir_opt *row);

/* True when the name means this row. */
bool weir_opt_matches(const struct weir_optrow *at, const struct weir_optname *name);

/* The row of a table with this name or key, in upper or lower case, NULL when there is none. */
const struct weir_opt *weir_opt_row_of(const struct weir_opt *rows, const char *key);

/* True when rows have a flag of this name, which is on in values. Both may be NULL. Local. */
bool weir_opt_is_on(const struct weir_opt *rows, const void *values, const char *flag);

/* The first row of all tables that the name means, NULL when there is none. */
const struct weir_opt *weir_opt_find(const struct weir_opts *o, const struct weir_optname *name);

/* True when the row with this name or key was given a value. Local. */
bool weir_opt_is_typed(const struct weir_opt_typed *typed, const struct weir_opt *rows,
                       const char *key);

/* The number of a word in a list that ends with NULL, in upper or lower case; -1: it is none of
 * them, or NULL. Local. */
int weir_opt_choice(const char *const *words, const char *word);

/* True when the row is in use today, so that help and completion name it. */
bool weir_opt_is_current(const struct weir_opt *row);

/* True when a value must follow the option. */
bool weir_opt_takes_value(const struct weir_opt *row);

/* True for a spelling of other options (WEIR_OPT_ALIAS, WEIR_OPT_OLD). */
bool weir_opt_stands_for(const struct weir_opt *row);

/* Write prefix and name to out. Returns out. */
const char *weir_opt_fullname(const struct weir_optset *set, const char *name,
                              char out[WEIR_OPT_NAME]);

/* The word for a row's value in texts: "SIZE". */
const char *weir_opt_meta(const struct weir_opt *row);

/* Append the choices of a row between two pieces of text; nothing when it has none. */
void weir_opt_add_choices(const struct weir_opt *row, const char *before, const char *after,
                          struct weir_str *out);

/* The range of a row's numbers, and that of their type. */
void weir_opt_range(const struct weir_opt *row, int64_t *min, int64_t *max);
void weir_opt_limits(const struct weir_opt *row, int64_t *min, int64_t *max);

/* Parse a value for FLAG, COUNT, INT, SIZE, REAL, STR. err->text does not name the option.
 * Local. */
int weir_opt_parse(const struct weir_opt *row, const char *text, struct weir_optvalue *value,
                   struct weir_err *err);

/* True when the row has numbers, so that there is a range. */
bool weir_opt_is_number(const struct weir_opt *row);

/* Put a parsed value into its field; strings are copied to the arena. Local. */
int weir_opt_store(struct weir_opts *o, const struct weir_optrow *at,
                   const struct weir_optvalue *value, struct weir_err *err);

/* Give every row that the name means the value (NULL: named without one). Local. err
 * (WEIR_EUSAGE) names the option, or the nearest known one where there is none of that name. */
int weir_opt_apply(struct weir_opts *o, const struct weir_optname *name, const char *value,
                   struct weir_err *err);
