#!/bin/sh
# mandoc's lint finds nothing in the man pages.
. "${top_srcdir:=.}/tests/tap.sh"
needs mandoc

cd "$top_srcdir" || exit 1
for page in doc/*.[1358]; do
    runs "mandoc: $page" mandoc -T lint -W warning "$page"
done
finish
