#!/bin/sh
# flows.sh [JOBS [STEPS]]: a batch of JOBS (100000) null jobs with one that waits for all, and a chain of
# STEPS (2000): how long pushing and running take, and Redis's own CPU time. Run it from the build tree:
# sh tests/bench/flows.sh.
. "${top_srcdir:=.}/tests/system/daemon.sh"

jobs=${1:-100000} steps=${2:-2000}
start_redis
configure 'workers = 2;' ''

now() { date +%s.%N; }
cpu() { redis INFO cpu | tr -d '\r' | "$AWK" -F: '/^used_cpu_(user|sys):/ { sum += $2 } END { print sum }'; }
begin() { cpu_began=$(cpu) began=$(now); }
# told WHAT COUNT: since begin.
told()
{
    "$AWK" -v what="$1" -v count="$2" -v at="$(now)" -v began="$began" -v cpu="$(cpu)" -v cpu_began="$cpu_began" 'BEGIN {
        printf "%s\t%.2f s\t%.1f us each\tof it Redis %.1f us\n", what, at - began,
            (at - began) * 1e6 / count, (cpu - cpu_began) * 1e6 / count }'
}

"$AWK" -v n="$jobs" 'BEGIN {
    for (i = 0; i < n; i++) print "{\"type\":\"null\"}"
    print "{\"type\":\"null\",\"step\":\"end\",\"after\":[\"*\"]}" }' >"$work/batch"
"$AWK" -v n="$steps" 'BEGIN {
    for (i = 1; i <= n; i++)
        print "{\"type\":\"null\",\"step\":\"s" i "\"" (i > 1 ? ",\"after\":[\"s" i - 1 "\"]" : "") "}" }' >"$work/chain"
bytes=$(redis INFO memory | tr -d '\r' | sed -n 's/^used_memory://p')
begin
later push --flow batch --file "$work/batch" >/dev/null
told "batch: push" "$jobs"
redis INFO memory | tr -d '\r' | "$AWK" -F: -v before="$bytes" -v jobs="$jobs" '
    $1 == "used_memory" { printf "batch: memory\t%.0f bytes each\n", ($2 - before) / jobs }'
redis CONFIG SET slowlog-log-slower-than 10000 >/dev/null
redis SLOWLOG RESET >/dev/null
begin
start_laterd
later flow wait batch --timeout 10m >/dev/null
told "batch: run" "$jobs"
printf "batch: calls of Redis over 10 ms, of which it notes 128\t%s\n" "$(redis SLOWLOG LEN)"
later pause default >/dev/null
begin
later push --flow chain --file "$work/chain" >/dev/null
told "chain: push" "$steps"
begin
later resume default >/dev/null
later flow wait chain --timeout 10m >/dev/null
told "chain: run" "$steps"
stop_laterd
