#!/bin/sh
# Flows under a laterd that is killed (kill -9) again and again: each ends, nothing runs before what it
# waits for, and nothing is lost or doubled.
. "${top_srcdir:=.}/tests/system/daemon.sh"
needs redis-server redis-cli

start_redis 'appendonly yes'
# crash_max is out of reach: on a slow machine one job can be the one that runs in each of the kills.
configure 'workers = 2; grace = 0.2; crash_max = 1000;' 'retry = { max_attempts = 1000; base = 0.01; max = 0.05; };'
start_laterd

# ---- forty graphs of four steps, and a batch with its callback

for i in $(seq 40); do
    printf '%s\n' '{"type":"note","step":"end","after":["left","right"]}' \
        '{"type":"note","step":"left","after":["begin"]}' \
        '{"type":"note","step":"right","after":["begin"]}' \
        '{"type":"note","step":"begin"}' \
        '{"type":"note","step":"alarm","after":["*"],"when":"failed"}' |
        later push --flow "g$i" --file - >/dev/null
    case $i in
    *[05])
        kill -KILL "$laterd_pid"
        wait "$laterd_pid" 2>/dev/null
        launch
        ;;
    esac
done
{
    seq 500 | sed 's/.*/{"type":"note"}/'
    echo '{"type":"note","step":"report","after":["*"]}'
} >"$work/batch"
# The push itself is killed, too, and repeated.
for n in 0.01 0.03 0.05; do
    timeout -s KILL "$n" "$later_bin" push --flow batch --file "$work/batch" >/dev/null 2>&1
    kill -KILL "$laterd_pid"
    wait "$laterd_pid" 2>/dev/null
    launch
done
later push --flow batch --file "$work/batch" >/dev/null 2>&1

runs "the batch ends" later flow wait batch --timeout 60s
left()
{
    later flow --json | grep -vc '"state":"done"'
}
none_left() { [ "$(left)" = 0 ]; }
awaited 60 "all flows are done" none_left
is "$(later flow --json | grep -c '"total":5,"open":0,"waiting":0,"dead":0,"done":4,"gone":0,"skipped":1')" 40 \
    "four jobs of each graph are done, and its alarm was not needed"
is "$(later flow --json | grep -c '"total":501,"open":0,"waiting":0,"dead":0,"done":501')" 1 "501 jobs of the batch are done"
is "$(counted pushed) $(counted 'done') $(counted cancelled)" "701 661 40" "each was pushed and done once"

# ---- the order: the first beginning of a job comes after the last end of those before it

"$AWK" '
    FILENAME ~ /ended$/ { if ($5 > last[$1]) last[$1] = $5; next }
    !($1 in first) || $4 < first[$1] { first[$1] = $4 }
    END {
        for (i = 1; i <= 40; i++) {
            f = "g" i "."
            if (first[f "left"] >= last[f "begin"] && first[f "right"] >= last[f "begin"] &&
                first[f "end"] >= last[f "left"] && first[f "end"] >= last[f "right"])
                well++
        }
        for (id in last)
            if (id ~ /^batch:/ && last[id] > latest) latest = last[id]
        print well, (first["batch.report"] >= latest)
    }' "$work/ended" "$work/begun" >"$work/order"
is "$(cat "$work/order")" "40 1" "nothing has begun before what it waits for had ended"
# ---- a running job adds to its own flow, which is closed

printf '%s\n' '{"type":"do","step":"grow","payload":{"do":"add","flow":"grow","step":"grown"}}' \
    '{"type":"do","step":"last","payload":{"do":"add","flow":"grow","step":"leaf","after":"grown,last","when":"ended"},"after":["grow"]}' \
    '{"type":"note","step":"end","after":["*"]}' |
    later push --flow grow --file - >/dev/null
later push 'do' '{"do":"add","flow":"grow","step":"strange"}' --id stranger >/dev/null
later push 'do' '{"do":"add","flow":"fresh","step":"one","queue":"other"}' --id foreign >/dev/null
all_ended() { [ "$(cut -d ' ' -f 1 "$work/ended" | grep -cE '^(grow\.|stranger|foreign)')" = 7 ]; }
awaited 60 "all have ended" all_ended
is "$(later flow wait grow --timeout 60s | cut -f 3,4,8)" "$(printf 'done\t5\t5')" "the flow has two more jobs, and is done"
is "$(cat "$work/added-grow.grow" "$work/added-grow.last" "$work/added-stranger")" "00-1" \
    "both could add, a job of no flow could not"
is "$(cat "$work/added-foreign"; later flow --json -q other | cut -d , -f 2-4)" '0"flow":"fresh","state":"open","closed":false' \
    "a flow in another queue is as for anybody"
is "$(grep '^grow' "$work/ended" | tail -n 1 | cut -d ' ' -f 1)" grow.end "what waits for all, waits for these, too"
stop_laterd
runs "the sums hold" later check default
finish
