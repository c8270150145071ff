#!/bin/sh
# A Redis that came back with less, which the service losses sees: laterd says so in one line with numbers,
# and `later check` too. What was forgotten on purpose is no loss.
. "${top_srcdir:=.}/tests/system/daemon.sh"
start_redis 'appendonly yes' 'appendfsync always' 'auto-aof-rewrite-percentage 0'
queues='queues = ( { name = "default"; }, { name = "mail"; }, { name = "p-*"; } );'

# push_later QUEUE N: N jobs that are not due today.
push_later()
{
    seq "$2" | sed 's/.*/{"type":"note","in":86400}/' >"$work/lines"
    later push --file "$work/lines" -q "$1" >/dev/null
}

# saw QUEUE N: does laterd know that many pushes of the queue? (It writes that every few seconds.)
saw()
{
    grep -q "^$1 $2 " "$work/state/counters"
}

# said TIMES TEXT: is there a line about lost writes with this text, and are there that many of them?
said()
{
    grep -F 'Redis has lost writes:' "$log" | grep -qF -e "$2" && [ "$(how_often 'Redis has lost writes:')" -eq "$1" ]
}

# redis_now: prints Redis's clock in seconds. said_in_time SINCE NAME: that was at most ten seconds before.
redis_now()
{
    redis TIME | paste -sd ' ' | awk '{ printf "%d.%06d\n", $1, $2 }'
}
said_in_time()
{
    in_time "$(sum "$(logged_at 'Redis has lost writes:') - $1")" 10 "$2"
}

# ---- the append-only file is cut: one line for all queues, and check says it

configure 'workers = 1;' "$queues"
start_laterd
push_later default 5
aof=$(find "$work/appendonlydir" -name '*.incr.aof')
size=$(wc -c <"$aof")
push_later default 20
push_later mail 7
awaited 20 "laterd has seen the first queue" saw default 25
awaited 20 "laterd has seen the second queue" saw mail 7
stop_redis KILL
truncate -s "$size" "$aof"
start_redis 'appendonly yes' 'appendfsync always' 'auto-aof-rewrite-percentage 0'
since=$(redis_now)
within 20 "a cut append-only file is noticed when Redis is back" \
    said 1 'queue default: 25 jobs had been pushed, now 5; queue mail: 7 jobs had been pushed, now 0'
said_in_time "$since" "after it is back"
is "$(grep -F 'Redis has lost writes:' "$log" | cut -d' ' -f2)" error "it is an error"
noted_lost()
{
    [ "$(redis HLEN later:lost)" -eq "$1" ]
}
within 20 "it is noted in Redis" noted_lost 2
run later check --json
is "$status" 1 "check fails"
is "$(echo "$out" | grep '"check":"lost"' | sed 's/,"at":.*//' | sort | tr '\n' ' ')" \
    '{"queue":"default","check":"lost","ok":false,"counter":"pushed","before":25,"after":5 {"queue":"mail","check":"lost","ok":false,"counter":"pushed","before":7,"after":0 ' \
    "check tells each loss with its numbers"
run later check default
like "$out" 'lost.*VIOLATED.*25 jobs had been pushed, then 5' "check of one queue says it in words"
contains "$(later check p-x 2>&1)" 'ok' "check of another queue does not"
at_least "$(redis TTL later:lost)" 80000 "it is kept for a day"
run later check --acknowledge
is "$status" 1 "acknowledged: shown once more"
run later check
is "$status" 0 "then no more"

# ---- emptied under a connection that stays

push_later default 3
awaited 20 "laterd has seen it" saw default 8
push_later mail 3
awaited 20 "laterd has seen the other queue, too" saw mail 3
later cancel --yes -q mail --state delayed >/dev/null
# So that it does not miss its field of later:hosts before it misses jobs.
before=$(redis HVALS later:hosts)
announced()
{
    [ "$(redis HVALS later:hosts)" != "$before" ]
}
awaited 20 "laterd has just announced itself" announced
since=$(redis_now)
redis FLUSHALL >/dev/null
push_later default 1 # laterd looks at it at once, and at the other one in its turn
within 20 "FLUSHALL is noticed, and told in one line, also of a queue that rests" \
    said 2 '; queue mail: 3 jobs had been pushed, now 0'
runs "with the numbers of both" grep -q ' queue default: 8 jobs had been pushed, now [01]; queue mail: ' "$log"
said_in_time "$since" "after it"

# ---- forgotten on purpose: by a pattern, and by name between two reloads or two starts

push_later p-a 4
push_later mail 2
awaited 20 "laterd has seen the queue of the pattern" saw p-a 4
later cancel --yes -q p-a --state delayed >/dev/null
runs "a queue of a pattern is forgotten" later forget p-a
push_later p-a 1
awaited 20 "laterd has seen that it is new" saw p-a 1
awaited 20 "laterd has seen mail" saw mail 2
later cancel --yes -q mail --state delayed >/dev/null
stop_laterd
runs "a queue is forgotten while no laterd runs" later forget mail
configure 'workers = 1;' "$queues"
launch
awaited 20 "laterd has seen that this one is new" saw mail 0
is "$(how_often 'Redis has lost writes:')" 2 "what was forgotten on purpose is no loss"

# ---- over a restart of laterd

push_later default 5
awaited 20 "laterd has seen the new jobs" saw default 6
stop_laterd
redis FLUSHALL >/dev/null
since=$(redis_now)
start_laterd
within 20 "what was lost while laterd was stopped is noticed at its start" \
    said 1 'queue default: 6 jobs had been pushed, now 0'
said_in_time "$since" "after that"

# ---- with another prefix there are other queues

push_later default 4
awaited 20 "laterd has seen these jobs" saw default 4
stop_laterd
configure 'workers = 1;' "$queues"
sed 's/^redis = {/& prefix = "other";/' "$work/laterd.conf" >"$work/other.conf"
mv "$work/other.conf" "$work/laterd.conf"
start_laterd
awaited 20 "laterd has seen the queue of the other prefix" saw default 0
is "$(how_often 'Redis has lost writes:')" 0 "what was seen of another prefix is not missed"
stop_laterd
is "$exited" 0 "the end"
finish
