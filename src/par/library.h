/* SPDX-License-Identifier: BSD-3-Clause */
/* library.h - what MPI calls itself and the hosts */
#ifndef WEIR_PAR_LIBRARY_H
#define WEIR_PAR_LIBRARY_H

#include "base/str.h"
#include "par/comm.h"

/* Append the first line of MPI_Get_library_version. Local. */
void weir_mpi_library(struct weir_str *out);

/* Append the host of every node, in rank order, joined by blanks, on rank 0. Collective over
 * par->comm; memory for one name a node on rank 0. */
void weir_par_hosts(const struct weir_par *par, struct weir_str *out);

#endif
