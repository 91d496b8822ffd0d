/* SPDX-License-Identifier: BSD-3-Clause */
/* growing.h - a text file that grows at several places, and is a valid text between any two writes */
#ifndef WEIR_BASE_TEXT_GROWING_H
#define WEIR_BASE_TEXT_GROWING_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "base/str.h"

/* Room is tabs. The text itself has none: in JSON a tab inside a text is written as \t. So the text
 * without its tabs is what it would be had it been written at once. */
#define WEIR_GROWING_TAB '\t'

/* A place where text comes in: the bytes from 'at' to 'end' are room, but for what the last
 * insertion kept at 'at' to be written over. */
struct weir_gap {
    uint64_t at, end;
    uint64_t inside; /* bytes that came in until now, without room */
    size_t kept;     /* that the last insertion kept */
    struct weir_gap *next;
};

/* Zero-initialise; release with weir_growing_close. */
struct weir_growing {
    char *name;             /* of the file; NULL: it has none, and is in memory */
    FILE *out;              /* NULL: not open */
    struct weir_gap *first; /* gaps in the order of the file */
    struct weir_str window; /* the piece of the file that is not written yet, */
    uint64_t from;          /* and its place */
    int sys;                /* errno of what failed first: nothing is written any more */
};

/* Begin the file with a text, in which 'gap' describes a place. The file of what becomes 'place' is
 * beside it: .NAME.incomplete. One that a killed process left is replaced. Where another process
 * still writes it (flock(2), as far as the file system has that), this one is called
 * .NAME.incomplete-PROCESS. place NULL: in memory. Local. -1 and err (WEIR_ESETUP). */
int weir_growing_open(struct weir_growing *g, const char *place, const struct weir_str *text,
                      struct weir_gap *gap, struct weir_err *err);

/* Insert a text; the next one comes in before its last 'keep' bytes. Where there is no room, one of the
 * next gaps gives some; else the file is copied to a larger one, which takes its name. Local. Returns where the text is in the
 * file. */
uint64_t weir_growing_insert(struct weir_growing *g, struct weir_gap *gap,
                             const struct weir_str *text, size_t keep);

/* Make a gap inside the text that was just inserted at 'in'. gap must stay where it is in memory
 * until weir_growing_drop. Local. */
void weir_growing_gap(struct weir_growing *g, struct weir_gap *gap, struct weir_gap *in,
                      uint64_t at, uint64_t end);

/* Nothing more comes in at 'gap'. Local. */
void weir_growing_drop(struct weir_growing *g, struct weir_gap *gap, struct weir_gap *in);

/* The same for the last thing before 'in', and give its room back: 'text' is what there is from the
 * end of its content on, until what stays at 'in', which are its last 'keep' bytes; room is added to it.
 * Where something else came between the two, nothing is changed. Local. */
void weir_growing_shut(struct weir_growing *g, struct weir_gap *gap, struct weir_gap *in,
                       struct weir_str *text, size_t keep);

/* Write what is not written. Local. */
void weir_growing_flush(struct weir_growing *g);

/* Append the text from byte 'from' on to 'out', without room. Local. Sets g->sys where it fails. */
void weir_growing_copy(struct weir_growing *g, uint64_t from, FILE *out);

/* Close the file; 'keep': it stays where it has a name. Local. */
void weir_growing_close(struct weir_growing *g, bool keep);

#endif
