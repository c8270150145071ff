#!/bin/sh
# The log: each line about a job's end says which job. A lasting fault is logged once, then how
# often, then that it is over, and later status --local shows it.
. "${top_srcdir:=.}/tests/system/daemon.sh"
start_redis

# ---- ends of jobs, in text and in JSON

# carries ID TYPE ATTEMPT PATTERN NAME: a line with this text has all of the job's fields.
carries()
{
    if [ "$format" = text ]; then
        wanted="$4.* job=$1 queue=default type=$2 attempt=$3 worker=[1-9][0-9]*"
    else
        wanted="\"text\":\"[^\"]*$4.*\"job\":\"$1\",\"queue\":\"default\",\"type\":\"$2\",\"attempt\":$3,\"worker\":[1-9]"
    fi
    within 15 "$format: $5" grep -qE -e "$wanted" "$log"
}

for format in text json; do
    configure 'workers = 2;' 'crash_max = 2;' 'grace = 1.0;' "log = { format = \"$format\"; };"
    : >"$log"
    launch
    awaited 20 "$format: laterd starts" logged 'ready: '

    push_do "crash-$format" '"do":"signal","signal":6' '"backoff":0'
    carries "crash-$format" 'do' 1 'again in .*killed by signal 6' "a crash"
    carries "crash-$format" 'do' 2 'buried.*killed by signal 6' "the last crash: buried"
    push_do "exit-$format" '"do":"exit","status":3,"upto":1'
    carries "exit-$format" 'do' 1 'exited with status 3' "a handler that exits"
    push_do "late-$format" '"do":"hang"' '"timeout":0.5,"max_attempts":1'
    carries "late-$format" 'do' 1 'over its time: its worker is ended' "over its time"
    carries "late-$format" 'do' 1 'buried: over its time' "and its end"
    push_do "cancelled-$format" '"do":"hang"'
    wait_until 5 begun "cancelled-$format"
    later cancel "cancelled-$format" >/dev/null
    carries "cancelled-$format" 'do' 1 'withdrawn: its worker is ended' "withdrawn"
    carries "cancelled-$format" 'do' 1 'ended: its reservation was withdrawn' "and its end"
    push_do "failed-$format" '"do":"bury"'
    carries "failed-$format" 'do' 1 'failed, buried' "a failure"
    push_do "stopped-$format" '"do":"hang"'
    wait_until 5 begun "stopped-$format"
    kill -KILL "$(pid_of "stopped-$format")"
    carries "stopped-$format" 'do' 1 'again in .*killed by signal' "a worker that was ended from outside"
    later cancel "stopped-$format" >/dev/null
    stop_laterd
done

# ---- a full Redis

if applies full; then
    configure 'workers = 2;'
    start_laterd
    push_do before '"do":"done"'
    within 5 "a job is done" unknown before
    run later -c "$work/laterd.conf" status --local
    is "$status" 0 "laterd is well"
    : >"$log"
    redis_all CONFIG SET maxmemory 1 >/dev/null
    is_unwell() { ! later -c "$work/laterd.conf" status --local 2>"$work/err"; }
    within 10 "a full Redis: laterd is not well" is_unwell
    contains "$(cat "$work/err")" 'OOM' "status --local names what Redis refuses"
    contains "$(later -c "$work/laterd.conf" status --local --json 2>/dev/null)" '"healthy":false' "in JSON, too"
    sleep 5 # a line a second would show
    at_most "$(how_often 'OOM')" 6 "lines of the log tell of it, in five seconds and more"
    redis_all CONFIG SET maxmemory 0 >/dev/null
    within 10 "there is room again: laterd is well" later -c "$work/laterd.conf" status --local
    within 10 "the log says that it is over, and how often" logged 'over after '
    stop_laterd
fi
is "$exited" 0 "laterd ends with 0"

# ---- JSON: the embedded Redis's lines too

configure 'workers = 1;' 'log = { format = "json"; level = "debug"; };'
sed -i 's|url = "[^"]*"|url = "embedded"|' "$work/laterd.conf"
: >"$log"
launch
awaited 20 "laterd starts" logged '"ready: '
server=$(redis-cli -s "$work/state/redis.sock" INFO server | sed -n 's/^process_id:\([0-9]*\).*/\1/p')
kill -KILL "$server" # its successor logs the same again
twice_told()
{
    [ "$(how_often '"process":"redis","text":"Redis version=')" = 2 ]
}
within 20 "the embedded Redis is started again, which it tells in JSON" twice_told
stop_laterd
runs "every line is one JSON object" "$tools/json_lines" <"$log"
at_most "$(how_often 'overcommit')" 1 "lines ask for vm.overcommit_memory"
finish
