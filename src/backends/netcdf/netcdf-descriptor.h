/* SPDX-License-Identifier: BSD-3-Clause */
/* netcdf-descriptor.h - what is known of the backend without its library: name and options */
#pragma once

#include "backends/backend.h"
#include "backends/shared/mpioptions.h"

struct netcdf_options {
    struct weir_mpi_options mpi;
};

extern const struct weir_opt netcdf_opts[];

/* The members of struct weir_backend that the descriptor and the plugin share. */
#define NETCDF_DESCRIPTOR                                                                          \
    .abi = WEIR_BACKEND_ABI, .name = "NETCDF",                                                     \
    .brief = "Arrays in netCDF-4 files through parallel netCDF-C, no files of bytes",              \
    .prefix = "netcdf.", .opts = netcdf_opts, .opt_size = sizeof(struct netcdf_options)
