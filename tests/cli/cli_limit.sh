#!/bin/sh
# later limit: may this happen now?
. "${top_srcdir:=.}/tests/system/lib.sh"
start_redis 'appendonly no'

for window in fixed sliding; do
    for i in 1 2 3; do
        run later limit "$window" --max 3 --per 600 --window "$window"
        is "$status $out$err" "0 0" "$window: $i of 3"
    done
    run later limit "$window" --max 3 --per 600 --window "$window"
    like "$status $out" '^75 (600|5[0-9][0-9](\.[0-9]+)?)$' "$window: not now; the seconds until it may"
done
run later limit sliding --max 3 --per 10m
is "$status" 75 "sliding is what it is otherwise"
like "$(later limit sliding --max 3 --per 600 --json)" \
    '^\{"limit":"sliding","allowed":false,"wait":(600|5[0-9][0-9](\.[0-9]+)?)\}$' "--json, not now"
is "$(later limit other --max 3 --per 60 --json)" '{"limit":"other","allowed":true,"wait":0}' "limit --json"

# moment: microseconds by Redis's clock, which decides. However late each question came, there are four
# seconds from before the first one to the end of the second.
moment()
{
    redis TIME | paste -s -d ' ' - | awk '{ printf "%d%06d\n", $1, $2 }'
}
first=$(moment)
later limit soon --max 1 --per 4 >/dev/null
begun=$(date +%s%N)
calls=$(called evalsha)
run later limit soon --max 1 --per 4 --wait 20
took=$((($(date +%s%N) - begun) / 1000000))
is "$status $out $(($(moment) - first >= 4000000)) $(soon "$took" 5000)" "0 0 1 1" "--wait: until it may"
calls=$(($(called evalsha) - calls))
is "$((calls <= 3))" 1 "without asking again and again"
later limit late --max 1 --per 600 >/dev/null
begun=$(date +%s%N)
run later limit late --max 1 --per 600 --wait 60
took=$((($(date +%s%N) - begun) / 1000000))
is "$status $(soon "$took" 2000)" "75 1" "--wait: at once where it is too long to wait"

run later limit sliding --max 3 --per 600 --window fixed
is "$status" 65 "one name is fixed or sliding"
like "$err" 'sliding is in use with the other --window' "a key of the other window is named"
for wrong in k 'k --max 3' 'k --per 3' 'k --max 0 --per 1' 'k --max 1 --per 0' 'k --max x --per 1' \
    'k --max 1 --per 1 --window round' 'k{ --max 1 --per 1' '--max 1 --per 1'; do
    # shellcheck disable=SC2086
    run later limit $wrong
    is "$status" 64 "later limit $wrong: wrong usage"
done

# 40 callers at once, of which 5 may.
for i in 1 2 3 4; do
    (
        for _ in 1 2 3 4 5 6 7 8 9 10; do
            later limit rush --max 5 --per 10m >/dev/null && echo yes
        done >"$work/rush$i"
        exit 0
    ) &
    own "$!"
    eval "caller$i=\$!"
done
for i in 1 2 3 4; do eval "wait \"\$caller$i\""; done
is "$(cat "$work"/rush? | wc -l)" 5 "never more than --max"
finish
