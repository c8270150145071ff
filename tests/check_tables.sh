#!/bin/sh
# What is made from the tables lib/*/*.tab is made from what they are now. With --write, makes it: that is
# what `make tables` does.
. "${top_srcdir:=.}/tests/tap.sh"

cd "$top_srcdir" || exit 1
made=$(mktemp) list=$(mktemp)
trap 'rm -f "$made" "$list"' EXIT

for table in lib/*/*.tab; do
    name=$(basename -s .tab "$table")
    grep -rlI "@$name [a-z_.,]*\( [+][0-9]*\)\?: " lib cli jobs web clients doc | grep -vx 'lib/tables.awk' >"$made"
    runs "$table: there are files that are made from it" test -s "$made"
    cat "$made" >>"$list"
done
sort -u -o "$list" "$list"
while read -r file; do
    if ! awk -f lib/tables.awk lib/*/*.tab "$file" >"$made"; then
        runs "$file: each word of its regions is one of a row" false
    elif [ "$*" != --write ]; then
        runs "$file: as the tables say; if not, make tables" diff -u "$file" "$made"
    elif ! cmp -s "$file" "$made"; then
        cat "$made" >"$file"
    fi
done <"$list"
is "$(awk -F ' *[|] *' '/^[a-z]/ && $3 ~ /^away/ && $2 !~ /^(RETRY|RECONNECT)$/ { print $1 }' lib/redis/errors.tab)" "" \
    "lib/redis/errors.tab: what a wait outlasts is tried again"
[ "$*" = --write ] || finish
