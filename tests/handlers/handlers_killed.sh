#!/bin/sh
# Programs, workers and laterd are killed while Python performs jobs. None is lost, and a job only
# runs twice if the program of its first run was killed. LATER_SOAK=1: 10,000 jobs.
. "${top_srcdir:=.}/tests/system/daemon.sh"
needs python3
start_redis
: "${LATER_SOAK:=}"
here=$(cd "$top_srcdir" && pwd)
mkdir -p "$work/conf.d"

cat >"$work/app.py" <<'PYTHON'
import asyncio, os
import laterd

app = laterd.Handlers()
notes = os.open(os.environ["NOTES"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)

@app.on("py.note")
async def note(job):
    os.write(notes, ("begin %s %d\n" % (job.id, os.getpid())).encode())
    await asyncio.sleep(0.02)
    os.write(notes, ("end %s %d\n" % (job.id, os.getpid())).encode())
PYTHON
cat >"$work/conf.d/exec.conf" <<CONF
plugins = { config = { exec = {
    app = { argv = ( "$(command -v python3)", "-m", "laterd", "app:app" ); dir = "$work"; lines = true;
            parallel = 20; types = ( "py.note" );
            env = { NOTES = "$work/notes"; PYTHONPATH = "$here/clients/python";
                    PYTHONDONTWRITEBYTECODE = "1"; }; };
}; }; };
CONF
configure 'workers = 2;' 'retry = { max_attempts = 100; base = 0.0; max = 0.1; };' 'crash_max = 100;'
start_laterd

# They are pushed as they are performed, so that there is always something for a kill to interrupt.
part=166 kills=9
[ -z "$LATER_SOAK" ] || part=223 kills=45
jobs=$((part * kills))

# programs: prints those that have begun a job and live.
programs()
{
    awk '$1 == "begin" { print $3 }' "$work/notes" 2>/dev/null | sort -u | while read -r pid; do
        gone "$pid" || echo "$pid"
    done
}

# further N: have N more jobs begun?
further()
{
    [ "$(lines notes)" -ge $((noted_before + $1)) ]
}

killed=0 n=0
while [ "$n" -lt "$kills" ]; do
    noted_before=$(lines notes)
    push_many "$part" py.note '{}' "part$n-" >/dev/null
    wait_until 60 further 60 || break
    case $((n % 3)) in
    0) victim=$(programs | tail -n 1) ;;
    1) victim=$(workers | tail -n 1) ;;
    2) victim=$laterd_pid ;;
    esac
    if [ -n "$victim" ] && kill -KILL "$victim" 2>/dev/null; then
        killed=$((killed + 1))
    fi
    if [ "$victim" = "$laterd_pid" ]; then
        wait "$laterd_pid" 2>/dev/null
        launch
    fi
    n=$((n + 1))
done
at_least "$killed" 6 "were killed"
within 120 "all $jobs jobs are done" counts 'done' "$jobs"
is "$(known) $(dead)" "0 0" "none is lost, none buried"
is "$(awk '$1 == "end" { print $2 }' "$work/notes" | sort -u | wc -l)" "$jobs" "each has run to its end"

# Every run of a job but its last, with its process. A process that lives must not be among them.
alive=" $(programs | tr '\n' ' ')"
awk '$1 == "begin" { if ($2 in last) print last[$2], $2; last[$2] = $3 }' "$work/notes" >"$work/again"
unexplained=$(while read -r pid id; do
    case $alive in
    *" $pid "*) echo "$id" ;;
    esac
done <"$work/again")
is "$unexplained" "" "a job ran again only where its program was killed: $(wc -l <"$work/again") runs"
at_most "$(wc -l <"$work/again")" $((killed * 40)) "at most what two programs had in hand"
end_well
finish
