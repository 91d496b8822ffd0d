/* SPDX-License-Identifier: BSD-3-Clause */
/* mpins.h - names of files that MPI-IO opens, which may begin with a driver ("ufs:/dir/file") */
#pragma once

#include "backends/backend.h"

/* weir_posix_ns on the name without the driver (posixns.c), but unlink is weir_mpi_delete. */
extern const struct weir_ns weir_mpi_ns;

/* MPI_File_delete. The private state of the session begins with a struct weir_mpi_session. Local.
 * Returns 0, or -1 and err. */
int weir_mpi_delete(struct weir_session *s, const char *path, struct weir_err *err);
