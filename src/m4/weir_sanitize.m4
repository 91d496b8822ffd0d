# SPDX-License-Identifier: BSD-3-Clause
# weir_sanitize.m4 - build with the compiler's checks at run time

# WEIR_SANITIZE
# Sets WEIR_SANITIZE_CFLAGS, for compiling and for linking.
AC_DEFUN([WEIR_SANITIZE], [
AC_ARG_ENABLE([sanitize],
  [AS_HELP_STRING([--enable-sanitize], [find bad memory accesses and undefined behaviour at run time (slow)])],
  [], [enable_sanitize=no])
WEIR_SANITIZE_CFLAGS=
AS_IF([test "x$enable_sanitize" != xno], [
  weir_flag="-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer"
  WEIR_TRY_FLAG([$weir_flag], [WEIR_SANITIZE_CFLAGS=$weir_flag],)
  AS_IF([test "x$WEIR_SANITIZE_CFLAGS" = x],
    [AC_MSG_ERROR([--enable-sanitize: $CC cannot link a program with $weir_flag (Debian: libasan and libubsan of gcc, libclang-rt-dev of clang)])])])
AC_SUBST([WEIR_SANITIZE_CFLAGS])
AC_SUBST([enable_sanitize])
])
