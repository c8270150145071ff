#!/bin/sh
# One word for one thing: a word that the glossary of doc/architecture.md has retired is in no name
# and no comment. If it is in backticks there, because English needs it, it is in no name. And a
# function that a comment names is there.
. "${top_srcdir:=.}/tests/tap.sh"

cd "$top_srcdir" || exit 1
code=$(mktemp)
found=$(mktemp)
trap 'rm -f "$code" "$found"' EXIT

# The last column of the glossary, one word per line.
words=$(awk -F'|' '/^## Words/ { within = 1 } /^## Where/ { within = 0 }
    within && NF > 4 && $2 !~ /word|---/ { gsub(/[ ,]+/, "\n", $4); print $4 }' doc/architecture.md |
    grep . | sort -u)
runs "there are some" test "$(echo "$words" | wc -l)" -ge 10

# All C as FILE:LINE:CODE, without comments and strings.
find lib daemon cli web jobs -name '*.[ch]' ! -name '*_text.c' -exec perl -0 -ne '
    s{(/\*.*?\*/)|("(?:\\.|[^"\\\n])*")}{ my $was = $&; $was =~ s/[^\n]//g; $was }gse;
    my $line = 0; print map { ++$line; "$ARGV:$line:$_\n" } split /\n/' {} + >"$code"
runs "there is code to look at" test "$(wc -l <"$code")" -gt 10000

for word in $words; do
    name=$(echo "$word" | tr -d '`')
    if [ "$name" != "$word" ]; then
        grep -iE ":.*(^|[^a-z])${name}s?([^a-z]|\$)" "$code" | grep -v '^[^:]*:[^:]*:#include' >"$found" || true
    else
        grep -rniE --include='*.[ch]' --include='*.lua' "(^|[^a-z])${name}s?([^a-z]|\$)" \
            lib daemon cli web jobs scripts >"$found" || true
    fi
    find lib daemon cli web jobs -name "*.[ch]" |
        grep -E "[/_]${name}s?[._]" >>"$found" || true
    runs "no $name" test ! -s "$found"
    sed 's/^/# /' "$found"
done

# Comments outlive the functions that they name, as name().
find lib daemon cli web jobs -name '*.[ch]' -exec perl -0 -ne '
    s{/\*(.*?)\*/}{ my $text = $1; $named{$_} //= $ARGV for $text =~ /\b([a-z]\w*)\(\)/g; " " }gse;
    $known{$_} = 1 for /\w+/g;
    END { print map { "$named{$_}: $_()\n" } grep { !$known{$_} && !/^curl_/ } sort keys %named }' {} + >"$found"
runs "comments name functions that there are" test ! -s "$found"
sed 's/^/# /' "$found"
finish
