/* SPDX-License-Identifier: BSD-3-Clause */
/* plugin.h - backends whose library is loaded only when somebody wants them */
#ifndef WEIR_BACKENDS_PLUGIN_H
#define WEIR_BACKENDS_PLUGIN_H

#include "backends/backend.h"

/* Make *be, which comes from the registry, one that works: a backend that is only a descriptor is
 * replaced by the complete one of its plugin, which stays loaded until the process ends. Others are
 * left alone. file, of PATH_MAX bytes or NULL: where another rank of the node has found it, which is
 * tried first; then where it was found, "" after a failure. Local. Returns 0, or -1 and err
 * (WEIR_ESETUP) that says where the plugin was looked for, or what the dynamic linker misses. */
int weir_backend_load(const struct weir_backend **be, char *file, struct weir_err *err);

#endif
