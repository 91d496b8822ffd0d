/* SPDX-License-Identifier: BSD-3-Clause */
/* ncmpi-descriptor.c - what is known of the backend without its library */
#include "backends/ncmpi/ncmpi-descriptor.h"

#define O struct ncmpi_options
const struct weir_opt ncmpi_opts[] = {
    WEIR_MPI_OPTIONS(O),
    OPT_FLAG(0, "preallocate", NULL, O, preallocate, "No effect: PnetCDF has no preallocation"),
    OPT_FLAG(0, "useStridedDatatype", NULL, O, strided,
             "No effect: PnetCDF makes its own data types"),
    OPT_FLAG(0, "useFileView", NULL, O, file_view, "No effect: PnetCDF sets its own views"),
    OPT_END
};
#undef O

const struct weir_backend weir_backend_ncmpi = { NCMPI_DESCRIPTOR, .plugin = "ncmpi" };
