#!/bin/sh
# Event jobs: a thousand at once in one worker. Over their time they are cancelled, then settled
# without their handler. A second finish is refused. Serial jobs take turns with them.
. "${top_srcdir:=.}/tests/system/daemon.sh"
start_redis

# ---- a thousand sleeps of a second

configure 'workers = 1;' 'events = 1000;'
start_laterd
later push --file - >/dev/null <<LINES
$(seq 1000 | sed 's/.*/{"type":"sleep","id":"warm-&","payload":{"seconds":0}}/')
LINES
within 10 "a thousand jobs that end at once" counts 'done' 1000
is "$(workers | wc -l)" 1 "one worker"
seq 1000 | sed 's/.*/{"type":"sleep","id":"sleep-&","payload":{"seconds":1}}/' >"$work/sleeps"
begin=$(present)
later push --file "$work/sleeps" >/dev/null
within 10 "a thousand sleeps of 1 s are done" counts 'done' 2000
in_time "$(sum "$(present) - $begin")" 1.5 "s for them, not a thousand"
is "$(noting a) $(how_often 'is ended')" "0 0" "none failed, the worker lived"

# If there are more than fit, the rest waits.
begin=$(present)
seq 1500 | sed 's/.*/{"type":"sleep","id":"more-&","payload":{"seconds":1}}/' |
    later push --file - >/dev/null
within 20 "1,500 sleeps of 1 s are done" counts 'done' 3500
elapsed=$(sum "$(present) - $begin")
at_least "$elapsed" 2 "s for them, 1,000 at once"
in_time "$elapsed" 4 "s for them, 1,000 at once"
stop_laterd

# ---- a small host, for failures

# A worker may stand still for the grace and a second.
configure 'workers = 1;' 'events = 50;' 'grace = 3.0;' 'lease = 60.0;' \
    'retry = { max_attempts = 3; base = 0.1; max = 0.1; jitter = 0.0; };'
start_laterd
pids=$(workers)

pushed=$(present)
# (On a busy machine the second attempts may be over their time, too.)
push_event heard '"for":60,"upto":1,"do":"wait"' '"timeout":0.5,"max_attempts":25'
push_event deaf '"upto":1,"do":"deaf","until":"deaf-may-end"' '"timeout":0.5,"max_attempts":25'
push_event beside '"for":2'
within 5 "over its time an event job is cancelled" ended heard
at_least "$(sum "$(ended_at heard) - $pushed")" 0.49 "s from its push until then"
in_time "$(sum "$(ended_at heard) - $(began heard)")" 1 "s until then"
within 5 "the log says so" log_has heard 'cancelled'
within 5 "and tried again" ended heard 2
within 5 "one that does not hear is tried again after the grace" begun deaf 2
at_least "$(sum "$(began deaf 2) - $pushed")" 3.5 "s after it was pushed"
in_time "$(sum "$(began deaf 2) - $(began deaf)")" 4.2 "s after it began"
within 5 "the log says so" log_has deaf 'over its time of 0.500 s'
# Meanwhile its slot has become another job's.
within 5 "the second attempt is over" unknown deaf
push_many 50 event '{"until":"others-may-end"}' other-
within 10 "others are in all slots" begun other-50
touch "$work/deaf-may-end"
within 5 "its late finish is refused" log_has deaf 'finished it after its time was over: refused'
contains "$(grep 'after its time' "$log")" 'plugin check' "a finish after its time names the plugin"
touch "$work/others-may-end"
within 10 "all are done" settled
is "$(attempts_in begun beside | wc -l) $(counted 'done')" "1 3553" "the one beside ran once"

# ---- finishing twice, at once, with a failure

push_event twice '"do":"twice"'
push_event now '"do":"now"'
push_event failing '"do":"retry"'
push_event after '"for":0.3'
within 5 "a job that is finished twice is done" unknown twice
within 5 "the second finish is refused" logged 'finished a job twice'
contains "$(grep 'a job twice' "$log")" 'plugin check' "a second finish names the plugin"
within 5 "a job may be finished before its handler returns" unknown now
within 5 "one that fails three times is dead" is_dead failing
within 5 "others go on" unknown after
is "$(counted 'done')" 3556 "each was counted once"
is "$(workers)" "$pids" "all that time in the same worker"

# ---- cancelled by a user

push_event withdrawn '"for":60,"do":"wait"'
wait_until 5 begun withdrawn
begin=$(present)
later cancel withdrawn >/dev/null
within 5 "a cancelled job's handler is told" ended withdrawn
in_time "$(sum "$(present) - $begin")" 1 "s until then, with a lease of 60"
is "$(counted cancelled) $(dead)" "1 1" "and its result refused"
later push sleep '{"seconds":600}' --id asleep >/dev/null
runs_asleep() { redis HVALS later:hosts | grep -q '"jobs":\[{"id":"asleep"'; }
wait_until 10 runs_asleep
later cancel asleep >/dev/null
within 5 "of a shipped type the log says that it was given up" \
    log_has asleep 'given up, since it was cancelled: woken before its time'
is "$(grep -e 'job=asleep .*again in' -e 'no longer ours' "$log")" '' "not that it comes back, nor that it was late"
push_event stubborn '"do":"stubborn","until":"never"'
wait_until 10 begun stubborn
later cancel stubborn >/dev/null
within 10 "of one that does not give up, that it was done all the same" \
    log_has stubborn 'done, although it was cancelled while it ran: its result does not count'
is "$(how_often 'no longer ours'):$(counted 'done')" 0:3556 "not that it was lost; and it counts as cancelled"
counted_sleep() # how the attempts of type sleep were counted
{
    later history --json --since 2h | sed -n 's/.*"type":"sleep",.*"retry":\([0-9]*\).*"timeout":\([0-9]*\).*"interrupted":\([0-9]*\).*/\1 \2 \3/p'
}
interrupted() { [ "$(counted_sleep)" = '0 0 1' ]; }
within 90 "the history counts it as interrupted, not as failed or over its time" interrupted

# ---- a serial job has a second to give up; then its worker is ended

# Who stands still for that second is ended, too; so there are three tries.
told_to_end() { log_has "$1" 'its worker is ended' || log_has "$1" 'given up, since it was cancelled'; }
one_ready() { [ "$(workers | wc -l)" = 1 ] && [ "$(workers)" != "$pids" ]; }
for try in 1 2 3; do
    pids=$(workers)
    push_do "listens-$try" '"do":"progress","until":"never","in":0'
    wait_until 10 begun "listens-$try"
    later cancel "listens-$try" >/dev/null
    wait_until 10 told_to_end "listens-$try"
    ! log_has "listens-$try" 'its worker is ended' || { wait_until 10 one_ready; continue; }
    break
done
runs "a handler that looks whether it was cancelled gives up" \
    log_has "listens-$try" 'given up, since it was cancelled'
is "$(workers)" "$pids" "and keeps its worker"
push_do listens-not '"do":"sleep","until":"never"'
wait_until 10 begun listens-not
begin=$(present)
later cancel listens-not >/dev/null
within 10 "one that does not look is ended with its worker" \
    log_has listens-not 'its reservation was withdrawn: its worker is ended'
at_least "$(sum "$(present) - $begin")" 1 "s until then"
within 10 "which is replaced" one_ready

# ---- serial jobs and event jobs take turns in one worker

for i in 1 2 3 4 5; do
    push_event "event-$i" '"for":0.3'
    push_do "serial-$i" '"do":"sleep","for":0.1'
done
within 20 "serial jobs among event jobs" counts 'done' 3516
# No start of one kind lies between start and end of the other.
sort -k4,4n "$work/ended" | awk '
    /^(event|serial)-/ {
        kind = substr($1, 1, 5)
        for (i = 1; i <= n; i++)
            if (kinds[i] != kind && starts[i] < $5 && ends[i] > $4)
                print $1, "overlaps", ids[i]
        n++; kinds[n] = kind; starts[n] = $4; ends[n] = $5; ids[n] = $1
    }' >"$work/overlaps"
is "$(cat "$work/overlaps")" "" "never run at the same time"
at_most "$(noting a)" 1 "jobs with attempts (the dead one)"

# ---- idle for a time that would be a hang if jobs were in flight, and then short jobs in a row

push_event before '"for":0.1'
within 5 "an event job before a pause" unknown before
sleep 4.5
push_event rested '"for":0.6,"upto":1'
within 5 "an event job after a pause of more than the grace and a second" unknown rested
i=0
until [ $i -eq 30 ]; do
    i=$((i + 1))
    push_event "short-$i" '"for":0.1,"upto":1'
    awaited 5 "short-$i is done" unknown "short-$i"
done
is "$(attempts_in begun rested | wc -l) $(how_often 'event loop hangs')" "1 0" \
    "runs once, and so do 30 short ones, one at a time"

# ---- a loop that stands still

push_event quiet '"for":3,"upto":1,"do":"wait"'
push_event stuck '"for":30,"upto":1,"do":"block"' '"timeout":1'
within 15 "a worker whose loop stands still is killed" logged 'its event loop hangs'
within 15 "its jobs are done by another" unknown stuck
within 15 "also the one beside" unknown quiet

end_well
finish
