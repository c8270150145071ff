#!/bin/sh
# daemon_sleep.sh: where many hosts serve the same queues, all but one of a pool's idle workers close their
# connections. They are roused when jobs come, and no job waits for that as long as a person would notice.
. "${top_srcdir:=.}/tests/system/daemon.sh"
. "$top_srcdir/tests/daemon/fleet_lib.sh"
start_redis
configure 'workers = 4;' 'lease = 1.0;' 'log = { level = "debug"; };' # a short wait is a third of a second

connections() { redis_all CLIENT LIST | grep -c ' name=laterd-'; }
are() { [ "$(connections)" = "$1" ]; }
# those of the host, and of one worker
one_awake()
{
    redis_all CLIENT LIST >"$work/clients"
    sed -n 's/.* name=laterd-\([a-z]*\)-.*/\1/p' "$work/clients" | sort >"$work/names"
    [ "$(paste -sd ' ' "$work/names")" = 'laterd subscriber wake worker' ]
}
all_wait_long() { [ "$(wait_long | wc -l)" = 4 ]; }

# ---- few hosts: nobody sleeps

start_laterd
fleet 30
within 30 "among few hosts they wait long, each with its connections" all_wait_long
is "$(connections):$(how_often ' asleep: ')" 10:0 "two of the host, and two of each worker"
stop_laterd

# ---- many

fleet 31
start_laterd
within 30 "among many, all but one sleep" one_awake
is "$(workers | wc -l)" 4 "all are there"

# sentry: the one that was awake when this was last seen
sentry() { sed -n 's/.* name=laterd-wake-\([0-9]*\) .*/\1/p' "$work/clients"; }
hidden=$(workers | grep -vx "$(sentry)" | sort -n | head -2) # they were begun, and are roused, in this order
# shellcheck disable=SC2086 # words
kill -STOP $hidden
push_do frozen '"do":"sleep","for":60'
within 5 "a job comes while two that sleep are frozen" begun frozen
within 10 "one is roused, does not come, and so the others are roused" are 6
# shellcheck disable=SC2086 # words
kill -CONT $hidden
later cancel frozen >/dev/null
within 30 "when it is over, all but one sleep" one_awake

# freeze_sentry: is the one that was awake frozen with its connections? It may have been let sleep since.
freeze_sentry()
{
    one_awake || return 1
    kill -STOP "$(sentry)"
    ! redis_all CLIENT LIST | grep -q " name=laterd-wake-$(sentry) " || return 0
    kill -CONT "$(sentry)"
    return 1
}
awaited 20 "the one that waits is frozen" freeze_sentry
within 20 "another is roused" are 6
push_do stuck '"do":"sleep","for":60'
within 5 "which takes what comes, although the frozen one was called first" begun stuck
kill -CONT "$(sentry)"
later cancel stuck >/dev/null
within 30 "when it goes on, all but one sleep" one_awake

push_do one '"do":"sleep","for":60'
within 5 "a job comes to the one that waits" begun one
within 5 "another is roused meanwhile" are 6
later cancel one >/dev/null
within 30 "one of them sleeps again" one_awake

for i in 1 2 3 4; do
    push_do "slow-$i" '"do":"sleep","for":60'
done
slow_began() { for i in 1 2 3 4; do begun "slow-$i" || return 1; done; }
within 10 "four jobs of a minute have begun: each worker has one" slow_began
is "$(grep '^slow-' "$work/begun" | cut -d' ' -f5 | sort -u | wc -l)" 4 "each in another worker"
is "$(redis_all CLIENT LIST | grep -c ' name=laterd-worker-')" 4 "each has a connection"
for i in 1 2 3 4; do
    later cancel "slow-$i" >/dev/null
done
within 30 "when they are over, all but one sleep" one_awake

# ---- what happens to one that waits while others sleep

killed=$(sentry)
one_awake_of_new() { gone "$killed" && one_awake; }
kill -KILL "$killed"
within 30 "it is killed: another waits" one_awake_of_new
push_job two '"type":"note"'
within 5 "a job comes to that, or to one that was roused" ended two
within 30 "all but one sleep" one_awake

redis_all CLIENT KILL TYPE normal SKIPME yes >/dev/null
push_job three '"type":"note"'
within 10 "its connections are cut: a job comes to it, or to another" ended three
within 30 "again all but one sleep" one_awake

# ---- most hosts stop

redis DEL "$posts" >/dev/null
within 20 "alone, all of its workers are roused" are 10
fleet 31
within 30 "among many again, all but one sleep" one_awake

# ---- the line of each host

within 10 "it tells of itself every five seconds" says_every 5
fleet 600
within 10 "beside hundreds of hosts, every twenty" says_every 20

# ---- pauses, reloads, the end

kill -TSTP "$laterd_pid"
awaited 10 "paused" logged 'paused'
push_job four '"type":"note"'
kill -CONT "$laterd_pid"
within 10 "after a pause a job is done" ended four

echo 'recycle = { age = 3.0; };' >>"$work/laterd.conf"
kill -HUP "$laterd_pid"
within 20 "reloaded" logged 'reloaded'
old=$(workers | sort | paste -sd ' ' -)
all_new() { for pid in $old; do ! alive "$pid" || return 1; done; }
within 30 "workers that sleep are replaced when they are old" all_new
push_job five '"type":"note"'
within 5 "and work" ended five
end_well
finish
