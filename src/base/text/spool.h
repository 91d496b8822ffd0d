/* SPDX-License-Identifier: BSD-3-Clause */
/* spool.h - a file that gets lines until the document that they become is in its place */
#ifndef WEIR_BASE_TEXT_SPOOL_H
#define WEIR_BASE_TEXT_SPOOL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "base/str.h"

/* Zero-initialise; release with weir_spool_close. */
struct weir_spool {
    char *name;             /* of the file; NULL: it has none, and is in memory */
    FILE *file;             /* for who reads it; NULL: not open */
    struct weir_str window; /* text that is not written yet */
    uint64_t size;          /* bytes of the file */
    int sys;                /* errno of what failed first: nothing is written any more */
};

/* Create the file with its first line. The file of the document at 'place' is beside it:
 * .NAME.incomplete. One that a killed process left is replaced. Where another process still
 * writes it (flock(2), as far as the file system has that), this one is called
 * .NAME.incomplete-PROCESS. place NULL: in memory. Local. -1 and err (WEIR_ESETUP). */
int weir_spool_open(struct weir_spool *s, const char *place, const char *first,
                    struct weir_err *err);

/* Append a text; many short ones are one write. Local. Sets s->sys where it fails. */
void weir_spool_add(struct weir_spool *s, const struct weir_str *text);

/* Write what is not written. Local. Sets s->sys where it fails. */
void weir_spool_flush(struct weir_spool *s);

/* Remove all but the first bytes of the file, and what is not written. Local. */
void weir_spool_cut(struct weir_spool *s, uint64_t size);

/* Close the file; 'keep': it stays where it has a name. Local. */
void weir_spool_close(struct weir_spool *s, bool keep);

#endif
