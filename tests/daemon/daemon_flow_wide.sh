#!/bin/sh
# Flows over three queues and one that is spread, under a laterd and pushers that are killed (kill -9) again
# and again: each ends, nothing runs before what it waits for, and nothing is lost or doubled. The movers
# of news live in laterd, so they die with it; a second laterd's are late.
. "${top_srcdir:=.}/tests/system/daemon.sh"
. "$top_srcdir/tests/daemon/flow_lib.sh"
needs redis-server redis-cli

start_redis 'appendonly yes'
# crash_max is out of reach: on a slow machine one job can be the one that runs in each of the kills.
configure 'workers = 2; grace = 0.2; crash_max = 1000;' 'retry = { max_attempts = 1000; base = 0.01; max = 0.05; };' \
    'queues = ( { name = "one"; }, { name = "two"; }, { name = "three"; }, { name = "wide"; shards = 3; } );'
queues='one two three wide/0 wide/1 wide/2'
start_laterd
shards_known() { redis GET 'later:{wide}:shards' | grep -q ' 3'; }
awaited 20 "the queue is spread" shards_known
sed 's|/state"|/state2"|' "$work/laterd.conf" >"$work/other.conf"
mkdir -p "$work/state2"
"$laterd_bin" -c "$work/other.conf" </dev/null 2>>"$work/log2" &
other_pid=$!
own "$other_pid"

# graph: the lines of a flow of four steps over four queues, whose alarm is not needed.
graph()
{
    printf '%s\n' '{"type":"note","step":"end","after":["left","right"],"queue":"three"}' \
        '{"type":"note","step":"left","after":["begin"],"queue":"two"}' \
        '{"type":"note","step":"right","after":["begin"],"queue":"wide"}' \
        '{"type":"note","step":"begin","queue":"one"}' \
        '{"type":"note","step":"alarm","after":["*"],"when":"failed","queue":"two"}'
}

for i in $(seq 40); do
    graph >"$work/graph"
    case $i in
    *[27]) timeout -s KILL "0.0$((i % 5))$((i % 3))" "$later_bin" push --flow "g$i" --file "$work/graph" >/dev/null 2>&1 ;;
    *[05]) again ;;
    esac
    later push --flow "g$i" --file "$work/graph" >/dev/null 2>&1
done
{
    seq 500 | sed 's/.*/{"type":"note","queue":"Q"}/' | "$AWK" '{ sub("Q", NR % 4 == 0 ? "one" : NR % 4 == 1 ? "two" : "wide"); print }'
    echo '{"type":"note","step":"report","after":["*"],"queue":"three"}'
} >"$work/batch"
# The push itself is killed, too, and repeated.
push_batch_killed
# A mover that stands still in the middle of its work, and goes on when all is over.
kill -STOP "$other_pid"
later push --flow batch --file "$work/batch" >/dev/null 2>&1

runs "the batch ends" later flow wait batch --timeout 300s
awaited 60 "all flows are done" all_flows_done
kill -CONT "$other_pid"
graphs_done

# sum COUNTER: over all queues.
sum()
{
    for queue in $queues; do
        counted "$1" "$queue"
    done | "$AWK" '{ n += $1 } END { print n }'
}
told() { [ "$(for queue in $queues; do redis ZCARD "later:{$queue}:news"; done | tr -d '\n')" = 000000 ]; }
awaited 20 "no news is left" told
is "$(sum 'done')" 661 "each was done once"
is "$(($(sum pushed) - $(sum cancelled)))" 661 "what was put there too often has gone"
is "$(for queue in $queues; do redis HLEN "later:{$queue}:jobs"; done | tr -d '\n')" 000000 "no job is left"

in_order

# ---- dead is not final, gone is, and both are heard across queues

runs "a flow over two queues" later push --flow mixed --file - <<'END'
{"type":"note","step":"later","after":["first"],"queue":"one"}
{"type":"do","step":"first","payload":{"do":"bury"},"queue":"wide"}
{"type":"note","step":"sorry","after":["first"],"when":"failed","queue":"two"}
END
state_is() { later flow --json | grep "\"flow\":\"$1\"" | grep -q "\"state\":\"$2\""; }
mixed_failed() { state_is mixed blocked && ended mixed.sorry; }
awaited 30 "its first step is dead: blocked; what waits for a failure has run" mixed_failed
is "$(later flow kick mixed)" 1 "kick"
# The flow may still be told that it is blocked, as before.
dead_again() { ended mixed.first 2 && later show mixed.first --json | grep -q '"state":"dead"' && mixed_failed; }
awaited 30 "it is dead again" dead_again
is "$(later show mixed.later --json | grep -c '"state":"waiting"')" 1 "its successor waits in its own queue"
later cancel mixed.first >/dev/null
gone_said() { later show mixed.later --json | grep -q 'needs step first of flow mixed, which was cancelled'; }
awaited 30 "it is cancelled: its successor is dead, with the reason" gone_said
is "$(later flow kick mixed)" 1 "kick runs it all the same"
mixed_ended() { state_is mixed ended; }
awaited 30 "and the flow ends" mixed_ended

# ---- values go along, from queue to queue, and to a spread one

runs "a flow whose steps leave something" later push --flow left --file - -q one <<'END'
{"type":"do","step":"there","after":["a","b"],"payload":{"do":"values"},"queue":"wide"}
{"type":"do","step":"here","after":["b","a"],"payload":{"do":"values"},"queue":"one"}
{"type":"do","step":"all","after":["*"],"payload":{"do":"values"},"queue":"three"}
{"type":"do","step":"a","payload":{"do":"value","value":{"n":1}},"queue":"one"}
{"type":"do","step":"b","payload":{"do":"value","value":[2]},"queue":"two"}
END
runs "it ends" later flow wait left --timeout 300s
is "$(sed -n 2p "$work/values-left.there")" '{"a":{"n":1},"b":[2]}' "who waits in a shard gets what steps in two queues have left"
is "$(sed -n 2p "$work/values-left.here")" '{"b":[2],"a":{"n":1}}' "and so does who waits in the flow's queue"
is "$(sed -n 3p "$work/values-left.all" | grep -c '"name":"left","total":4')" 1 "counts are there, too"

kill -KILL "$other_pid"
wait "$other_pid" 2>/dev/null
stop_laterd
for queue in $queues wide; do
    runs "the sums hold in $queue" later check "$queue"
done
finish
