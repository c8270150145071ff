#!/bin/sh
# First in, first out within a priority; higher priorities first; queues in strict order or by
# shares.
. "${top_srcdir:=.}/tests/system/daemon.sh"
start_redis
count=10000

# steps_back NAME FILE: the file has the numbers of the jobs as they began. One steps back only if it was
# returned, since the job before it did not get the processor for 50 ms.
steps_back()
{
    returned=$(($(counted returned) - before))
    back=$(awk 'NR > 1 && $1 < last { n++ } { last = $1 } END { print n + 0 }' "$2")
    at_most "$back" "$returned" "$1: steps back"
}

# in_order FROM TO NAME: have the jobs FROM… run in order?
in_order()
{
    cut -d' ' -f1 "$work/begun" | sed -n "s/^$1\([0-9]*\)\$/\1/p" >"$work/order"
    is "$(sort -n "$work/order" | cksum)" "$(seq "$2" | cksum)" "each job has run once"
    steps_back "$3" "$work/order"
    before=$(counted returned)
}
before=0

fresh()
{
    rm -f "$work/begun" "$work/ended"
}

configure 'workers = 1;'

"$tools/push" "$LATER_REDIS_URL" default one "$count" note null one-
start_laterd
within 30 "$count jobs pushed one by one" reached ended "$count"
in_order one- "$count" "run in the order of their pushes"
stop_laterd
fresh

start_laterd
"$tools/push" "$LATER_REDIS_URL" default one "$count" note null busy-
within 30 "$count jobs pushed one by one while they are performed" reached ended "$count"
in_order busy- "$count" "run in the order of their pushes"
stop_laterd
fresh

push_many "$count" note null bulk-
start_laterd
within 30 "$count jobs pushed in bulk" reached ended "$count"
in_order bulk- "$count" "run in the order of their pushes"
stop_laterd
fresh

seq "$count" | sed 's/.*/{"type":"note","id":"file-&"}/' | later push --file - >"$work/pushed"
start_laterd
within 30 "$count lines of later push --file" reached ended "$count"
in_order file- "$count" "run in the order of their lines"
stop_laterd
fresh

# ---- priorities, pushed out of order

for priority in 0 -100 3 100 -1 0 3; do
    for i in 1 2 3; do
        echo "$priority.$i"
        push_job "p$priority.$((n += 1))" '"type":"note"' '' "$priority"
    done
done >/dev/null
# A delayed job becomes due while the queue is paused, after all others were pushed.
push_job delayed '"type":"note"' +0.05 50
later pause default >/dev/null
start_laterd
is_due()
{
    [ -n "$(redis ZSCORE "$(key ready)" delayed)" ]
}
within 5 "a delayed job is promoted in a paused queue" is_due
is "$(lines begun)" 0 "no job runs in a paused queue"
later resume default >/dev/null
within 10 "jobs of several priorities" settled
is "$(cut -d' ' -f1 "$work/begun" | sort -u | wc -l)" 22 "each has run"
# The negative priority first, then the number of the push.
sed 's/^delayed /p50.0 /; s/^p\(-*[0-9]*\)\.\([0-9]*\) .*/\1 \2/' "$work/begun" |
    awk '{ print 100 * -$1 + $2 }' >"$work/order"
steps_back "higher priorities first, a delayed job by its own, and of one the first pushed first" "$work/order"
is "$(sed -n 's/^p\(.*\)\.\([0-9]*\) .*/\1 \2/p' "$work/begun" | sort -s -k1,1n -c 2>&1 | wc -l)" 1 \
    "(they were not pushed in that order)"
stop_laterd
fresh

# ---- queues: strict order, then shares

fill()
{
    for queue in first second; do
        "$tools/push" "$LATER_REDIS_URL" $queue many "$1" "$2" "$3" "$queue-"
    done
}

fill 3000 note null
configure 'workers = 1;' 'queues = ( { name = "first"; }, { name = "second"; } );'
start_laterd
within 30 "two queues in strict order" reached ended 6000
if applies strict; then
    # On a machine that stands still for 50 ms, jobs that wait behind the running one go back meanwhile.
    returned=$(counted returned first)
    at_most "$(sed -n 1,3000p "$work/begun" | grep -c '^second-')" "$((returned))" \
        "jobs of the second queue that began before the first was emptied, beside $returned that went back"
fi
stop_laterd
fresh

# shared COUNT SLACK TYPE PAYLOAD: each queue has its share of the jobs, however long they take. When
# the first is empty, the second has done a third of the first's, give or take what is reserved at a
# time. A worker does not wait for one queue while the other has jobs: one of six rounds must pass
# without a pause of Redis or of the worker.
shared()
{
    low=$(($1 / 3 - $2)) high=$(($1 / 3 + $2))
    for round in 1 2 3 4 5 6; do
        fill "$1" "$3" "$4"
        start_laterd
        within 30 "two queues by weight 3 to 1, each $1 jobs" reached ended "$((2 * $1))"
        share=$(($(grep -n '^first-' "$work/begun" | tail -n 1 | cut -d: -f1) - $1))
        stop_laterd
        fresh
        [ "$share" -gt "$high" ] || [ "$share" -lt "$low" ] || break
    done
    at_most "$share" "$high" "jobs of the second among $1 of the first, in round $round"
    at_least "$share" "$low" "jobs of the second among $1 of the first"
}

configure 'workers = 1;' \
    'queues = ( { name = "first"; weight = 3; }, { name = "second"; weight = 1; } );'
shared 300 4 'do' '{"do":"sleep","for":0.005}'
shared 3000 48 note null

# ---- with slow jobs, a reserve asks all queues before its own, and costs no more calls

"$tools/push" "$LATER_REDIS_URL" last many 40 'do' '{"do":"sleep","for":0.03}' last-
configure 'workers = 1;' "queues = ( $(printf '{ name = "q%s"; }, ' 1 2 3 4 5 6 7){ name = \"last\"; } );"
evals=$(called evalsha) since=$(date +%s)
start_laterd
within 20 "jobs of the last queue run" reached begun 10
later push note -q q3 --id high >/dev/null
begun=$(lines begun)
within 20 "and end, and one of a queue before it" reached ended 41
if applies strict; then
    # One of the last queue may have been on its way.
    at_most "$(grep -n '^high ' "$work/begun" | cut -d: -f1)" "$((begun + 2))" "place of the one that came meanwhile"
    at_most "$(($(called evalsha) - evals))" "$((100 + 10 * ($(date +%s) - since)))" "calls of scripts for 41 jobs in a pool of eight queues"
fi
stop_laterd
fresh

# ---- a queue that cannot be reserved from does not hold up those after it

fill 20 note null
redis DEL 'later:{first}:ready' >/dev/null
redis SET 'later:{first}:ready' x >/dev/null
configure 'workers = 1;' 'queues = ( { name = "first"; }, { name = "second"; } );'
start_laterd
within 10 "the second queue is emptied while the first refuses" reached ended 20
"$tools/push" "$LATER_REDIS_URL" second many 20 note null more-
within 10 "and again" reached ended 40
is "$(how_often 'redis refuses to reserve from queue first')" 1 "the refusal is told once"
redis DEL 'later:{first}:ready' >/dev/null
for i in $(seq 20); do redis ZADD 'later:{first}:ready' "$i" "first-$i"; done >/dev/null
within 10 "what was in it runs" reached ended 60

end_well
finish
