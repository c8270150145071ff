#!/bin/sh
# later push --debounce, --max-wait, --again, --throttle; a steady stream of pushes under one id.
# LATER_SOAK: a minute of it, with 5 seconds at most between two runs.
. "${top_srcdir:=.}/tests/system/lib.sh"
start_redis 'appendonly no'

# ---- the options

is "$(later push t 1 -q d --id a --debounce 1h)" a "--debounce: the id is printed"
like "$(later size d | cut -f 2-5)" '^0.1.0.0$' "a debounced job waits"
run later push t 2 -q d --id a --debounce 2h --json
is "$status $out" '0 {"queue":"d","id":"a","result":"replaced"}' "the next one replaces it"
is "$(redis HGET 'later:{d}:jobs' a | field payload)" 2 "the last push's document stays"
later push t 3 -q d --id a --debounce 0 >/dev/null
is "$(later reserve d | cut -f 1,4 | tee "$work/reserved" | cut -f 1)" a "--debounce 0 makes it ready at once"
run later push t 4 -q d --id a --debounce 0.1 --json
is "$status $out" '0 {"queue":"d","id":"a","result":"again"}' "one that runs is not disturbed"
like "$err" 'runs now; this one is pushed when it ends' "a push onto a running job says that it waits for its end"
later push t 5 -q d --id a --again >/dev/null 2>&1
later cancel a -q d >/dev/null
is "$(later size d | cut -f 2-5)" "$(printf '0\t0\t0\t0')" "a cancel ends both"
later push t 1 -q d --id w --debounce 5 --max-wait 0.2 >/dev/null
like "$(redis HGET 'later:{d}:records' w)" '^b=' "--max-wait is counted from the first"
run wait_until 20 sh -c '[ "$("$1" work d --until-empty -- cat)" ]' sh "$later_bin"
is "$status" 0 "--max-wait: the job runs after that time"
later push t 1 -q d --id th --throttle 1h >/dev/null
later work d --until-empty -- true
run later push t 1 -q d --id th --throttle 1h --json
is "$out" '{"queue":"d","id":"th","result":"exists","state":"ended"}' "--throttle: once in that time"
later push t 1 -q d --id tl --throttle 0.01 >/dev/null
later work d --until-empty -- true
run wait_until 20 sh -c '"$1" push t -q d --id tl --json | grep -q pushed' sh "$later_bin"
is "$status" 0 "--throttle: after that time the id is free"
redis SET 'later:{sh}:shards' '5 3 1' >/dev/null
later push t 1 -q sh --id s1 >/dev/null
later reserve sh >/dev/null
is "$(later push t 2 -q sh --id s1 --again --json 2>/dev/null | field result)" again \
    "--again works in a queue with shards"
for words in '--debounce 5' '--again' '--throttle 5' '--unique-for 5' '--id x --max-wait 5' \
    '--id x --debounce 5 --in 5' '--id x --throttle 5 --unique-for 5' \
    '--id x --debounce 5 --max-wait 0'; do
    # shellcheck disable=SC2086 # words
    run later push t $words
    is "$status" 64 "$words: status 64"
done

# ---- lines of a file: the last of several with one id counts

for n in 1 2 3; do
    echo '{"type":"t","id":"f","payload":'"$n"',"debounce":3600,"max_wait":7200}'
    echo '{"document":{"type":"t","payload":'"$n"'},"id":"g","throttle":3600}'
done >"$work/lines"
is "$(later push --file "$work/lines" -q f --json 2>/dev/null | field result | sort | uniq -c | tr -s ' ' | tr -d '\n')" \
    ' 2 exists 2 pushed 2 replaced' "lines with debounce and throttle"
is "$(redis HGET 'later:{f}:jobs' f | field payload) $(redis HGET 'later:{f}:jobs' g | field payload)" '3 1' \
    "debounced: the last one; throttled: the first one"
like "$(redis HGET 'later:{f}:records' f)" '^b=' "max_wait is counted from the first"
later push t -q f --id r >/dev/null
later reserve f -n 2 >"$work/reserved"
is "$(later push t -q f --id g --again --json 2>/dev/null | field state)" reserved \
    "--throttle: nothing is kept beside one that runs"
echo '{"type":"t","id":"r","payload":7,"again":true}' >"$work/lines"
run later push --file "$work/lines" -q f --json
is "$status $out" '0 {"queue":"f","id":"r","result":"again","line":1}' "again, beside one that runs"
like "$err" '1 of jobs that run now; they are pushed when those end' "--file says how many jobs wait for running ones"

# ---- 100 pushes a second, as lines of one file

if ! applies stream; then
    is "$(later check d sh f | cut -f 3 | sort -u)" ok "later check holds for all queues"
    finish
    exit
fi
seconds=6 most=1 least=2
[ -z "${LATER_SOAK:-}" ] || seconds=60 most=5 least=$((60 * 2 / 20))
# shellcheck disable=SC2086 # words
$redis_cli MONITOR >"$work/monitor" </dev/null &
monitor=$!
own "$monitor"
wait_until 20 test -s "$work/monitor"
spawn "$later_bin" work s -- sh -c 'n=$(sed "s/.*payload.:\([0-9]*\).*/\1/")
    echo "$(date +%s.%N) $n" >>"$1"; sleep 0.2' - "$work/ran"
wait_until 20 blocks 1 # so that it runs some while they are pushed
# Pushes as many as are due by the clock, so that a busy machine makes it uneven and not slower.
stream()
{
    begun=$(date +%s%N) n=0 due=0
    while [ "$due" -lt $((seconds * 100)) ]; do
        now=$(date +%s%N)
        due=$(((now - begun) / 10000000))
        while [ "$n" -lt "$due" ] && [ "$n" -lt $((seconds * 100)) ]; do
            n=$((n + 1))
            echo '{"type":"t","id":"one","debounce":0.5,"max_wait":'"$most"',"payload":'"$n"'}'
            echo "${now%?????????}.${now#"${now%?????????}"} $n" >>"$work/pushed"
        done
        sleep 0.01
    done
}
stream | "$later_bin" push --file - -q s --json 2>/dev/null | field result >"$work/answers"
last=$(tail -n 1 "$work/pushed" | cut -d ' ' -f 2)
wait_until 20 sh -c '[ "$(tail -n 1 "$1" | cut -d " " -f 2)" = "$2" ]' sh "$work/ran" "$last"
is "$(tail -n 1 "$work/ran" | cut -d ' ' -f 2)" "$last" "the last of $last documents ran last"
is "$(sort -u "$work/answers" | tr '\n' ' ')" 'again pushed replaced ' \
    "pushed, replaced, kept while one ran ($(grep -c again "$work/answers") times)"
runs=$(wc -l <"$work/ran")
set_busy
# When the pushes came, by Redis's clock, which says when a job is due: for how many seconds, and how
# often half a second without one, after which the job also runs between two longest waits.
redis ECHO enough >/dev/null
wait_until 20 grep -qi '"echo" "enough"' "$work/monitor"
kill "$monitor"
awk '/ lua\]/ || !/debounce/ { next }
    !first { first = before = $1 }
    { gaps += $1 - before > 0.45; before = $1 }
    END { printf "%d %d\n", before - first + 1, gaps }' "$work/monitor" >"$work/stream"
read -r lasted gaps <"$work/stream"
run test "$lasted" -gt 1 -a "$runs" -ge "$least" -a "$runs" -le $((lasted / most + 2 + gaps))
is "$status" 0 "it ran each $most s, $runs times in $lasted s with $gaps gaps"
# Two runs are at most so far apart that the second one waited its longest and was then picked up.
# Each run has what was last pushed before it was due.
is "$(awk -v most="$most" -v slack=$((1 + busy + stall)) '
    FNR == NR { time[$2] = $1; last = $2; next }
    $2 <= n { print "run " FNR " has document " $2 " after " n }
    FNR > 1 && $1 - before > most + slack { print "run " FNR " came after " $1 - before " s" }
    { before = $1; n = $2; at = $1
      while (n < last && time[n + 1] < at - slack) n++
      if (n > $2) print "run " FNR " has document " $2 ", " n " had been pushed for long"
      n = $2 }' "$work/pushed" "$work/ran")" "" "and each time with the last document"
wait_until 20 sh -c '[ "$("$1" size s | cut -f 2-5 | tr -d "\t")" = 0000 ]' sh "$later_bin"
is "$(later size s | cut -f 2-5)" "$(printf '0\t0\t0\t0')" "no job is left"
kill "$spawned"
is "$(later check s d sh f | cut -f 3 | sort -u)" ok "later check holds at the end"
finish
