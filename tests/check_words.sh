#!/bin/sh
# One word for one thing: what doc/architecture.md calls retired is in no name and no comment.
. "${top_srcdir:=.}/tests/tap.sh"

cd "$top_srcdir" || exit 1
found=$(mktemp)
trap 'rm -f "$found"' EXIT

# The last column of the glossary, a word a line.
words=$(awk -F'|' '/^## Words/ { within = 1 } /^## Where/ { within = 0 }
    within && NF > 4 && $2 !~ /word|---/ { gsub(/[ ,]+/, "\n", $4); print $4 }' doc/architecture.md |
    grep .)
runs "there are some" test "$(echo "$words" | wc -l)" -ge 5

for word in $words; do
    grep -rniE --include='*.[ch]' --include='*.lua' "(^|[^a-z])${word}s?([^a-z]|\$)" \
        lib daemon cli web jobs scripts >"$found" || true
    find lib daemon cli web jobs scripts -name "*$word*.[ch]" -o -name "*$word*.lua" >>"$found"
    runs "no $word" test ! -s "$found"
    sed 's/^/# /' "$found"
done
finish
