#!/bin/sh
# Flows under a laterd that is killed (kill -9) again and again: each ends, nothing runs before what it
# waits for, and nothing is lost or doubled.
. "${top_srcdir:=.}/tests/system/daemon.sh"
. "$top_srcdir/tests/daemon/flow_lib.sh"
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
    *[05]) again ;;
    esac
done
{
    seq 500 | sed 's/.*/{"type":"note"}/'
    echo '{"type":"note","step":"report","after":["*"]}'
} >"$work/batch"
# The push itself is killed, too, and repeated.
push_batch_killed
later push --flow batch --file "$work/batch" >/dev/null 2>&1

runs "the batch ends" later flow wait batch --timeout 300s
awaited 60 "all flows are done" all_flows_done
graphs_done
is "$(counted pushed) $(counted 'done') $(counted cancelled)" "701 661 40" "each was pushed and done once"

in_order

# ---- a running job adds to its own flow, which is closed

printf '%s\n' '{"type":"do","step":"grow","payload":{"do":"add","flow":"grow","step":"grown"}}' \
    '{"type":"do","step":"last","payload":{"do":"add","flow":"grow","step":"leaf","after":"grown,last","when":"ended"},"after":["grow"]}' \
    '{"type":"note","step":"end","after":["*"]}' |
    later push --flow grow --file - >/dev/null
later push 'do' '{"do":"add","flow":"grow","step":"strange"}' --id stranger >/dev/null
later push 'do' '{"do":"add","flow":"fresh","step":"one","queue":"other"}' --id foreign >/dev/null
all_ended() { [ "$(cut -d ' ' -f 1 "$work/ended" | grep -cE '^(grow\.|stranger|foreign)')" = 7 ]; }
awaited 60 "all have ended" all_ended
is "$(later flow wait grow --timeout 300s | cut -f 3,4,8)" "$(printf 'done\t5\t5')" "the flow has two more jobs, and is done"
is "$(cat "$work/added-grow.grow" "$work/added-grow.last" "$work/added-stranger")" "00-1" \
    "both could add, a job of no flow could not"
is "$(cat "$work/added-foreign"; later flow --json -q other | cut -d , -f 2-4)" '0"flow":"fresh","state":"open","closed":false' \
    "a flow in another queue is as for anybody"
is "$(grep '^grow' "$work/ended" | tail -n 1 | cut -d ' ' -f 1)" grow.end "what waits for all, waits for these, too"

# ---- in a chain a worker takes the next step in the call that ends the one before

seq 200 | "$AWK" '{ print "{\"type\":\"null\",\"step\":\"s" $1 "\"" ($1 > 1 ? ",\"after\":[\"s" $1 - 1 "\"]" : "") "}" }' >"$work/chain"
before=$(called blpop)
later push --flow chain --file "$work/chain" >/dev/null
runs "a chain of 200 ends" later flow wait chain --timeout 300s
runs "its steps do not wait to be called" test $(($(called blpop) - before)) -lt 100
stop_laterd
runs "the sums hold" later check default
finish
