#!/bin/sh
# Hooks into another queue: each end of a job is told there once, whichever laterd, with the mover of its news, is
# killed or stands still; also from a spread queue, into one that is spread, and into one that nobody knew.
. "${top_srcdir:=.}/tests/system/daemon.sh"
start_redis 'appendonly yes'

# crash_max is out of reach: on a slow machine one job can be the one that runs in each of the kills.
configure 'workers = 2; lease = 5.0; grace = 0.2; crash_max = 1000;' 'retry = { max_attempts = 1000; base = 0.01; max = 0.05; };' \
    'queues = ( { name = "default"; }, { name = "wide"; shards = 2; }, { name = "tell"; }, { name = "many"; shards = 2; },' \
    '    { name = "new-*"; } );' 'types = ( { name = "do"; on_dead = "note@tell"; on_done = "note@many"; } );'
start_laterd
sed 's|/state"|/state2"|' "$work/laterd.conf" >"$work/other.conf"
mkdir -p "$work/state2"
"$laterd_bin" -c "$work/other.conf" </dev/null 2>>"$work/log2" &
other_pid=$!
own "$other_pid"
is_spread() { redis GET "later:{$1}:shards" | grep -q ' 2'; }
awaited 20 "the queue is spread" is_spread wide
awaited 20 "the queue that hears is spread" is_spread many

# ---- into a queue that was not there before

push_do one '"do":"value","value":{"n":[1]}' '"on_done":"bytes@new-1"'
there() { cat "$work"/bytes-one.done.* 2>/dev/null | grep -q . && [ "$(counted 'done' new-1)" = 1 ]; }
within 30 "one that nobody knew gets it, and a laterd that follows its name performs it" there
is "$(cat "$work"/bytes-one.done.*)" \
    '{"id":"one","type":"do","queue":"default","ending":"done","attempts":1,"error":null,"value":{"n":[1]}}' "it says what has happened"

# ---- under kills

# ends ROUND QUEUE: forty jobs of each ending.
ends()
{
    for i in $(seq 40); do
        printf '{"type":"do","id":"%s","payload":{"do":"%s"}}\n' "b$1-$i" bury "d$1-$i" "done"
    done >"$work/batch"
    later push -q "$2" --file "$work/batch" >/dev/null
}
for round in 1 2 3 4 5 6; do
    ends "$round" default
    ends "$round" wide
    case $round in
    2) kill -STOP "$other_pid" ;; # perhaps between two steps of a mover
    5) kill -CONT "$other_pid" ;;
    esac
    awaited 60 "hooks come" counts pushed "$((round * 10))" tell
    kill -KILL "$laterd_pid"
    wait "$laterd_pid" 2>/dev/null
    launch
done
all_told() { [ "$(counted 'done' tell):$(counted 'done' many)" = 480:480 ]; }
within 120 "each end is told" all_told
no_news() { [ "$(for queue in default wide/0 wide/1; do redis ZCARD "later:{$queue}:news"; done | tr -d '\n')" = 000 ]; }
awaited 30 "no news is left" no_news
is "$(counted pushed tell):$(counted pushed many)" 480:480 "once, whoever was killed"
is "$(dead):$(known):$(counted pushed many/0):$(counted pushed many/1)" 240:240:0:0 "a queue that is spread gets them in the plain one"
runs "the name of the queue is known" test "$(redis SISMEMBER later:queues new-1)" = 1

kill -KILL "$other_pid"
wait "$other_pid" 2>/dev/null
end_well
for queue in tell many new-1 wide; do
    runs "the sums hold in $queue" later check "$queue"
done
finish
