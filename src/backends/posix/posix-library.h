/* SPDX-License-Identifier: BSD-3-Clause */
/* posix-library.h - libraries of file systems, loaded when an option asks for them */
#ifndef WEIR_BACKENDS_POSIX_POSIX_LIBRARY_H
#define WEIR_BACKENDS_POSIX_POSIX_LIBRARY_H

#include "base/err.h"

/* The function of this name in a library of which 'files' are the names for the dynamic linker, or
 * paths (NULL-terminated): the first that can be loaded counts, and stays until the process ends.
 * Local. NULL and err (WEIR_ESETUP) that says what is missing and where it was looked for. */
void *posix_function(const char *const *files, const char *name, struct weir_err *err);

#endif
