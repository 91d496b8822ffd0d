/* SPDX-License-Identifier: BSD-3-Clause */
/* slabtype.h - part of an array as an MPI data type */
#pragma once

#include <mpi.h>

#include "base/err.h"
#include "base/shape/slab.h"

/* The runs of a slab of elements of 'elem' bytes, at their distances from the first one (r->first
 * elements after the beginning of the array). base: MPI_BYTE, or the basic type of an element.
 * Committed; the caller frees *out. Any length: what does not fit into an int is made of pieces.
 * MPI_DATATYPE_NULL for an empty slab. Local. Returns 0, or -1 and err (WEIR_ESETUP). */
int weir_mpi_slab_type(const struct weir_runs *r, uint64_t elem, MPI_Datatype base,
                       MPI_Datatype *out, struct weir_err *err);
