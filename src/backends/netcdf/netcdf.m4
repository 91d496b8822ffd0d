# SPDX-License-Identifier: BSD-3-Clause
# netcdf.m4 - find a parallel netCDF-C that was built with the MPI in use, and the HDF5 below it
m4_define([weir_with_netcdf_alias], [netcdf-c])
m4_define([weir_backend_netcdf_needs], [parallel netCDF-C >= 4.7])
m4_define([weir_backend_netcdf_package], [libnetcdf-mpi-dev])
m4_define([weir_backend_netcdf_find], [WEIR_FIND_NETCDF])

# WEIR_TRY_NETCDF(cflags, libs)
AC_DEFUN([WEIR_TRY_NETCDF], [
WEIR_TRY_LIBRARY([$1], [$2], [[#include <mpi.h>
#include <hdf5.h>
#include <netcdf.h>
#include <netcdf_par.h>
#include <netcdf_meta.h>
#if !NC_HAS_PARALLEL4
#error "this netCDF has no parallel netCDF-4"
#endif
]], [[int nc; H5open(); return nc_create_par("x", NC_NETCDF4, MPI_COMM_WORLD, MPI_INFO_NULL, &nc)]])
])

# WEIR_FIND_NETCDF
# Below the given folder; else pkg-config, the paths of Debian, and what the compiler finds by itself. The HDF5 is the
# one that was found for the backend HDF5, or that of pkg-config.
AC_DEFUN([WEIR_FIND_NETCDF], [
AC_REQUIRE([WEIR_MULTIARCH])
AC_MSG_CHECKING([for parallel netCDF])
weir_h5_c="$BACKEND_HDF5_CFLAGS" weir_h5_l="$BACKEND_HDF5_LIBS"
AS_IF([test "x$weir_path" != x], [
  for weir_lib in "$weir_path/lib" "$weir_path/lib64" "$weir_path/lib/$weir_multiarch" "$weir_path"; do
    AS_IF([test -d "$weir_lib"],
      [WEIR_TRY_NETCDF([-I$weir_path/include $weir_h5_c], [-L$weir_lib -Wl,-rpath,$weir_lib -lnetcdf $weir_h5_l])])
  done
  test "x$weir_found" = xyes || weir_why="no parallel netCDF for this MPI below '$weir_path'"
], [
  weir_nc_dir=/usr/lib/$weir_multiarch/netcdf/mpi
  AS_IF([test -d "$weir_nc_dir/include"],
    [WEIR_TRY_NETCDF([-I$weir_nc_dir/include $weir_h5_c], [-lnetcdf_mpi $weir_h5_l])])
  for weir_pc in netcdf-$weir_mpi_flavour netcdf-mpi netcdf; do
    weir_pc_c=`${PKG_CONFIG:-false} --cflags $weir_pc 2>/dev/null` || continue
    weir_pc_l=`$PKG_CONFIG --libs $weir_pc 2>/dev/null`
    WEIR_TRY_NETCDF([$weir_pc_c $weir_h5_c], [$weir_pc_l $weir_h5_l])
  done
  WEIR_TRY_NETCDF([$weir_h5_c], [-lnetcdf $weir_h5_l])
])
AC_MSG_RESULT([$weir_found])
])
