#!/bin/sh
# Slow jobs: a worker ends one and takes the next in one call, also if it leaves a result. Nothing is lost or
# done twice by that when answers are lost, workers are killed, or the call is refused.
. "${top_srcdir:=.}/tests/system/daemon.sh"
start_redis

# slow COUNT NAME [MEMBERS]: pushes so many jobs of 20 ms, with these members.
slow()
{
    seq "$1" | sed "s/.*/{\"type\":\"do\",\"id\":\"$2-&\",\"payload\":{\"do\":\"sleep\",\"for\":0.02}$3}/" |
        later push --file - >"$work/pushed"
}

# once COUNT NAME FILE: is each of them noted once in $work/FILE?
once()
{
    times=$(cut -d' ' -f1 "$work/$3" | grep "^$2-" | sort | uniq -c | awk '{ print $1 }' | sort | uniq -c |
        awk '{ print $1, $2 }')
    [ "$times" = "$1 1" ] || { echo "how many jobs, how often: $times"; false; }
}

# begins; few WHAT: at most 1.5 calls of scripts for each of the 100 jobs since then. Two a job would be 200. The
# rest is migrations, at most two a second, and for each job that was returned, since a busy machine took longer
# for the one before it, two more.
begins()
{
    before=$(called evalsha) start=$(date +%s) returned=$(counted returned)
}
few()
{
    calls=$(($(called evalsha) - before))
    at_most "$calls" $((150 + 2 * ($(date +%s) - start) + 2 * ($(counted returned) - returned))) \
        "calls of scripts for 100 $1"
}

# results COUNT NAME: has each of them left one?
results()
{
    # shellcheck disable=SC2046 # a word for each
    [ "$(redis EXISTS $(seq "$1" | sed "s/.*/$(key "result:$2-&")/"))" = "$1" ]
}

configure 'workers = 1;' 'crash_max = 100;'
slow 100 plain
start_laterd
begins
within 30 "100 slow jobs are done" counts 'done' 100
few "jobs"
runs "each has run once" once 100 plain begun
runs "the sums hold" conserved

later pause default >/dev/null
slow 100 result ',"result":600'
begins
later resume default >/dev/null
within 30 "100 jobs with results are done" counts 'done' 200
few "with results"
runs "each has run once" once 100 result begun
runs "each has left its result" results 100 result
runs "the sums hold" conserved

# Each b has waited for one a, and comes with what that gave back.
later pause default >/dev/null
seq 50 | sed 's/.*/{"type":"do","step":"a&","after":["b&-"],"payload":{"do":"value","value":[&],"for":0.02}}\
{"type":"do","step":"b&","after":["a&"],"payload":{"do":"values","for":0.02}}/' |
    "$AWK" '/"a1",/ { sub(/"after":\["b1-"\],/, "") } match($0, /"b[0-9]+-"/) {
        n = substr($0, RSTART + 2, RLENGTH - 4); sub(/"b[0-9]+-"/, "\"b" n - 1 "\"") } { print }' |
    later push --flow chain --file - >/dev/null
begins
later resume default >/dev/null
within 30 "a chain of 100 jobs is done" counts 'done' 300
few "jobs of a chain"
is "$(seq 50 | sed 's/.*/{"a&":[&]}/')" "$(for n in $(seq 50); do sed -n 2p "$work/values-chain.b$n"; done)" \
    "each has got the value of the one before"
runs "the sums hold" conserved

# ---- answers are lost: what a call took goes back untouched, what it acked is done

slow 150 cut ',"result":600'
cuts=0
while [ $cuts -lt 12 ]; do
    cuts=$((cuts + 1))
    wait_until 30 counts 'done' $((300 + 10 * cuts))
    redis CLIENT KILL TYPE normal SKIPME yes >/dev/null
done
within 60 "150 are done while connections are cut" counts 'done' 450
wait_until 20 settled
runs "each has run once" once 150 cut begun
runs "each has left its result" results 150 cut
is "$(how_often 'no longer ours')" 0 "no end came too late"
runs "the sums hold" conserved

# ---- the worker is killed: what it has taken goes on, what it has ended stays so

slow 150 killed ',"result":600'
kills=0
while [ $kills -lt 8 ]; do
    kills=$((kills + 1))
    wait_until 30 counts 'done' $((450 + 15 * kills))
    for worker in $(workers); do
        kill -KILL "$worker"
    done
done
within 60 "150 are done while the worker is killed" counts 'done' 600
is "$(cut -d' ' -f1 "$work/ended" | grep '^killed-' | sort -u | wc -l)" 150 "each has ended"
runs "each has left its result" results 150 killed
# A worker may die between what its handler has noted and the end of the attempt.
at_most "$(cut -d' ' -f1 "$work/ended" | grep -c '^killed-')" 158 "and no more again than were killed"
runs "the sums hold" conserved

# ---- Redis refuses the call, since `ready` is no set for a while: what is done is acked all the same

held_none()
{
    [ "$(reserved)" = 0 ]
}
push_many 2 'do' '{"do":"sleep","for":0.02}' refused-1
push_do refused-3 '"do":"sleep","until":"go-refused"'
push_many 17 'do' '{"do":"sleep","for":0.02}' refused-4
# The worker holds no other: what waits behind a long job goes back.
holds_one()
{
    begun refused-3 && [ "$(reserved)" = 1 ]
}
wait_until 30 holds_one
redis RENAME "$(key ready)" "$(key aside)" >/dev/null
redis SET "$(key ready)" x >/dev/null
touch "$work/go-refused"
within 20 "what has run is acked" held_none
within 20 "that the queue is refused is logged" logged 'refuses to reserve'
redis RENAME "$(key aside)" "$(key ready)" >/dev/null
within 30 "the rest runs" counts 'done' 620
runs "each has run once" once 20 refused begun
stop_laterd

# ---- a worker that has asked for more begins a long job: what it has asked for goes to another one

# round N: 20 quick jobs, a long one, 40 quick ones, which end while the long one runs. Their leases do not.
round()
{
    {
        seq 20 | sed "s/.*/{\"type\":\"do\",\"id\":\"ahead-$1-&\",\"payload\":{\"do\":\"sleep\",\"for\":0.001}}/"
        echo "{\"type\":\"do\",\"id\":\"ahead-$1-long\",\"payload\":{\"do\":\"sleep\",\"until\":\"go-$1\"}}"
        seq 21 60 | sed "s/.*/{\"type\":\"do\",\"id\":\"ahead-$1-&\",\"payload\":{\"do\":\"sleep\",\"for\":0.001}}/"
    } | later push --file - >"$work/pushed"
    awaited 20 "quick jobs end beside a long one" quick_end "$1" && awaited 20 "it runs" begun "ahead-$1-long"
    touch "$work/go-$1"
    awaited 20 "all are done" counts 'done' $((620 + 61 * $1))
}
quick_end()
{
    [ "$(grep -c "^ahead-$1-[0-9]" "$work/ended")" -ge 60 ]
}
configure 'workers = 2;' 'lease = 3600.0;'
start_laterd
for i in 1 2 3 4 5 6 7 8 9 10; do
    round "$i" || break
done
is "$(counted 'done')" 1230 "quick jobs end while a long one runs, whoever had asked for them"
runs "each has run once" once 610 ahead begun
is "$(grep '^ahead-' "$work/begun" | cut -d ' ' -f 2 | sort -u)" 1 "at its first attempt"
end_well
finish
