#!/bin/sh
# Long-lived programs of the plugin exec are ten times as fast as one process per job. Deaths, time
# limits, garbage and drains only cost the job that they hit.
. "${top_srcdir:=.}/tests/system/daemon.sh"
needs python3
start_redis

# Payload "do" says what to do: succeed or fail in some way. `once` dies at the first attempt only.
cat >"$work/lines.py" <<'PYTHON'
import json, os, signal, subprocess, sys, time

print("started", file=sys.stderr, flush=True)
with open(os.environ["NOTES"] + "/pids", "a") as pids:
    pids.write("%d\n" % os.getpid())
answers = open(3, "w", buffering=1)
for line in sys.stdin:
    job = json.loads(line)
    payload = job["document"].get("payload") or {}
    what = payload.get("do", "done")
    if what == "sleep":
        with open(os.environ["NOTES"] + "/" + job["id"] + ".pid", "w") as note:
            note.write("%d\n" % os.getpid())
        time.sleep(payload["for"])
    elif what == "meet":
        while len(open(os.environ["NOTES"] + "/pids").readlines()) < payload["for"]:
            time.sleep(0.01)
    elif what == "die" or what == "once" and job["attempt"] == 1:
        print("about to die", file=sys.stderr, flush=True)
        sys.exit(7)
    elif what == "parent" and job["attempt"] == 1:
        child = subprocess.Popen(["sleep", "600"])
        with open(os.environ["NOTES"] + "/child", "w") as note:
            note.write("%d\n" % child.pid)
        time.sleep(600)
    elif what == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    elif what == "garbage":
        for _ in range(4):
            print(json.dumps({"id": "other", "result": "bury"}), file=answers)
    elif what == "chatter":
        print("10%", end="", flush=True)
        print(json.dumps({"id": job["id"], "result": "bury"}))
        subprocess.run(["sh", "-c", "printf '{}\\nmore' >&2; echo '{'"])
    elif what == "exit":
        print(json.dumps({"id": job["id"], "result": "done"}), file=answers)
        sys.exit(0)
    elif what == "deaf":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        while True:
            time.sleep(1)
    print(json.dumps({"id": job["id"], "result": "done"}), file=answers)
print("bye", file=sys.stderr, flush=True)
PYTHON
cat >"$work/once.py" <<'PYTHON'
import json, sys

json.load(sys.stdin)
PYTHON
python=$(command -v python3)
echo 'import sys; sys.exit("no module of that name")' >"$work/broken.py"
mkdir -p "$work/conf.d"
cat >"$work/conf.d/exec.conf" <<CONF
plugins = { config = { exec = {
    lines = { argv = ( "$python", "$work/lines.py" ); env = { NOTES = "$work"; }; lines = true; };
    fresh = { argv = ( "$python", "$work/lines.py" ); env = { NOTES = "$work"; }; lines = true;
              recycle = 10; };
    broken = { argv = ( "$python", "$work/broken.py" ); env = { NOTES = "$work"; }; lines = true; };
    once = { argv = ( "$python", "$work/once.py" ); };
}; }; };
CONF
configure 'workers = 1;' 'grace = 10.0;' 'drain = 5.0;' \
    'retry = { max_attempts = 3; base = 0.2; max = 0.2; jitter = 0.0; };'
start_laterd
pids=$(workers)

# job ID PROGRAM [PAYLOAD [MEMBERS]]
job()
{
    push_job "$1" "\"type\":\"exec.$2\",\"payload\":{${3:-}}${4:+,$4}"
}

# rate COUNT TYPE: prints jobs per second.
rate()
{
    before=$(counted 'done')
    begin=$(present)
    push_many "$1" "$2" '{}' "$2-$(present)-" >/dev/null
    wait_until 120 counts 'done' $((before + $1)) || return 1
    sum "$1 / ($(present) - $begin)"
}

# ---- fast enough: the best of three rounds

job warm lines
within 20 "a long-lived program does a job" counts 'done' 1
best=0
for _ in 1 2 3; do
    once=$(rate 12 exec.once)
    long=$(rate 3000 exec.lines)
    ratio=$(sum "$long / $once")
    echo "# $once jobs a second by a process each, $long by one for all"
    [ "$(sum "($ratio > $best)")" != 1.000 ] || best=$ratio
    [ "$(sum "($best >= 10)")" != 1.000 ] || break
done
at_least "$best" 10 "times the rate of a process per job"
is "$(lines pids)" 1 "one process performs all jobs"
is "$(attempts_of warm) $(noting a)" "0 0" "no job of the one process failed"

# ---- four workers, four at a time

stop_laterd
is "$exited" 0 "laterd ends with 0"
contains "$(cat "$log")" 'plugin exec: lines: bye' "its program ends by itself when its input does"
: >"$work/pids"
configure 'workers = 4;' 'grace = 10.0;' \
    'retry = { max_attempts = 3; base = 0.2; max = 0.2; jitter = 0.0; };'
start_laterd
for i in 1 2 3 4; do
    job "warm-$i" lines '"do":"meet","for":4'
done
within 20 "four workers have a program each" reached pids 4
within 20 "which do their jobs" settled
before=$(counted 'done')
begin=$(present)
for i in 1 2 3 4 5 6 7 8; do
    job "sleep-$i" lines '"do":"sleep","for":1'
done
within 20 "eight jobs of a second are done" counts 'done' $((before + 8))
closely "$(sum "$(present) - $begin")" 5 "s for them, four at a time"
stop_laterd

# ---- failures

: >"$work/pids"
configure 'workers = 2;' 'grace = 4.0;' 'drain = 5.0;' \
    'retry = { max_attempts = 3; base = 0.2; max = 0.2; jitter = 0.0; };'
start_laterd
pids=$(workers)
redis FLUSHALL >/dev/null

job once lines '"do":"once"'
within 20 "a job whose program died is tried again and done" counts 'done' 1
within 5 "with its status" log_has once 'the program died: exit status 7: '
contains "$(grep 'job=once ' "$log" | grep died)" 'about to die' "and what it printed last"
job kill lines '"do":"kill"'
within 20 "one that kills it each time is buried after three attempts" is_dead kill
contains "$(error_of kill)" 'the program died: killed by signal 9 (Killed)' \
    "the error of a killed program names the signal"
job garbage lines '"do":"garbage"'
within 20 "answers to another job do no harm" unknown garbage
within 5 "it is told in a line" log_has garbage 'refused a line of lines for another job than the present one: '
within 5 "and in number" log_has garbage 'refused 4 lines of lines in all'
is "$(grep "job=garbage " "$log" | grep -c refused)" 2 "no more than two refused lines are logged"

for i in 1 2 3 4 5; do
    job "chatter-$i" lines '"do":"chatter"' '"max_attempts":1'
done
within 20 "whatever it prints, to whichever, is no answer" settled
is "$(dead)" 1 "each of them is done"
before=$(counted 'done')
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    job "exit-$i" lines '"do":"exit"' '"max_attempts":1'
done
within 20 "a program that ends after each job loses none" counts 'done' $((before + 20))

# A program that cannot start charges no job, is started less and less often, and once it is
# repaired the jobs are done.
for i in 1 2 3 4; do
    job "broken-$i" broken '' '"max_attempts":1'
done
job beside lines '' '"priority":-1'
within 20 "others go on beside a program that cannot start" unknown beside
within 20 "of its jobs the log says why" grep -q 'broken: no module of that name' "$log"
is "$(attempts_of broken-1) $(dead)" "0 1" "none of them is charged"
cp "$work/lines.py" "$work/broken.py"
within 30 "when it is mended they are done" settled
is "$(dead)" 1 "all four of them"

# Over its time and deaf to TERM: the program and its group are killed, and the worker goes on. Between that and
# the end of its time there are 200 ms. A worker that stands still for as long is ended: one of three must not be.
for i in 1 2 3; do
    pids=$(workers)
    job "deaf-$i" lines '"do":"deaf"' '"timeout":4,"max_attempts":1'
    awaited 20 "one over its time is ended" is_dead "deaf-$i"
    job "beside-$i" lines
    awaited 20 "the next is done" unknown "beside-$i"
    wait_until 20 two_workers
    case $(error_of "deaf-$i") in *'timed out'*) [ "$(workers)" != "$pids" ] || break ;; esac
done
contains "$(error_of "deaf-$i")" 'timed out' "a job over its time says so"
is "$(workers)" "$pids" "both workers live"

# A job is cancelled while it runs: its program does not outlive it.
job cancelled lines '"do":"sleep","for":600'
wait_until 10 test -s "$work/cancelled.pid"
runs "a running job is cancelled" later cancel cancelled
within 20 "and its program with it" gone "$(cat "$work/cancelled.pid")"
job after lines
within 20 "the next is done" unknown after

parent_of()
{
    sed -n 's/^PPid:[[:space:]]*//p' "/proc/$1/status"
}

# A worker that is killed takes its program along, and what that has started.
job parent lines '"do":"parent"'
wait_until 10 test -s "$work/child"
kill -KILL "$(parent_of "$(parent_of "$(cat "$work/child")")")"
within 5 "a killed worker's program: its child is gone" gone "$(cat "$work/child")"
within 20 "the job is done in the next worker" unknown parent

# A fresh program after ten jobs.
ended=$(how_often 'ended between two jobs')
: >"$work/pids"
push_many 45 exec.fresh '{}' fresh- >/dev/null
within 30 "45 jobs of one that is recycled after ten" settled
at_least "$(lines pids)" 4 "processes for them"
at_most "$(lines pids)" 6 "processes for them"
is "$(how_often 'ended between two jobs')" "$ended" "politely"

# A program is killed while it waits: the next job does not notice.
while read -r pid; do
    kill -KILL "$pid" 2>/dev/null
done <"$work/pids"
before=$(counted 'done')
push_many 20 exec.fresh '{}' again- >/dev/null
within 30 "killed between two jobs: the next are done" counts 'done' $((before + 20))
is "$(noting a)" "$(dead)" "none of them failed"

# ---- the end: running jobs are waited for, then nothing is left

job last lines '"do":"sleep","for":1'
wait_until 10 test -s "$work/last.pid"
end_well
is "$(known) $(dead)" "$(dead) $(dead)" "the running job was done first"
within 5 "no program is left" none_left
finish
