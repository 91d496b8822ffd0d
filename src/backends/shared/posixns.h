/* SPDX-License-Identifier: BSD-3-Clause */
/* posixns.h - names in an ordinary file system, shared by every backend whose files live there */
#ifndef WEIR_BACKENDS_SHARED_POSIXNS_H
#define WEIR_BACKENDS_SHARED_POSIXNS_H

#include "backends/backend.h"

extern const struct weir_ns weir_posix_ns;

/* open(2) with flags as those of struct weir_backend, and 'more' of the system; tried again when a
 * signal interrupts it. Names that the program makes up are not followed, and at none of them a pipe
 * is waited for. Local. Returns a descriptor, or -1 and errno. */
int weir_posix_open(const struct weir_session *s, const char *path, unsigned flags, int more);

/* fsync, tried again when a signal interrupts it; path is for the message. Local. Returns 0, or -1
 * and err (WEIR_EIO). */
int weir_posix_fsync(int fd, const char *path, struct weir_err *err);

/* Why an open has failed, where the text of errno does not tell: begins with a blank, or is empty.
 * Keeps errno. Local. */
const char *weir_posix_why(const struct weir_session *s);

#endif
