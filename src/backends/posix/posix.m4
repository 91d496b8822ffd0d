# SPDX-License-Identifier: BSD-3-Clause
# posix.m4 - POSIX needs nothing; with Lustre's library it can also set the layout of files
m4_define([weir_backend_posix_needs], [nothing])
m4_define([weir_backend_posix_package], [libc6-dev])
m4_define([weir_backend_posix_find], [
AC_MSG_CHECKING([for liblustreapi])
WEIR_TRY_LIBRARY([], [-llustreapi], [[#include <stddef.h>
#include <lustre/lustreapi.h>]], [[llapi_file_open_pool("x", 0, 0, 0, -1, 0, 0, NULL)]])
AC_MSG_RESULT([$weir_found])
AS_IF([test "x$weir_found" = xyes],
  [AC_DEFINE([HAVE_LUSTREAPI], [1], [Define to 1 when Lustre's library can set layouts.])], [weir_found=yes])
])
