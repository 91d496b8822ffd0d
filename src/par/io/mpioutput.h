/* SPDX-License-Identifier: BSD-3-Clause */
/* mpioutput.h - a file of results that all ranks write together */
#pragma once

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "par/comm.h"

/* A file that is open on all ranks of par. Zero: none. */
struct weir_mpi_output {
    const struct weir_par *par;
    const char *path;
    MPI_File file;
    bool open;
};

/* Open a file that rank 0 has made; par and path must live as long. Each rank looks first whether
 * it can open it at all: libraries hang where one rank of several cannot. Collective over
 * par->comm. Returns 0, or -1 and the same err (WEIR_ESETUP) on all ranks. */
int weir_mpi_output_open(struct weir_mpi_output *out, const struct weir_par *par, const char *path,
                         struct weir_err *err);

/* Write len bytes, INT_MAX at most, at this offset. Independent of other ranks: a collective write
 * on a full disk can hang, or report success. Local. Returns 0, or -1 and err (WEIR_ESETUP). */
int weir_mpi_output_write(struct weir_mpi_output *out, uint64_t at, const void *buf, size_t len,
                          struct weir_err *err);

/* Close the file; with 'keep', wait before until its data are on storage. Does nothing when it
 * is not open. Collective over par->comm. Returns 0, or -1 and err (WEIR_ESETUP), not the same
 * on all ranks. */
int weir_mpi_output_close(struct weir_mpi_output *out, bool keep, struct weir_err *err);
