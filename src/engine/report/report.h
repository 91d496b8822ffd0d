/* SPDX-License-Identifier: BSD-3-Clause */
/* report.h - the output of a run, given once to every sink: nested facts, table rows, lines of
 * text */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/text/columns.h"
#include "base/text/wholefile.h"

/* Version of the JSON documents; increases when a key changes its meaning or is removed. */
#define WEIR_SCHEMA_VERSION 2

/* The readers of a fact or a line. */
enum {
    WEIR_FOR_TEXT_4 = 1u << 0,  /* text as of IOR 4 */
    WEIR_FOR_TEXT_33 = 1u << 4, /* text as of IOR 3.3 */
    WEIR_FOR_TEXT = WEIR_FOR_TEXT_4 | WEIR_FOR_TEXT_33,
    WEIR_FOR_DATA = 1u << 1,     /* JSON */
    WEIR_FOR_CSV = 1u << 2,      /* summaryFormat=CSV: the columns that old readers know */
    WEIR_FOR_CSV_FULL = 1u << 3, /* --report=csv:FILE */
    WEIR_FOR_CSV_INTERVALS = 1u << 5, /* --report=csv-intervals:FILE */
    WEIR_FOR_CSV_LOAD = 1u << 6,      /* --report=csv-load:FILE */
    WEIR_FOR_ALL = WEIR_FOR_TEXT | WEIR_FOR_DATA,
    WEIR_FOR_ALL_BUT_33 = WEIR_FOR_TEXT_4 | WEIR_FOR_DATA
};

enum weir_fact_type { WEIR_FACT_STR, WEIR_FACT_INT, WEIR_FACT_REAL };

/* A key with a value. Text shows "%-20s: <value>"; data keep type and full precision. A REAL that
 * is NaN is null. */
struct weir_fact {
    const char *key;
    unsigned readers;
    enum weir_fact_type type;
    const char *str;
    int64_t num;
    double real;
};

/* A table: its rows are records described by cols. With 'headed' the text heading that the columns
 * make stands before the first row after weir_report_enter of the object that holds it. */
struct weir_table {
    const char *key;
    const struct weir_col *cols;
    bool headed;
    unsigned readers;
    int in_line; /* rows of it that a line of a history has at most: it would grow with ranks or time; 0: all, -1: none */
};

struct weir_sink;

/* One way to write, or to hand on. Text of the report goes to 'out' of a text. Every function may be NULL. Nothing returns an error: write
 * errors are collected and come back from end. */
struct weir_sink_ops {
    unsigned reader; /* which bit of 'readers' it looks for; of the text, one of its forms */
    bool document;   /* written at the end, when it is known how the run and the other outputs ended: a
                      * file that is in its place when it is whole, else not there */
    bool keeps;      /* of a document: the file of an earlier run stays until then */
    bool adds;       /* of a document: it is one line, which is added to its file */
    int (*begin)(struct weir_sink *, struct weir_err *); /* its place is known */
    void (*enter)(struct weir_sink *, const char *key, bool list);
    void (*leave)(struct weir_sink *);
    void (*fact)(struct weir_sink *, const struct weir_fact *);
    void (*head)(struct weir_sink *, const struct weir_table *);
    void (*row)(struct weir_sink *, const struct weir_table *, const void *record);
    void (*message)(struct weir_sink *, const char *kind, const char *text);
    void (*fail)(struct weir_sink *); /* an error comes on standard error: end an open line */
    void (*flush)(struct weir_sink *); /* where 'out' does not get what is reported at once */
    /* Write what is left into 'out': of a document all of it, of one that was not begun nothing.
     * With facts of the run it ends early, and is marked as unfinished: called from another thread
     * while the main thread hangs. */
    void (*end)(struct weir_sink *, const struct weir_fact *, int n, FILE *out);
    /* Free priv; all of it reached its place, or not. */
    void (*release)(struct weir_sink *, bool whole);
    /* The file that has what was reported until now; NULL: there is none. */
    const char *(*incomplete)(const struct weir_sink *);
};

/* The verdict on the test that runs, by the facts known until now: the last columns of CSV. */
struct weir_verdict {
    const char *name;     /* "" not judged; NULL: no test of the run is, and there are no such
                           * columns */
    const char *findings; /* "H03 H05": what makes it less than sound */
    char buffer[160];       /* for them */
};

struct weir_sink {
    const struct weir_sink_ops *ops;
    const struct weir_verdict *verdict; /* of the report */
    FILE *out;                   /* NULL where nothing is written now */
    const char *path;            /* for messages; "standard output" */
    struct weir_wholefile whole; /* of a document */
    void *priv;
    const struct weir_table *headed; /* text: the table whose heading stands above the next row; NULL
                                      * after the begin and the end of an object */
    int sys;    /* errno of the first write that failed */
    bool standard; /* it is standard output */
    bool borrowed; /* it stays open */
    bool ended; /* nothing is reported any more */
    pthread_mutex_t lock; /* of a document: between a change and a rescue, which never gives it back */
};

/* Replace the value of 'key' (NULL: a text without one) for documents: returns the value
 * itself, or *buffer, which is overwritten. Local. */
typedef const char *weir_hide_fn(const void *names, const char *key, const char *value,
                                 struct weir_str *buffer);

/* Facts that a reader of the results needs and does not get. */
struct weir_missing {
    int n;           /* -1: no results for programs are written */
    char names[160]; /* "hosts, mountOptions" */
};

/* The arguments of a command line. */
struct weir_command_line {
    int argc;
    char *const *argv;
};

/* The lines of standard error about the results: notes before the summary, errors when all text of
 * the run is out (rank 0). */
struct weir_last {
    struct weir_str notes, errors; /* a line each */
    struct weir_err error;         /* the first of the worst errors so far (weir_code_worse) */
    bool is_printed;               /* it is printed; no other error and no note came after it */
    bool is_merged;                /* a launcher may write one file (weir_launch_merges) */
};

#define WEIR_SINKS 8

/* The report of a run: on rank 0 the sinks, elsewhere none, so that every call below is a no-op
 * there. */
struct weir_report {
    struct weir_sink sink[WEIR_SINKS];
    int n;
    bool muted;                 /* lines, facts and tables are left out of the text for people */
    bool begun;                 /* something was reported: no sink can be added any more */
    bool lost;                  /* memory ran out for something: no output ends well */
    bool placed;                /* it is known where messages go */
    bool failed;                /* an error was reported */
    bool is_preview; /* the output is of a dry run: the reader of a pipe has what it wants */
    int depth;                  /* objects and lists that are open */
    const struct weir_log *log; /* for messages that no result has */
    struct weir_arena *arena;   /* for paths; NULL: no message is kept */
    struct weir_str early;      /* messages from before that: kind, NUL, text, NUL */
    weir_hide_fn *hide; /* NULL: names are shown */
    const void *names;  /* argument of hide */
    struct weir_missing missing; /* of the run */
    struct weir_verdict verdict;
    bool has_csv;               /* an output is CSV */
    /* Members that are the same on all ranks. details: an output has the details of each phase. is_data:
     * standard output gets JSON or CSV. Then remarks for people are there and not on standard error,
     * because batch systems write both into one file, which has to parse. line: the command line. */
    bool details, is_data;
    struct weir_command_line line;
    struct weir_last last;
};

/* Add a sink writing to path ("-" is standard output). A path that cannot be written is an error
 * now, before the run; the file of an earlier run is removed. A document is collected in the file
 * .NAME.incomplete beside its place, as JSON Lines. That file stays when the process is killed; at the
 * end the document is written from it. Every other file exists from now on and gets each row when it
 * is reported. format: one of WEIR_REPORT_FORMS, upper or lower case; "CSV" is the table of old
 * readers. The environment variable WEIR_TEXT=3.3 makes text of 3.3 of text. Local. -1 and err
 * (WEIR_ESETUP, or WEIR_EUSAGE for an unknown format or an unknown WEIR_TEXT). */
int weir_report_add(struct weir_report *r, const char *format, const char *path,
                    struct weir_err *err);

/* Add text on a stream of the caller, which stays open. Local. -1 and err. */
int weir_report_add_stream(struct weir_report *r, FILE *stream, struct weir_err *err);

/* Add the sinks of a list "FORMAT:PATH[,FORMAT:PATH...]" of WEIR_REPORT_FORMS. Local. -1 and
 * err. */
int weir_report_add_list(struct weir_report *r, const char *list, struct weir_err *err);

/* Open and close an object (or a list of objects) named key; key NULL inside a list. Local. */
void weir_report_enter(struct weir_report *r, const char *key, bool list);
void weir_report_leave(struct weir_report *r);

/* Report facts. Local. */
void weir_report_str(struct weir_report *r, unsigned readers, const char *key, const char *value);
/* Report bytes: under 'key' as a number for programs, under 'label' with a unit in the text. */
void weir_report_size(struct weir_report *r, const char *key, const char *label, int64_t bytes);
void weir_report_int(struct weir_report *r, unsigned readers, const char *key, int64_t value);
void weir_report_real(struct weir_report *r, unsigned readers, const char *key, double value);
/* Report a whole number as weir_report_int does, any other as weir_report_real. */
void weir_report_number(struct weir_report *r, unsigned readers, const char *key, double value);

/* Begin a table: its heading stands before what is reported next. Without it the first row brings
 * the heading. Local. */
void weir_report_head(struct weir_report *r, const struct weir_table *t);

/* Report one row of a table. Local. */
void weir_report_row(struct weir_report *r, const struct weir_table *t, const void *record);

/* Set the verdict that rows of CSV have from now on. name must live as long as the report. Local. */
void weir_report_verdict(struct weir_report *r, const char *name, const char *findings);

/* The value of a key as documents show it, with r->hide. Local. */
const char *weir_report_shown(const struct weir_report *r, const char *key, const char *value,
                              struct weir_str *buffer);

/* Text only: add a line (newline added), for some forms (of WEIR_FOR_TEXT) or all. Local. */
void weir_report_line_for(struct weir_report *r, unsigned readers, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
#define weir_report_line(r, ...) weir_report_line_for(r, WEIR_FOR_TEXT, __VA_ARGS__)

/* Text only: write a part of a line at once. Local. */
void weir_report_piece(struct weir_report *r, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Report a message for people: kind is "warning", "note" or "error". JSON has it in the test it
 * belongs to, else in the run; CSV in the next row, or the last one. Messages before the sinks
 * are kept for them. An error goes to standard error, and later messages, too. True: the
 * message does not, or not yet. Local. */
bool weir_report_message(struct weir_report *r, const char *kind, const char *text);

/* Called when no more sinks come: write the messages until now to the log unless a result has them.
 * Nothing at the second call. Local. */
void weir_report_place(struct weir_report *r);

/* Frees a text that was reported, or was made for a report. If memory for it ran out, the outputs are
 * not complete, and their end is an error. Local. */
void weir_report_free(struct weir_report *r, struct weir_str *text);

/* Push what is buffered to the files, so that a reader sees each row when it is measured. Local. */
void weir_report_flush(struct weir_report *r);

/* Write what is left, close the outputs, and check whether all of it reached its file. Without 'documents'
 * they stay open, and what is reported from now on reaches them only, as the end of the others.
 * Local. -1 and err (WEIR_ESETUP) when not all of it reached its file, or memory ran out for a part of
 * it. */
int weir_report_end(struct weir_report *r, bool documents, struct weir_err *err);

/* Write the documents that are files with what is known until now, this status and this error,
 * because the process ends here; a document that cannot be written leaves nothing. In another
 * thread than that of the other functions, which must not run: it stands still. Local. */
void weir_report_rescue(struct weir_report *r, int64_t status, const char *error);

/* The sinks that exist (rows.c, json.c, openmetrics.c). */
extern const struct weir_sink_ops weir_sink_text, weir_sink_text_33, weir_sink_csv,
    weir_sink_csv_full, weir_sink_csv_intervals, weir_sink_csv_load, weir_sink_json, weir_sink_jsonl, weir_sink_openmetrics;

/* ---- the forms of results: words of --report, their sinks, and the texts that name them ---- */

/* FORM(word, sink), the one of people first. */
#define WEIR_REPORT_FORMS(FIRST, FORM)                                                             \
    FIRST("text", weir_sink_text)                                                                  \
    FORM("text-3.3", weir_sink_text_33)                                                            \
    FORM("json", weir_sink_json)                                                                   \
    FORM("jsonl", weir_sink_jsonl)                                                                 \
    FORM("csv", weir_sink_csv_full)                                                                \
    FORM("csv-intervals", weir_sink_csv_intervals)                                                 \
    FORM("csv-load", weir_sink_csv_load)                                                           \
    FORM("openmetrics", weir_sink_openmetrics)

/* The names for an error; the values for help, and for completion. */
#define WEIR_FORM_FIRST_NAME(word, sink) word
#define WEIR_FORM_NAME(word, sink) ", " word
#define WEIR_FORM_NAMES WEIR_REPORT_FORMS(WEIR_FORM_FIRST_NAME, WEIR_FORM_NAME)

#define WEIR_FORM_FIRST_HELP(word, sink) word ":-"
#define WEIR_FORM_HELP(word, sink) ", " word ":FILE"
#define WEIR_FORMS_HELP WEIR_REPORT_FORMS(WEIR_FORM_FIRST_HELP, WEIR_FORM_HELP)

#define WEIR_FORM_FIRST_VALUE(word, sink) word ":-",
#define WEIR_FORM_VALUE(word, sink) word ":",
#define WEIR_FORM_VALUES WEIR_REPORT_FORMS(WEIR_FORM_FIRST_VALUE, WEIR_FORM_VALUE) NULL

/* ---- addline.c: a line that is added to a file whole or not at all, also where several processes
 * add to it at one time ---- */

/* Check that lines can be added to the file at 'path', or that it can be made. Nothing is made
 * or changed. Local. -1 and err (WEIR_ESETUP). */
int weir_addline_check(const char *path, struct weir_err *err);

/* Add the text, which has no newline, and a newline. A regular file is locked (fcntl) as far as
 * its file system has locks, and made when it is missing. An incomplete line of another process
 * is ended first. A line that cannot be written whole is removed again. Waits half a minute at
 * most for other processes. Local. -1 and err (WEIR_ESETUP). */
int weir_addline(const char *path, const char *text, struct weir_err *err);
