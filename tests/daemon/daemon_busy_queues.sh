#!/bin/sh
# Many busy queues at once, quick jobs beside a slow one, few slots: whatever a worker asks for, it has room
# for what comes. So each job runs once, and no answer is given back. LATER_SOAK=N: N rounds of 120,000 jobs.
. "${top_srcdir:=.}/tests/system/daemon.sh"
start_redis
jobs=12000 times=1
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

# all_recorded: are they in the history? laterd writes that each second, and at its end waits for a second at most.
all_recorded()
{
    [ "$(metric laterd_job_run_seconds_count)" -ge "$jobs" ]
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
    awaited 20 "$1: the history has them" all_recorded
    stop_laterd
    is "$(metric laterd_job_run_seconds_count)" "$jobs" "$1: each job runs once"
    none_given_back "$1: no job is given back for want of room"
}

none_given_back()
{
    grep -E 'given back|no longer ours' "$log" >"$work/back"
    runs "$1" test ! -s "$work/back"
    sed 's/^/# /' "$work/back"
}

sixteen=$(seq 16 | sed 's/.*/{ name = "q&"; }/' | paste -sd,)
while [ "$times" -gt 0 ]; do
    each_once "16 shards" 'queues = ( { name = "mail"; shards = 16; } );' mail
    each_once "16 queues" "queues = ( $sixteen );" q 16
    each_once "200 queues of a pattern" 'queues = ( { name = "t-*"; } );' t- 200
    times=$((times - 1))
done

# ---- behind a slow job others are given back; they keep their slots until Redis has said so

# let_go: its laterd has lost its connection and finds no other, its worker keeps its own and goes on with its jobs.
let_go()
{
    redis FLUSHALL >/dev/null
    rm -f "$work/begun" "$work/ended" "$work/go"
    later push --file "$work/jobs.ndjson" >/dev/null
    start_laterd
    wait_until 20 grep -q '^first ' "$work/begun"
    mv "$redis_socket" "$away"
    $redis_cli -s "$away" CLIENT LIST | sed -n 's/^id=\([0-9]*\) .* name=laterd-laterd-.*/CLIENT KILL ID \1/p' |
        $redis_cli -s "$away" >/dev/null
    awaited 20 "the supervisor has no connection" logged 'redis is away'
    touch "$work/go"
}

# None is ready any more, or the worker holds all that it can.
has_gone_on()
{
    # shellcheck disable=SC2046 # words
    set -- $(LATER_REDIS_URL=unix:$away later size default)
    [ "$2" -eq 0 ] || [ "$4" -ge 2000 ]
}
cut_off() { ! $redis_cli -s "$away" CLIENT LIST | grep -q ' name=laterd-worker'; }
gone_on_or_cut_off() { has_gone_on || cut_off; }

if applies socket; then
    configure 'workers = 1;' 'events = 100;' 'lease = 600.0;' # nobody renews one meanwhile
    awk 'BEGIN { print "{\"type\":\"do\",\"payload\":{\"do\":\"sleep\",\"until\":\"go\"},\"id\":\"first\"}"
        for (i = 1; i < 10000; i++)
            print (i % 500 || i > 7000 ? "{\"type\":\"null\"}" : "{\"type\":\"do\",\"payload\":{\"do\":\"sleep\",\"for\":0.2}}")
    }' >"$work/jobs.ndjson"
    jobs=10000 away=$redis_socket.away
    # A Redis that stands still for two seconds meanwhile loses the worker's connection, too; so there are three tries.
    for _ in 1 2 3; do
        let_go
        wait_until 60 gone_on_or_cut_off
        ! has_gone_on || break
        mv "$away" "$redis_socket"
        stop_laterd
    done
    within 60 "its worker goes on" has_gone_on
    mv "$away" "$redis_socket"
    within 120 "what was given back meanwhile is done, too" all_done
    awaited 20 "the history has it" all_recorded
    stop_laterd
    is "$(metric laterd_job_run_seconds_count)" "$jobs" "each job runs once"
    none_given_back "a worker has room for all that it asks for"
fi
finish
