#!/bin/sh
# A laterd that starts while a master of a Cluster is away: whether that one is fit is not known, but laterd is ready,
# and performs the jobs of the others.
. "${top_srcdir:=.}/tests/system/daemon.sh"
# shellcheck disable=SC2034 # lib.sh reads it
redis_kind=cluster
start_redis 'appendonly yes' 'cluster-require-full-coverage no'

# elsewhere PORT: is the queue at another master? The last such one goes away, since redis asks the first. No replica
# takes over meanwhile.
elsewhere() { "$redis_asker" -p "$1" EXISTS 'later:{default}:jobs' 2>&1 | grep -q MOVED; }
other=
for port in $redis_masters; do
    ! elsewhere "$port" || other=$(sed -n "s/^master $port //p" "$work/redis.set")
done
away="$other $(sed -n 's/^replica [0-9]* //p' "$work/redis.set" | tr '\n' ' ')"
# shellcheck disable=SC2086 # words
kill -STOP $away

configure 'workers = 1;'
: >"$log"
launch
within 20 "laterd is ready although a master does not answer" logged ' ready: '
push_job one '"type":"note"'
within 20 "jobs of another master are performed" ended one
# shellcheck disable=SC2086 # words
kill -CONT $away
well() { later -c "$work/laterd.conf" status --local >/dev/null; }
within 60 "all is well when it is back" well
stop_laterd
finish
