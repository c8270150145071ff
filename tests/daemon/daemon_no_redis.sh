#!/bin/sh
# Redis is missing when laterd starts, goes away, or refuses: laterd waits, logs that once, and goes
# on.
. "${top_srcdir:=.}/tests/system/daemon.sh"
needs redis-server redis-cli

# ---- not there at the start

start_redis
stop_redis KILL
place=$redis_socket
[ "$redis_kind" = single ] || place=127.0.0.1:
configure 'workers = 2;' 'lease = 3.0;'
: >"$log"
launch
within 10 "without a Redis laterd waits" logged 'redis is away'
sleep 2 # several tries
is "$(how_often 'redis is away')" 1 "and says so once"
contains "$(grep 'redis is away' "$log")" "$place" "the line about the outage names the place"
run later size
is "$status" 69 "later does not wait: exit 69"
contains "$err" "$place" "and names the place, too"
is "$(how_often ' ready: ')" 0 "who could not push is not told that it is ready"
start_redis
within 8 "when Redis comes, it is ready" logged ' ready: '
push_do first '"do":"done"'
within 8 "jobs are performed" unknown first
within 8 "the log says that it is back" logged 'redis is back'
is "$(how_often 'redis is back')" 1 "the end of the outage is logged once"
stop_laterd
is "$exited" 0 "laterd ends with 0"

stop_redis KILL
: >"$log"
launch
wait_until 10 logged 'redis is away'
stop_laterd
is "$exited" 0 "TERM is heard without Redis, too"

# ---- away for a moment, again and again, while a job runs

rm -f "$work/begun" "$work/ended"
start_redis 'appendonly yes' 'appendfsync always'
start_laterd
push_do long '"do":"sleep","for":4'
within 10 "a job begins" begun long
for round in 1 2 3; do
    stop_redis KILL
    sleep 0.3
    start_redis 'appendonly yes' 'appendfsync always'
    push_job "round-$round" '"type":"note"'
    within 8 "after an outage the other worker goes on ($round)" ended "round-$round"
done
within 10 "and the job that ran is done" unknown long
is "$(attempts_in begun long | wc -l) $(attempts_of long)" "1 0" "a job that outlived the outage ran once"
runs "the sums hold" conserved
stop_laterd

# ---- laterd stops meanwhile

start_laterd
push_do kept '"do":"sleep","until":"go-kept"'
within 10 "a job begins" begun kept
stop_redis KILL
within 10 "Redis is missed" logged 'redis is away'
touch "$work/go-kept"
within 10 "the job ends" ended kept
stop_laterd
is "$(how_often 'the history of 1 queue lacks what was counted last: Redis did not take it')" 1 \
    "what the history lacks is said"
start_redis 'appendonly yes' 'appendfsync always'
start_laterd
within 10 "the next laterd settles it" unknown kept
is "$(attempts_in begun kept | wc -l)" 1 "it ran once"
stop_laterd
is "$(how_often 'the history of')" 0 "a stop with Redis has nothing to say"

# ---- connections come up, and writes are not answered

start_laterd
redis_all CLIENT PAUSE 300000 WRITE >/dev/null
within 30 "a Redis that answers no writes: the log says so" logged 'redis does not answer writes: no answer in time'
# Its page of health is written a moment after the log.
tells_silence()
{
    later -c "$work/laterd.conf" status --local >"$work/out" 2>"$work/err"
    [ "$?" -eq 69 ] && grep -q 'redis does not answer writes' "$work/err"
}
within 15 "and laterd is not healthy, and tells the reason" tells_silence
redis_all CLIENT UNPAUSE >/dev/null
over_told()
{
    grep -q ' over after .* redis does not answer writes' "$log"
}
within 15 "when it answers again, the log says so" over_told
within 5 "and laterd is healthy" later -c "$work/laterd.conf" status --local
stop_laterd

# ---- a worker that is recycled meanwhile leaves its ack to the supervisor

rm -f "$work/begun" "$work/ended"
configure 'workers = 1;' 'recycle = { jobs = 1; };'
start_laterd
push_do last '"do":"sleep","until":"go-last"'
within 10 "the last job of a worker begins" begun last
stop_redis KILL
touch "$work/go-last"
within 10 "it ends without Redis" gone "$(pid_of last)"
start_redis 'appendonly yes' 'appendfsync always'
within 10 "and its job is done" unknown last
stop_laterd
is "$(lines begun) $(how_often 'exited with status')" "1 0" "that ran once, and no crash is logged"
is "$(later metrics | sed -n 's/^laterd_worker_crashes_total //p')" 0 "none is counted"

# ---- away for longer than a lease: nothing lapses before its keeper could renew

rm -f "$work/begun" "$work/ended"
configure 'workers = 1;' 'lease = 2.0;'
start_laterd
push_do long '"do":"sleep","for":7'
within 10 "a job begins" begun long
stop_redis KILL
sleep 4
start_redis 'appendonly yes' 'appendfsync always'
within 10 "it is done after an outage of two leases" unknown long
is "$(attempts_in begun long | wc -l) $(counted lapsed)" "1 0" "it ran once, nothing lapsed"
stop_laterd

# ---- a Redis that would evict jobs, and one that requires a password

redis_all CONFIG SET maxmemory-policy allkeys-lru >/dev/null
redis_all CONFIG SET maxmemory 100mb >/dev/null
: >"$log"
launch
await_laterd
is "$exited" 78 "a Redis that evicts is refused: exit 78"
contains "$(cat "$log")" 'noeviction' "a Redis that evicts is refused with the remedy"
redis_all CONFIG SET maxmemory-policy noeviction >/dev/null
redis_all CONFIG SET maxmemory 0 >/dev/null

if applies password; then
    redis CONFIG SET requirepass secret >/dev/null
    : >"$log"
    launch
    within 10 "a password is wanted: it is said" logged 'NOAUTH'
    kill -0 "$laterd_pid"
    is "$?" 0 "and laterd goes on trying"
    stop_laterd
    printf 'secret\n' >"$work/password"
    chmod 600 "$work/password"
    configure 'workers = 1;'
    sed -i "s|redis = {|redis = { password_file = \"$work/password\";|" "$work/laterd.conf"
    start_laterd
    push='{"type":"note","payload":"with a password"}'
    redis-cli -s "$redis_socket" -a secret --no-auth-warning ZADD "$(key ready)" 0 "$push" >/dev/null
    within 10 "with the password jobs are performed" begun "$(printf %s "$push" | sha1sum | cut -d' ' -f1)"
    stop_laterd
    is "$exited" 0 "laterd ends with 0"
fi
finish
