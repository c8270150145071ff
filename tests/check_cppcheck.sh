#!/bin/sh
# cppcheck finds nothing. Each suppression has its reason in cppcheck.suppress. What is made from the pages,
# web/asset_table.c, is one table of bytes, over which it would spend minutes.
. "${top_srcdir:=.}/tests/tap.sh"
needs cppcheck

cd "$top_srcdir" || exit 1
for room in lib daemon cli web jobs; do
    runs "cppcheck: $room" cppcheck --quiet --enable=warning,performance,portability \
        --error-exitcode=1 --std=c11 --library=posix --inline-suppr -D_GNU_SOURCE \
        --suppressions-list=tests/cppcheck.suppress -Ilib -I"$top_builddir/lib" -Idaemon -iweb/asset_table.c "$room"
done
finish
