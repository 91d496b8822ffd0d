/* SPDX-License-Identifier: BSD-3-Clause */
/* benchmarks.h - the benchmarks that the library has, by name */
#ifndef WEIR_LIBRARY_BENCHMARKS_H
#define WEIR_LIBRARY_BENCHMARKS_H

#include "engine/driver.h"

/* The benchmark with this name, NULL: there is none. Local. */
const struct weir_driver *weir_benchmark_find(const char *name);

#endif
