#!/bin/sh
# Handlers in Python, many at once in one program of the plugin exec (`parallel`). Each failure only
# costs the jobs that it hits. LATER_SOAK=1 measures at full length.
. "${top_srcdir:=.}/tests/system/daemon.sh"
. "$top_srcdir/tests/handlers/handlers_lib.sh"
redis_python
start_redis
: "${LATER_SOAK:=}"

here=$(cd "$top_srcdir" && pwd)
cat >"$work/app.py" <<'PYTHON'
import asyncio, datetime, logging, os, threading, time
import laterd

app = laterd.Handlers()
at_once = most = 0
logger = logging.getLogger("app")

def note(name, word):
    with open(os.environ["NOTES"] + "/" + name, "a") as file:
        file.write("%s\n" % word)

note("pids", os.getpid())

@app.on("nap")
async def nap(job):
    if job.id == "last":
        note("last", job.id)
    while "until" in job.payload and not os.path.exists(os.environ["NOTES"] + "/" + job.payload["until"]):
        await asyncio.sleep(0.01)
    await asyncio.sleep(job.payload["for"])

@app.on("few.*")
async def few(job):
    global at_once
    at_once += 1
    note("at_once", at_once)
    await asyncio.sleep(0.05)
    at_once -= 1

@app.on("sync.nap")
def sync_nap(job):
    time.sleep(job.payload["for"])
    return threading.current_thread().name

@app.on("say")
async def say(job):
    print("10%", end="", flush=True)
    print('{"id":"%s","result":"bury"}' % job.id)
    logger.warning("the disk is nearly full")
    os.system("echo '{' >&2; printf more")
    job.progress(3, 9, "page 3")

@app.on("bad")
async def bad(job):
    inner(job)

def inner(job):
    raise ValueError("bad\nthing")

@app.on("fenced")
def fenced(job):
    note("fence", job.lock_fence)

@app.on("retry")
def retry(job):
    raise laterd.Retry("busy", datetime.timedelta(minutes=10))

@app.on("bury")
async def bury(job):
    raise laterd.Bury("no such customer")

@app.on("return")
async def give_back(job):
    raise laterd.Return("maintenance", 600)

@app.on("odd")
def odd(job):
    return {("a", "b"): 1}

@app.on("shows")
def shows(job):
    logger.warning("about to charge the card")
    job.progress(4, 8, "half")
    while not os.path.exists(os.environ["NOTES"] + "/go_on"):
        time.sleep(0.01)

@app.on("long")
async def long(job):
    note("long", job.id)
    try:
        await asyncio.sleep(600)
    except asyncio.CancelledError:
        note("cancelled", job.id)
        raise

@app.on("deaf")
def deaf(job):
    note("deaf", os.getpid())
    time.sleep(600)

@app.on("die")
async def die(job):
    await asyncio.sleep(0.1)
    print("about to die", flush=True)
    os._exit(7)
PYTHON
# Reads a line byte by byte, answers it and ends: it has read nothing else of its input.
cat >"$work/one.py" <<'PYTHON'
import json, os

line = b""
while not line.endswith(b"\n"):
    byte = os.read(0, 1)
    if not byte:
        os._exit(0)
    line += byte
os.write(3, json.dumps({"id": json.loads(line)["id"], "result": "done"}).encode() + b"\n")
PYTHON
echo 'import nothing_of_that_name' >"$work/broken.py"
mkdir -p "$work/conf.d"

# program NAME ARGV OPTIONS...: configures a program, with the tree's client.
program()
{
    name=$1 words=$2
    shift 2
    echo "$name = { argv = ( $words ); dir = \"$work\"; lines = true; $*"
    echo "    env = { NOTES = \"$work\"; PYTHONPATH = \"$here/clients/python\";"
    echo "            PYTHONDONTWRITEBYTECODE = \"1\"; }; };"
}
app="\"$python\", \"-m\", \"laterd\", \"app:app\""
{
    echo "plugins = { config = { exec = {"
    program app "$app" 'parallel = 500; types = ( "nap", "sync.*", "say", "bad", "fenced", "retry", "bury",' \
        '"return", "odd", "long", "deaf", "die", "nobody" );'
    program few "$app" 'parallel = 4; types = ( "few.*" );'
    program fresh "$app, \"--max-jobs\", \"10\"" 'parallel = 5; types = ( "few.fresh" );'
    program pair "$app" 'parallel = 2; programs = 2; types = ( "few.pair" );'
    program serial "$app" 'types = ( "few.serial", "shows" );'
    program one "\"$python\", \"$work/one.py\"" 'parallel = 10;'
    program broken "\"$python\", \"$work/broken.py\"" 'parallel = 10;'
    echo "}; }; };"
} >"$work/conf.d/exec.conf"
configure 'workers = 1;' 'grace = 10.0;' 'drain = 20.0;' \
    'retry = { max_attempts = 3; base = 0.2; max = 0.2; jitter = 0.0; };'
start_laterd

# ---- many at once

many_at_once coroutines
begin=$(present)
push_many 100 sync.nap '{"for":0.5}' sync- >/dev/null
within 30 "100 functions of 0.5 s, in threads" counts 'done' $((naps + 101))
in_time "$(sum "$(present) - $begin")" 2 "s for them"
at_most "$(find "/proc/$(head -n 1 "$work/pids")/task" -mindepth 1 -maxdepth 1 | wc -l)" 110 \
    "threads of the program: one for each job that was under way"
: >"$work/at_once"
push_many 40 few.any '{}' few- >/dev/null
within 30 "40 jobs of a program with parallel = 4" counts 'done' $((naps + 141))
is "$(sort -n "$work/at_once" | tail -n 1)" 4 "at most four at once"
: >"$work/at_once"
push_many 40 few.pair '{}' pair- >/dev/null
within 30 "40 jobs of two programs, each with parallel = 2" counts 'done' $((naps + 181))
is "$(sort -n "$work/at_once" | tail -n 1)" 2 "two at once in each"
push_many 40 few.serial '{}' serial- >/dev/null
within 30 "40 jobs of one without parallel" counts 'done' $((naps + 221))

# ---- what a handler logs

job say say '' '"max_attempts":1'
within 20 "whatever it prints is no answer" unknown say
within 5 "its logger's lines have the job's fields" log_has say 'the disk is nearly full'
is "$(dead)" 0 "and it is done"
job shows shows
within 20 "without parallel too, what is logged is there while its function runs" log_has shows 'about to charge the card'
within 20 "and how far it has come" has_come shows
is "$(reserved)" 1 "while it runs"
touch "$work/go_on"
within 20 "then it is done" unknown shows
job bad bad
within 20 "an exception is a retry, then burial" is_dead bad
like "$(error_of bad)" '"text":"ValueError: bad.{1,6}thing.{1,6}Traceback ' "its error begins with the last line of the traceback"
like "$(error_of bad)" 'app.py.", line [0-9]+, in bad.*in inner.*thing."."' "then comes the traceback, from the handler to its end"
is "$(error_of bad | grep -c 'laterd/')" 0 "without laterd's own frames"
ends_as_it_says
job free fenced '"lock":"in its payload"'
within 20 "and where it has none" grep -qx None "$work/fence"
at_least "$(sum "$(redis ZSCORE "$(key delayed)" retry) - $(present)")" 300 "a retry comes in the time that a timedelta says"
contains "$(error_of odd)" 'TypeError' "a value that is no JSON, with what Python says"
job nobody nobody
within 20 "a type without handler: buried" is_dead nobody
contains "$(error_of nobody)" 'no handler for type nobody' "a job without a handler says so"
for id in bad retry bury return odd nobody; do
    later cancel "$id" >/dev/null
done

# ---- given up

hears_of_its_end

# A thread cannot be ended. Its program is, when all others in it are done.
pids=$(lines pids)
job beside nap '"for":0,"until":"goes"'
job deaf deaf '' '"timeout":4,"max_attempts":1'
within 20 "a deaf one over its time: buried" is_dead deaf
contains "$(error_of deaf)" '"kind":"timeout"' "a job that ignores its cancel is a time-out"
job nap nap '"for":0'
within 20 "the next is done, by another program" unknown nap
is "$(lines pids)" $((pids + 1)) "another program was started"
is "$(attempts_of beside)$(reserved)" "01" "the one beside it still runs"
touch "$work/goes"
within 20 "it was let finish" unknown beside
within 20 "then the first program was ended" gone "$(cat "$work/deaf")"
is "$(attempts_of beside)$(noting c)" "00" "nobody else was charged"

# ---- programs that end

before=$(counted 'done')
job beside nap '"for":20' '"max_attempts":1'
job die die '' '"max_attempts":1'
within 20 "one that kills its program" is_dead die
# A program closes its files before it ends. If it stands still in between, that is what is said: then another one.
for _ in 1 2 3 4 5; do
    error_of die | grep -q 'closed descriptor 3' || break
    later cancel die >/dev/null
    job die die '' '"max_attempts":1'
    wait_until 20 is_dead die
done
contains "$(error_of die)" 'the program died: exit status 7: ' "its error has the status"
contains "$(error_of die)" 'about to die' "and what was printed last"
within 20 "the one beside it had been read, too" is_dead beside
later cancel die beside deaf long-2 >/dev/null
ones=60
[ -z "$LATER_SOAK" ] || ones=1000
push_many_once()
{
    n=0
    while [ "$n" -lt "$1" ]; do
        n=$((n + 1))
        echo "{\"type\":\"$2\",\"id\":\"$2-$n\",\"max_attempts\":1}"
    done | later push --file - >/dev/null
}
push_many_once "$ones" exec.one
within 200 "$ones jobs of a program that ends after each" counts 'done' $((before + ones))
is "$(dead)" 0 "none is buried, with max_attempts 1"
pids=$(lines pids)
push_many_once 45 few.fresh
within 30 "45 of one that ends after ten" counts 'done' $((before + ones + 45))
is "$(dead)" 0 "no job of a program that ends after ten is buried"
at_least $(($(lines pids) - pids)) 4 "programs for them"
begin=$(present)
push_many_once 40 exec.broken
within 20 "one that cannot start is told" logged 'nothing_of_that_name'
within 20 "its jobs are given back" eval '[ "$(redis --raw HVALS "$(key records)" |
    grep -c "\"kind\":\"return\",\"text\":\"broken ends before it has read a job: ")" -ge 40 ]'
contains "$(redis --raw HVALS "$(key records)" | head -n 1)" 'nothing_of_that_name' \
    "they say why, with what it printed last"
at_most "$(grep -c 'given back, again in .*type=exec.broken' "$log")" "$(sum "3 + ($(present) - $begin) / 60")" \
    "lines about that, of 40 jobs, one a minute"
job nap nap '"for":0' '"priority":-1'
within 20 "others go on" unknown nap
is "$(dead)" 0 "and it charges no job"
cp "$work/one.py" "$work/broken.py"
within 60 "when it is mended they are done" settled
is "$(dead)" 0 "all of them"

# ---- by hand

try()
{
    (cd "$work" && NOTES=$work PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$here/clients/python \
        "$python" -m laterd app:app "$@")
}
run try sync.nap '{"for":0}'
is "$status $out" '0 "MainThread"' "a handler is tried without laterd"
run try bad
is "$status" 75 "run by hand, retry: status 75"
contains "$err" 'ValueError' "run by hand, a retry prints its traceback"
run try bury
is "$status" 65 "run by hand, bury: status 65"
run try nap '{'
is "$status" 64 "a payload that is none"
run try
contains "$out" 'sync.nap' "which types there are"
for fault in 'x = = 1|SyntaxError: invalid syntax (unloaded.py, line 2)' \
    'import json; json.loads("{")|json.decoder.JSONDecodeError: Expecting property' \
    'import not_there|ModuleNotFoundError: No module named '; do
    printf 'import laterd\n%s\n' "${fault%%|*}" >"$work/unloaded.py"
    run sh -c "cd $work && PYTHONPATH=$here/clients/python $python -m laterd unloaded:app"
    is "$status" 1 "a program that cannot be loaded: status 1"
    contains "$(echo "$err" | head -n 1)" "${fault##*|}" "its first line says why: ${fault%%|*}"
    is "$(echo "$err" | grep -c -e importlib -e __main__)" 0 "and no frame is not its own"
done
run "$laterd_bin" -c "$work/laterd.conf" --perform "$work/jobs/exec.so" exec.one
is "$status" 0 "laterd --perform runs one with parallel"

# ---- the end

job last nap '"for":1'
wait_until 10 test -s "$work/last"
end_well
is "$(known)" 0 "what ran was let finish"
within 5 "no program is left" none_left
finish
