/* SPDX-License-Identifier: BSD-3-Clause */
/* posix-array.h - arrays in ordinary files */
#ifndef WEIR_BACKENDS_POSIX_POSIX_ARRAY_H
#define WEIR_BACKENDS_POSIX_POSIX_ARRAY_H

#include "backends/array.h"

extern const struct weir_array_ops posix_array_ops;

#endif
