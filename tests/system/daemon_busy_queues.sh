#!/bin/sh
# Many busy queues at once, quick jobs beside a slow one, few slots: whatever a worker asks for, it has room
# for what comes. So each job runs once, and no answer is given back. LATER_SOAK=N: N rounds of 120,000 jobs.
. "${top_srcdir:=.}/tests/system/daemon.sh"
start_redis
jobs=40000 times=1
[ -z "${LATER_SOAK:-}" ] || jobs=120000 times=$LATER_SOAK

# lines_of QUEUE [QUEUES]: prints $jobs jobs; with QUEUES, over so many queues, whose names are
# numbered. One in 1,500 is slow.
lines_of()
{
    awk -v n="$jobs" -v queue="$1" -v queues="${2:-0}" 'BEGIN {
        for (i = 1; i <= n; i++)
            printf "{\"queue\":\"%s\",%s}\n", queues ? queue (i % queues + 1) : queue,
                i % 1500 ? "\"type\":\"null\"" : "\"type\":\"do\",\"payload\":{\"do\":\"sleep\",\"for\":0.04}"
    }'
}

# metric NAME: prints the sum over all queues and types. all_done: have all jobs been acked?
metric()
{
    later metrics | awk -v name="$1" 'index($1, name "{") == 1 { s += $2 } END { print s + 0 }'
}

all_done()
{
    [ "$(metric laterd_jobs_done_total)" = "$jobs" ]
}

# each_once WHAT OPTION QUEUE [QUEUES]
each_once()
{
    redis_all FLUSHALL >/dev/null
    configure 'workers = 1;' 'events = 900;' "$2"
    start_laterd
    lines_of "$3" "${4:-}" >"$work/jobs.ndjson"
    later push --file "$work/jobs.ndjson" >/dev/null
    within 120 "$1: $jobs jobs are done" all_done
    stop_laterd
    is "$(metric laterd_job_run_seconds_count)" "$jobs" "$1: each job runs once"
    grep -E 'given back|no longer ours' "$log" >"$work/back"
    runs "$1: no job is given back for want of room" test ! -s "$work/back"
    sed 's/^/# /' "$work/back"
}

sixteen=$(seq 16 | sed 's/.*/{ name = "q&"; }/' | paste -sd,)
while [ "$times" -gt 0 ]; do
    each_once "16 shards" 'queues = ( { name = "mail"; shards = 16; } );' mail
    each_once "16 queues" "queues = ( $sixteen );" q 16
    each_once "200 queues of a pattern" 'queues = ( { name = "t-*"; } );' t- 200
    times=$((times - 1))
done
finish
