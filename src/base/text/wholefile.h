/* SPDX-License-Identifier: BSD-3-Clause */
/* wholefile.h - a file that is whole or not there: written beside its place and renamed at the
 * end */
#ifndef WEIR_BASE_TEXT_WHOLEFILE_H
#define WEIR_BASE_TEXT_WHOLEFILE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"

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

/* Create a new file in the directory of 'place', without a name where the file system can do that, so that nothing is
 * left of a killed process. Then *name is NULL, else malloc'ed. weir_name_beside gives it a name where it has none; its
 * length does not depend on that of the place. Local. The descriptor, or 0; -1 with errno set and *name NULL. */
int weir_create_beside(const char *place, char **name);
int weir_name_beside(int fd, const char *place, char **name);

/* Open a file as fopen(3) with mode "r", "w" or "a" does, but without a wait for the other end
 * of a pipe. A pipe without a writer is empty; one without a reader is an error (ENXIO). For
 * files that are opened during a run, or repeatedly. Local. NULL with errno set. */
FILE *weir_open_now(const char *path, const char *mode);

/* Close a file (NULL: there is none). Local. True when all that was written has reached it,
 * else errno is that of the last call that failed. */
bool weir_close_written(FILE *f);

#endif
