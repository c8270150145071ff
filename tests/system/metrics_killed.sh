#!/bin/sh
# Counters never go back: they are read all the time while workers and laterds are killed (kill -9),
# laterds end and start, and a reload changes the workers.
#
# LATER_SOAK=N makes it N times as long.
. "${top_srcdir:=.}/tests/system/daemon.sh"
needs redis-server redis-cli
times=$((4 * ${LATER_SOAK:-1}))

start_redis
# crash_max is out of reach: on a slow machine one job can be the one that runs in each of the kills.
configure 'workers = 2; grace = 0.2; drain = 0.5; crash_max = 1000;' \
    'retry = { max_attempts = 1000; base = 0.01; max = 0.05; };' \
    'queues = ( { name = "default"; }, { name = "spread"; shards = 2; } );'
start_laterd

# ---- the reader: compares each reading with the one before, and notes a fault in $work/back

cat >"$work/backwards.awk" <<'AWK_END'
# Two readings: prints the counters that are less than before, or gone.
!/^#/ && $1 ~ /_(total|count|bucket|sum)([{]|$)/ {
    if (FILENAME == ARGV[1]) was[$1] = $2
    else now[$1] = $2
}
END {
    for (name in was)
        if (!(name in now)) print name " is gone"
        else if (now[name] + 0 < was[name] + 0) print name " was " was[name] ", is " now[name]
}
AWK_END
look()
{
    "$later_bin" metrics >"$work/before"
    while [ ! -e "$work/enough" ]; do
        "$later_bin" metrics >"$work/now"
        if grep -q '^laterd_redis_up 1' "$work/now"; then
            "$AWK" -f "$work/backwards.awk" "$work/before" "$work/now" >>"$work/back"
            echo >>"$work/scrapes"
            mv "$work/now" "$work/before"
        fi
    done
    : >"$work/looked"
}
: >"$work/back"
: >"$work/scrapes"
spawn look
scrapes() { wc -l <"$work/scrapes"; }

# ---- what happens meanwhile

# push: pushes some jobs of each kind, of a few milliseconds each.
pushed=0
push()
{
    seq 150 | sed 's/.*/{"type":"note"}/; n; s/.*/{"type":"note","queue":"spread"}/; n
        s/.*/{"type":"do","payload":{"id":"'"$1"'-&","do":"sleep","for":0.02}}/' |
        later push --file - >/dev/null
    pushed=$((pushed + 150))
}
seen_since() { [ "$(scrapes)" -ge $(($1 + 2)) ]; }
# looks_twice WHAT: waits until two more readings have ended.
looks_twice()
{
    from=$(scrapes)
    wait_until 60 seen_since "$from" || not_ok "scrapes go on: $1"
}
for round in $(seq "$times"); do
    push "$round"
    looks_twice 'jobs'
    for worker in $(workers); do
        kill -KILL "$worker"
    done
    looks_twice 'workers killed'
    kill -HUP "$laterd_pid"
    looks_twice 'a reload'
    if [ $((round % 2)) = 0 ]; then
        kill -KILL "$laterd_pid"
        await_laterd
    else
        stop_laterd
    fi
    looks_twice 'no laterd'
    start_laterd
    looks_twice 'another laterd'
done
all_done() { [ "$(later metrics | awk '/^laterd_jobs_done_total/ { sum += $2 } END { print sum + 0 }')" = "$pushed" ]; }
within 60 "all $pushed jobs are done" all_done
looks_twice 'the end'
: >"$work/enough"
wait_until 60 test -e "$work/looked"
echo "# $(scrapes) scrapes"
is "$(cat "$work/back")" '' "no counter has ever gone back"
attempts=$(later metrics | awk '/^laterd_attempts_total.*result="done"/ { sum += $2 } END { print sum + 0 }')
echo "# $attempts of them counted; what a laterd had not written when it was killed is not"
at_most "$attempts" "$(wc -l <"$work/ended")" "no attempt is counted twice"
at_least "$attempts" 1 "and some are"
finish
