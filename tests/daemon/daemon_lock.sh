#!/bin/sh
# Locks of jobs: taken by a document, a type or a handler, and freed however the job ends. Waiting
# for one is no attempt, and holds up nobody else.
. "${top_srcdir:=.}/tests/system/daemon.sh"
start_redis

# Is the lock NAME held? free NAME: is it not?
held() { [ "$(redis HEXISTS "later:lock:{$1}" token)" = 1 ]; }
free() { ! held "$1"; }

# attempt_begun ID N: has its N-th attempt begun?
attempt_begun() { grep -q "^$1 $2 " "$work/begun"; }

first_worker() { sed -n "s/^$1 [0-9]* [^ ]* [^ ]* //p" "$work/begun" | head -n 1; }

configure 'workers = 3; lease = 30.0; crash_max = 9; grace = 0.5;' \
    'retry = { base = 0.1; max = 0.2; };' \
    'types = ( { name = "note"; exclusive = "type"; } );' \
    'queues = ( { name = "default"; max_running = 50; } );'
start_laterd

# ---- freed in whatever way it ends

push_do done-1 '"do":"sleep","until":"go-done-1"' '"lock":"one"'
owned() { redis HGET "later:lock:{$1}" owner | grep -q " default $2\$"; }
within 5 "a job's lock is held while it runs, its owner named" owned one done-1
touch "$work/go-done-1"
within 5 "done: it is free" free one
within 5 "the job is done" counts 'done' 1
push_do retry-1 '"do":"retry","in":60' '"lock":"two"'
within 5 "retry" is_delayed retry-1
within 5 "retry: it is free" free two
push_do bury-1 '"do":"bury"' '"lock":"two"'
within 5 "buried" is_dead bury-1
within 5 "buried: it is free" free two
push_do crash-1 '"do":"signal","upto":1' '"lock":"three"'
within 10 "crash: it runs again, so its lock was free" unknown crash-1
within 5 "crash: it is free" free three
push_do late-1 '"do":"sleep","for":30,"upto":1' '"lock":"four","timeout":0.3'
within 10 "timeout: it runs again" unknown late-1
push_do killed-1 '"do":"sleep","until":"never","upto":1' '"lock":"five"'
within 5 "a job runs" attempt_begun killed-1 1
redis HGET 'later:lock:{five}' token >"$work/token"
start=$(present)
kill -KILL "$(first_worker killed-1)"
within 5 "kill -9 of its worker: it runs again" attempt_begun killed-1 2
in_time "$(sum "$(present) - $start")" 2 "s, though the lock's ttl is 30"
within 5 "and ends" unknown killed-1
within 5 "kill -9: it is free" free five
push_event ev-1 '"until":"go-ev-1"' '"lock":"six"'
within 5 "an event job's lock is held" held six
touch "$work/go-ev-1"
within 5 "and freed" free six
push_event ev-2 '"for":900' '"lock":"six"'
within 5 "an event job's lock is held" held six
later cancel ev-2 >/dev/null
within 12 "cancelled: it is free" free six
# Every job in the queue had a permit of the queue. It is given back a moment after the job has ended.
places() { [ "$(redis ZCARD 'later:running:{queue:default}')" = "$1" ]; }
within 5 "no place is held in the end" places 0

# ---- a lock that a stranger holds: no attempt, and others go on

redis HSET 'later:lock:{print}' token stranger >/dev/null
redis PEXPIRE 'later:lock:{print}' 300000 >/dev/null
push_do waits '"do":"done"' '"lock":"print"'
within 5 "it is returned" is_delayed waits
push_many 20 'do' null free-
passed() { [ "$(grep -c '^free-' "$work/ended")" = 20 ]; }
within 5 "20 others pass it" passed
is "$(attempts_in begun waits)" "" "it has not begun"
is "$(attempts_of waits)" 0 "waiting is no attempt"
redis DEL 'later:lock:{print}' >/dev/null
within 5 "it runs when the lock is free" unknown waits
is "$(grep -c '^waits 1 ' "$work/begun")" 1 "at its first attempt"

# ---- freed by `later lock`: the job that has waited longest is due at once, not at its next look

"$later_bin" lock shell -- sh -c "until [ -e '$work/go' ]; do sleep 0.05; done" &
holder=$!
own "$holder"
within 5 "a shell has the lock" held shell
push_do called '"do":"done"' '"lock":"shell"'
# Seconds until its next look, or nothing if it is due or has begun
next_look()
{
    redis ZSCORE "$(key delayed)" called | awk -v now="$(date +%s.%N)" '$1 > now { print $1 - now }'
}
looks_late() { next_look | awk '$1 > 3 { late = 1 } END { exit !late }'; }
within 10 "a job waits for it, and looks again in more than three seconds" looks_late
touch "$work/go"
wait "$holder"
is "$(next_look)" '' "it is due when the lock has been given back"
within 5 "it runs" unknown called

# ---- a lock that is lost ends its job

push_do loses '"do":"sleep","until":"never","upto":1' '"lock":"brief","timeout":60'
within 5 "a job holds a lock" held brief
redis DEL 'later:lock:{brief}' >/dev/null
redis HSET 'later:lock:{brief}' token thief >/dev/null
within 25 "its loss is told" logged 'it has lost its lock brief'
redis DEL 'later:lock:{brief}' >/dev/null
within 10 "and its job ended, to run again" unknown loses
is "$(how_often 'it has lost its lock brief')" 1 "the loss is told once"

# ---- by type: never two at once

push_many 30 note null note-
notes() { [ "$(grep -c '^note-' "$work/ended")" = 30 ]; }
within 10 "30 jobs of an exclusive type run" notes
overlaps=$(grep '^note-' "$work/ended" | sort -n -k4,4 |
    awk 'NR > 1 && $4 < end { n++ } { end = $5 } END { print n + 0 }')
is "$overlaps" 0 "one after the other"
is "$(redis GET 'later:lock:{type:note}:fence')" 30 "each took the lock"

# ---- a handler's own

push_do own-1 '"do":"lock","name":"mine","until":"go-own-1"'
within 5 "a handler takes a lock" held mine
push_do own-2 '"do":"lock","name":"mine","wait":30'
wait_until 5 begun own-2
touch "$work/go-own-1"
within 5 "another waits for it" unknown own-2
within 5 "both are done" unknown own-1 # which may note its answers after own-2 has the lock
is "$(cat "$work/lock-own-1" "$work/lock-own-2")" "0 1 0 2
0 2 0 2" "each got it, with a fencing number that grows; unlocked, it has none"
within 5 "it is free" free mine
push_do own-3 '"do":"limit","name":"often"'
within 5 "a handler asks a limit" unknown own-3
is "$(cat "$work/limit-own-3")" "0 0 2 -1" "twice yes, then no; a bad name is an error"

# ---- kill -9 of everything

push_do all '"do":"sleep","until":"never","upto":1' '"lock":"seven"'
within 5 "a job holds a lock" attempt_begun all 1
within 5 "and a place, alone" places 1
# shellcheck disable=SC2046
kill -KILL "$laterd_pid" $(workers)
await_laterd
start=$(present)
start_laterd
within 10 "the next laterd runs it again" unknown all
in_time "$(sum "$(present) - $start")" 10 "s, though ttl and lease are 30"
within 5 "its lock is free" free seven
within 5 "and its place" places 0

stop_laterd

# ---- a reload while one waits for a permit

configure 'workers = 2;' 'types = ( { name = "do"; max_running = 1; } );'
start_laterd
push_do holds '"do":"sleep","until":"go-holds"'
within 5 "one has the only permit" begun holds
push_do next '"do":"done"'
within 5 "the other one waits for it" is_delayed next
kill -HUP "$laterd_pid"
within 15 "a reload" logged 'reloaded: '
# It is due in a hundred years, in both places, so that it does not look for the permit by itself.
far=5000000000
put_off()
{
    redis ZADD "$(key delayed)" XX "$far" next >/dev/null
    redis ZADD 'later:running:{type:do}:due' XX "$far" 'default next' >/dev/null
    [ "$(redis ZSCORE "$(key delayed)" next) $(redis ZSCORE 'later:running:{type:do}:due' 'default next')" = "$far $far" ]
}
awaited 20 "it looks no more by itself" put_off
touch "$work/go-holds"
within 10 "the one that waited is called when the permit is free, as without a reload" begun next
end_well
finish
