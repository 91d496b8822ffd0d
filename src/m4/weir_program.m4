# SPDX-License-Identifier: BSD-3-Clause
# weir_program.m4 - the one macro that all folders of programs go through

# WEIR_PROGRAM(name, programs, structs)
# The programs of the folder src/programs/NAME, and their structs in C; bootstrap writes one call for each folder. A folder is always built,
# unless it has a file NAME.m4: that defines, with _ for each - of the name,
#   weir_program_NAME_find      a test as for WEIR_WITH; the results for backends are known (weir_with_hdf5 ...)
# and, for the messages,
#   weir_program_NAME_needs     what it needs
#   weir_program_NAME_package   the Debian package that has it
# Then --with-NAME and --without-NAME are options of configure, and PROGRAM_NAME_CFLAGS and PROGRAM_NAME_LIBS are flags of
# this folder only.
AC_DEFUN([WEIR_PROGRAM], [
m4_pushdef([weir_id], m4_translit([$1], [-], [_]))dnl
m4_pushdef([weir_NAME], m4_toupper(weir_id))dnl
m4_ifdef([weir_program_]weir_id[_find], [
WEIR_WITH([$1], [programs $2], m4_ifdef([weir_program_]weir_id[_needs], m4_defn([weir_program_]weir_id[_needs])),
  m4_ifdef([weir_program_]weir_id[_package], m4_defn([weir_program_]weir_id[_package])), [no $2],
  m4_defn([weir_program_]weir_id[_find]))
AC_SUBST([PROGRAM_]weir_NAME[_CFLAGS], [$weir_cflags])
AC_SUBST([PROGRAM_]weir_NAME[_LIBS], [$weir_libs])
AM_CONDITIONAL([PROGRAM_]weir_NAME, [test "x$weir_found" = xyes])
], [weir_row=in
])dnl
AS_IF([test "x$weir_row" = xin], [weir_benchmark_structs="$weir_benchmark_structs $3"])
m4_if([$2], [$1], [], [AS_IF([test "x$weir_row" = xin], [weir_row="in ($2)"])])
WEIR_ROW([weir_table_programs], [$1], [$weir_row])
m4_popdef([weir_NAME])dnl
m4_popdef([weir_id])dnl
])

# WEIR_BENCHMARKS
# The words for src/library/benchmarks.c.
AC_DEFUN([WEIR_BENCHMARKS], [
weir_benchmark_externs= weir_benchmark_rows=
for weir_struct in $weir_benchmark_structs; do
  weir_benchmark_externs="${weir_benchmark_externs}extern const struct weir_program $weir_struct;
"
  weir_benchmark_rows="${weir_benchmark_rows}    &$weir_struct,
"
done
AC_SUBST([weir_benchmark_externs])
AC_SUBST([weir_benchmark_rows])
AM_SUBST_NOTMAKE([weir_benchmark_externs])
AM_SUBST_NOTMAKE([weir_benchmark_rows])
])
