#!/bin/sh
# What doc/ and README.md say about the code is true: keys, scripts, messages. No link is broken.
. "${top_srcdir:=.}/tests/tap.sh"

cd "$top_srcdir" || exit 1
doc=$(mktemp)
code=$(mktemp)
trap 'rm -f "$doc" "$doc".* "$code" "$code".*' EXIT

# ---- doc/protocol.md: its table of keys against lib/redis/key.c

sed -n 's/^| `\(later:[^`]*\)` |.*/\1/p' doc/protocol.md | sort >"$doc"
{
    grep -o '\[LATER_KEY_[A-Z]*\] = "[a-z]*"' lib/redis/key.c |
        sed 's/.*"\([a-z]*\)"/later:{Q}:\1/'
    echo 'later:{Q}:overrides' # a channel, too
    grep -o '"call:"' lib/redis/key.c | sed 's/.*/later:{Q}:call:CALL/' # spelled in pieces
    grep -o '"%[^"]*"' lib/redis/key.c | grep -vx '"%s\(:{%s}:\)\{0,1\}"' | sed -e 's/"//g' \
        -e 's/^%\.\*saside:%\.128s$/later:{Q}:aside:T/' \
        -e 's/^%\.\*sresult:%\.200s$/later:{Q}:result:ID/' \
        -e 's/^%\.\*sflow:%\.64s%\.8s$/later:{Q}:flow:F\nlater:{Q}:flow:F:unknown\nlater:{Q}:flow:F:values\nlater:{Q}:flow:F:failed/' \
        -e '/^%\.\*s%\.16s:%$/d' \
        -e 's/^%s:%\.64s$/later:{Q}:reserved:TOKEN/' \
        -e 's/^%s:limit:{%\.200s}$/later:limit:{NAME}/' \
        -e 's/^%s:lookers:{%\.200s}$/later:lookers:{NAME}/' \
        -e 's/^%s:lock:{%\.200s}%s$/later:lock:{NAME}/' \
        -e 's/^%s:running:{%\.200s}$/later:running:{NAME}/' \
        -e 's/^%s:%s:{%\.200s}:%s$/later:lock:{NAME}:waiting\nlater:lock:{NAME}:due\nlater:running:{NAME}:waiting\nlater:limit:{NAME}:waiting/' \
        -e 's/^%s:stock:{%\.200s}%s$/later:stock:{ITEM}/' \
        -e 's/^%s:\([a-z]*\)$/later:\1/'
    sed -n 's/^ *\[LATER_LOCK_[A-Z]*\] = "\(:[a-z]*\)",$/later:lock:{NAME}\1/p' lib/redis/key.c
    sed -n 's/^ *\[LATER_BY_[A-Z]*\] = { "\([a-z]*\)".*/later:{Q}:\1:N/p' lib/history/history.c
    sed -n 's/.*claims ? "\(:[a-z]*\)".*/later:stock:{ITEM}\1/p' lib/redis/key.c
} | sort >"$code"
runs "protocol.md names the keys of lib/redis/key.c and no others" diff "$doc" "$code"
runs "protocol.md names keys at all" grep -q '^later:{Q}:ready$' "$doc"

# ---- doc/protocol.md: each script's KEYS, ARGV and reply against the heads of scripts/

# One line for each script: NAME KEYS ready stats …
heads='
    function flush() { if (name != "" && field != "") print name, field, text; field = "" }
    function begin(word, rest) {
        if (word == field) { text = text " " rest; return }
        flush(); field = word; text = rest
    }'
awk "$heads"'
    /^## / { flush(); within = /^## Scripts/ }
    /^### / { flush(); name = within ? $2 : "" }
    name == "" { next }
    /^    (KEYS|ARGV|reply) / { word = $1; sub(/^ *[A-Za-z]+ +/, ""); begin(word, $0); next }
    /^           / && field != "" { sub(/^ +/, ""); text = text " " $0; next }
    { flush() }
    END { flush() }' doc/protocol.md | sort >"$doc"
sed -n '/^Described here are the scripts/,/^$/p' doc/protocol.md | grep -o '`[a-z_]*`' | tr -d '`' |
    grep -vx later | sort >"$doc.rest"
awk "$heads"'
    FNR == 1 { flush(); name = FILENAME; sub(/.*\//, "", name); sub(/\.lua$/, "", name); over = 0 }
    over { next }
    /^-- (KEYS|ARGV|reply) / { word = $2; sub(/^-- [A-Za-z]+ +/, ""); begin(word, $0); next }
    /^--        / && field != "" { sub(/^-- +/, ""); text = text " " $0; next }
    FNR > 1 { flush(); over = field == "" && FNR > 3 }
    END { flush() }' scripts/*.lua | sort >"$code"
cut -d ' ' -f 1 "$doc" | sort -u >"$doc.names"
awk 'NR == FNR { described[$1]; next } $1 in described' "$doc.names" "$code" >"$code.described"
runs "protocol.md has the heads of the scripts that it describes, as they are" diff "$doc" "$code.described"
runs "protocol.md names each other script as laterd's own" diff - "$doc.rest" <<NAMES
$(cut -d ' ' -f 1 "$code" | sort -u | grep -vxFf "$doc.names")
NAMES
runs "protocol.md describes what the clients carry" test -z "$(find clients -name '*.lua' ! -path '*/build/*' |
    sed 's|.*/||; s|\.lua$||' | sort -u | grep -vxFf "$doc.names")"

# ---- doc/operations.md: every message in its table is in the sources

# Literals that are split over lines are joined.
find daemon lib cli web jobs -name '*.c' -exec cat {} + | tr '\n' ' ' | sed 's/" *\(PRI[a-z0-9]* *\)\{0,1\}"//g' >"$code"
# `words … words`: what differs is … here, and %s or the like in the sources, so only the pieces
# between are compared.
sed -n '/^## What the lines ask for/,/^## /s/^| `\([^|]*\)` |.*/\1/p' doc/operations.md >"$doc"
missing=
while IFS= read -r message; do
    pieces=$(printf '%s\n' "$message" | sed 's/…/\n/g')
    while IFS= read -r piece; do
        piece=$(printf '%s\n' "$piece" | sed 's/^[ :]*//; s/[ :]*$//; s/"/\\"/g')
        [ -z "$piece" ] || grep -qF -e "$piece" "$code" || missing="$missing$message
"
    done <<EOF
$pieces
EOF
done <"$doc"
is "$missing" '' "operations.md lists only messages that the sources have"
runs "there are some" test "$(wc -l <"$doc")" -gt 40

# ---- doc/architecture.md: files that it names by path

missing=$(grep -oE '`(lib|daemon|cli|web|scripts|tests)/[a-z_/]+\.(c|h|lua|sh|am|awk)`' doc/architecture.md |
    tr -d '`' | sort -u | while read -r file; do [ -e "$file" ] || echo "$file"; done)
is "$missing" '' "architecture.md names files that there are"

# ---- doc/architecture.md: the rooms

# A line ROOM/PATTERN for each name in the first column of the list.
awk '/^## Rooms/ { within = 1 } /^## Who/ { within = 0 }
    within && /^[a-z\/]+\/ / { room = $1 }
    within && room && /^  [a-z]/ {
        sub(/^  /, "")
        n = split(substr($0, 1, index($0, "  ")), names, " ")
        for (i = 1; i <= n; i++) print room names[i]
    }' doc/architecture.md >"$doc"
find lib daemon cli web jobs -name '*.[ch]' ! -name 'script_*' ! -name 'asset_table.c' ! -path 'lib/later/*' | sed 's/\.[ch]$//' | sort -u \
    >"$code"
missing=$(while IFS= read -r module; do
    found=no
    while IFS= read -r pattern; do
        # shellcheck disable=SC2254 # it is a pattern
        case $module in $pattern) found=yes ;; esac
    done <"$doc"
    [ "$found" = yes ] || echo "$module is not in doc/architecture.md"
done <"$code")
is "$missing" '' "architecture.md has every module"
missing=$(while IFS= read -r pattern; do
    # shellcheck disable=SC2086 # it is a pattern
    ls $pattern.[ch] >/dev/null 2>&1 || echo "there is no $pattern"
done <"$doc")
is "$missing" '' "and no others"

# ---- doc/protocol.md: what laterd asks a reserve for

for what in RESERVE BESIDE; do
    bytes=$(sed -n "s/^#define LATER_${what}_BYTES \([0-9]*\).*/\1/p" lib/queue/queue.h)
    runs "protocol.md says $bytes" grep -qw "$bytes" doc/protocol.md
done

# ---- how many hosts, and how often

# constant FILE NAME
constant() { sed -n "s/^#define $2 *\([0-9]*\).*/\1/p" "$1"; }
least=$(constant daemon/queues/announce.c EVERY_LEAST) most=$(constant daemon/queues/announce.c EVERY_MOST)
together=$(constant daemon/queues/announce.c EVERY_TOGETHER)
# says FILE WORDS: they may go over two lines
says() { tr -s '\n' ' ' <"$1" | grep -qF "$2"; }
runs "protocol.md: every $least seconds" says doc/protocol.md "its field of \`later:hosts\` every $least seconds"
runs "protocol.md: of more than $((least * together)) hosts" says doc/protocol.md "Where more than $((least * together)) hosts"
runs "protocol.md: at most every $most" says doc/protocol.md "every *hosts / $together* seconds, at most $most:"
sleep=$(constant daemon/supervisor/sleepers.h SLEEPERS_HOSTS)
all=$((sleep + $(constant lib/queue/looker.h LATER_LOOKERS)))
runs "architecture.md: workers sleep where $sleep hosts do not look" says doc/architecture.md "Where more than $sleep hosts that"
runs "operations.md: where $all hosts serve the same" says doc/operations.md "Where more than $all hosts serve the same"
runs "performance.md: the same" says doc/performance.md "of more than $all hosts that serve the same"

# ---- doc/coming-from.md: the commands that it names are in later(1)

sed -n 's/^\.It Cm \([a-z]*\).*/\1/p' doc/later.1 | sort -u >"$code"
grep -o '`later [a-z]*' doc/coming-from.md | sed 's/.* //' | sort -u | comm -23 - "$code" >"$doc"
runs "coming-from.md names commands that there are" test ! -s "$doc"
sed 's/^/# /' "$doc"

# ---- README.md and doc/*.md

# Samples of laterd.conf: what begins with NAME = { or NAME = ( closes each bracket.
for file in README.md doc/*.md doc/*.[1358] clients/*/*.md; do
    awk '
        function over() {
            if (sample && (depth || low)) print FILENAME ":" from ": a sample with " depth " brackets open"
            sample = depth = low = 0
        }
        /^```|^\.(Bd|Ed)/ || /^[^ .]/ && !fenced { over() }
        /^```/ { fenced = !fenced; next }
        /^\.Bd/ { fenced = 1; next }
        /^\.Ed/ { fenced = 0; next }
        { line = $0; gsub(/"(\\.|[^"\\])*"/, "", line); sub(/#.*/, "", line) }
        !sample && (fenced || /^    /) && line ~ /^ *[a-z]+ = [{(]/ { sample = 1; from = FNR }
        sample {
            depth += gsub(/[{(]/, "", line)
            depth -= gsub(/[})]/, "", line)
            if (depth < 0) low = 1
        }
        END { over() }' "$file"
done >"$doc"
is "$(cat "$doc")" '' "samples of laterd.conf close each bracket"

runs "README.md has at most 250 lines" test "$(wc -l <README.md)" -le 250
for file in README.md doc/*.md; do
    grep -oE '\]\([^)]+\)' "$file" | sed 's/^](//; s/)$//' | grep -v '^https\{0,1\}:' |
        while read -r link; do
            target=${link%%#*} anchor=
            case $link in *'#'*) anchor=${link#*#} ;; esac
            [ -z "$target" ] || target=$(dirname "$file")/$target
            if [ ! -e "${target:-$file}" ]; then
                echo "$link: no such file"
            elif [ -n "$anchor" ]; then
                sed -n 's/^##* //p' "${target:-$file}" | tr 'A-Z ' 'a-z-' | tr -cd 'a-z0-9_\n-' |
                    grep -qxF "$anchor" || echo "$link: no such heading"
            fi
        done >"$doc"
    runs "links of $file" test ! -s "$doc"
    sed 's/^/# /' "$doc"
done
finish
