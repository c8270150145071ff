#!/bin/sh
# Jobs begin at once where workers are idle: a worker takes no more of them than it can begin, unless jobs of their
# queue were quick.
. "${top_srcdir:=.}/tests/system/daemon.sh"
start_redis
workers=12

# slow NAME [QUEUE]: pushes as many jobs as there are workers, which last until $work/NAME exists, in one call.
slow()
{
    seq "$workers" | sed "s/.*/{\"type\":\"do\",\"payload\":{\"do\":\"sleep\",\"until\":\"$1\"},\"id\":\"$1-&\"}/" |
        later push -q "${2:-default}" --file - >/dev/null
}
begun_of() { awk -v name="$1-" 'index($1, name) == 1' "$work/begun"; }
all_begun() { [ "$(begun_of "$1" | wc -l)" = "$workers" ]; }
over() { [ "$(known "$@")" = 0 ]; }

# all_run NAME [QUEUE]: they end, and each has had one attempt, the first, in a worker of its own.
all_run()
{
    touch "$work/$1"
    within 20 "$1: all end" over "${2:-default}"
    is "$(begun_of "$1" | cut -d' ' -f1,2 | sort -u | wc -l) $(begun_of "$1" | awk '$2 != 1' | wc -l)" \
        "$workers 0" "$1: each has run once, at its first attempt"
    is "$(begun_of "$1" | cut -d' ' -f5 | sort -u | wc -l)" "$workers" "$1: each in a worker of its own"
}

# ---- nothing is known

configure "workers = $workers;"
start_laterd
slow cold
within 20 "cold: all begin, each in an idle worker" all_begun cold
is "$(counted returned)" 0 "cold: none of them was in the hand of a worker that could not begin it"
all_run cold
stop_laterd

slow early
start_laterd
within 20 "early: those that wait for laterd all begin" all_begun early
is "$(counted returned)" 0 "early: none of them was in the hand of a worker that could not begin it"
all_run early
stop_laterd

# ---- jobs that need no run tell nothing, but do not come one by one

later pause default --type null >/dev/null
seq 3000 | sed 's/.*/{"type":"null"}/' | later push --file - >/dev/null
before=$(called evalsha)
start_laterd
kept() { [ "$(ready)" = 0 ] && [ "$(reserved)" = 0 ] && [ "$(delayed)" = 3000 ]; }
within 20 "3,000 jobs of a paused type are kept aside" kept
at_most "$(($(called evalsha) - before))" 3000 "calls of scripts for that"
later resume default --type null >/dev/null
within 20 "they run when the pause ends" over
stop_laterd

# ---- quick jobs were all that is known: a worker has taken a batch of those that are not

# had_quick QUEUE: has each worker had quick jobs of that queue?
had_quick()
{
    [ "$(awk -v name="quick-$1-" 'index($1, name) == 1 { print $5 }' "$work/begun" | sort -u | wc -l)" = "$workers" ]
}

# late NAME QUEUE: jobs that last come into a queue whose jobs have been quick so far.
late()
{
    for round in $(seq 100); do
        seq 500 | sed "s/.*/{\"type\":\"note\",\"id\":\"quick-$2-$round-&\"}/" | later push -q "$2" --file - >/dev/null
        awaited 20 "$1: quick jobs are done" over "$2" || return 0
        ! had_quick "$2" || break
    done
    runs "$1: each worker has had quick jobs" had_quick "$2"
    before=$(counted returned "$2")
    slow "$1" "$2"
    within 20 "$1: all begin, each in an idle worker" all_begun "$1"
    at_most "$(($(counted returned "$2") - before))" "$workers" "$1: how often one of them came back"
    all_run "$1" "$2"
}

start_laterd
late warm default
end_well

configure "workers = $workers;" 'queues = ( { name = "one"; }, { name = "two"; }, { name = "three"; } );'
start_laterd
late several two
end_well

configure "workers = $workers;" "queues = ( $(seq 70 | sed 's/.*/{ name = "q&"; }/' | paste -sd,) );"
start_laterd
late many q33
end_well

# ---- quick jobs of such a queue come in batches all the same, once a worker has begun

configure 'workers = 1;'
redis HSET "$(key stats)" singly 99999999999 >/dev/null
start_laterd
push_many 10 note null first-
awaited 20 "a few are done" over
before=$(called evalsha)
push_many 3000 note null batch-
within 20 "3,000 quick jobs for an idle worker are done" over
at_most "$(($(called evalsha) - before))" 3000 "calls of scripts for that"
end_well
finish
