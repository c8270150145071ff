#!/bin/sh
# Patterns as names of queues: a new queue is served at once, with the pattern's options; others are not. No
# worker is started again for it. What is forgotten goes at a reload.
. "${top_srcdir:=.}/tests/system/daemon.sh"
start_redis
queues=1000
[ "$redis_kind" = single ] || queues=100

# has_done QUEUE N
has_done()
{
    counts "done" "$2" "$1"
}

# push_to QUEUE: pushes a job that does nothing.
push_to()
{
    later push null -q "$1" >/dev/null
}

# sleeps QUEUE ID: pushes a job that ends when there is a file `open`.
sleeps()
{
    later push 'do' '{"do":"sleep","until":"open"}' -q "$1" --id "$2" >/dev/null
}

# begun ID
begun()
{
    grep -q "^$1 " "$work/begun"
}

# says WORDS: does `later status` name these queues?
says()
{
    later status | grep -qF -e "$1"
}

push_to tenant-before
configure 'workers = 3;' 'history = "off";' \
    'queues = ( { name = "first"; }, { name = "tenant-*"; max_jobs = 20; }, { name = "tenant-vip-*"; }, { name = "one-*"; max_running = 1; } );' \
    'cron = ( { name = "tick"; every = 1.0; type = "null"; queue = "tenant-cron"; } );'
start_laterd
within 5 "a queue that was there before laterd is served" has_done tenant-before 1
started=$(workers | sort)

push_to tenant-new
within 5 "one that comes while laterd runs, too" has_done tenant-new 1
push_to tenant-new
within 5 "and again" has_done tenant-new 2
push_to other
push_to first
within 5 "queues of the list are served as ever" has_done first 1
is "$(ready other)" 1 "one that no pattern means is not served"
has_limit() { [ "$(redis HGET "$(key stats tenant-new)" max_jobs)" = 20 ]; }
within 10 "a pattern's max_jobs holds for what it means" has_limit
redis HSET "$(key stats tenant-vip-a)" max_jobs 1 >/dev/null
push_to tenant-vip-a
within 5 "the longest pattern means a queue" has_done tenant-vip-a 1
has_none() { [ "$(redis HEXISTS "$(key stats tenant-vip-a)" max_jobs)" = 0 ]; }
within 10 "with its options: it has no max_jobs any more" has_none
is "$(redis SISMEMBER later:queues 'tenant-*')" 0 "a pattern is no queue"
within 10 "a schedule of a queue that nobody has pushed to" has_done tenant-cron 1
is "$(redis SISMEMBER later:queues tenant-cron)" 1 "which everybody can see"
within 30 "later status names patterns and how many queues each means" \
    says 'first,tenant-cron,tenant-*(3),tenant-vip-*(1),one-*(0)'
is "$(later size tenant-later --json | sed 's/.*"served":\([0-9]*\).*/\1/')" 1 \
    "a queue that is not there yet is one that is served"

later forget tenant-new >/dev/null
is "$?" 0 "one that only a pattern means can be forgotten"
later push null -q tenant-late --in 0.5 >/dev/null
within 5 "a delayed job of a new queue" has_done tenant-late 1
later push null -q one-a >/dev/null
within 5 "another pattern's" has_done one-a 1
sleeps one-a a1
within 5 "a long job of it" begun a1
sleeps one-a a2
sleeps one-b b1
within 5 "beside one of another queue of the pattern" begun b1
is_apart()
{
    [ "$(delayed one-a)" = 1 ] && ! begun a2
}
within 5 "but not of the same: max_running is each queue's own" is_apart
: >"$work/open"
within 10 "all of them are done in the end" has_done one-a 3
is "$(workers | sort)" "$started" "the workers are those that were started"

# A worker dies with a job of a queue that was added later.
later push 'do' '{"do":"sleep","for":30}' -q tenant-crash --id long --max-attempts 1 >/dev/null
within 10 "a long job of a new queue begins" begun long
# shellcheck disable=SC2046 # words
kill -KILL $(workers)
is_buried()
{
    [ "$(counted buried tenant-crash)" = 1 ]
}
within 10 "its crash is its attempt, in its queue" is_buried
push_to tenant-late
within 10 "the workers that come then serve what was found" has_done tenant-late 2

sed -i 's/"first"/"other"/' "$work/laterd.conf"
kill -HUP "$laterd_pid"
within 20 "a reload" logged 'reloaded: '
within 20 "another configuration" has_done other 1
within 10 "without what was forgotten" says 'other,tenant-cron,tenant-*(4),tenant-vip-*(1),one-*(2)'

# What is forgotten is not in a configuration that is loaded a moment later. Another name comes with it, so
# that there are as many as before: only who reads them again can know. The names are read every ten seconds
# by themselves, which helps one of three reloads at most.
reloaded()
{
    [ "$(how_often 'reloaded: ')" = "$1" ]
}
for i in 1 2 3; do push_to "tenant-brief-$i"; done
within 10 "three more" says 'tenant-*(7)'
for i in 1 2 3; do
    before=$(how_often 'reloaded: ')
    redis EVAL "redis.call('SREM', KEYS[1], ARGV[1]) return redis.call('SADD', KEYS[1], ARGV[2])" \
        1 later:queues "tenant-brief-$i" "no-tenant-$i" >/dev/null
    kill -HUP "$laterd_pid"
    wait_until 20 reloaded $((before + 1))
    within 10 "one that goes with a reload is served no more" says "tenant-*($((7 - i)))"
done
push_to tenant-late
within 10 "serves the others as well" has_done tenant-late 3
push_to tenant-newer
within 5 "and what comes then" has_done tenant-newer 1
push_to tenant-new
within 5 "also what comes again" has_done tenant-new 1

# Many new queues at once.
for i in $(seq "$queues"); do echo "{\"type\":\"null\",\"queue\":\"tenant-many-$i\"}"; done >"$work/lines"
later push --file "$work/lines" >/dev/null
many_done()
{
    [ "$(for i in $(seq "$queues"); do echo "HGET later:{tenant-many-$i}:stats done"; done | redis | grep -cx 1)" = "$queues" ]
}
within 60 "$queues that come at once" many_done
if applies quiet; then
    later cron delete tick -q tenant-cron >/dev/null 2>&1
    within 30 "a pattern that means $queues queues costs at most 60 commands a second" redis_rests
fi

# Names cost nothing: one who may write into later:queues writes more of them than a pool has places.
end_well
if applies names; then
    seq 5000 | sed 's/^/SADD later:queues tenant-a-/' | redis >/dev/null
    start_laterd
    push_to tenant-z-new
    within 20 "a queue with a job is served beside 5,000 mere names" has_done tenant-z-new 1
    push_to tenant-a-4321
    within 20 "a mere name is served as soon as it has a job" has_done tenant-a-4321 1
    stop_laterd
fi
finish
