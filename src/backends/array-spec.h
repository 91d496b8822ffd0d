/* SPDX-License-Identifier: BSD-3-Clause */
/* array-spec.h - checks of the description of an array: is it sound, and does it match another
 * one? */
#ifndef WEIR_BACKENDS_ARRAY_SPEC_H
#define WEIR_BACKENDS_ARRAY_SPEC_H

#include "backends/array.h"

/* Dimensions, type, members and chunk of an array that any backend could keep. Local. Returns 0, or
 * -1 and err (WEIR_EUSAGE). */
int weir_array_spec_check(const struct weir_array_spec *spec, struct weir_err *err);

/* Is what is there of the type and shape that is wanted? Local. Returns 0, or -1 and err (WEIR_EIO)
 * with both. */
int weir_array_spec_match(const struct weir_array_spec *have, const struct weir_array_spec *want,
                          struct weir_err *err);

#endif
