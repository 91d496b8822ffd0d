/* SPDX-License-Identifier: BSD-3-Clause */
/* plugin.h - backends whose library is loaded when the backend is chosen */
#pragma once

#include "backends/backend.h"

/* Make *be, which comes from the registry, complete. A backend that is only a descriptor is replaced
 * by that of its plugin, which stays loaded until the process ends. Other backends are unchanged.
 * file has PATH_MAX bytes or is NULL: the path where another rank of the node found the plugin,
 * tried first. On return it is the path where it was found, "" after a failure. Local. Returns 0, or
 * -1 and err (WEIR_ESETUP) with the paths that were tried, or what the dynamic linker misses. */
int weir_backend_load(const struct weir_backend **be, char *file, struct weir_err *err);
