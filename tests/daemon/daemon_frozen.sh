#!/bin/sh
# Redis stands still for longer than the lease, under one laterd and under two. Nothing lapses, since
# the holders of the jobs live. ($LATER_ROUNDS times each, by default once.) Then laterd itself stands still, and says so.
. "${top_srcdir:=.}/tests/system/daemon.sh"
start_redis

configure 'workers = 2;' 'lease = 30.0;'
sed "s|$work/state|$work/other|" "$work/laterd.conf" >"$work/other.conf"
all_begun() { [ "$(lines begun)" -ge $((24 * total)) ]; }

# first_end: prints when the first lease of all ends. renewed: is that after $known_end?
first_end() { redis --raw ZRANGE "$(key reserved)" 0 0 WITHSCORES | sed -n 2p; }
renewed() { [ "$(sum "($(first_end) > $known_end)")" = 1.000 ]; }

# have_said WORD: have all laterds said so of Redis as often as it stood still for them?
have_said()
{
    [ "$(grep -c "redis is $1.* (laterd)" "$log")" -ge "$total" ] || [ "$1" = back ] || return
    [ ! -e "$work/other.log" ] || [ "$(grep -c "redis is $1.* (laterd)" "$work/other.log")" -ge "$round" ]
}

# freeze NAME: runs jobs the end of whose leases two live migrators know. Redis stands still until both have lost their
# connections, and by its clock for longer than the lease. The first laterd comes back when the other one has looked for
# lapsed leases (each 0.8 s); keepers have a third of a lease to renew theirs.
freeze()
{
    round=0
    while [ $round -lt "${LATER_ROUNDS:-1}" ]; do
        round=$((round + 1)) total=$((total + 1))
        for i in $(seq 24); do
            push_event "$total-$i" "\"until\":\"go-$total\""
        done
        awaited 5 "all begin" all_begun
        pause_redis
        awaited 20 "Redis is missed" have_said away
        advance_redis 30
        known_end=$(sum "$(present) + $redis_ahead / 1000000") # none ends after that, unless it is renewed
        kill -STOP "$laterd_pid"
        resume_redis
        awaited 5 "the other one has it again" have_said back
        sleep 1
        kill -CONT "$laterd_pid"
        awaited 20 "they are renewed" renewed
        touch "$work/go-$total"
        awaited 20 "all end" settled
    done
    is "$(counted lapsed) $(lines begun) $(counted 'done')" "0 $((24 * total)) $((24 * total))" \
        "$1, $round freezes: none lapses, none runs twice"
}

total=0
start_laterd
freeze "one laterd"
"$laterd_bin" -c "$work/other.conf" 2>>"$work/other.log" &
second=$!
own "$second"
wait_until 10 grep -q ' ready: ' "$work/other.log" || not_ok "another laterd" "$work/other.log"
freeze "two laterds"

# ---- a laterd stands still, and the other one does not

local_says() { later -c "$work/laterd.conf" status --local 2>&1 | grep -q "$1"; }
local_well() { later -c "$work/laterd.conf" status --local >/dev/null 2>&1; }
kill -STOP "$laterd_pid"
within 20 "later status says that it is stuck" local_says 'laterd is stuck'
kill -CONT "$laterd_pid"
within 10 "it goes on, and says for how long it stood still" logged 'warn laterd: laterd stood still for '
within 10 "later status says nothing of it any more" local_well
kill -TERM "$second"
wait "$second"
end_well
finish
