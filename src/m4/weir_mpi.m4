# SPDX-License-Identifier: BSD-3-Clause
# weir_mpi.m4 - find MPI 3.1: Open MPI, MPICH or one that behaves like them

# WEIR_MPI_COMPILER
# When the user named no compiler, an MPI compiler is the best guess. Before AC_PROG_CC.
AC_DEFUN([WEIR_MPI_COMPILER], [
AC_ARG_VAR([MPICC], [MPI compiler to ask for flags when CC is not one])
AC_ARG_VAR([MPIEXEC], [program that starts MPI programs, for make check])
AS_IF([test "x$CC" = x], [AC_CHECK_PROGS([CC], [mpicc mpicc.openmpi mpicc.mpich])])
])

# The program of the tests below: all that we need of 3.1, and of one implementation.
m4_define([weir_mpi_program],
  [AC_LANG_PROGRAM([[#include <mpi.h>
#if MPI_VERSION < 3 || (MPI_VERSION == 3 && MPI_SUBVERSION < 1)
#error "MPI is older than 3.1"
#endif
]], [[
int in = 0, out;
MPI_Request request;
MPI_Init(0, 0);
MPI_Iallreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
MPI_Wait(&request, MPI_STATUS_IGNORE);
MPI_Finalize();
]])])

# WEIR_MPI_TRY(cflags, libs, where from)
# Take these flags when a program links with them.
AC_DEFUN([WEIR_MPI_TRY], [
AS_IF([test "x$weir_mpi" = x], [
  weir_mpi_save_CPPFLAGS=$CPPFLAGS weir_mpi_save_LIBS=$LIBS
  CPPFLAGS="$1 $CPPFLAGS" LIBS="$2 $LIBS"
  AC_LINK_IFELSE([weir_mpi_program], [weir_mpi="$3" MPI_CFLAGS="$1" MPI_LIBS="$2"
    weir_mpi_libraries=`weir_mpi_in conftest$EXEEXT`])
  CPPFLAGS=$weir_mpi_save_CPPFLAGS LIBS=$weir_mpi_save_LIBS
])
])

# WEIR_MPI
# Sets MPI_CFLAGS, MPI_LIBS, MPIEXEC, and weir_mpi_flavour: openmpi, mpich or other.
AC_DEFUN([WEIR_MPI], [
# The MPI libraries that program $1 would load: two of them in one program are one too many.
weir_mpi_in () {
  ldd ./$[]1 2>/dev/null | sed -n 's/.*[[/ 	]]\(libmpi\(ch\)\{0,1\}\.so[[.0-9]]*\).*/\1/p' | sort -u
}
# The words of a wrapper's command line that are for the preprocessor ($1=c) or for the linker ($1=l).
weir_mpi_words () {
  weir_mpi_kind=$[]1; shift; shift
  for weir_mpi_word in "$[]@"; do
    case $weir_mpi_kind$weir_mpi_word in #(
    c-I*|c-D*|l-L*|l-l*|l-Wl,*|l*.a|l*.so) AS_ECHO_N(["$weir_mpi_word "]) ;;
    esac
  done
}
weir_mpi=
AC_MSG_CHECKING([for MPI])
WEIR_MPI_TRY([], [], [$CC])
AS_IF([test "x$weir_mpi" = x], [
  for weir_mpi_wrapper in ${MPICC-mpicc mpicc.openmpi mpicc.mpich}; do
    weir_mpi_show=`$weir_mpi_wrapper -show 2>/dev/null` || continue
    weir_mpi_c=`weir_mpi_words c $weir_mpi_show`
    weir_mpi_l=`weir_mpi_words l $weir_mpi_show`
    WEIR_MPI_TRY([$weir_mpi_c], [$weir_mpi_l], [$CC with the flags of $weir_mpi_wrapper])
  done
  for weir_mpi_pc in ompi-c mpich mpi-c; do
    weir_mpi_c=`${PKG_CONFIG:-false} --cflags $weir_mpi_pc 2>/dev/null` || continue
    weir_mpi_l=`$PKG_CONFIG --libs $weir_mpi_pc 2>/dev/null`
    WEIR_MPI_TRY([$weir_mpi_c], [$weir_mpi_l], [$CC with pkg-config $weir_mpi_pc])
  done])
AS_IF([test "x$weir_mpi" = x],
  [AC_MSG_RESULT([no])
   AC_MSG_ERROR([no MPI 3.1 found: install libopenmpi-dev and openmpi-bin (or libmpich-dev and mpich), or say CC=/path/to/mpicc])])
AC_MSG_RESULT([$weir_mpi])
AC_SUBST([MPI_CFLAGS])
AC_SUBST([MPI_LIBS])

AC_MSG_CHECKING([which MPI that is])
weir_mpi_flavour=other
weir_mpi_save_CPPFLAGS=$CPPFLAGS
CPPFLAGS="$MPI_CFLAGS $CPPFLAGS"
AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#include <mpi.h>
#ifndef OPEN_MPI
#error "no"
#endif]])], [weir_mpi_flavour=openmpi],
  [AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#include <mpi.h>
#ifndef MPICH_VERSION
#error "no"
#endif]])], [weir_mpi_flavour=mpich])])
CPPFLAGS=$weir_mpi_save_CPPFLAGS
AC_MSG_RESULT([$weir_mpi_flavour])
WEIR_MPIEXEC
])

# WEIR_MPIEXEC
# A launcher of the same MPI: next to the compiler, under the plain name, under the one with suffix.
AC_DEFUN([WEIR_MPIEXEC], [
AC_MSG_CHECKING([for a program that starts MPI programs])
AS_IF([test "x$MPIEXEC" = x], [
  set dummy $CC
  weir_mpi_dir=`AS_DIRNAME(["$[]2"])`
  weir_mpi_near=
  AS_CASE([$weir_mpi_dir], [/*], [weir_mpi_near="$weir_mpi_dir/mpirun $weir_mpi_dir/mpiexec"])
  for weir_mpi_exec in $weir_mpi_near mpirun mpirun.$weir_mpi_flavour mpiexec mpiexec.hydra; do
    weir_mpi_says=`$weir_mpi_exec --version 2>/dev/null` || continue
    AS_CASE([$weir_mpi_flavour:$weir_mpi_says],
      [openmpi:*Open*MPI*|openmpi:*OpenRTE*|mpich:*HYDRA*|mpich:*Intel*|other:*], [MPIEXEC=$weir_mpi_exec; break])
  done])
AC_MSG_RESULT([${MPIEXEC:-none}])
])
