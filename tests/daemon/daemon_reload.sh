#!/bin/sh
# HUP: the whole new configuration is tried, then workers are replaced, without losing or repeating
# a job. A bad configuration changes nothing.
. "${top_srcdir:=.}/tests/system/daemon.sh"
start_redis
options='drain = 20.0; lease = 4.0;'
configure 'workers = 2;' "$options"
start_laterd

reloaded()
{
    [ "$(how_often 'reloaded: ')" -ge "$1" ]
}

# has_workers N: are there N, none of them in $pids?
has_workers()
{
    [ "$(workers | wc -l)" = "$1" ] && ! workers | grep -qxF "$pids"
}

# ---- 5,000 jobs run through four reloads

push_do long '"do":"sleep","for":5'
wait_until 5 begun long
# through ROUND N: have N of the round ended?
through() { [ "$(grep -c "^through-$1-" "$work/ended")" -ge "$2" ]; }
for round in 1 2 3 4; do
    push_many 1248 'do' '{"do":"sleep","for":0.002}' "through-$round-"
    wait_until 20 through "$round" 200
    kill -HUP "$laterd_pid"
    wait_until 10 reloaded "$round"
    wait_until 60 through "$round" 1248
    # Each of the new workers begins one of these.
    for seat in 1 2; do push_do "seat-$round-$seat" "\"do\":\"sleep\",\"until\":\"go-$round\""; done
    wait_until 20 begun "seat-$round-1" && wait_until 20 begun "seat-$round-2"
    touch "$work/go-$round"
done
within 60 "5,001 jobs are done" counts 'done' 5001
is "$(how_often 'reloaded: ')" 4 "after four reloads meanwhile"
is "$(cut -d' ' -f1 "$work/begun" | sort | uniq -d | wc -l) $(lines begun)" "0 5001" \
    "each job has run once over all reloads"
at_least "$(cut -d' ' -f5 "$work/begun" | sort -u | wc -l)" 8 "worker processes took part"
is "$(counted lapsed) $(redis HLEN "$(key records)")" "0 0" "no lease ran out, no attempt failed"
at_least "$(sum "$(ended_at long) - $(began long)")" 4.99 \
    "s that a job ran, in a worker of before, longer than its lease"

# ---- another configuration takes effect

pids=$(workers)
configure 'workers = 3;' "$options" 'types = ( { name = "do"; max_attempts = 1; } );'
kill -HUP "$laterd_pid"
within 10 "three new workers" has_workers 3
push_do once '"do":"retry"'
within 5 "new values are in force" is_dead once

# Two changes, the second while the first is being tried: the last one counts.
stop_laterd
CHECK_LOAD=$work/loads
export CHECK_LOAD
touch "$CHECK_LOAD"
start_laterd
rm "$CHECK_LOAD"
pids=$(workers)
configure 'workers = 1;' "$options"
kill -HUP "$laterd_pid"
within 20 "a reload that takes long says what it waits for" \
    logged 'reload waits for a child that loads its plugins'
configure 'workers = 4;' "$options"
kill -HUP "$laterd_pid"
touch "$CHECK_LOAD"
unset CHECK_LOAD
within 10 "a change while another is being tried is not lost" logged 'reloaded: 4 new workers'
within 10 "all that were before have gone" has_workers 4

# ---- a bad configuration changes nothing

pids=$(workers)
# unchanged WORDS NAME: HUP with the present configuration.
unchanged()
{
    : >"$log"
    kill -HUP "$laterd_pid"
    within 10 "$2 is refused" logged 'othing was changed'
    contains "$(cat "$log")" "$1" "start $2: with the place"
    is "$(workers)" "$pids" "start $2: the workers stay"
}

configure 'workers = 2;' 'nonsense = 1;'
unchanged "$work/laterd.conf:5: " "an unknown key"
configure 'workers = ;'
unchanged "$work/laterd.conf:4: " "a syntax error"
mv "$work/laterd.conf" "$work/hidden.conf"
unchanged "$work/laterd.conf" "a missing file"
configure 'workers = 2;'
echo nonsense >"$work/jobs/bad.so"
unchanged "$work/jobs/bad.so" "a bad plugin"
rm "$work/jobs/bad.so"
sed -i 's|state_dir = .*|state_dir = "/tmp/elsewhere";|' "$work/laterd.conf"
unchanged 'state_dir cannot change' "another state_dir"
configure 'workers = 2;'
sed -i 's|redis = {|redis = { prefix = "other";|' "$work/laterd.conf"
unchanged 'redis.prefix cannot change' "another prefix"
push_do still '"do":"done"'
within 5 "and jobs are performed as before" unknown still

# ---- a plugin that does not start does not replace one that works

four_workers()
{
    [ "$(workers | wc -l)" = 4 ] # none is still leaving
}
configure 'workers = 2;'
within 10 "four workers" four_workers
pids=$(workers)

shows()
{
    later status 2>&1 | grep -qF -e "$1"
}

# refused_for WORDS NAME: a reload is refused within 15 s; the old workers go on meanwhile and
# afterwards.
refused_for()
{
    : >"$log" # the earlier reload may have been logged in it
    kill -HUP "$laterd_pid"
    push_do "meanwhile-$2" '"do":"done"'
    within 5 "start $2: the old workers perform jobs" unknown "meanwhile-$2"
    within 15 "start $2: the reload is refused" logged 'reload refused: '
    contains "$(grep 'reload refused: ' "$log")" "$1" "start $2: with the reason"
    within 15 "start $2: the new workers have gone" four_workers
    is "$(workers)" "$pids" "start $2: the old ones have stayed"
    grep ' \(warn\|error\) ' "$log" >"$work/told"
    is "$(wc -l <"$work/told")" 1 "start $2: told in one line"
    sed 's/^/# /' "$work/told"
    push_do "after-$2" '"do":"done"'
    within 5 "start $2: and perform jobs as before" unknown "after-$2"
    run later -c "$work/laterd.conf" status --local
    is "$status" 0 "start $2: laterd is well"
    contains "$err" "$1" "start $2: and later status --local shows what was refused"
    within 10 "start $2: and later status" shows "the last reload was refused: $1"
}

: >"$work/refuse"
refused_for "$work/laterd.conf:3: plugin check: told to refuse" 'refuses'
rm "$work/refuse"
: >"$work/hang"
refused_for "a plugin's start takes longer than 10 s" 'hangs'
rm "$work/hang"

# One of them is ready, the other is not yet; TSTP and CONT come meanwhile.
: >"$work/first"
: >"$log"
before=$(lines begun)
push_many 4 'do' '{"do":"sleep","until":"go-tried"}' busy-
within 10 "start waits: the old workers are busy" reached begun $((before + 4))
kill -HUP "$laterd_pid"
within 20 "start waits: one new worker is ready" test -d "$work/first-started"
# (A CONT from elsewhere drops a TSTP that has not been heard.)
pauses() { kill -TSTP "$laterd_pid" && logged 'paused: '; }
wait_until 10 pauses
kill -CONT "$laterd_pid"
wait_until 10 logged 'going on'
push_many 20 note null tried-
sleep 1 # they are not begun
: >"$work/refuse"
within 20 "start waits: the reload is refused" logged 'reload refused: '
within 15 "start waits: the new workers have gone" four_workers
is "$(grep -c '^tried-' "$work/begun")" 0 "start waits: a worker on trial takes no jobs"
touch "$work/go-tried"
within 20 "start waits: the old ones perform them" settled
is "$(grep '^tried-' "$work/begun" | cut -d' ' -f5 | grep -vcxF "$pids")" 0 \
    "start waits: all of them"
rm -r "$work/first" "$work/first-started" "$work/refuse"
: >"$log"
kill -HUP "$laterd_pid"
within 20 "when it starts, a reload goes well" logged 'reloaded: '
within 20 "the old ones go" has_workers 2
is "$(how_often 'reloaded: ')" 1 "told once"
forgotten()
{
    run later -c "$work/laterd.conf" status --local
    [ -z "$err" ]
}
within 10 "and later status --local has forgotten what was refused" forgotten

# ---- plugins are replaced too

: >"$log"

configure 'workers = 2;'
rm "$work/jobs/sleep.so"
pids=$(workers)
kill -HUP "$laterd_pid"
within 10 "a reload without a plugin" logged 'reloaded: '
within 20 "the workers that have it go" has_workers 2
push_job asleep '"type":"sleep","payload":{"seconds":0}'
within 5 "its jobs wait" is_delayed asleep
configure 'workers = 2;'
kill -HUP "$laterd_pid"
within 15 "for a reload that brings it again" unknown asleep

# ---- a queue with shards is taken out, forgotten, and named again: its plan stays forgotten

# reload_with OPTION: waits until it is in force.
reload_with()
{
    : >"$log"
    configure 'workers = 2;' "$1"
    kill -HUP "$laterd_pid"
    awaited 20 "a reload with $1" logged 'reloaded: '
}
has_plan()
{
    [ -n "$(redis GET 'later:{ev}:shards')" ]
}
unserved()
{
    ! redis HVALS later:hosts | grep -q '"ev"'
}
reload_with 'queues = ( { name = "default"; }, { name = "ev"; shards = 4; } );'
awaited 20 "its plan is written" has_plan
reload_with 'queues = ( { name = "default"; } );'
awaited 20 "it is served no more" unserved
runs "a queue with shards is forgotten" later forget ev
for _ in first second; do # the second reload ends after the plan was looked at
    reload_with 'queues = ( { name = "default"; }, { name = "ev"; } );'
done
is "$(redis GET 'later:{ev}:shards')" '' "named again without shards, it has no plan"
is "$(how_often 'has lost')" 0 "nothing is said to be lost"

# ---- new shards of a paused queue are paused, and for as long

shard_paused()
{
    [ "$(redis EXISTS "later:{ev/$1}:paused")" = 1 ]
}
later pause ev --for 1h
reload_with 'queues = ( { name = "default"; }, { name = "ev"; shards = 3; } );'
awaited 20 "the last shard is paused like its queue" shard_paused 2
at_most "$(redis PTTL 'later:{ev/2}:paused')" 3600000 "until the pause of the queue ends, milliseconds"
at_least "$(redis PTTL 'later:{ev/2}:paused')" 3000000 "and no shorter"
later pause ev
reload_with 'queues = ( { name = "default"; }, { name = "ev"; shards = 5; } );'
awaited 20 "a further one is paused" shard_paused 4
is "$(redis PTTL 'later:{ev/4}:paused')" -1 "without an end if the queue's pause has none"
later resume ev

end_well
finish
