#!/bin/sh
# What handlers leave behind is reaped, and killed in the end, even if laterd is PID 1.
. "${top_srcdir:=.}/tests/system/daemon.sh"
start_redis
configure 'workers = 2;' 'grace = 1.0;' 'lease = 3.0;'

# Children of laterd that are not workers.
strays()
{
    for child in $(children "$laterd_pid"); do
        workers | grep -qx "$child" || echo "$child"
    done
}

# orphans N: are there N of them?
orphans()
{
    [ "$(strays | wc -l)" = "$1" ]
}

no_process()
{
    [ ! -e "/proc/$1" ]
}

# check_reaping NAME PREFIX
check_reaping()
{
    push_do "$2-leaves" '"do":"orphan"'
    within 5 "$1: a job leaves a process behind" unknown "$2-leaves"
    within 5 "$1: it becomes laterd's" orphans 1
    stray=$(strays)
    kill -KILL "$stray"
    within 5 "$1: when it ends it is reaped" no_process "$stray"

    push_do "$2-killed" '"do":"orphan","for":60'
    wait_until 5 begun "$2-killed" && wait_until 5 orphans 1
    stray=$(strays)
    later cancel "$2-killed" >/dev/null
    within 5 "$1: what a job left is killed with its worker" no_process "$stray"

    # (A worker that is just being started has no name of its own yet.)
    wait_until 5 two_workers
    push_do "$2-last" '"do":"orphan"'
    wait_until 5 unknown "$2-last" && wait_until 5 orphans 1
    stray=$(strays)
}

start_laterd
check_reaping 'a subreaper' subreaper
stop_laterd
is "$exited" 0 "laterd ends with 0"
within 5 "nothing is left when laterd has stopped" gone "$stray"

start_laterd
push_do killed '"do":"orphan","for":60'
wait_until 5 begun killed && wait_until 5 orphans 1
stray=$(strays)
pids=$(workers)
stop_laterd KILL
for pid in $pids; do
    within 1 "a worker ends with a killed laterd" gone "$pid"
done
is "$(alive "$stray" && echo there)" there "what a job has sent into a session of its own does not"
start_laterd
ok "but it does not keep the next laterd from starting"
kill -KILL "$stray"
later cancel killed >/dev/null
stop_laterd

# ---- PID 1 of a container

if ! unshare --pid --fork --mount-proc true 2>/dev/null; then
    echo "# not tried: laterd as PID 1, since unshare is not permitted here"
    finish
    exit
fi
: >"$log"
unshare --pid --fork --kill-child --mount-proc "$laterd_bin" -c "$work/laterd.conf" 2>>"$log" &
container=$!
own "$container"
wait_until 20 logged ' ready: '
contains "$(cat "$log")" 'starts, pid 1' "PID 1: laterd is it"
laterd_pid=$(children "$container" | tr -d ' ')
check_reaping 'PID 1' container
kill -TERM "$laterd_pid"
within 10 "PID 1: TERM stops it" gone "$laterd_pid"
wait "$container"
is "$?" 0 "PID 1: exit 0"
laterd_pid=
runs "the sums hold" conserved
finish
