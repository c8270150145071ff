#!/bin/sh
# daemon_sleep_busy.sh: where all but one of a pool's idle workers sleep, one that has jobs and takes no more is not
# taken for the one that waits, although it waited a moment before without knowing that. Nor does the connection
# for the calls of handlers stay open where nobody needs it. Who knows of jobs that wait for a limit does not sleep.
. "${top_srcdir:=.}/tests/system/daemon.sh"
. "$top_srcdir/tests/daemon/fleet_lib.sh"
start_redis
posts=
calls() { redis_all CLIENT LIST | grep -c ' name=laterd-plugins'; }
call() { [ "$(calls)" = "$1" ]; }
# another_waits ID: does another worker than that of the job wait for long?
another_waits() { wait_long | grep -qv " name=laterd-wake-$(pid_of "$1") "; }

# sleepers_are STOP|CONT: what is pushed meanwhile is for the one that waits; on a busy machine one that is roused might
# be quicker.
sleepers_are()
{
    [ "$1" = CONT ] || sentry=$(redis_all CLIENT LIST | sed -n 's/.* name=laterd-wake-\([0-9]*\) .*/\1/p')
    # shellcheck disable=SC2046 # words
    kill -"$1" $(workers | grep -vx "$sentry")
}

# among_many WORKERS LEASE LINE...: laterd with this configuration among many hosts; all but one of its workers
# sleep. A short wait is a third of the lease.
among_many()
{
    configure "workers = $1;" "lease = $2;" 'log = { level = "debug"; };' "$3"
    [ -z "$posts" ] || redis DEL "$posts" >/dev/null # another lease is another name
    start_laterd
    fleet 31
    within 40 "among many, all but one sleep" asleep $(($1 - 1))
}

among_many 3 3.0 'events = 1;'
push_event locked '"until":"end"' '"lock":"one"' # it waits for wakes again while the lock is asked for
within 5 "a job with a lock begins in the one that waits" begun locked
within 30 "another waits from then on" another_waits locked
push_event free '"until":"end"'
within 5 "it begins the next job" begun free
touch "$work/end"
within 10 "both end" settled
stop_laterd
rm "$work/end"

among_many 3 3.0 'recycle = { jobs = 1; };'
sleepers_are STOP
later pause default >/dev/null
push_event long '"until":"end"'
push_event short '"until":"soon"'
later resume default >/dev/null
within 5 "the one that waits begins two jobs" begun long
within 5 "both" begun short
sleepers_are CONT
is "$(pid_of long)" "$(pid_of short)" "they are in the same worker"
touch "$work/soon"
within 5 "one ends, after which that worker takes no more, but ends the other" ended short
within 30 "another waits from then on" another_waits long
push_event next '"do":"now"'
within 5 "it does the next job" ended next
touch "$work/end"
within 10 "the first ends" settled
stop_laterd
rm "$work/end" "$work/begun"

among_many 3 3.0 ''
for i in 1 2 3; do
    push_do "locks-$i" "\"do\":\"lock\",\"name\":\"lock-$i\",\"until\":\"end\""
done
within 10 "the handlers of all three workers call Redis" reached begun 3
within 10 "for that each has a connection" call 3
touch "$work/end"
within 30 "when they are over, those that sleep have none" call 1
stop_laterd
rm "$work/end" "$work/begun"

among_many 2 1.0 'limits = ( { type = "note"; max = 1; per = 60.0; } );'
sleepers_are STOP
push_do long '"do":"sleep","until":"end"'
within 5 "the one that waits is busy" begun long
sleepers_are CONT
push_job first '"type":"note"'
within 10 "the other takes the only place of a limit" ended first
push_job second '"type":"note"'
within 5 "a job waits for that limit" is_delayed second
touch "$work/end"
within 30 "the one that was busy waits for long" another_waits first
is "$(redis_all CLIENT LIST | grep -c ' name=laterd-worker-')" 2 "the one that knows of the limit does not sleep"
is_delayed second
is $? 0 "whose job waits still"
for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do
    advance_redis 5
    [ "$redis_kind" = single ] || sleep 0.5 # the servers of a set hear of each other
done
within 30 "the job begins when the limit opens" ended second
end_well
finish
