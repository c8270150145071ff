#!/bin/sh
# The scripts that the clients contain are byte for byte those of the tree. `make` copies them.
. "${top_srcdir:=.}/tests/tap.sh"

found=0
for script in "$top_srcdir"/clients/*/scripts/*.lua "$top_srcdir"/clients/*/*/scripts/*.lua \
    "$top_srcdir"/clients/*/*/*/scripts/*.lua; do
    [ -e "$script" ] || continue
    found=$((found + 1))
    name=${script#"$top_srcdir/"}
    runs "$name is ${script##*/} of the tree" cmp "$script" "$top_builddir/scripts/expanded/${script##*/}"
done
runs "clients carry scripts" test "$found" -ge 3
finish
