#!/bin/sh
# A program gets its job's line before the worker writes anything to Redis, for example asks for more: so the job
# begins as soon as it can. Not its time is looked at, but the order of the worker's system calls (order_shim.c).
. "${top_srcdir:=.}/tests/system/daemon.sh"
needs python3
start_redis

cat >"$work/lines.py" <<'PYTHON'
import json, sys

answers = open(3, "w", buffering=1)
for line in sys.stdin:
    print(json.dumps({"id": json.loads(line)["id"], "result": "done"}), file=answers)
PYTHON
cat >"$work/laterd" <<LATERD
#!/bin/sh
exec env LD_PRELOAD="$built/tests/support/order_shim.so" ORDER_LOG="$work/order" "$laterd_bin" "\$@"
LATERD
chmod +x "$work/laterd"
laterd_bin=$work/laterd
mkdir -p "$work/conf.d"
cat >"$work/conf.d/exec.conf" <<CONF
plugins = { config = { exec = {
    one = { argv = ( "$(command -v python3)", "$work/lines.py" ); lines = true; };
    many = { argv = ( "$(command -v python3)", "$work/lines.py" ); lines = true; parallel = 10; };
}; }; };
CONF
configure 'workers = 1;'
start_laterd

# performed ID TYPE: pushes a job to a worker that waits, and waits for its end.
performed()
{
    awaited 20 "$1: the worker waits" blocks 1
    push_job "$1" "\"type\":\"exec.$2\""
    awaited 20 "$1: it has ended" settled
}

# What was written to Redis between a job and its line; and how many jobs had one.
out_of_order()
{
    awk -v worker="$1" -v kind="$2" '
        $1 != worker { next }
        $2 == "got" && match($0, kind "-[0-9]+") { job = substr($0, RSTART, RLENGTH) }
        $2 == "sent" && job != "" { print job ": " substr($0, 1, 100) }
        $2 == "piped" && job != "" && index($0, "\"id\":\"" job "\"") { lines++; job = "" }
        END { print lines + 0 }' "$work/order"
}

for kind in one many; do
    # Its program is started; it has shown that it takes several jobs, so no answer of a reserve is full, after which
    # the worker asks for more ahead.
    performed "start-$kind" "$kind"
    performed "show-$kind" "$kind"
    for n in 1 2 3 4 5; do
        performed "$kind-$n" "$kind"
    done
    is "$(out_of_order "$(workers)" "$kind")" 5 "exec.$kind: the worker writes nothing to Redis between a job and its line"
done
stop_laterd
finish
