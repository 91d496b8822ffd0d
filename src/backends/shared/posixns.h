/* SPDX-License-Identifier: BSD-3-Clause */
/* posixns.h - names in an ordinary file system, shared by every backend whose files live there */
#pragma once

#include "backends/backend.h"

extern const struct weir_ns weir_posix_ns;

/* open(2) with flags as those of struct weir_backend, and 'more' of the system; tried again when a
 * signal interrupts it. Names that the program makes up are not followed, and at none of them a pipe
 * is waited for. Local. Returns a descriptor, or -1 and errno. */
int weir_posix_open(const struct weir_session *s, const char *path, unsigned flags, int more);

/* Why an open has failed, where the text of errno does not tell: begins with a blank, or is empty.
 * Keeps errno. Local. */
const char *weir_posix_why(const struct weir_session *s);
