/* SPDX-License-Identifier: BSD-3-Clause */
/* wholefile.h - a file that is whole or absent: written beside its place and renamed at the
 * end; and a file of lines that the document of the lines replaces */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "base/str.h"

/* Zero-initialise; release with weir_wholefile_close. */
struct weir_wholefile {
    char *place;  /* where it will be, symbolic links followed; NULL: see weir_wholefile_prepare */
    char *beside; /* where it is now; NULL: not open, or it has no name yet */
    FILE *out;
};

/* Find out whether a file can be made at 'path' and renamed to it, and remember the place. The
 * probe is removed, and an existing file stays as it is. 'place' stays NULL when this is
 * impossible: for a device, a pipe, a path that cannot be written to. Open such a path as usual,
 * which also gives the error. Local. Returns 0, or -1 and err (WEIR_ESETUP) when memory is out. */
int weir_wholefile_prepare(struct weir_wholefile *w, const char *path, struct weir_err *err);

/* Begin to write, into w->out. Local. -1 and err (WEIR_ESETUP). */
int weir_wholefile_open(struct weir_wholefile *w, struct weir_err *err);

/* Put the file into its place when 'keep' says so and all of it could be written, else remove what
 * there is. Gives back everything, also of a file that was never opened. Local. -1 and err
 * (WEIR_ESETUP). */
int weir_wholefile_close(struct weir_wholefile *w, bool keep, struct weir_err *err);

/* Make the file at 'path' hold the text: whole, or as it was; a device or a pipe gets it in
 * place. A pipe without a reader is an error. Local. Returns 0, or -1 and err (WEIR_ESETUP). */
int weir_wholefile_put(const char *path, const char *text, struct weir_err *err);

/* Open a file as fopen(3) with mode "r", "w" or "a" does, but without a wait for the other end
 * of a pipe. A pipe without a writer is empty; one without a reader is an error (ENXIO). For
 * files that are opened during a run, or repeatedly. Local. NULL with errno set. */
FILE *weir_open_now(const char *path, const char *mode);

/* fsync, tried again when a signal interrupts it; path is for the message. Local. Returns 0, or -1
 * and err (WEIR_EIO). */
int weir_fsync(int fd, const char *path, struct weir_err *err);

/* Close a file (NULL: there is none). Local. True when all that was written has reached it,
 * else errno is that of the last call that failed. */
bool weir_close_written(FILE *f);

/* ---- lines of a document ---- */

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
