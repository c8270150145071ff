#!/bin/sh
# Of five laterds that serve the same queues three look after them. They are killed, stopped, frozen and cut off
# in turn: others take their posts, no due job is more than a second late, each tick comes once.
# ($LATER_ROUNDS kills, by default 3.)
. "${top_srcdir:=.}/tests/system/daemon.sh"
start_redis

configure 'workers = 1;' 'lease = 10.0;' \
    'cron = ( { name = "second"; at = "* * * * * *"; type = "note"; } );' 'log = { level = "debug"; };'
laterds=''

# another: starts one more laterd as $other, with a log and a proxy of its own, and waits for it.
another()
{
    number=$((${number:-0} + 1))
    "$top_builddir/tests/faults/proxy" 0 "$redis_socket" "$work/control.$number" >"$work/$number.port" &
    own $!
    awaited 10 "proxy $number listens" [ -s "$work/$number.port" ]
    sed "s|^state_dir = .*|state_dir = \"$work/state.$number\";|
        s|^redis = .*|redis = { url = \"redis://127.0.0.1:$(cat "$work/$number.port")\"; };|" \
        "$work/laterd.conf" >"$work/$number.conf"
    "$laterd_bin" -c "$work/$number.conf" </dev/null 2>>"$work/$number.log" &
    other=$!
    own "$other"
    echo "$other $number" >>"$work/proxies"
    laterds="$laterds $other"
    awaited 20 "laterd $number starts" grep -q ' ready: ' "$work/$number.log"
}

# posts MIN MAX: prints the processes of which it is known, with such a score.
posts()
{
    redis ZRANGEBYSCORE "$(redis_all --scan --pattern 'later:lookers:*')" "$1" "$2" | sed 's/.*://'
}
lookers() { posts 0 +inf; }
looks() { lookers | grep -qx "$1"; }
looks_not() { ! looks "$1"; }
three_look() { [ "$(lookers | wc -l)" = 3 ]; }
three_of_five() { three_look && [ "$(posts -inf 0 | wc -l)" = 2 ]; }

# pick: sets $victim to one of the others that looks. (Who stands still for three seconds has no post for a while.)
pick()
{
    victim=$(lookers | grep -vx "$laterd_pid" | head -n 1)
    [ -n "$victim" ]
}

# on_time NAME [LIMIT]: pushes a job and sees that it runs in time, once.
on_time()
{
    jobs=$((${jobs:-0} + 1))
    due=$(sum "$(present) + 0.5")
    push_job "due-$jobs" '"type":"note"' "$due"
    awaited 20 "$1: the job runs" ended "due-$jobs"
    in_time "$(sum "$(began "due-$jobs") - $due")" "${2:-1}" "s after it was due: $1"
}

# passes LATERD 0|1: does anything pass between it and Redis? No connection ends in any case.
passes()
{
    python3 - "$work/control.$(awk -v laterd="$1" '$1 == laterd { print $2 }' "$work/proxies")" "hold $((1 - $2))" <<'PY'
import socket, sys
control = socket.socket(socket.AF_UNIX)
control.connect(sys.argv[1])
control.sendall(sys.argv[2].encode())
control.recv(100)
PY
}

# promoted NAME: pushes a job and sees that it is ready in time. Where a worker that is cut off waits, it may be
# the one that is handed the job; then it runs when the lease is over.
promoted()
{
    jobs=$((${jobs:-0} + 1))
    due=$(sum "$(present) + 0.5")
    push_job "due-$jobs" '"type":"note"' "$due"
    awaited 20 "$1: the job is ready" is_due "due-$jobs"
    in_time "$(sum "$(present) - $due")" 1 "s after it was due it was ready: $1"
}
is_due() { ! is_delayed "$1"; }

start_laterd
laterds=$laterd_pid
while [ "${number:-0}" -lt 4 ]; do
    another
done
within 20 "three of five look" three_of_five
for waiting in $(posts -inf 0); do
    is "$(echo " $laterds " | grep -c " $waiting ")" 1 "one of the others waits"
done
on_time "all are there"

# ---- one after the other

round=0
while [ $round -lt "${LATER_ROUNDS:-3}" ]; do
    round=$((round + 1))
    awaited 20 "one looks" pick
    kill -KILL "$victim"
    awaited 10 "it is gone" gone "$victim"
    on_time "a looker is killed"
    another
    awaited 20 "its post ends" looks_not "$victim"
    within 20 "another has its post" three_of_five
done

# Who has no connection when it stops, since Redis stood still for two seconds, keeps it; so there are three tries.
for try in 1 2 3; do
    awaited 20 "one looks" pick
    kill -TERM "$victim"
    awaited 20 "it ends" gone "$victim"
    ! looks_not "$victim" || break
    [ $try = 3 ] || another
done
runs "one that stops gives its post up" looks_not "$victim"
on_time "a looker is stopped"
within 20 "another has it" three_look
another

# ---- frozen, and back

awaited 20 "one looks" pick
kill -STOP "$victim"
on_time "a looker is frozen"
within 20 "its post ends" looks_not "$victim"
within 20 "another has it, too" three_look
on_time "it is frozen still"
kill -CONT "$victim"
within 20 "it goes on, and waits for a post" three_of_five
on_time "it is back"

# ---- cut off, and back

awaited 20 "one looks" pick
passes "$victim" 0
promoted "a looker is cut off"
within 20 "its post ends" looks_not "$victim"
within 20 "another has it, too" three_look
promoted "it is cut off still"
passes "$victim" 1
within 30 "it goes on, and waits for a post" three_of_five
on_time "it is back"
for job in $((jobs - 2)) $((jobs - 1)); do
    within 30 "the job runs, whoever got it" ended "due-$job"
done

# ---- all at once: those that wait find out when their posts end

for victim in $(lookers); do
    kill -KILL "$victim"
    [ "$victim" != "$laterd_pid" ] || wait "$victim" 2>/dev/null
    awaited 10 "it is gone" gone "$victim"
done
on_time "all lookers are killed" 5

# ---- each tick once

spelled() { cut -d' ' -f1,2 "$work/begun" | grep '^cron:second:' | sort | uniq -d; }
is "$(spelled)" '' "each tick was pushed once"
is "$(cut -d' ' -f1,2 "$work/begun" | grep '^due-' | sort | uniq -d)" '' "so was each job"
at_least "$(grep -c '^cron:second:' "$work/begun")" 5 "ticks came"
finish
