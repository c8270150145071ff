#!/bin/sh
# max_jobs: laterd writes it, and push refuses jobs beyond it. What documents ask for is limited.
# When somebody empties Redis, laterd writes its keys again.
. "${top_srcdir:=.}/tests/system/daemon.sh"
start_redis

configure 'workers = 1;' 'retry = { attempts_max = 2; wait_min = 0.3; };' \
    'queues = ( { name = "default"; }, { name = "small"; max_jobs = 3; } );'
start_laterd

limit()
{
    [ "$(redis HGET 'later:{small}:stats' max_jobs)" = "$1" ]
}

# full ARGUMENT...: `later push` says that the queue is full.
full()
{
    run later push "$@"
    is "$status" 75 "$* is refused for now"
    like "$err" 'queue small is full' "a push into a full queue names the queue"
}

# ---- push

awaited 10 "max_jobs is in Redis" limit 3
later pause small 2>/dev/null
for i in 1 2 3; do later push note -q small --id "s-$i" >/dev/null; done
full note -q small --id s-4
is "$(later push note -q small --id s-3 2>/dev/null)" s-3 "a known id is answered as ever"
printf '%s\n' '{"type":"note","id":"s-1"}' '{"type":"note","id":"s-5"}' >"$work/lines"
full --file "$work/lines" -q small
is "$(redis HLEN 'later:{small}:jobs') $(redis HGET 'later:{small}:stats' refused)" "3 2" \
    "three are there, two were refused"
is "$(later push note --id d-1)" d-1 "other queues take jobs"
later check >/dev/null
is "$?" 0 "the sums hold"
later resume small 2>/dev/null
room() { later push note -q small --id s-4 >/dev/null 2>&1; }
within 10 "it takes jobs again when some are done" room

# ---- FLUSHALL: restored within seconds, on the same connection

there()
{
    redis SMEMBERS later:queues | grep -qx small && limit 3 &&
        [ "$(redis GET later:protocol)" != '' ]
}
linked() { redis CLIENT LIST | sed -n 's/^\(id=[0-9]*\) .* name=laterd.*/\1/p' | sort; }
subscribed() { redis_all CLIENT LIST | grep -q ' name=laterd-subscriber'; }
# A Redis that stands still for two seconds loses its connections, which is no fault of ours; so there are three tries.
for _ in 1 2 3; do
    awaited 10 "all of them are there" subscribed
    clients=$(linked)
    redis FLUSHALL >/dev/null
    awaited 10 "queues, protocol and max_jobs are written again" there
    [ "$(linked)" != "$clients" ] || break
done
at_least "$(echo "$clients" | wc -w)" 2 "connections of laterd"
runs "queues, protocol and max_jobs are written again" there
is "$(linked)" "$clients" "on the same connections"

# ---- what a document may ask for

push_do greedy '"do":"retry"' '"max_attempts":1000,"backoff":[0]'
is_dead() { [ -n "$(redis ZSCORE 'later:{default}:dead' greedy)" ]; }
within 10 "two attempts, whatever the document says" is_dead
is "$(grep -c '^greedy ' "$work/begun")" 2 "the job has begun twice and no more"

# ---- without max_jobs

configure 'workers = 1;' 'queues = ( { name = "default"; }, { name = "small"; } );'
kill -HUP "$laterd_pid"
within 10 "a reload takes the limit away" limit ''
stop_laterd
finish
