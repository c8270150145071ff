#!/bin/sh
# laterd restores what somebody removes: the folder of its pages, the socket of its Redis. If it is
# ended at once, it ends soon. A limit of file sizes does not kill it. Jobs that always crash hold up
# nobody else.
. "${top_srcdir:=.}/tests/system/daemon.sh"
needs redis-server redis-cli

# ---- removed

configure 'workers = 1;'
start_embedded
push_job first '"type":"note"'
within 10 "a job of the embedded Redis" ended first
wait_until 5 test -e "$work/state/.redis.sock"
rm "$work/state/redis.sock"
within 5 "its socket is made again" redis_answers
within 1 "which is in the log" logged 'redis-server was removed: made again'
push_job second '"type":"note"'
within 5 "and takes jobs" ended second
rm -rf "$work/state/slots"
worker=$(workers)
kill -KILL "$worker"
within 5 "a worker after the folder of its pages was removed" test -d "$work/state/slots"
push_job third '"type":"note"'
within 5 "performs jobs" ended third
within 5 "no job is lost with the deleted pages" counts 'done' 3
stop_laterd
is "$exited" 0 "laterd ends with 0"

# ---- ended at once, even between the server's fork and its exec

most=0
for wait in 0 0 0 1 1 2 2 3 4 5 10 20; do
    rm "$work/state/redis.conf"
    launch
    until [ -e "$work/state/redis.conf" ]; do :; done # written before the fork
    sleep "$(sum "$wait / 1000")"
    begin=$(present)
    stop_laterd
    took=$(sum "$(present) - $begin")
    [ "$(sum "($took > $most)")" = 0.000 ] || most=$took
done
# A server that has not heard of it is killed after 20 s.
at_most "$most" 19.9 "s until laterd has ended that was ended as it started"

# ---- files of at most 200 KiB, which is less than a page

: >"$log"
(
    ulimit -f 200
    exec "$laterd_bin" -c "$work/laterd.conf" </dev/null 2>&1
) | cat >"$log" &
within 10 "a limit of file sizes is told" logged 'File too large'
laterd_pid=$(sed -n 's/.* starts, pid \([0-9]*\).*/\1/p' "$log")
own "$laterd_pid"
runs "and kills nobody" alive "$laterd_pid"
kill -TERM "$laterd_pid"
wait_until 30 gone "$laterd_pid"

# ---- eight jobs that always crash

configure 'workers = 2;' 'crash_max = 3;' \
    'retry = { max_attempts = 25; base = 0.1; max = 0.1; jitter = 0.0; };'
start_embedded
for i in 1 2 3 4 5 6 7 8; do
    push_do "crash-$i" '"do":"signal"'
done
all_dead() { [ "$(dead)" = 8 ]; }
within 40 "eight jobs that always crash are dead, three attempts each" all_dead
push_job after '"type":"note"'
within 5 "the next is done" ended after
runs "the sums hold" conserved
stop_laterd
is "$exited" 0 "laterd ends with 0"
finish
