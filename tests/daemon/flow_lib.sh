# flow_lib.sh: what the tests of flows under kills share, on top of daemon.sh: forty graphs, g1 to g40, of
# the steps begin, left, right, end and alarm, and a batch of 500 jobs with the step report.
# shellcheck shell=sh

# again: laterd is killed, and another one started.
again()
{
    kill -KILL "$laterd_pid"
    wait "$laterd_pid" 2>/dev/null
    launch
}

# push_batch_killed: pushes $work/batch three times; the push is killed, and so is laterd.
push_batch_killed()
{
    for n in 0.01 0.03 0.05; do
        timeout -s KILL "$n" "$later_bin" push --flow batch --file "$work/batch" >/dev/null 2>&1
        again
    done
}

all_flows_done() { [ "$(later flow --json | grep -c '"state":"done"')" = 41 ]; }

# flows_with COUNTS: prints how many flows have these.
flows_with() { later flow --json | grep -c "$1"; }

# graphs_done: has each of their jobs ended as it should?
graphs_done()
{
    is "$(flows_with '"total":5,"open":0,"waiting":0,"dead":0,"done":4,"gone":0,"skipped":1')" 40 \
        "four jobs of each graph are done, and its alarm was not needed"
    is "$(flows_with '"total":501,"open":0,"waiting":0,"dead":0,"done":501')" 1 "501 jobs of the batch are done"
}

# in_order: has the first beginning of each job come after the last end of those before it?
in_order()
{
    "$AWK" '
        FILENAME ~ /ended$/ { if ($5 > last[$1]) last[$1] = $5; next }
        !($1 in first) || $4 < first[$1] { first[$1] = $4 }
        END {
            for (i = 1; i <= 40; i++) {
                f = "g" i "."
                if (first[f "left"] >= last[f "begin"] && first[f "right"] >= last[f "begin"] &&
                    first[f "end"] >= last[f "left"] && first[f "end"] >= last[f "right"])
                    well++
            }
            for (id in last)
                if (id ~ /^batch:/ && last[id] > latest) latest = last[id]
            print well, (first["batch.report"] >= latest)
        }' "$work/ended" "$work/begun" >"$work/order"
    is "$(cat "$work/order")" "40 1" "nothing has begun before what it waits for had ended"
}
