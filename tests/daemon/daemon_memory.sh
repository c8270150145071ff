#!/bin/sh
# Memory and descriptors: few after 100,000 jobs, and no more after another 100,000. Large documents
# come one by one.
. "${top_srcdir:=.}/tests/system/daemon.sh"
start_redis
configure 'workers = 2;'
start_laterd
pids=$(workers)

# resting PID: sets $open to its descriptors while it waits for something to do. (While it runs, a file that
# it writes every few seconds may be open.)
resting()
{
    [ "$(state_of "$1")" = S ] && open=$(descriptors "$1") && [ "$(state_of "$1")" = S ]
}

# Workers are forked: a page of laterd that they share is not private, and is again when they have ended or have
# written to it. So anonymous memory is compared, shared or not.
anonymous_memory()
{
    awk '/^Anonymous:/ { print $2 }' "/proc/$1/smaps_rollup"
}

# look: prints the greatest private memory of the workers in KiB, their descriptors, and laterd's.
look()
{
    worker_memory=0 worker_descriptors=0
    for pid in $pids; do
        wait_until 10 resting "$pid"
        memory=$(private_memory "$pid")
        [ "$memory" -le "$worker_memory" ] || worker_memory=$memory
        [ "$open" -le "$worker_descriptors" ] || worker_descriptors=$open
    done
    wait_until 10 resting "$laterd_pid"
    laterd_memory=$(anonymous_memory "$laterd_pid") laterd_descriptors=$open
    echo "# $1: worker $worker_memory KiB, $worker_descriptors descriptors;" \
        "laterd $laterd_memory KiB, $laterd_descriptors descriptors"
}

look 'at the start'
push_many 100000 null null first-
within 60 "100,000 jobs are done" counts 'done' 100000
look 'after 100,000 jobs'
at_most "$laterd_memory" 8192 "KiB of laterd's own"
at_most "$worker_memory" 6144 "KiB of a worker's own"
worker_before=$worker_memory laterd_before=$laterd_memory
open_before="$worker_descriptors $laterd_descriptors"

# as_before OPEN BEFORE: is the number the same? On a Cluster a node may be needed for the first time.
as_before()
{
    [ "$1" = "$2" ] || { [ "$redis_kind" = cluster ] && [ "$1" -le $(($2 + 5)) ]; }
}

# Memory is first touched when laterd first does a thing, such as renewing a lease, and that may be
# in any round. A leak grows in every round.
for round in 2 3 4; do
    worker_before=$worker_memory laterd_before=$laterd_memory
    push_many 100000 null null "round$round-"
    wait_until 60 counts 'done' $((round * 100000)) || break
    look "after ${round}00,000 jobs"
    [ $((worker_memory - worker_before)) -gt 128 ] || [ $((laterd_memory - laterd_before)) -gt 128 ] ||
        break
done
is "$(counted 'done')" $((round * 100000)) "all jobs of the round are done"
at_most "$((worker_memory - worker_before))" 128 "KiB that a worker has grown in the last round"
at_most "$((laterd_memory - laterd_before))" 128 "KiB that laterd has grown in the last round"
is "$(workers)" "$pids" "in the same workers"
# (A connection may just be coming back.)
same_descriptors()
{
    resting "${pids##*[!0-9]}" && as_before "$open" "${open_before% *}" &&
        resting "$laterd_pid" && as_before "$open" "${open_before#* }"
}
within 10 "descriptors are the same" same_descriptors

jobs=$(counted 'done')

# ---- everything else: failed, delayed and bad jobs, reloads, reconnects

for round in 1 2 3 4; do
    worker_before=$worker_memory laterd_before=$laterd_memory
    push_many 2000 'do' '{"do":"retry","in":0.05,"upto":1}' "fail$round-"
    push_many 2000 unknown-type null "unknown$round-"
    wait_until 20 counts returned $((round * 2000))
    wait_until 20 counts 'done' $((jobs + round * 2000))
    later cancel -q default --state delayed --yes >/dev/null
    for i in 1 2 3 4 5; do
        redis_all CLIENT KILL TYPE normal >/dev/null
        push_job "again$round-$i" '"type":"null"'
        wait_until 10 unknown "again$round-$i"
    done
    look "round $round of other work"
    [ "$round" -ge 2 ] && [ $((worker_memory - worker_before)) -le 256 ] &&
        [ $((laterd_memory - laterd_before)) -le 256 ] && break
done
at_most "$((worker_memory - worker_before))" 256 "KiB that a worker has grown in the last round"
at_most "$((laterd_memory - laterd_before))" 256 "KiB that laterd has grown in the last round"
within 10 "descriptors are the same" same_descriptors

# ---- documents of 1 MiB: a worker may have two more than its limit

pad=$(awk 'BEGIN { for (i = 0; i < 104850; i++) printf "0123456789" }')
i=0
later pause default >/dev/null
while [ "$i" -lt 40 ]; do
    i=$((i + 1))
    echo "{\"type\":\"do\",\"id\":\"large-$i\",\"payload\":{\"do\":\"sleep\",\"for\":0.05},\"pad\":\"$pad\"}"
done | later push --file - >/dev/null
is "$(redis HSTRLEN "$(key jobs)" large-40)" "$((1048500 + 74))" "documents of 1 MiB are pushed"
later resume default >/dev/null
most=0
while ! ended large-40; do
    for pid in $pids; do
        memory=$(private_memory "$pid")
        [ "${memory:-0}" -le "$most" ] || most=$memory
    done
done
look 'after documents of 1 MiB'
echo "# $((most - worker_before)) KiB more than before while documents of 1 MiB run"
at_most "$most" $((6144 + 2 * 1024)) "KiB of a worker's own meanwhile"
at_most "$((laterd_memory - laterd_before))" 256 "KiB that laterd has grown"

# ---- reloads leave nothing behind in the supervisor

reloads=0
# reload_times N
reload_times()
{
    until=$((reloads + $1))
    while [ "$reloads" -lt "$until" ]; do
        reloads=$((reloads + 1))
        kill -HUP "$laterd_pid"
        wait_until 10 reloaded || break
    done
}

reloaded()
{
    [ "$(how_often 'reloaded: ')" = "$reloads" ] && [ "$(workers | wc -l)" = 2 ]
}

# Here too, memory may be first touched in any round, and a leak grows in each.
reload_times 2
for round in 1 2 3; do
    before=$(anonymous_memory "$laterd_pid")
    reload_times 4
    grown=$(($(anonymous_memory "$laterd_pid") - before))
    echo "# round $round of reloads: laterd has grown by $grown KiB"
    [ "$grown" -gt 128 ] || break
done
two_pages()
{
    [ "$(find "$work/state/slots" -type f | wc -l)" = 2 ]
}
within 10 "slot pages of former workers are gone" two_pages
at_most "$grown" 128 "KiB that laterd has grown in the last four reloads"
is "$(how_often 'reloaded: ')" "$reloads" "each reload has come to its end"
laterds_descriptors()
{
    resting "$laterd_pid" && as_before "$open" "${open_before#* }"
}
within 10 "descriptors are the same" laterds_descriptors

end_well
finish
