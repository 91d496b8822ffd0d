/* SPDX-License-Identifier: BSD-3-Clause */
/* script.h - IOR script files, and lists of directives as their lines and -O have them */
#pragma once

#include <stddef.h>

#include "base/err.h"

struct weir_arena;

/* One piece of a list; the parts point into the list. */
struct weir_directive {
    const char *key, *value;
    size_t key_len, value_len;
};

/* Read the piece at *at, which ends at 'end' at the latest, and move *at after it and its comma.
 * Without a comma *at is moved past 'end'; start with *at <= end. Blanks around words are
 * dropped. A '#' outside double quotes ends the list. Only a value that begins with a double
 * quote is a quoted one. Returns 1 with *d filled, or 0 at the end of the list. Returns -1 and
 * err (WEIR_EUSAGE) for a piece that is empty, has no "=value", or is quoted wrongly. Local. */
int weir_directive_next(const char **at, const char *end, struct weir_directive *d,
                        struct weir_err *err);

/* Receives the parts of a script in order. Each returns 0, or -1 with err filled: the reader then
 * adds "FILE:LINE" and stops. */
struct weir_script_sink {
    /* One line's directive list (comment and line end removed), for weir_opts_directives. */
    int (*directives)(void *arg, const char *list, struct weir_err *err);
    /* The current test is complete; called for RUN, and at the end for directives after the last
     * RUN or for a script without RUN. Two RUNs in a row call it twice. */
    int (*run)(void *arg, struct weir_err *err);
    void *arg;
    void (*note)(void *arg, const char *text); /* something that the user should know; may be
                                                * NULL */
};

/* Read a script of len bytes (no NUL needed). Lines before "IOR START" and after "IOR STOP" are
 * skipped; a note names the first of each that looks like an option. Without "IOR START" all lines
 * are read, with a note; a text without any option is refused. Keywords in upper or lower case;
 * CRLF and a missing last newline are fine; lines may have any length; NUL bytes before "IOR STOP"
 * are refused. name is used in messages only. Returns 0, or -1 and err (WEIR_EUSAGE) "FILE:LINE:
 * ...". Local. */
int weir_script_read(const char *text, size_t len, const char *name,
                     const struct weir_script_sink *sink, struct weir_err *err);

/* The next line of a text of *len bytes (no NUL needed), without its newline, as a copy in arena;
 * *text and *len go on after it. Returns 1; 0 where the text is over; -1 and err where there is a
 * NUL byte in the line (WEIR_EUSAGE) or no memory. Local. */
int weir_text_line_copy(const char **text, size_t *len, struct weir_arena *arena, char **line,
                        struct weir_err *err);
