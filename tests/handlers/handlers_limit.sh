#!/bin/sh
# A limit holds while programs start, over reloads: no more jobs begin in its span than
# it allows, as the programs see it. A span is longer than the test.
. "${top_srcdir:=.}/tests/system/daemon.sh"
. "$top_srcdir/tests/handlers/begins_lib.sh"
needs python3
start_redis

# Each starts until the file `go` is there. `hello` says so, the others read their first line then.
cat >"$work/slow.py" <<'PYTHON'
import json, os, sys, time

notes = os.environ["NOTES"]


def note(name, word):
    with open(notes + "/" + name, "a") as file:
        print(word, file=file)


note("starts", os.getpid())
while not os.path.exists(notes + "/go"):
    time.sleep(0.02)
with open(3, "w", buffering=1) as answers:
    if sys.argv[1] == "hello":
        print('{"hello":1,"types":[{"name":"exec.hello"}]}', file=answers)
    for line in sys.stdin:
        job = json.loads(line)
        if "cancel" in job:
            continue
        note("handed", job["id"])
        print(json.dumps({"id": job["id"], "result": "done"}), file=answers)
PYTHON
# The first process is quick to start, the second waits for `go`; `hold` ends when `end` is there.
cat >"$work/one.sh" <<'SH'
echo start >>"$NOTES/starts"
[ "$(wc -l <"$NOTES/starts")" = 1 ] || while [ ! -e "$NOTES/go" ]; do sleep 0.05; done
while read -r line; do
    id=${line#*\"id\":\"} id=${id%%\"*}
    echo "$id" >>"$NOTES/handed"
    [ "$id" != hold ] || while [ ! -e "$NOTES/end" ]; do sleep 0.05; done
    echo "{\"id\":\"$id\",\"result\":\"done\"}" >&3
done
SH
mkdir -p "$work/conf.d"
slow="argv = ( \"$(command -v python3)\", \"$work/slow.py\""
cat >"$work/conf.d/exec.conf" <<CONF
plugins = { config = { exec = {
    serial = { $slow, "" ); env = { NOTES = "$work"; }; lines = true; };
    parallel = { $slow, "" ); env = { NOTES = "$work"; }; lines = true; parallel = 50; };
    one = { argv = ( "/bin/sh", "$work/one.sh" ); env = { NOTES = "$work"; }; lines = true; parallel = 1; };
    hello = { $slow, "hello" ); env = { NOTES = "$work"; }; lines = true; parallel = 50; programs = 2;
              hello = true; };
}; }; };
limits = ( { type = "exec.serial"; max = 2; per = 1000; }, { type = "exec.parallel"; max = 2; per = 1000; },
           { type = "exec.hello"; max = 2; per = 1000; } );
CONF
cp "$work/conf.d/exec.conf" "$work"
configure 'workers = 3;' 'lease = 3600.0;' 'drain = 3600.0;'

# A span has passed: nothing that has begun in it counts any more.
pass_span()
{
    redis DEL "later:limit:{type:exec.$program}" >/dev/null
}

# push_ten FIRST: pushes ten jobs. There is a program more than $before, for these or for those that were
# pushed before and may begin now.
push_ten()
{
    seq "$1" $(($1 + 9)) | sed "s/.*/{\"type\":\"exec.$program\",\"id\":\"$program-&\"}/" |
        later push --file - >/dev/null
    within 20 "$program: a program starts for job $1 and those after it" reached starts $((before + 1))
}

for program in serial parallel hello; do
    rm -f "$work/go" "$work/starts" "$work/handed"
    redis_all FLUSHALL >/dev/null
    start_laterd
    before=0
    push_ten 1
    for first in 11 21; do
        before=$(lines starts)
        pass_span
        kill -HUP "$laterd_pid"
        awaited 20 "$program: reloaded" eval '[ "$(how_often "reloaded: ")" = $((first / 10)) ]'
        push_ten "$first"
    done
    touch "$work/go"
    within 20 "$program: when they are ready their jobs begin" reached handed 2
    later push null --id "after-$program" >/dev/null
    within 20 "$program: another job is done after them" unknown "after-$program"
    is "$(lines handed)" 2 "$program: but of thirty jobs no more than the limit says"
    stop_laterd
    is "$exited" 0 "$program: laterd ends with 0"
    is "$(lines handed)" 2 "$program: nor does one begin at the end"
    runs "$program: the sums hold" conserved
done

# A program that is busy elsewhere reads late what it was handed in time: its limit counts from then.
program_begins >"$work/begins.py"
cat >"$work/late.py" <<'PYTHON'
import json, os, time

from begins import lines

begun = 0
with open(3, "w", buffering=1) as answers, open(os.environ["NOTES"] + "/times", "a", 1) as times:
    for line, begin in lines():
        job = json.loads(line)
        if "cancel" in job:
            continue
        print(begin, file=times)
        begun += 1
        print(json.dumps({"id": job["id"], "result": "done"}), file=answers)
        if begun == 5:
            time.sleep(1.9)
PYTHON
late="argv = ( \"$(command -v python3)\", \"$work/late.py\" ); env = { NOTES = \"$work\"; }; lines = true"
cat >"$work/conf.d/exec.conf" <<CONF
plugins = { config = { exec = { serial = { $late; }; parallel = { $late; parallel = 50; }; }; }; };
limits = ( { type = "exec.*"; max = 5; per = 1.0; } );
CONF
configure 'workers = 1;' 'lease = 3600.0;'
for program in serial parallel; do
    rm -f "$work/times"
    redis_all FLUSHALL >/dev/null
    start_laterd
    seq 25 | sed "s/.*/{\"type\":\"exec.$program\",\"id\":\"$program-&\"}/" | later push --file - >/dev/null
    within 60 "$program: all of a program that reads late begin" reached times 25
    at_most "$(most_begun)" 5 "$program: no more in any second than the limit says, as it saw them"
    stop_laterd
done

# A worker whose program starts leaves what comes to the others.
rm -f "$work/go" "$work/starts" "$work/handed"
redis_all FLUSHALL >/dev/null
cp "$work/exec.conf" "$work/conf.d"
configure 'workers = 2;'
start_laterd
push_job hold '"type":"exec.one"'
wait_until 20 reached handed 1
push_job waits '"type":"exec.one"'
wait_until 20 reached starts 2
touch "$work/end"
within 20 "the one program is free again" unknown hold
[ "$redis_kind" = cluster ] || within 20 "only its worker waits for wakes" blocks 1
for i in 1 2 3 4 5; do
    push_job "quick-$i" '"type":"exec.one"'
    within 20 "while the other starts, a job is done by the one that is ready" unknown "quick-$i"
done
touch "$work/go"
within 20 "the job that waited for the other is done by it" unknown waits
end_well
finish
