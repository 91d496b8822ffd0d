/* SPDX-License-Identifier: BSD-3-Clause */
/* all.c - the array of the rows that watch a run */
#include "engine/observe/all.h"

#include "engine/run.h"

#define ROW(name) &weir_##name,
const struct weir_observer *const weir_observers[] = { WEIR_OBSERVERS(ROW) NULL };
/* One more is that of a program which calls the library. */
_Static_assert(sizeof(weir_observers) / sizeof(*weir_observers) <= WEIR_OBSERVERS_MAX, "run.h");
