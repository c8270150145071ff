#!/bin/sh
# Handlers in Python that get one job at a time and are no coroutine functions: their program waits in read(2).
. "${top_srcdir:=.}/tests/system/lib.sh"
. "$top_srcdir/tests/handlers/lines_lib.sh"
redis_python
client=$(cd "$top_srcdir" && pwd)/clients/python
mkfifo "$work/in"
cat >"$work/app.py" <<'PYTHON'
import asyncio, os, time
import laterd

app = laterd.Handlers()

def note(word):
    open(os.path.join(os.environ["WORK"], word), "w").write("%d" % os.getpid())

async def twice(number):
    await asyncio.sleep(0)
    return 2 * number

@app.on("twice")
def runs_a_loop(job):
    return asyncio.run(twice(job.payload))

@app.on("awaited")
def awaited(job):
    return twice(job.payload)

@app.on("deaf")
def deaf(job):
    note("deaf")
    while True:
        try:
            time.sleep(60)
        except Exception:
            pass

@app.on("stops")
def stops(job):
    note("stops")
    while not job.stopping:
        time.sleep(0.001)
    return "it stops"
PYTHON

# start: starts the program, which reads what is written to descriptor 4.
start()
{
    (cd "$work" && PYTHONPATH=$client PYTHONDONTWRITEBYTECODE=1 LATER_ANSWERS=3 WORK=$work exec "$python" -m laterd app:app <"$work/in" 3>"$work/told" >/dev/null) &
    pid=$!
    exec 4>"$work/in"
    told '"hello"'
}

# told TEXT: waits until it has written this.
told()
{
    wait_until 60 grep -q "$1" "$work/told" || not_ok "it writes $1" "$work/told"
}

# over: it has ended. Its exit status and its last answer are in $ended.
over()
{
    wait "$pid"
    ended="$? $(tail -n 1 "$work/told")"
    exec 4>&-
}

start
job 1 twice 21 >&4
job 2 awaited 4 >&4
exec 4>&-
over
contains "$(cat "$work/told")" '{"result":"done","id":"1","value":42}' "a function may have a loop of its own"
is "$ended" '0 {"result":"done","id":"2","value":8}' "what it gives back is awaited; it ends with its input"

start
job 3 twice 1 >&4
told '"id":"3"'
kill -TERM "$pid"
over
is "$ended" '0 {"result":"done","id":"3","value":2}' "SIGTERM ends it while it waits"

start
job 4 deaf >&4
wait_until 60 test -s "$work/deaf"
kill -TERM "$pid"
told '"id":"4"'
contains "$(cat "$work/told")" '"error":"laterd.handlers.TimeIsUp: laterd ends the program' "SIGTERM ends the job that runs"
job 5 stops >&4
wait_until 60 test -s "$work/stops"
printf '{"id":"5","stopping":true}\n' >&4
told '"id":"5"'
exec 4>&-
over
is "$ended" '0 {"result":"done","id":"5","value":"it stops"}' "and the next is performed"
finish
