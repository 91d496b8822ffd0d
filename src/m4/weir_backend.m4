# SPDX-License-Identifier: BSD-3-Clause
# weir_backend.m4 - the one macro all backends go through

# WEIR_BACKEND(name)
# The backend in src/backends/NAME; bootstrap writes one call for each folder. A backend that needs a library has a file
# NAME.m4 there, which defines
#   weir_backend_NAME_find      a test as for WEIR_WITH
# and, for the messages,
#   weir_backend_NAME_needs     what it needs
#   weir_backend_NAME_package   the Debian package that has it
# Sets BACKEND_NAME_CFLAGS and BACKEND_NAME_LIBS, and adds the backend to the registry.
AC_DEFUN([WEIR_BACKEND], [
m4_pushdef([weir_NAME], m4_toupper([$1]))dnl
WEIR_WITH([$1], [backend ]weir_NAME, m4_ifdef([weir_backend_$1_needs], [weir_backend_$1_needs]),
  m4_ifdef([weir_backend_$1_package], [weir_backend_$1_package]), [no -a ]weir_NAME,
  m4_ifdef([weir_backend_$1_find], [[weir_backend_$1_find]]))
WEIR_ROW([weir_table_backends], weir_NAME, [$weir_row])
AC_SUBST([BACKEND_]weir_NAME[_CFLAGS], [$weir_cflags])
AC_SUBST([BACKEND_]weir_NAME[_LIBS], [$weir_libs])
AM_CONDITIONAL([BACKEND_]weir_NAME, [test "x$weir_found" = xyes])
AS_IF([test "x$weir_found" = xyes],
  [AS_IF([test "x$1" = xposix], [weir_backends="$1 $weir_backends"], [weir_backends="$weir_backends $1"])])
m4_popdef([weir_NAME])dnl
])

# WEIR_REGISTRY
# The words for src/backends/registry.c. POSIX first: it is the default.
AC_DEFUN([WEIR_REGISTRY], [
AS_CASE([" $weir_backends "], [*' posix '*], [],
  [AC_MSG_ERROR([--without-posix: POSIX is the default backend and cannot be left out])])
weir_registry_externs= weir_registry_rows=
for weir_backend in $weir_backends; do
  weir_registry_externs="${weir_registry_externs}extern const struct weir_backend weir_backend_$weir_backend;
"
  weir_registry_rows="${weir_registry_rows}    &weir_backend_$weir_backend,
"
done
AC_SUBST([weir_registry_externs])
AC_SUBST([weir_registry_rows])
AM_SUBST_NOTMAKE([weir_registry_externs])
AM_SUBST_NOTMAKE([weir_registry_rows])
])
