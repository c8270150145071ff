#!/bin/sh
# daemon_silent.sh: workers are stopped while they run nothing. laterd, which is well, says so, as do `later status` and
# `later show` of a job that waits; and no longer when they go on.
. "${top_srcdir:=.}/tests/system/daemon.sh"
start_redis
configure 'workers = 2;' 'lease = 1.0;' # a short wait is a third of a second
start_laterd

status_says() { later status 2>&1 | grep -q "$1"; }
silent() { ! later status 2>&1 >/dev/null | grep -q .; }
shows() { later show waits --json | grep -q "$1"; }
over() { grep -q 'over after .* workers do not answer, process ' "$log"; }
nobody_waits() { ! redis_all CLIENT LIST | grep -q ' name=laterd-wake-.* cmd=blpop'; }

pair=$(workers)
# shellcheck disable=SC2086 # words
kill -STOP $pair
within 10 "both are stopped, and wait no longer" nobody_waits
push_job waits '"type":"note"'
# The second one may have been asked a look later than the first.
within 30 "laterd says that they do not answer" logged ' of 2 workers do not answer, process '
within 20 "so does later status" status_says '2 of 2 workers do not answer'
run later -c "$work/laterd.conf" status --local
like "$status $err" '^69 .*2 of 2 workers do not answer' "later status --local, for a probe"
is "$(later status --trouble --json | "$tools/json_lines" rule)" '"host_fault"' "and later status --trouble"
within 20 "and later show of a job that waits" \
    shows 'each laterd that serves default has a fault: 2 of 2 workers do not answer'
# shellcheck disable=SC2086 # words
kill -CONT $pair
within 10 "they go on: the job runs" ended waits
within 10 "the fault is over" over
within 20 "later status says nothing of it any more" silent
is "$(grep ' workers do not answer, process ' "$log" | grep -vc ' times in ')" 2 "it was said once, and once that it is over"
runs "nor does later status --local" later -c "$work/laterd.conf" status --local
kill -STOP "${pair%%[!0-9]*}"
within 30 "one of them is stopped again, which is said" status_says '1 of 2 workers do not answer'
runs "but for a probe it is well: the other one works" later -c "$work/laterd.conf" status --local
kill -CONT "${pair%%[!0-9]*}"
end_well
finish
