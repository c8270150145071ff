#!/bin/sh
# Many queues in one pool: every job is done, also plain ones. Idle queues cost almost nothing. New jobs
# are started.
. "${top_srcdir:=.}/tests/system/daemon.sh"
start_redis
queues=1000
[ "$redis_kind" = single ] || queues=200

# list PREFIX COUNT: prints the queues in the form of the option.
list()
{
    seq "$2" | sed "s/.*/{ name = \"$1&\"; }/" | paste -sd, | sed 's/^/queues = ( /; s/$/ );/'
}

# lines_of COUNT PER: prints one job per line, PER for each queue.
lines_of()
{
    seq "$(($1 * $2))" | awk -v n="$1" '{
        printf "{\"type\":\"null\",\"id\":\"%s\",\"queue\":\"t%d\"}\n", "j" $1, $1 % n + 1 }'
}

# The sum of a field over the stats of all queues.
sum()
{
    for i in $(seq "$queues"); do echo "HGET later:{t$i}:stats $1"; done | redis |
        awk '{ s += $1 } END { print s + 0 }'
}

all_done()
{
    [ "$(sum "done")" = "$1" ]
}

configure 'workers = 2;' 'history = "off";' "$(list t "$queues")"
lines_of "$queues" 3 | later push --file - >/dev/null
is "$(sum pushed)" $((queues * 3)) "three jobs are pushed into each of $queues queues"
start_laterd
within 60 "each of them is done" all_done $((queues * 3))

# Idle queues are asked about together, without a script for each.
if applies quiet; then
    within 30 "$queues idle queues cost at most 60 commands a second" redis_rests
fi

redis ZADD "later:{t7}:ready" 1 '{"type":"null","payload":"plain"}' >/dev/null
within 5 "a plain ZADD without a wake is found" all_done $((queues * 3 + 1))
now=$(redis TIME | head -n 1)
redis ZADD "later:{t$queues}:delayed" $((now + 1)) '{"type":"null","payload":"plain"}' >/dev/null
within 5 "so is one that is due in a second" all_done $((queues * 3 + 2))
later push null -q t3 --in 0.3 >/dev/null
later push null -q t$((queues / 2)) >/dev/null
within 5 "one that is delayed, and one at once" all_done $((queues * 3 + 4))

# Strict order holds among many queues too: jobs of the first queue are not behind those of the
# last.
later pause t1 >/dev/null
lines_of "$queues" 2 | later push --file - >/dev/null
within 60 "with one of them paused, all others are done" all_done $((queues * 5 + 2))
later resume t1 >/dev/null
within 10 "and that one when it goes on" all_done $((queues * 5 + 4))

# A worker is killed with a job in hand. Its slot page tells which.
later push 'do' '{"do":"sleep","for":30}' -q t9 --id long --max-attempts 1 >/dev/null
within 10 "a long job has begun" grep -q '^long ' "$work/begun"
# shellcheck disable=SC2046 # words
kill -KILL $(workers)
is_buried()
{
    [ "$(redis HGET 'later:{t9}:stats' buried)" = 1 ]
}
within 10 "its crash is its attempt, in its queue" is_buried
end_well
finish
