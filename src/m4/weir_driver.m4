# SPDX-License-Identifier: BSD-3-Clause
# weir_driver.m4 - the one macro all drivers go through

# WEIR_DRIVER(name, programs, drivers)
# The drivers in src/programs/NAME, by their names in C, and their programs; bootstrap writes one call for each folder. A driver is always built,
# unless it has a file NAME.m4 there: that defines, with _ for each - of the name,
#   weir_driver_NAME_find      a test as for WEIR_WITH; the results for backends are known (weir_with_hdf5 ...)
# and, for the messages,
#   weir_driver_NAME_needs     what it needs
#   weir_driver_NAME_package   the Debian package that has it
# Then --with-NAME and --without-NAME are options of configure, and DRIVER_NAME_CFLAGS and DRIVER_NAME_LIBS are flags of
# this driver only.
AC_DEFUN([WEIR_DRIVER], [
m4_pushdef([weir_id], m4_translit([$1], [-], [_]))dnl
m4_pushdef([weir_NAME], m4_toupper(weir_id))dnl
m4_ifdef([weir_driver_]weir_id[_find], [
WEIR_WITH([$1], [programs $2], m4_ifdef([weir_driver_]weir_id[_needs], m4_defn([weir_driver_]weir_id[_needs])),
  m4_ifdef([weir_driver_]weir_id[_package], m4_defn([weir_driver_]weir_id[_package])), [no $2],
  m4_defn([weir_driver_]weir_id[_find]))
AC_SUBST([DRIVER_]weir_NAME[_CFLAGS], [$weir_cflags])
AC_SUBST([DRIVER_]weir_NAME[_LIBS], [$weir_libs])
AM_CONDITIONAL([DRIVER_]weir_NAME, [test "x$weir_found" = xyes])
], [weir_row=in
])dnl
AS_IF([test "x$weir_row" = xin], [weir_drivers="$weir_drivers $3"])
m4_if([$2], [$1], [], [AS_IF([test "x$weir_row" = xin], [weir_row="in ($2)"])])
WEIR_ROW([weir_table_programs], [$1], [$weir_row])
m4_popdef([weir_NAME])dnl
m4_popdef([weir_id])dnl
])

# WEIR_BENCHMARKS
# The words for src/library/benchmarks.c.
AC_DEFUN([WEIR_BENCHMARKS], [
weir_benchmark_externs= weir_benchmark_rows=
for weir_driver in $weir_drivers; do
  weir_benchmark_externs="${weir_benchmark_externs}extern const struct weir_driver $weir_driver;
"
  weir_benchmark_rows="${weir_benchmark_rows}    &$weir_driver,
"
done
AC_SUBST([weir_benchmark_externs])
AC_SUBST([weir_benchmark_rows])
AM_SUBST_NOTMAKE([weir_benchmark_externs])
AM_SUBST_NOTMAKE([weir_benchmark_rows])
])
