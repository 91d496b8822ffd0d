# SPDX-License-Identifier: BSD-3-Clause
# ncmpi.m4 - find a PnetCDF that was built with the MPI in use
m4_define([weir_with_ncmpi_alias], [pnetcdf])
m4_define([weir_backend_ncmpi_needs], [PnetCDF >= 1.8])
m4_define([weir_backend_ncmpi_package], [libpnetcdf-dev])
m4_define([weir_backend_ncmpi_find], [WEIR_FIND_PKG([pnetcdf], [-lpnetcdf], [[#include <mpi.h>
#include <pnetcdf.h>]], [[MPI_Offset n; return ncmpi_inq_put_size(0, &n) + ncmpi_inq_libvers()[0] + NC_64BIT_DATA]])])
