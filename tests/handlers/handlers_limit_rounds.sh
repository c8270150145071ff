#!/bin/sh
# A limit of 5 a second holds for programs that need long to start, while laterd is reloaded and
# restarted: at no time do more begin within a second, as the programs saw it.
# LATER_SOAK=N: N rounds.
. "${top_srcdir:=.}/tests/system/daemon.sh"
. "$top_srcdir/tests/handlers/begins_lib.sh"
needs python3
start_redis

jobs=60 imports=1
[ -z "${LATER_SOAK:-}" ] || jobs=100 imports=5
# It imports for so many seconds, then notes when it reads each line.
program_begins >"$work/begins.py"
cat >"$work/imports.py" <<'PYTHON'
import json, os, sys, time

from begins import lines

with open(os.environ["NOTES"] + "/starts", "a") as starts:
    print(os.getpid(), file=starts)
time.sleep(float(sys.argv[1]))
with open(3, "w", buffering=1) as answers, open(os.environ["NOTES"] + "/times", "a", 1) as times:
    if sys.argv[2] == "hello":
        print('{"hello":1,"types":[{"name":"exec.hello"}]}', file=answers)
    for line, begin in lines():
        job = json.loads(line)
        if "cancel" in job:
            continue
        print(begin, job["id"], file=times)
        print(json.dumps({"id": job["id"], "result": "done"}), file=answers)
PYTHON
mkdir -p "$work/conf.d"
program="argv = ( \"$(command -v python3)\", \"$work/imports.py\", \"$imports.0\""
more="env = { NOTES = \"$work\"; }; lines = true"
cat >"$work/conf.d/exec.conf" <<CONF
plugins = { config = { exec = {
    serial = { $program, "" ); $more; };
    parallel = { $program, "" ); $more; parallel = 50; };
    hello = { $program, "hello" ); $more; parallel = 50; programs = 2; hello = true; };
}; }; };
limits = ( { type = "exec.*"; max = 5; per = 1.0; } );
CONF
configure 'workers = 3;' 'lease = 60.0;' 'drain = 60.0;'

round=1
while [ "$round" -le "${LATER_SOAK:-1}" ]; do
    for program in serial parallel hello; do
        of="round $round, $program"
        rm -f "$work/times" "$work/starts"
        redis_all FLUSHALL >/dev/null
        start_laterd
        seq "$jobs" | sed "s/.*/{\"type\":\"exec.$program\",\"id\":\"$program-&\"}/" | later push --file - >/dev/null
        awaited 60 "$of: a fifth has begun" reached times $((jobs / 5))
        before=$(lines starts)
        kill -HUP "$laterd_pid"
        awaited 60 "$of: reloaded" eval '[ "$(how_often "reloaded: ")" = 1 ]'
        awaited 60 "$of: programs start after the reload" reached starts $((before + 1))
        awaited 60 "$of: half of them have begun" reached times $((jobs / 2))
        before=$(lines starts)
        stop_laterd
        is "$exited" 0 "$of: laterd ends with 0"
        start_laterd
        awaited 60 "$of: programs start after the restart" reached starts $((before + 1))
        within 90 "$of: all begin" reached times "$jobs"
        within 20 "$of: all end" counts 'done' "$jobs"
        at_most "$(most_begun)" 5 "$of: at most 5 in any second"
        is "$(awk '{ print $3 }' "$work/times" | sort -u | wc -l)" "$jobs" "$of: each of them"
        stop_laterd
    done
    round=$((round + 1))
done
finish
