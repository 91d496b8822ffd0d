# SPDX-License-Identifier: BSD-3-Clause
# mpiio.m4 - MPI-IO is a part of MPI that a library may leave out
m4_define([weir_backend_mpiio_needs], [an MPI with MPI-IO])
m4_define([weir_backend_mpiio_package], [libopenmpi-dev or libmpich-dev])
m4_define([weir_backend_mpiio_find], [
AC_MSG_CHECKING([for MPI-IO])
WEIR_TRY_LIBRARY([], [], [[#include <mpi.h>]],
  [[MPI_File f; MPI_File_open(MPI_COMM_WORLD, (char *)"x", MPI_MODE_RDONLY, MPI_INFO_NULL, &f)]])
AC_MSG_RESULT([$weir_found])
])
