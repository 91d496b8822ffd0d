/* SPDX-License-Identifier: BSD-3-Clause */
/* netcdf-descriptor.c - what is known of the backend without its library */
#include "backends/netcdf/netcdf-descriptor.h"
#include "config.h"

#define O struct netcdf_options
const struct weir_opt netcdf_opts[] = {
    OPT_STR(0, "hintsFileName", NULL, O, hints_file, NULL, "FILE", "Read MPI hints from a file",
            .flags = WEIR_OPT_READS),
    OPT_FLAG(0, "showHints", NULL, O, show_hints, "Show the hints given and those in effect",
             .flags = WEIR_OPT_APART),
    OPT_END
};
#undef O

const struct weir_backend weir_backend_netcdf = { NETCDF_DESCRIPTOR, .plugin = "netcdf" };
