#!/bin/sh
# The man pages are clean to mandoc's lint.
. "${top_srcdir:=.}/tests/tap.sh"
needs mandoc

cd "$top_srcdir" || exit 1
for page in doc/*.[1358]; do
    runs "mandoc: $page" mandoc -T lint -W warning "$page"
done
finish
