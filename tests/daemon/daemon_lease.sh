#!/bin/sh
# Leases: a job that is longer than its lease runs once, however long its worker had waited for it.
# Time limits: TERM at the timeout, KILL after the grace, then the backoff.
. "${top_srcdir:=.}/tests/system/daemon.sh"
start_redis

# ---- longer than the lease, while others are performed

configure 'workers = 2;' 'lease = 3.0;'
start_laterd
push_do long '"do":"sleep","for":10'
wait_until 5 begun long

# ---- jobs that come after waits of all lengths: a reserve that waits must not use up the lease

for i in 1 2 3 4 5 6 7 8; do
    sleep "$(sum "0.37 * $i % 2.5")"
    push_job "waited-$i" '"type":"note"'
    awaited 1 "waited-$i, pushed after a while, is begun" ended "waited-$i"
done
push_many 300 'do' '{"do":"sleep","for":0.005}' meanwhile-
within 20 "a 10-second job with a 3-second lease is done" unknown long
within 10 "all others are" settled
is "$(attempts_in begun long | wc -l) $(counted lapsed) $(counted 'done')" "1 0 309" \
    "it ran once, no lease ran out"
stop_laterd

# ---- a worker is stopped beyond its lease, with its keeper: the late result is refused

rm -f "$work/begun" "$work/ended"
configure 'workers = 1;' 'lease = 1.0;'
start_laterd
first=$laterd_pid worker=$(workers) stopped=stopped
push_do "$stopped" '"do":"sleep","until":"go-stopped","upto":1'
wait_until 5 begun "$stopped"
# Both have stopped when the state says so, not when the signal is sent.
both_stopped()
{
    kill -STOP "$first" "$worker"
    [ "$(state_of "$first")$(state_of "$worker")" = TT ]
}
wait_until 5 both_stopped
lease_end=$(redis --raw ZRANGE "$(key reserved)" 0 0 WITHSCORES | sed -n 2p)
# A third of its own lease the other one leaves to keepers that may live.
sed "s|$work/state|$work/other|; s|lease = 1.0|lease = 6.0|" "$work/laterd.conf" >"$work/other.conf"
"$laterd_bin" -c "$work/other.conf" 2>>"$work/other.log" &
own $!
second=$!
taken() { both_stopped && ended "$stopped"; }
within 10 "another laterd begins the job when its lease is over" taken
gap=$(sum "$(began "$stopped" 2) - $lease_end")
at_least "$gap" 0 "s after its lease was over"
in_time "$gap" 3 "s after its lease was over"
touch "$work/go-stopped"
# The worker first, since its keeper would end a job that is lost.
kill -CONT "$worker"
within 5 "the late result is refused" logged 'was no longer ours'
kill -CONT "$first"
is "$(attempts_in begun "$stopped" | cut -d' ' -f2 | tr '\n' ' ')" "1 2 " "a lapse is an attempt"
awaited 10 "it is counted" counts 'done' 310 # a moment after it has noted its end
is "$(counted 'done') $(counted lapsed) $(known)" "310 1 0" "it is done once"
kill -TERM "$second"
wait "$second"
stop_laterd

# ---- over its time

rm -f "$work/begun" "$work/ended"
configure 'workers = 3;' 'lease = 30.0;' 'grace = 1.0;' 'timeout = 3.0;' \
    'retry = { max_attempts = 3; base = 0.5; max = 0.5; jitter = 0.0; };' \
    'types = ( { name = "bytes"; timeout = 60.0; } );'
start_laterd
pushed=$(present) # a moment before they begin
push_do polite '"do":"sleep","for":30,"upto":1'
push_do deaf '"do":"hang","upto":1'
push_do own '"do":"sleep","for":4' '"timeout":20'
within 10 "one that ends when it is told is tried again" begun polite 2
at_least "$(sum "$(began polite 2) - $pushed")" 3.49 "s until then: timeout and backoff"
in_time "$(sum "$(began polite 2) - $(began polite)")" 4.1 "s until then: timeout and backoff"
within 10 "one that blocks all signals is tried again" begun deaf 2
at_least "$(sum "$(began deaf 2) - $pushed")" 4.49 "s until then: timeout, grace and backoff"
in_time "$(sum "$(began deaf 2) - $(began deaf)")" 5.1 "s until then: timeout, grace and backoff"
within 10 "a longer timeout of its own counts" unknown own
within 10 "all are done" settled
is "$(attempts_in begun own | wc -l) $(lines begun) $(counted lapsed)" "1 5 1" "with no attempt too many"
is "$(how_often 'over its time: its worker is ended')" 2 "the log tells of both"

push_do 'always' '"do":"sleep","for":30' '"timeout":0.3,"max_attempts":2'
within 10 "one that is over its time each time is dead" is_dead always
contains "$(error_of always)" '"attempt":2,"kind":"timeout","text":"over its time' \
    "a job over its time is dead with that reason"
push_job quick '"type":"note"'
within 1 "a new worker goes on within a second" ended quick

# ---- what a job started ends with it

push_do family '"do":"orphan","for":30' '"timeout":5,"max_attempts":1'
wait_until 5 test -s "$work/orphan-family"
child=$(cat "$work/orphan-family")
within 10 "a job with children is over its time" is_dead family
within 2 "its children end, also in a session of their own" gone "$child"

end_well
finish
