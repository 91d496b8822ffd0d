# SPDX-License-Identifier: BSD-3-Clause
# weir_library.m4 - parts that may be left out: --with-NAME, and the table at the end of configure

# WEIR_WITH(name, help, what is needed, its package or nothing, what is lost without, test)
# The one meaning of --with-NAME for everything:
#   nothing              in when the test finds what is needed
#   --with-NAME          an error when it does not
#   --with-NAME=PATH     the same, looking only below PATH
#   --without-NAME       out
# The test sets weir_found to yes, with weir_cflags and weir_libs, or leaves it, with weir_why. It reads weir_path.
# An empty test finds everything. Sets weir_with_NAME to yes or no, and weir_row to words for the table.
# weir_with_NAME_alias may be another name that people know it by: --with-ALIAS means the same.
AC_DEFUN([WEIR_WITH], [
weir_wish=auto
m4_ifdef([weir_with_$1_alias], [AC_ARG_WITH(weir_with_$1_alias, [AS_HELP_STRING([--with-]weir_with_$1_alias, [the same as --with-$1])],
  [weir_wish=$withval])])
AC_ARG_WITH([$1], [AS_HELP_STRING([--with-$1@<:@=PATH@:>@], [$2 (default: when it can be built)])],
  [weir_wish=$withval])
weir_found=no weir_cflags= weir_libs= weir_path= weir_why="$3 not found"
AS_CASE([$weir_wish], [yes|no|auto], [], [weir_path=$weir_wish])
AS_IF([test "x$weir_wish" = xno], [weir_why="--without-$1"], [m4_ifval([$6], [$6], [weir_found=yes])])
AS_IF([test "x$weir_found" = xyes], [weir_row=in],
  [weir_row="out ($weir_why): $5"
   AS_CASE([$weir_wish], [no|auto], [],
     [AC_MSG_ERROR([--with-$1: $weir_why. ]m4_ifval([$4], [Debian has it in $4; or leave], [Leave])[ the option out])])])
[weir_with_]m4_translit([$1], [-], [_])=$weir_found
])

# WEIR_LIBRARY(name, what it is, package, what is lost without, test)
# An optional library for any part. Sets NAME_CFLAGS and NAME_LIBS.
AC_DEFUN([WEIR_LIBRARY], [
WEIR_WITH([$1], [use $2], [$2], [$3], [$4], [$5])
WEIR_ROW([weir_table_libraries], [$1], [$weir_row])
AC_SUBST(m4_toupper([$1])[_CFLAGS], [$weir_cflags])
AC_SUBST(m4_toupper([$1])[_LIBS], [$weir_libs])
])

# WEIR_TRY_LIBRARY(cflags, libs, prologue, body, [further test of conftest$EXEEXT])
# Take these flags when a program with MPI links with them, and with one MPI only. Does nothing once found.
AC_DEFUN([WEIR_TRY_LIBRARY], [
AS_IF([test "x$weir_found" = xno], [
  weir_try_CPPFLAGS=$CPPFLAGS weir_try_LIBS=$LIBS
  CPPFLAGS="$MPI_CFLAGS $1 $CPPFLAGS" LIBS="$2 $MPI_LIBS $LIBS"
  AC_LINK_IFELSE([AC_LANG_PROGRAM([$3], [$4])],
    [weir_try_mpi=`weir_mpi_in conftest$EXEEXT`
     AS_IF([test "x$weir_try_mpi" = x || test "x$weir_try_mpi" = "x$weir_mpi_libraries"],
       [weir_found=yes weir_cflags="$1" weir_libs="$2"],
       [weir_why="found one that was built with another MPI"])])
  CPPFLAGS=$weir_try_CPPFLAGS LIBS=$weir_try_LIBS
])
])

# WEIR_TRY_PATH(path, libs, prologue, body)
# The library below a folder, in the usual places. The program will find it there again.
AC_DEFUN([WEIR_TRY_PATH], [
for weir_lib in "$1/lib" "$1/lib64" "$1/lib/$weir_multiarch" "$1"; do
  AS_IF([test -d "$weir_lib"], [
    WEIR_TRY_LIBRARY([-I$1/include], [-L$weir_lib -Wl,-rpath,$weir_lib $2], [$3], [$4])])
done
])

# WEIR_FIND_PKG(module, libs, prologue, body)
# The usual test: below the given folder; else pkg-config, else the plain library.
AC_DEFUN([WEIR_FIND_PKG], [
AC_REQUIRE([WEIR_MULTIARCH])
AC_MSG_CHECKING([for $1])
AS_IF([test "x$weir_path" != x], [WEIR_TRY_PATH([$weir_path], [$2], [$3], [$4])],
  [weir_pc_c=`${PKG_CONFIG:-false} --cflags $1 2>/dev/null` && weir_pc_l=`$PKG_CONFIG --libs $1 2>/dev/null` && {
     WEIR_TRY_LIBRARY([$weir_pc_c], [$weir_pc_l], [$3], [$4])
   }
   WEIR_TRY_LIBRARY([], [$2], [$3], [$4])])
AC_MSG_RESULT([$weir_found])
])

# WEIR_MULTIARCH
# Debian's name of the machine, as in /usr/lib/x86_64-linux-gnu.
AC_DEFUN([WEIR_MULTIARCH], [
weir_multiarch=`$CC -print-multiarch 2>/dev/null`
test "x$weir_multiarch" != x || weir_multiarch=`gcc -print-multiarch 2>/dev/null`
test "x$weir_multiarch" != x || weir_multiarch=`uname -m`-linux-gnu
])

# WEIR_ROW(table, name, words)
AC_DEFUN([WEIR_ROW], [
$1="$$1
`printf '  %-12s %s' "$2" "$3"`"
])

# WEIR_TABLE
# What is in, what is not, and what that costs.
AC_DEFUN([WEIR_TABLE], [
cat <<WEIR_EOF

$PACKAGE_STRING is configured:

  compiler     $CC
  flags        $CFLAGS
  MPI          $weir_mpi_flavour, $weir_mpi
  launcher     ${MPIEXEC:-none: make check skips what needs one}
  werror       $enable_werror
  sanitize     $enable_sanitize
  prefix       $prefix

Programs:
$weir_table_programs

Backends:
$weir_table_backends

Libraries:
$weir_table_libraries

WEIR_EOF
])
