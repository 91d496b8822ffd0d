/* SPDX-License-Identifier: BSD-3-Clause */
/* posixns.h - names in an ordinary file system, shared by every backend whose files live there */
#ifndef WEIR_BACKENDS_SHARED_POSIXNS_H
#define WEIR_BACKENDS_SHARED_POSIXNS_H

#include "backends/backend.h"

extern const struct weir_ns weir_posix_ns;

/* The flags of open(2) for a file of this session. Names that the program makes up are not
 * followed, and at none of them a pipe is waited for. Local. */
int weir_posix_flags(const struct weir_session *s, unsigned flags);

/* Why an open has failed, where the text of errno does not tell: begins with a blank, or is empty.
 * Keeps errno. Local. */
const char *weir_posix_why(const struct weir_session *s);

#endif
