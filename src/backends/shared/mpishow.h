/* SPDX-License-Identifier: BSD-3-Clause */
/* mpishow.h - the hints in effect of an open file, for backends on MPI-IO.
 *
 * In these functions 'used' are the hints, which a library made for the caller (MPI_INFO_NULL:
 * not known); each function frees them. The private state of the session begins with a struct
 * weir_mpi_session. Its options begin with a struct weir_mpi_options. All functions are local. */
#pragma once

#include <mpi.h>

#include "backends/backend.h"
#include "backends/shared/mpioptions.h"

/* The hints of a file that is open through this handle; NULL: it has none. */
MPI_Info weir_mpi_info_of(const MPI_File *handle);

/* Append the text of showHints, where that is asked for: the hints given and those in effect. */
void weir_mpi_show_hints(const struct weir_session *s, MPI_Info used, struct weir_str *out);

/* Append "key\0value\0" for each hint. */
void weir_mpi_list_hints(MPI_Info used, struct weir_str *out);

/* Compare the hints given with those in effect. Sets other_layout to 1 where a stripe count or
 * size in effect differs from that asked for, 0 where all are equal. Sets independent to 1
 * where the hints in effect turn collective buffering off (romio_cb_read, romio_cb_write:
 * disable), 0 where they force it. Otherwise both are unchanged. */
void weir_mpi_judge_hints(const struct weir_session *s, MPI_Info used, struct weir_applied *out);
