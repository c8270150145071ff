#!/bin/sh
# Handlers that crash or exit cost their worker, never laterd and never another job. Their job becomes
# dead, with the reason.
. "${top_srcdir:=.}/tests/system/daemon.sh"
start_redis

configure 'workers = 2;' 'crash_max = 3;' 'grace = 1.0;' \
    'retry = { max_attempts = 25; base = 0.2; max = 0.2; jitter = 0.0; };'
start_laterd

# ---- a job that crashes, among good ones

push_many 200 'do' '{"do":"sleep","for":0.005}' good-
push_job segv '"type":"do","payload":{"do":"signal","signal":11}' '' 50 # before all others
push_many 200 'do' '{"do":"sleep","for":0.005}' better-
within 30 "a job that kills its worker is dead" is_dead segv
is "$(attempts_in begun segv | cut -d' ' -f2 | tr '\n' ' ')" "1 2 3 " \
    "a job that crashes its worker is buried after crash_max crashes"
contains "$(error_of segv)" '"attempt":3,"kind":"crash","text":"killed by signal 11 (Segmentation fault)' \
    "with the signal"
# The first crash has no backoff. Later ones have.
in_time "$(sum "$(began segv 2) - $(began segv 1)")" 0.5 "s from the first crash to the next start"
at_least "$(sum "$(began segv 3) - $(began segv 2)")" 0.199 "s from the second to the third"
within 30 "all good ones are done" counts 'done' 400
is "$(cut -d' ' -f1 "$work/begun" | grep -c '^good-\|^better-')" 400 "each good job beside it has run once"
is "$(noting a) $(noting c)" "1 1" "none of them has an attempt"

# ---- other ways to die

# (laterd starts again, since crashes in a row delay the next worker)
stop_laterd
start_laterd
push_do abort '"do":"signal","signal":6'
push_do kill '"do":"signal","signal":9'
push_do exit0 '"do":"exit","status":0'
push_do exit1 '"do":"exit","status":1'
for how in abort kill exit0 exit1; do
    within 30 "$how: it is dead" is_dead "$how"
    is "$(attempts_in begun "$how" | wc -l)" 3 "$how: after three attempts"
done
contains "$(error_of abort)" 'signal 6 (Aborted)' "abort: the reason"
contains "$(error_of kill)" 'signal 9 (Killed)' "kill: the reason"
contains "$(error_of exit0)" 'exited with status 0' "exit 0 is no success"
contains "$(error_of exit1)" 'exited with status 1' "exit 1: the reason"
stop_laterd
start_laterd
push_do recovers '"do":"signal","upto":2'
within 90 "one that crashes twice and then succeeds is done" unknown recovers
later kick segv >/dev/null
push_do twice '"do":"signal"' '"backoff":[1000,2000]'
within 90 "one that crashes twice waits" is_delayed twice
is "$(sum "$(redis ZSCORE "$(key delayed)" twice) - $(error_of twice | sed 's/^{"at":\([0-9.]*\),.*/\1/')")" 1000.000 \
    "for the first wait of its backoff"
later cancel twice >/dev/null
within 90 "one that is kicked gets its three crashes again" begun segv 6
within 90 "and is dead again" is_dead segv

# ---- workers are not restarted faster than restart.c says

stop_laterd
configure 'workers = 1;' 'crash_max = 100;' 'retry = { base = 0.0; max = 0.0; };'
start_laterd
begin=$(present)
push_do again '"do":"signal"'
within 10 "crashes in a row make the next worker wait" logged 'crashes in a row: the next worker in 1 s'
wait_until 10 begun again 8
at_least "$(sum "$(began again 7) - $(began again 6)")" 0.9 "s after the sixth"
at_least "$(sum "$(began again 8) - $begin")" 1.99 "s until the eighth: 1 s, and 1 s more, since a job is to blame"
later cancel again >/dev/null
end_well
finish
