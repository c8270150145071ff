#!/bin/sh
# The examples of doc/protocol.md, and of protocol_more.txt for the scripts that it does not describe, give
# the answers shown after them.
. "${top_srcdir:=.}/tests/system/lib.sh"
needs redis-server redis-cli

protocol=$top_srcdir/doc/protocol.md
scripts=$(cd "$top_builddir" && pwd)/scripts/expanded
start_redis 'appendonly yes'

# ---- the examples

# The examples' redis-cli uses our server. The scripts are those of the build.
mkdir "$work/bin"
printf '#!/bin/sh\nexec %s -s %s "$@"\n' "$(command -v redis-cli)" "$redis_socket" \
    >"$work/bin/redis-cli"
chmod +x "$work/bin/redis-cli"
PATH=$work/bin:$PATH
sed -n '/^## Scripts/,/^## The least/p' "$protocol" | sed -n '/^```sh$/,/^```$/p' | grep -v '^```' |
    sed "s|/usr/local/share/laterd/scripts|$scripts|" >"$work/examples"
sed '/^}/q' "$work/examples" >"$work/run.sh"

# as_told ANSWER GOT: prints GOT. A number of seconds that is left, written as 29.…, may have become less: where
# it has, the answer's own stands in its place.
as_told()
{
    printf '%s\n%s\n' "$1" "$2" | awk '
        NR == 1 { n = split($0, told, " "); next }
        {
            for (i = 1; i <= n && i <= NF; i++)
                if (told[i] ~ /^[0-9]+\.…$/ && $i ~ /^[0-9]+\.[0-9]+$/ && $i > 0 && $i < told[i] + 1)
                    $i = told[i]
            print
        }'
}

# pattern ANSWER: turns it into a pattern for `case`: … matches anything, all else is literal.
pattern()
{
    printf '%s' "$1" | sed -e 's/[][*?\\]/\\&/g' -e 's/…/*/g' -e 's/^(nothing)$//'
}

cat "$work/examples" "$top_srcdir/tests/system/protocol_more.txt" | grep '  # ' >"$work/lines"
while IFS= read -r line; do
    command=${line%%  #*}
    told=${line##*  # }
    answer=$(pattern "$told")
    got=$(sh -c '. "$1"; eval "$2"' sh "$work/run.sh" "$command" 2>&1 | grep -v '^$' |
        tr '\n' ' ' | sed 's/ $//')
    # shellcheck disable=SC2254 # it is a pattern
    case $(as_told "$told" "$got") in
    $answer) ok "${command%%  *}" ;;
    *)
        not_ok "${command%%  *}"
        printf 'got:    %s\nwanted: %s\n' "$got" "$answer" | sed 's/^/# /'
        ;;
    esac
done <"$work/lines"
is "$(sed -n 's/^run \([a-z_]*\) .*/\1/p; s/.*scripts\/\([a-z_]*\)\.lua.*/\1/p' "$work/lines" | sort -u)" \
    "$(cd "$scripts" && for script in *.lua; do echo "${script%.lua}"; done)" \
    "every script has an example"

# ---- the counters

sed -n '/^## Counters/,/^## /s/^| \(`.*`\) |.*/\1/p' "$protocol" | tr -d '`,' | tr ' ' '\n' |
    sort >"$work/told"
redis --raw hkeys 'later:{default}:stats' | grep -vxE 'max_jobs|results|singly' | sort >"$work/found"
is "$(comm -13 "$work/told" "$work/found")" '' "every counter is in the table"

later size --names >/dev/null 2>&1 && later push null -q default --in 1h >/dev/null
[ "$(redis --raw hget 'later:{default}:stats' pushed)" -gt 4 ] || not_ok "the examples have pushed jobs"
later check default --json >"$work/checked"
is "$(sed -n 's/.*"check":"\([a-z]*\)","ok":\([a-z]*\).*/\1 \2/p' "$work/checked" | head -n 2 | tr '\n' ' ')" \
    'counters true sets true ' "the two sums hold after the examples"

# ---- plain ZADDs

redis zadd 'later:{plain}:ready' 5 '{"type":"null"}' >/dev/null
redis zadd 'later:{plain}:delayed' 6 '{"type":"null","n":2}' >/dev/null
redis --eval "$scripts/migrate.lua" 'later:{plain}:ready' 'later:{plain}:delayed' \
    'later:{plain}:reserved' 'later:{plain}:jobs' 'later:{plain}:records' \
    'later:{plain}:unique' 'later:{plain}:wake' 'later:{plain}:paused' 'later:{plain}:stats' , 500 >/dev/null
is "$(later reserve plain -n 2 | cut -f 1,4 | tr '\n' ' ')" \
    "$(for document in '{"type":"null"}' '{"type":"null","n":2}'; do
        printf '%s\t%s ' "$(printf %s "$document" | sha1sum | cut -d ' ' -f 1)" "$document"
    done)" "a plain member gets the SHA-1 of its bytes as id"

finish
