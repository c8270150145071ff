#!/bin/sh
# flows.sh [JOBS [ROUNDS]]: a batch of JOBS (10000) null jobs with one that waits for all, on laterd with one
# worker and on BullMQ, in turns: pushed first, then run. One JSON object a line. From the build tree, with
# $BULLMQ/node_modules/bullmq and node installed.
. "${top_srcdir:=.}/tests/system/daemon.sh"

jobs=${1:-10000} left=${2:-3} port=${PEERS_PORT:-17392}

now() { date +%s.%N; }
of() { redis INFO "$1" | tr -d '\r' | "$AWK" -F: -v names="$2" 'index(names, $1) { sum += $2 } END { printf "%f", sum }'; }
cpu() { of cpu 'used_cpu_user used_cpu_sys'; }
calc() { "$AWK" "BEGIN { printf \"%.$1f\", $2 }"; }

"$AWK" -v n="$jobs" 'BEGIN {
    for (i = 0; i < n; i++) print "{\"type\":\"null\"}"
    print "{\"type\":\"null\",\"step\":\"end\",\"after\":[\"*\"]}" }' >"$work/batch"

with_laterd()
{
    start_redis
    bytes=$(of memory used_memory) before=$(cpu) began=$(now)
    later push --flow batch --file "$work/batch" >/dev/null
    pushed=$(now)
    bytes=$(calc 0 "($(of memory used_memory) - $bytes) / $jobs")
    start_laterd
    began_run=$(now)
    later flow wait batch --timeout 10m >/dev/null
    ended=$(now)
    printf '{"bench":"flow","peer":"laterd","jobs":%d,"push_s":%s,"run_rate":%s,"redis_us":%s,"bytes":%s}\n' "$jobs" \
        "$(calc 3 "$pushed - $began")" "$(calc 0 "$jobs / ($ended - $began_run)")" \
        "$(calc 1 "($(cpu) - $before) / $jobs * 1e6")" "$bytes"
    stop_laterd
    stop_redis
}

with_bullmq()
{
    redis-server --port "$port" --bind 127.0.0.1 --save '' --dir "$work" --logfile "$work/bullmq.log" &
    server=$!
    until redis-cli -p "$port" PING >/dev/null 2>&1; do sleep 0.05; done
    NODE_PATH=$BULLMQ/node_modules JOBS=$jobs REDIS_PORT=$port node "$top_srcdir/tests/bench/peers/bullmq_flow.js"
    kill "$server"
    wait "$server"
}

configure 'workers = 1;' ''
while [ "$left" -gt 0 ]; do
    with_laterd
    with_bullmq
    left=$((left - 1))
done
