/* SPDX-License-Identifier: BSD-3-Clause */
/* hintrange.h - the hints with numbers that MPI-IO libraries know, and the values that are safe */
#ifndef WEIR_PAR_IO_HINTRANGE_H
#define WEIR_PAR_IO_HINTRANGE_H

#include "base/err.h"

/* Is the value of a hint a number that libraries can take? Hints that are not in the table pass.
 * Local. Returns 0, or -1 and err (WEIR_EUSAGE): what would be right, without the name of the
 * hint. */
int weir_hint_check(const char *key, const char *value, struct weir_err *err);

#endif
