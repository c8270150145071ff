#!/bin/sh
# later move: jobs into another queue, each exactly once, also if it is killed on the way.
. "${top_srcdir:=.}/tests/system/daemon.sh"
start_redis 'appendonly no'
# Some queues have no laterd: then the command itself brings jobs where they go.
configure 'lease = 5.0;' 'retry = { base = 60.0; max = 60.0; };' 'queues = ( { name = "default"; }, { name = "wide"; shards = 3; } );'

# ---- by ids

later push t -q a --id r --priority 5 >/dev/null
later push t -q a --id d --in 1h >/dev/null
later push t -q a --id x >/dev/null
later bury x -q a --error 'no such host' >/dev/null
due=$(redis ZSCORE 'later:{a}:delayed' d)
is "$(later move r d x b)" "$(printf 'r\tready\nd\tdelayed\nx\tdead')" "each with the state that it had"
is "$(later size b | cut -f 2-5)" "$(printf '0\t2\t0\t1')" "they are there: who waits, and who is dead"
is "$(redis ZSCORE 'later:{b}:delayed' d)" "$due" "the delayed one is due when it was"
is "$(later show x -q b | cut -f 2,6)" "$(later show x | cut -f 2,6)" "ids need no queue"
like "$(later show x -q b --json)" '"error":\{.*"text":"no such host"' "the dead one has its error"
is "$(later reserve b | cut -f 1)" r "the ready one can be had"
is "$(redis HGET 'later:{b}:records' r)" 'p=5' "and has its priority"
is "$(redis ZCARD 'later:{a}:news')$(redis HLEN 'later:{a}:jobs')" 00 "nothing is left"
is "$(redis SISMEMBER later:queues b)" 1 "the name of a new queue is known"
run later move d c --json
is "$status $out" '0 {"queue":"b","id":"d","result":"moved","state":"delayed"}' "--json"
later push t -q a --id d >/dev/null
is "$(later move d c -q a)" "$(printf 'd\tready')" "an id that is there already"
is "$(redis HLEN 'later:{c}:jobs') $(redis HEXISTS 'later:{c}:jobs' d+1)" "2 1" "gets a number"

# ---- what stays

stays() { # ID WHY
    run later move "$1" b -q s
    is "$status $out" "75 " "$1 stays"
    like "$err" "^later move: job $1 $2; it was not moved$" "and says why"
}
later push t -q s --id run >/dev/null
later reserve s >/dev/null
later push t -q s --id u --unique-for 60 >/dev/null
later push t -q s --id f.a --flow f --step a >/dev/null
later push t -q s --id f.b --flow f --step b --after a >/dev/null
stays run 'is reserved: it runs, or is about to'
stays u 'keeps its id taken in its queue .*'
stays f.a 'belongs to a flow, .*'
stays f.b 'belongs to a flow, .*'
run later move none b
is "$status $err" "66 later move: no ready, delayed or dead job none in any queue" "a job that is nowhere"
run later move x b
is "$status $err" "75 later move: job x is in that queue; it was not moved" "one that is there"
later push t -q s --id free >/dev/null
run later move -q s --all --yes b
is "$status $out" "0 1" "of many those go that may"
is "$err" "later move: 2 left alone: no longer where they were, of a flow, or with an id that stays taken" "and those that stay are counted"
for words in 'b' 'x b -q s --state dead' '-q s s' '-q s no!name' '-A b' '-q s -A b --all' '-q s b --state reserved'; do
    # shellcheck disable=SC2086
    run later move $words
    is "$status" 64 "refused: move $words"
done

# ---- many, and no laterd

seq 900 | sed 's/.*/{"type":"t","id":"m&","payload":{"n":&}}/' >"$work/many"
later push -q many --file "$work/many" >/dev/null
is "$(later move -q many to --where 'payload.n=7' --dry-run)" 1 "a dry run only counts"
run later move -q many to
is "$status" 64 "without a terminal it wants --yes"
like "$err" 'Move 900 ready jobs of queue many to queue to\?' "and asks what it would do"
is "$(later move -q many to --where 'payload.n=7' --yes)" 1 "one by its payload"
is "$(later move -q many to -y --json)" '{"queue":"many","moved":899}' "without a condition all of them"
is "$(later size to --json | grep -o '"delayed":[0-9]*')" '"delayed":900' "they are there"
is "$(later reserve to -n 3 | cut -f 1 | tr '\n' ' ')" 'm7 m1 m2 ' "in their order"
later reserve to -n 500 >/dev/null
for queue in many p1 p2; do later push all -q "$queue" >/dev/null; done
is "$(later move -A many --type all --yes --json)" '{"queue":"p1","moved":1}
{"queue":"p2","moved":1}' "of all queues but that one"

# ---- killed on the way

# Each is killed when it has moved something; the next one brings what was on its way.
moved() { [ "$(redis HGET 'later:{killed}:stats' moved)" -gt "$1" ] 2>/dev/null; }
later push -q killed --file "$work/many" >/dev/null
for sum in 0 100 200 300 400; do
    later move -q killed safe --yes >/dev/null 2>&1 &
    mover=$!
    own "$mover"
    wait_until 30 moved "$sum"
    kill -KILL "$mover" 2>/dev/null
    wait "$mover" 2>/dev/null
done
later move -q killed safe --yes >/dev/null 2>&1
later push t -q killed --id last >/dev/null
later move last safe >/dev/null
is "$(redis HLEN 'later:{safe}:jobs') $(redis HGET 'later:{safe}:stats' pushed)" "901 901" "none is lost and none is there twice"
is "$(redis HGET 'later:{killed}:stats' moved) $(redis ZCARD 'later:{killed}:news')" "901 0" "and none is on its way"

# ---- laterd moves on, and shards

start_laterd
is_spread() { redis GET "later:{wide}:shards" | grep -q ' 3'; }
awaited 20 "the queue is spread" is_spread
later pause wide >/dev/null
for i in $(seq 30); do printf '{"type":"note","id":"w%s"}\n' "$i"; done >"$work/wide"
later push -q wide --file "$work/wide" >/dev/null
# As if the command had died before it could bring the first one.
place=$(for shard in 0 1 2; do redis HEXISTS "later:{wide/$shard}:jobs" w1 | sed "s|^1|wide/$shard|"; done | grep wide)
keys=$(printf "later:{$place}:%s " ready delayed reserved none dead jobs records wake paused stats cancelled "done" kept waiting)
# shellcheck disable=SC2086
redis --eval "$scripts/act.lua" $keys , move ready default w1 "" >/dev/null
within 20 "a laterd brings what is on its way" ended w1
is "$(later move -q wide default --yes)" 29 "all shards"
all_ended() { counts 'done' 30; }
within 30 "and performs them" all_ended
is "$(counted pushed)" 30 "each once"
end_well
for queue in a b c s p1 many to killed safe wide default; do
    later check "$queue" >"$work/check" || cat "$work/check"
    is "$?" 0 "the sums hold in $queue"
done
finish
