/* SPDX-License-Identifier: BSD-3-Clause */
/* netcdf-descriptor.c - what is known of the backend without its library */
#include "backends/netcdf/netcdf-descriptor.h"

#define O struct netcdf_options
const struct weir_opt netcdf_opts[] = {
    WEIR_MPI_OPTIONS(O),
    OPT_END
};
#undef O

const struct weir_backend weir_backend_netcdf = { NETCDF_DESCRIPTOR, .plugin = "netcdf" };
