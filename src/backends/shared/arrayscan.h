/* SPDX-License-Identifier: BSD-3-Clause */
/* arrayscan.h - a transfer of an array that reports success and leaves an errno: are the elements in
 * the file? For backends on MPI-IO whose arrays lie in one piece (par/io/mpidoubt.h). */
#pragma once

#include "backends/array.h"
#include "par/io/mpidoubt.h"

/* Change the selected elements of a buffer before it is read into, as weir_mpi_mark. Local. */
void weir_array_mark(const struct weir_array *a, void *buf);

/* As weir_mpi_doubt_scan, for the selected elements of buf, of an array that begins at byte
 * 'where' of the file. Swaps: the file has the other byte order. */
int weir_array_scan(const struct weir_array *a, struct weir_mpi_doubt *d, int sys, const char *call,
                    const void *buf, uint64_t where, bool swaps, struct weir_err *err);
