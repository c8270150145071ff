#!/bin/sh
# graphs.sh [GRAPHS [STEPS]]: so many (50) flows one after the other, each a random graph of 30 steps (STEPS), each of
# which waits for up to three of those before it; all in one queue, and then over three queues. How long each took: from
# the first call of its push, and from its first step, to the end of its last. Run it from the build tree: sh
# tests/bench/graphs.sh; with LATER_TEST_REDIS=cluster the three queues are on three nodes.
. "${top_srcdir:=.}/tests/system/daemon.sh"

graphs=${1:-50} steps=${2:-30}
start_redis
configure 'workers = 2;' 'queues = ( { name = "a"; }, { name = "b"; }, { name = "c"; } );'
start_laterd

# graph SEED QUEUES: its lines; about 65 edges.
graph()
{
    "$AWK" -v seed="$1" -v queues="$2" -v n="$steps" 'BEGIN {
        srand(seed)
        for (i = 1; i <= n; i++) {
            split("", named)
            after = ""
            for (k = int(1 + 3.6 * rand()); k > 0 && i > 1; k--) {
                one = int(1 + (i - 1) * rand())
                if (!(one in named)) after = after (after == "" ? "" : ",") "\"s" one "\""
                named[one]
            }
            printf "{\"type\":\"do\",\"payload\":{\"do\":\"done\"},\"step\":\"s%d\",\"queue\":\"%s\"%s}\n", i,
                substr("abc", 1 + int(queues * rand()), 1), after == "" ? "" : ",\"after\":[" after "]"
        } }'
}

# run QUEUES: prints a line for these.
run_graphs()
{
    for i in $(seq "$graphs"); do
        graph "$i" "$1" >"$work/graph"
        later push --flow "g$1.$i" --file "$work/graph" >/dev/null
        later flow wait "g$1.$i" --timeout 1m >/dev/null
    done
    later flow --json -n 10000 >"$work/shown"
    "$AWK" -v flows="g$1." -v n="$steps" -v graphs="$graphs" '
        function flow_of(id) { split(id, parts, "."); return parts[1] "." parts[2] }
        FILENAME ~ /shown$/ {
            if (match($0, /"flow":"[^"]*"/)) flow = substr($0, RSTART + 8, RLENGTH - 9)
            if (match($0, /"made":[0-9.]*/)) made[flow] = substr($0, RSTART + 7, RLENGTH - 7)
            next
        }
        index($1, flows) != 1 { next }
        FILENAME ~ /ended$/ { f = flow_of($1); ended[f]++; if ($5 > last[f]) last[f] = $5; next }
        { f = flow_of($1); if (!(f in first) || $4 < first[f]) first[f] = $4 }
        END {
            for (f in last) if (ended[f] == n) print (last[f] - made[f]) * 1000, (last[f] - first[f]) * 1000
        }' "$work/shown" "$work/ended" "$work/begun" | sort -n >"$work/times"
    "$AWK" -v queues="$1" -v graphs="$graphs" '
        { pushed[NR] = $1; begun[NR] = $2 }
        function line(what, k) {
            printf "%d queues\t%s\t%.1f ms from its push\t%.1f ms from its first step\n", queues, what, pushed[k], begun[k]
        }
        END { line("p50", int((graphs + 1) / 2)); line("p90", int(graphs * 0.9)) }' "$work/times"
    is "$(wc -l <"$work/times")" "$graphs" "each step of $graphs graphs was done"
}

run_graphs 1
run_graphs 3
end_well
finish
