/* SPDX-License-Identifier: BSD-3-Clause */
/* ncmpi-descriptor.h - what is known of the backend without its library: name and options */
#pragma once

#include "backends/backend.h"
#include "backends/shared/mpioptions.h"

struct ncmpi_options {
    struct weir_mpi_options mpi;
    bool preallocate, file_view, strided;
};

extern const struct weir_opt ncmpi_opts[];

/* The members of struct weir_backend that the descriptor and the plugin share. */
#define NCMPI_DESCRIPTOR                                                                           \
    .abi = WEIR_BACKEND_ABI, .name = "NCMPI",                                                      \
    .brief = "netCDF files through PnetCDF: one record for each block", .prefix = "ncmpi.",        \
    .opts = ncmpi_opts, .opt_size = sizeof(struct ncmpi_options)
