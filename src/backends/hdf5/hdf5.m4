# SPDX-License-Identifier: BSD-3-Clause
# hdf5.m4 - find a parallel HDF5 that was built with the MPI in use
m4_define([weir_backend_hdf5_needs], [parallel HDF5 >= 1.10.2])
m4_define([weir_backend_hdf5_package], [libhdf5-openmpi-dev or libhdf5-mpich-dev])
m4_define([weir_backend_hdf5_find], [WEIR_FIND_HDF5])

# WEIR_TRY_HDF5(cflags, libs)
AC_DEFUN([WEIR_TRY_HDF5], [
WEIR_TRY_LIBRARY([$1], [$2], [[#include <hdf5.h>
#ifndef H5_HAVE_PARALLEL
#error "this HDF5 is serial"
#endif
#if !H5_VERSION_GE(1, 10, 2)
#error "this HDF5 is too old"
#endif
]], [[H5Pset_fapl_mpio(H5Pcreate(H5P_FILE_ACCESS), MPI_COMM_WORLD, MPI_INFO_NULL);
H5Pset_all_coll_metadata_ops(0, 1)]])
])

# WEIR_TRY_H5PCC(compiler)
# HDF5's own compiler says how it would compile. Its static libraries are the last resort.
AC_DEFUN([WEIR_TRY_H5PCC], [
AS_IF([weir_h5pcc=`$1 -show 2>/dev/null`], [
  weir_h5_c=`weir_mpi_words c $weir_h5pcc`
  weir_h5_l=`weir_mpi_words l $weir_h5pcc`
  weir_h5_dirs=
  for weir_h5_word in $weir_h5_l; do
    AS_CASE([$weir_h5_word], [-L*|-Wl,*], [weir_h5_dirs="$weir_h5_dirs $weir_h5_word"])
  done
  WEIR_TRY_HDF5([$weir_h5_c], [$weir_h5_dirs -lhdf5])
  WEIR_TRY_HDF5([$weir_h5_c], [$weir_h5_l])
])
])

# WEIR_FIND_HDF5
# Below the given folder; else pkg-config, h5pcc, the paths of Debian, and what the compiler finds by itself.
AC_DEFUN([WEIR_FIND_HDF5], [
AC_REQUIRE([WEIR_MULTIARCH])
AC_MSG_CHECKING([for parallel HDF5])
AS_IF([test "x$weir_path" != x], [
  for weir_lib in "$weir_path/lib" "$weir_path/lib64" "$weir_path/lib/$weir_multiarch" "$weir_path"; do
    AS_IF([test -d "$weir_lib"],
      [WEIR_TRY_HDF5([-I$weir_path/include], [-L$weir_lib -Wl,-rpath,$weir_lib -lhdf5])])
  done
  WEIR_TRY_H5PCC(["$weir_path/bin/h5pcc"])
  test "x$weir_found" = xyes || weir_why="no parallel HDF5 for this MPI below '$weir_path'"
], [
  for weir_pc in hdf5-$weir_mpi_flavour hdf5-mpi hdf5; do
    weir_pc_c=`${PKG_CONFIG:-false} --cflags $weir_pc 2>/dev/null` || continue
    weir_pc_l=`$PKG_CONFIG --libs $weir_pc 2>/dev/null`
    WEIR_TRY_HDF5([$weir_pc_c], [$weir_pc_l])
  done
  for weir_h5_pcc in h5pcc.$weir_mpi_flavour h5pcc; do
    WEIR_TRY_H5PCC([$weir_h5_pcc])
  done
  WEIR_TRY_HDF5([-I/usr/include/hdf5/$weir_mpi_flavour],
    [-L/usr/lib/$weir_multiarch/hdf5/$weir_mpi_flavour -lhdf5])
  WEIR_TRY_HDF5([], [-lhdf5])
])
AC_MSG_RESULT([$weir_found])
])
