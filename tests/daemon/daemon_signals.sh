#!/bin/sh
# TSTP and CONT, Ctrl-C on a terminal, a thousand signals in a second, signals to workers.
. "${top_srcdir:=.}/tests/system/daemon.sh"
needs script
start_redis

# ---- TSTP: nothing more is reserved; CONT: it goes on

configure 'workers = 2;' 'drain = 10.0;'
start_laterd
push_do running '"do":"sleep","for":1'
wait_until 5 begun running
push_many 200 'do' '{"do":"sleep","for":0.05}' held-
wait_until 5 reached begun 2 # in the other worker, which has reserved more
kill -TSTP "$laterd_pid"
wait_until 5 logged 'paused'
# A worker may hear of it a moment later, and may hold nothing just before. So nothing must be held
# for a while, with no worker busy.
rest()
{
    for pid in $(workers); do
        [ "$(state_of "$pid")" = S ] || return 1
    done
    [ "$(reserved)" = 0 ]
}
calm()
{
    count=$(lines begun)
    rest && sleep 0.3 && rest && [ "$(lines begun)" = "$count" ]
}
within 5 "TSTP: what runs is finished, what waits goes back" calm
is "$(ended running && echo 'done')" 'done' "the job that ran was finished"
push_job meanwhile '"type":"note"' '' 100
kill -KILL "$(workers | head -n 1)"
within 5 "a worker that dies meanwhile is replaced" two_workers
wait_until 5 rest
sleep 0.7
is "$(lines begun) $(reserved)" "$count 0" "and nothing more begins"
kill -TSTP "$laterd_pid"
kill -CONT "$laterd_pid"
within 10 "CONT: it goes on" ended meanwhile
within 20 "to the end" settled
is "$(lines ended) $(noting a)" "202 0" "each job has ended once over the signals"

# ---- signals to a worker

: >"$work/begun" # (laterd goes on writing them)
: >"$work/ended"
pids=$(workers)
push_do 'two' '"do":"sleep","until":"go-signals"'
push_do 'one' '"do":"sleep","until":"go-signals"'
wait_until 5 reached begun 2
for pid in $pids; do
    for signal in HUP INT TSTP PIPE CONT WINCH; do
        kill -"$signal" "$pid"
    done
done
touch "$work/go-signals"
within 5 "a worker ignores HUP, INT and TSTP" reached ended 2
is "$(workers)" "$pids" "the worker stays"
push_do ended '"do":"sleep","for":30'
wait_until 5 begun ended
kill -TERM "$(pid_of ended)"
within 5 "TERM to a worker ends its job, which is begun again" begun ended 2
later cancel ended >/dev/null
within 5 "a cancelled job is stopped" gone "$(pid_of ended 2)"
is "$(counted cancelled)" 1 "a cancelled job is counted as cancelled"

# ---- a thousand signals in a second, with everything that they cause

pid=$laterd_pid
push_many 3000 'do' '{"do":"sleep","for":0.001}' storm-
i=0
begin=$(present)
while [ "$i" -lt 250 ]; do
    i=$((i + 1))
    kill -HUP "$pid"
    kill -TSTP "$pid"
    kill -CHLD "$pid"
    kill -CONT "$pid"
    [ $((i % 10)) -ne 0 ] || sleep 0.02
done
echo "# 1000 signals in $(sum "$(present) - $begin") s"
within 40 "jobs are performed after a storm of signals" settled
is "$(cut -d' ' -f1 "$work/begun" | grep -c '^storm-')" 3000 "each job has run once over a storm of signals"
is "$(noting a) $(counted lapsed)" "0 0" "no job failed or lapsed in the storm"
within 20 "two workers are left" two_workers
is "$laterd_pid $(gone "$pid" && echo gone)" "$pid " "laterd is the same"
end_well

# ---- Ctrl-C: the terminal sends INT to all in its foreground; laterd drains, and its Redis stays
# until then

rm -f "$work/begun" "$work/ended"
configure 'workers = 2;' 'drain = 20.0;'
sed -i 's|url = "[^"]*"|url = "embedded"|' "$work/laterd.conf"
mkfifo "$work/keyboard"
: >"$log"
script -qefc "exec '$laterd_bin' -c '$work/laterd.conf' 2>>'$log'" /dev/null \
    <"$work/keyboard" >/dev/null &
terminal=$!
own "$terminal"
exec 3>"$work/keyboard"
wait_until 20 logged ' ready: '
laterd_pid=$(sed -n 's/.* starts, pid \([0-9]*\)$/\1/p' "$log")
own "$laterd_pid"
use_socket "$work/state/redis.sock"
LATER_REDIS_URL=unix:$redis_socket
export LATER_REDIS_URL
wait_until 20 redis_answers
later push 'do' '{"do":"sleep","until":"go-typed"}' --id typed >/dev/null
later push note --id delayed --in 60 >/dev/null
within 5 "a job runs in a laterd on a terminal" begun typed
printf '\003' >&3
within 10 "Ctrl-C is heard" logged 'stopping: '
runs "and its job is waited for" alive "$laterd_pid"
touch "$work/go-typed"
within 10 "Ctrl-C ends it" gone "$laterd_pid"
exec 3>&-
wait "$terminal"
is "$?" 0 "laterd ends with status 0"
is "$(ended typed && echo 'done')" 'done' "the job was finished"
contains "$(tail -n 1 "$log")" stopped "laterd stopped well"
# Before it was ready, its Redis may have taken a second to start, and it logs that.
is "$(sed '1,/ ready: / { /redis is away: /d; }' "$log" | grep -E 'refuse|away|crash|killed|error')" "" \
    "no word of trouble in the log"
finish
