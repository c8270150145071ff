#!/bin/sh
# flows.sh [JOBS [ROUNDS [STEPS]]]: a batch of JOBS (10000) null jobs with one that waits for all, and a chain of
# STEPS (1000), on laterd with one worker and on BullMQ, in turns, each by loopback TCP: pushed first, then run. Of
# the chain: how long after one step's end the next one begins, and Redis's CPU time of a step that runs. 0: none. One
# JSON object a line. From the build tree, after `make bench-ready`, with $BULLMQ/node_modules/bullmq and node
# installed. `taskset -c 0` before it: all on one processor.
. "${top_srcdir:=.}/tests/system/daemon.sh"

jobs=${1:-10000} left=${2:-3} steps=${3:-1000} port=${PEERS_PORT:-17392}

now() { date +%s.%N; }
of() { redis INFO "$1" | tr -d '\r' | "$AWK" -F: -v names="$2" 'index(names, $1) { sum += $2 } END { printf "%f", sum }'; }
cpu() { of cpu 'used_cpu_user used_cpu_sys'; }
calc() { "$AWK" "BEGIN { printf \"%.$1f\", $2 }"; }

"$AWK" -v n="$jobs" 'BEGIN {
    for (i = 0; i < n; i++) print "{\"type\":\"null\"}"
    print "{\"type\":\"null\",\"step\":\"end\",\"after\":[\"*\"]}" }' >"$work/batch"
"$AWK" -v n="$steps" 'BEGIN {
    for (i = 1; i <= n; i++)
        printf "{\"type\":\"probe.mark\",\"payload\":{\"at\":%d},\"step\":\"s%d\"%s}\n", i, i,
            (i > 1 ? ",\"after\":[\"s" i - 1 "\"]" : "") }' >"$work/chain"

# The same for both: without the shared clock of start_redis.
start_server()
{
    redis-server --port "$port" --bind 127.0.0.1 --save '' --dir "$work" --logfile "$work/server.log" &
    server=$!
    own "$server"
    # shellcheck disable=SC2034 # of lib.sh
    redis_cli="redis-cli -p $port"
    LATER_REDIS_URL=redis://127.0.0.1:$port
    export LATER_REDIS_URL
    awaited 20 "redis-server starts" redis_answers >&2
}

stop_server()
{
    kill "$server"
    wait "$server"
}

# with_laterd SCENARIO, with_bullmq SCENARIO. BullMQ goes down a chain by recursion, and needs a larger stack for 10,000.
with_laterd()
{
    start_server
    {
        echo "redis = { url = \"$LATER_REDIS_URL\"; }; state_dir = \"$work/state\"; workers = 1;"
        echo "plugins = { dir = \"$top_builddir/tests/bench/jobs\"; config = { probe = { file = \"$work/probe\"; }; }; };"
    } >"$work/laterd.conf"
    "laterd_$1"
    stop_laterd
    stop_server
}

with_bullmq()
{
    start_server
    chain=0
    [ "$1" = batch ] || chain=$steps
    JOBS=$jobs STEPS=$chain NODE_PATH=$BULLMQ/node_modules REDIS_PORT=$port \
        node --stack-size=3900 "$top_srcdir/tests/bench/peers/bullmq_flow.js"
    stop_server
}

laterd_batch()
{
    later pause default >/dev/null
    bytes=$(of memory used_memory) before=$(cpu) began=$(now)
    later push --flow batch --file "$work/batch" >/dev/null
    pushed=$(now)
    bytes=$(calc 0 "($(of memory used_memory) - $bytes) / $jobs")
    start_laterd
    began_run=$(now)
    later resume default >/dev/null
    later flow wait batch --timeout 10m >/dev/null
    ended=$(now)
    printf '{"bench":"flow","peer":"laterd","jobs":%d,"push_s":%s,"run_rate":%s,"redis_us":%s,"bytes":%s}\n' "$jobs" \
        "$(calc 3 "$pushed - $began")" "$(calc 0 "$jobs / ($ended - $began_run)")" \
        "$(calc 1 "($(cpu) - $before) / $jobs * 1e6")" "$bytes"
}

# A step that only notes when it began has ended then, too.
laterd_chain()
{
    rm -f "$work/probe"
    later pause default >/dev/null
    later push --flow chain --file "$work/chain" >/dev/null
    start_laterd
    before=$(cpu)
    later resume default >/dev/null
    later flow wait chain --timeout 10m >/dev/null
    used=$(calc 9 "$(cpu) - $before")
    od -An -v -w16 -t f8 "$work/probe" | "$AWK" 'NR > 1 { printf "%.6f\n", ($2 - before) * 1e3 } { before = $2 }' |
        sort -n | "$AWK" -v steps="$steps" -v used="$used" '
            { gap[NR] = $1 }
            function part(p, at) { at = int(p * NR); return gap[at < p * NR ? at + 1 : at] }
            END { printf "{\"bench\":\"chain\",\"peer\":\"laterd\",\"steps\":%d,\"p50_ms\":%.3f,\"p99_ms\":%.3f," \
                "\"max_ms\":%.3f,\"redis_us\":%.1f}\n", NR + 1, part(0.5), part(0.99), part(1), used / steps * 1e6 }'
}

top_builddir=$(cd "$top_builddir" && pwd)
while [ "$left" -gt 0 ]; do
    for scenario in batch chain; do
        [ "$scenario" = batch ] && [ "$jobs" -eq 0 ] && continue
        [ "$scenario" = chain ] && [ "$steps" -eq 0 ] && continue
        with_laterd "$scenario"
        with_bullmq "$scenario"
    done
    left=$((left - 1))
done
