# LATER_NEED(VARIABLE, PKG-CONFIG MODULE AND VERSION, DEBIAN PACKAGE)
# Sets VARIABLE_CFLAGS and VARIABLE_LIBS. What is missing is collected in $later_missing and
# $later_packages, so that configure can name all of it at once.
AC_DEFUN([LATER_NEED],
[PKG_CHECK_MODULES([$1], [$2], [],
  [later_missing="$later_missing
    $2"
   later_packages="$later_packages $3"])])

# LATER_TRY_CFLAGS(VARIABLE, FLAGS)
# Adds to VARIABLE those of FLAGS that the compiler takes without a word.
AC_DEFUN([LATER_TRY_CFLAGS],
[for later_flag in $2; do
  later_saved=$CFLAGS
  CFLAGS="$CFLAGS -Werror $later_flag"
  AC_MSG_CHECKING([whether $CC takes $later_flag])
  AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#include <string.h>]], [[]])],
    [AC_MSG_RESULT([yes])
     $1="$$1 $later_flag"],
    [AC_MSG_RESULT([no])])
  CFLAGS=$later_saved
done])

# LATER_TRY_LDFLAGS(VARIABLE, FLAGS)
# The same for the linker.
AC_DEFUN([LATER_TRY_LDFLAGS],
[for later_flag in $2; do
  later_saved=$LDFLAGS
  LDFLAGS="$LDFLAGS -Werror $later_flag"
  AC_MSG_CHECKING([whether the linker takes $later_flag])
  AC_LINK_IFELSE([AC_LANG_PROGRAM([[]], [[]])],
    [AC_MSG_RESULT([yes])
     $1="$$1 $later_flag"],
    [AC_MSG_RESULT([no])])
  LDFLAGS=$later_saved
done])
