#!/bin/sh
# What is made from lib/job/options.tab is made from what it is now. With --write, makes it: that is
# what `make options` does.
. "${top_srcdir:=.}/tests/tap.sh"

cd "$top_srcdir" || exit 1
made=$(mktemp)
list=$(mktemp)
grep -rlI '@options [a-z,]*[ :]' lib cli web clients doc | grep -v '^lib/job/options' | sort >"$list"
runs "there are such files" test -s "$list"
while read -r file; do
    awk -f lib/job/options.awk lib/job/options.tab "$file" >"$made"
    if [ "$*" != --write ]; then
        runs "$file: as options.tab says; if not, make options" diff -u "$file" "$made"
    elif ! cmp -s "$file" "$made"; then
        cat "$made" >"$file"
    fi
done <"$list"
rm -f "$made" "$list"
[ "$*" = --write ] || finish
