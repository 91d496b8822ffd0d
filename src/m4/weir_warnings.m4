# SPDX-License-Identifier: BSD-3-Clause
# weir_warnings.m4 - the language, the warnings and the kind of our own objects

# WEIR_WARNINGS
# Sets WEIR_WARN_CFLAGS to those of the wanted flags that the compiler knows.
AC_DEFUN([WEIR_WARNINGS], [
AC_ARG_ENABLE([werror],
  [AS_HELP_STRING([--enable-werror], [a warning of the compiler is an error])], [], [enable_werror=no])
WEIR_WARN_CFLAGS=
for weir_flag in -std=gnu11 -Wall -Wextra -Wno-unused-parameter -Wformat-security -Wmissing-prototypes -Wold-style-definition \
  -Wpointer-arith -Wshadow -Wstrict-prototypes -Wundef -Wvla -Wwrite-strings; do
  WEIR_TRY_FLAG([$weir_flag], [WEIR_WARN_CFLAGS="$WEIR_WARN_CFLAGS $weir_flag"])
done
AS_IF([test "x$enable_werror" = xyes], [WEIR_WARN_CFLAGS="$WEIR_WARN_CFLAGS -Werror"])
AC_SUBST([WEIR_WARN_CFLAGS])
])

# WEIR_HIDDEN
# Sets WEIR_HIDDEN_CFLAGS: a plugin shows only what it says. Its copies of lower layers are not mixed up with the program's.
AC_DEFUN([WEIR_HIDDEN], [
WEIR_HIDDEN_CFLAGS=
WEIR_TRY_FLAG([-fvisibility=hidden], [WEIR_HIDDEN_CFLAGS=-fvisibility=hidden])
AC_SUBST([WEIR_HIDDEN_CFLAGS])
])

# WEIR_TRY_FLAG(flag, action if the compiler and the linker take it)
AC_DEFUN([WEIR_TRY_FLAG], [
AC_MSG_CHECKING([whether $CC takes $1])
weir_save_CFLAGS=$CFLAGS
CFLAGS="$CFLAGS -Werror $1"
AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])], [weir_takes=yes], [weir_takes=no])
CFLAGS=$weir_save_CFLAGS
AC_MSG_RESULT([$weir_takes])
AS_IF([test "x$weir_takes" = xyes], [$2])
])
