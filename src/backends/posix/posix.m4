# SPDX-License-Identifier: BSD-3-Clause
# posix.m4 - POSIX needs nothing; with libraries of file systems it can also set layouts and give hints
m4_define([weir_with_lustre_alias], [lustreapi])
m4_define([weir_backend_posix_needs], [nothing])
m4_define([weir_backend_posix_package], [libc6-dev])

m4_define([weir_gpfs_prologue], [[#include <gpfs.h>
#include <gpfs_fcntl.h>]])

# weir_gpfs_hint(type of the struct, its number, macro to define)
# A hint that not every version of the library has.
m4_define([weir_gpfs_hint], [
AC_CACHE_CHECK([for $1], [weir_cv_$1],
  [AC_COMPILE_IFELSE([AC_LANG_PROGRAM([weir_gpfs_prologue], [[$1 hint = { .structType = $2 }; return hint.structType;]])],
    [weir_cv_$1=yes], [weir_cv_$1=no])])
AS_IF([test "x$weir_cv_$1" = xyes], [AC_DEFINE([$3], [1], [Define to 1 when gpfs_fcntl.h has $1.])])
])

# weir_loaded(NAME, file)
# The library is not linked to programs, which must start where it is not: it is loaded when it is asked for. NAME_LIBRARY is
# its path and a comma where somebody said where it is, else nothing: the dynamic linker knows.
m4_define([weir_loaded], [
weir_place=`printf '%s\n' "$[]$1[]_LIBS" | sed -n 's/.*-Wl,-rpath,\([[^ ]]*\).*/\1/p'`
AS_IF([test "x$weir_place" != x], [weir_place="\"$weir_place/$2\","])
AC_DEFINE_UNQUOTED([$1_LIBRARY], [$weir_place], [The path of $2 and a comma, or nothing.])
])

m4_define([weir_backend_posix_find], [
WEIR_LIBRARY([lustre], [the library of Lustre (lustreapi)], [], [no --posix.lustre.*, no mdtest -g],
  [WEIR_FIND_PKG([lustre], [-llustreapi], [[#include <stddef.h>
#include <lustre/lustreapi.h>]], [[llapi_msg_set_level(LLAPI_MSG_OFF);
return llapi_layout_file_open("x", 0, 0, NULL) + llapi_file_open_pool("x", 0, 0, 0, -1, 0, 0, NULL) + llapi_dir_set_default_lmv_stripe("x", -1, 0, 0, NULL);]])])
AS_IF([test "x$weir_with_lustre" = xyes],
  [AC_DEFINE([HAVE_LUSTRE], [1], [Define to 1 when the library of Lustre is there.])
   weir_loaded([LUSTRE], [liblustreapi.so])])

WEIR_LIBRARY([gpfs], [the library of GPFS (gpfs_fcntl)], [], [no --posix.gpfs.*],
  [WEIR_FIND_PKG([gpfs], [-lgpfs], [weir_gpfs_prologue], [[return gpfs_fcntl(0, 0);]])
   AS_IF([test "x$weir_path" = x], [WEIR_TRY_PATH([/usr/lpp/mmfs], [-lgpfs], [weir_gpfs_prologue], [[return gpfs_fcntl(0, 0);]])])])
AS_IF([test "x$weir_with_gpfs" = xyes], [
  AC_DEFINE([HAVE_GPFS], [1], [Define to 1 when the library of GPFS is there.])
  weir_loaded([GPFS], [libgpfs.so])
  weir_posix_CPPFLAGS=$CPPFLAGS
  CPPFLAGS="$GPFS_CFLAGS $CPPFLAGS"
  weir_gpfs_hint([gpfsFineGrainWriteSharing_t], [GPFS_FINE_GRAIN_WRITE_SHARING], [HAVE_GPFS_FINE_WRITE])
  weir_gpfs_hint([gpfsFineGrainReadSharing_t], [GPFS_FINE_GRAIN_READ_SHARING], [HAVE_GPFS_FINE_READ])
  weir_gpfs_hint([gpfsCreateSharing_t], [GPFS_CREATE_SHARING], [HAVE_GPFS_CREATE_SHARING])
  CPPFLAGS=$weir_posix_CPPFLAGS
])

WEIR_LIBRARY([beegfs], [the header of BeeGFS (beegfs/beegfs.h)], [], [no --posix.beegfs.*],
  [WEIR_FIND_PKG([beegfs], [], [[#include <beegfs/beegfs.h>]], [[return beegfs_createFile(0, "x", 0, 0, 0);]])])
AS_IF([test "x$weir_with_beegfs" = xyes],
  [AC_DEFINE([HAVE_BEEGFS], [1], [Define to 1 when the header of BeeGFS is there.])])

weir_found=yes
weir_cflags="$LUSTRE_CFLAGS $GPFS_CFLAGS $BEEGFS_CFLAGS"
weir_libs=$BEEGFS_LIBS
])
