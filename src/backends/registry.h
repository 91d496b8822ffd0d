/* SPDX-License-Identifier: BSD-3-Clause */
/* registry.h - the backends that were built; configure writes the list */
#pragma once

#include "backends/backend.h"

/* All backends, NULL-terminated: POSIX first (the default), then by name. */
const struct weir_backend *const *weir_backends(void);

/* Find a backend by name or alias, in upper or lower case; NULL when there is none. */
const struct weir_backend *weir_backend_find(const char *name);

/* Find the backend whose scheme the name begins with, in upper or lower case; NULL: none. */
const struct weir_backend *weir_backend_of_name(const char *name);

/* Append the names of all backends, with 'between' between two of them, for messages. */
void weir_backend_names(struct weir_str *out, const char *between);
