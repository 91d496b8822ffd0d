/* SPDX-License-Identifier: BSD-3-Clause */
/* posixns.h - names in an ordinary file system, shared by every backend whose files live there */
#ifndef WEIR_BACKENDS_POSIXNS_H
#define WEIR_BACKENDS_POSIXNS_H

#include "backends/backend.h"

extern const struct weir_ns weir_posix_ns;

#endif
