#!/bin/sh
# later lock: a program under a distributed lock.
. "${top_srcdir:=.}/tests/system/lib.sh"
start_redis 'appendonly yes' 'appendfsync always'

# program NAME: makes $work/NAME from standard input.
program()
{
    { echo '#!/bin/sh' && cat; } >"$work/$1"
    chmod +x "$work/$1"
}
# locker ARGS...: runs later lock in the background as $locker; its messages go to $work/words.
locker()
{
    "$later_bin" lock "$@" >"$work/locked" 2>"$work/words" </dev/null &
    locker=$!
    own "$locker"
}
# ended: waits for it; $status.
ended()
{
    wait "$locker"
    status=$?
}
held()
{
    later lock "$1" --show | grep -q held
}
free()
{
    later lock "$1" --show | grep -q free
}
# set_child PID: sets $child to the program that this `later lock` runs; it has the lock a moment before.
set_child()
{
    wait_until 30 eval 'child=$(ps -o pid= --ppid '"$1"' | tr -d " ") && [ -n "$child" ]'
}
# since FILE: milliseconds from the time in it until now.
since()
{
    echo $((($(date +%s%N) - $(cat "$1")) / 1000000))
}

# ---- the program, and its status

is "$(later lock a -- sh -c 'echo "$LATER_LOCK_NAME $LATER_LOCK_FENCE"')" "a 1" \
    "its name and its number are in the environment"
is "$(later lock a -- sh -c 'echo "$LATER_LOCK_FENCE"')" 2 "the number grows"
is "$(echo typed | later lock a -- cat)" typed "standard input is the program's"
run later lock a -- sh -c 'exit 7'
is "$status$out$err" 7 "its status is ours"
run later lock a -- sh -c 'kill -9 $$'
is "$status" 137 "ended by a signal: 128 and its number"
run later lock a -- "$work/none"
is "$status" 127 "no such program: 127"
like "$err" 'later lock: .*/none: No such file' "a program that cannot be run is named"
free a
is $? 0 "and the lock is free"

# ---- who holds it

is "$(later lock new --show)" "$(printf 'new\tfree\t\t0\t')" "a lock that nobody ever had"
is "$(later lock new --show --json)" \
    '{"lock":"new","held":false,"remaining":null,"owner":null,"since":null,"ttl":null,"fence":0}' "--show --json of a lock that was never taken"
locker a --ttl 20 -- sleep 900
wait_until 10 held a
like "$(later lock a --show)" "^a	held	(1?[0-9](\.[0-9]+)?|20)	7	.*:$locker sleep\$" "held, by whom, under which number"
like "$(later lock a --show --json)" \
    '^\{"lock":"a","held":true,"remaining":(1?[0-9](\.[0-9]+)?|20),"owner":".*:'"$locker"' sleep","since":[0-9.]+,"ttl":20,"fence":7\}$' \
    "--show --json of a lock that is held"
run later lock a -- touch "$work/never"
is "$status $err" "75 later lock: a: somebody else has it" "another has it: status 75"
run later lock a --conflict-exit 9 -- touch "$work/never"
is "$status" 9 "--conflict-exit sets the status if somebody else has the lock"
date +%s%N >"$work/begun"
run later lock a --wait 0.4 -- touch "$work/never"
took=$(since "$work/begun")
is "$status $((took >= 400)) $(soon "$took" 3000)" "75 1 1" "--wait, with a fraction: no longer than that"
test -e "$work/never"
is $? 1 "the program was not begun"

# ---- signals

kill -TERM "$locker"
ended
is "$status" 143 "TERM is passed on"
free a
is $? 0 "and the lock is free"
program polite <<'END'
trap 'echo told; exit 5' TERM
trap 'echo $$ >>"$PIDS"' USR1
sleep 60 &
echo $! >>"$PIDS"
echo $$ >>"$PIDS"
while :; do wait; done
END
PIDS=$work/pids
export PIDS
: >"$PIDS"
locker a -- "$work/polite"
wait_until 10 test -s "$PIDS"
kill -USR1 "$locker"
wait_until 10 eval 'test $(wc -l <"$PIDS") -ge 3'
is "$(sed -n '2p' "$PIDS")" "$(sed -n '3p' "$PIDS")" "USR1 is passed on"
kill -TERM "$locker"
ended
is "$status $(cat "$work/locked")" "5 told" "TERM: the program's own end counts"

locker a -- sleep 900
wait_until 10 held a
holder=$locker
locker a --wait forever -- touch "$work/never"
wait_until 10 blocks 1
kill -TERM "$locker"
ended
is "$status $(cat "$work/words")" "143 " "TERM while it waits"
wait_until 10 blocks 0
is $? 0 "and nobody waits any more"
held a
is $? 0 "the lock is untouched"

# ---- waiting

locker a --wait forever -- date +%s%N
wait_until 10 blocks 1
date +%s%N >"$work/begun"
kill -TERM "$holder"
wait "$holder"
ended
took=$((($(cat "$work/locked") - $(cat "$work/begun")) / 1000000))
is "$status $(soon "$took" 1000)" "0 1" "--wait forever: begun when it is freed, not at the end of its ttl"

locker a --ttl 5 -- sleep 60
wait_until 10 held a
holder=$locker
locker a --wait 60 -- sh -c 'date +%s%N'
wait_until 10 blocks 1
set_child "$holder"
date +%s%N >"$work/begun"
kill -KILL "$holder"
wait "$holder" 2>/dev/null
wait_until 5 gone "$child"
is $? 0 "KILL of later: its program is killed, too"
advance_redis 5
ended
took=$((($(cat "$work/locked") - $(cat "$work/begun")) / 1000000))
is "$status $(soon "$took" 6000)" "0 1" "and the lock is another's when its ttl is over"

# ---- it is renewed, and it can be lost

locker a --ttl 8 -- sh -c "until test -e $work/renewed; do sleep 0.05; done"
wait_until 10 held a
left() { redis pttl 'later:lock:{a}'; }
before=$(left)
# The rest of the ttl only grows if the lock is renewed.
renewed()
{
    now=$(left)
    [ "$now" -gt "$before" ] || { before=$now && false; }
}
wait_until 10 renewed
run later lock a -- true
is "$status" 75 "renewed while the program lives"
touch "$work/renewed"
ended
is "$status$(cat "$work/words")" 0 "the program ends well: status 0 and no message"

program deaf <<'END'
trap '' TERM
sleep 60 &
echo $! >>"$PIDS"
echo $$ >>"$PIDS"
while :; do sleep 1; done
END
: >"$PIDS"
locker a --ttl 12 -- "$work/deaf" # it looks each four seconds, long before its time is over
wait_until 10 eval 'test $(wc -l <"$PIDS") -ge 2'
redis del 'later:lock:{a}' >/dev/null
ended
is "$status $(cat "$work/words")" \
    "77 later lock: a: lost, since Redis has it no longer, though its time was not over; ending $work/deaf" \
    "deleted by hand: status 77, and it is not said to be our fault"
wait_until 5 gone "$(sed -n 1p "$PIDS")" && wait_until 5 gone "$(sed -n 2p "$PIDS")"
is $? 0 "the program and what it started is ended, by KILL where TERM does not do"
free a
is $? 0 "nobody has the lock afterwards"

locker a --ttl 300 -- sh -c "until test -e $work/unnoticed; do sleep 0.05; done"
wait_until 10 held a
redis del 'later:lock:{a}' >/dev/null
touch "$work/unnoticed"
ended
is "$status $(cat "$work/words")" "77 later lock: a: lost before sh ended (status 0)" \
    "lost unnoticed: told at the end"

locker a --ttl 5 -- sleep 60
wait_until 10 held a
set_child "$locker"
date +%s%N >"$work/begun"
pause_redis
ended
is "$status $(soon "$(since "$work/begun")" 6000)" "69 1" "a Redis that hangs: ended when its ttl is over"
like "$(cat "$work/words")" '^later lock: a: lost, since Redis was not reached for [0-9]+(\.[0-9]*)? seconds \(.*\); ending sleep$' \
    "a lock lost because Redis hung is told"
wait_until 5 gone "$child"
is $? 0 "the program as well"
resume_redis
wait_until 5 free a # a renewal may have been waiting there

locker a --ttl 60 -- sleep 900
wait_until 10 held a
holder=$locker
locker a --wait 300 -- echo mine
wait_until 10 blocks 1
stop_redis KILL
start_redis 'appendonly yes' 'appendfsync always'
wait_until 10 blocks 1
is $? 0 "who waits survives a restart of Redis"
held a
is $? 0 "and so does who has it"
kill -TERM "$holder"
wait "$holder"
is $? 143 "it has not lost it"
ended
is "$status $(cat "$work/locked")" "0 mine" "and hands it on"

# ---- many

program add_one <<'END'
n=$(cat "$COUNT")
sleep 0.0$(($$ % 3))
echo $((n + 1)) >"$COUNT"
echo "$LATER_LOCK_FENCE" >>"$COUNT.fences"
END
COUNT=$work/count
export COUNT
echo 0 >"$COUNT"
for i in 1 2 3 4 5 6; do
    (for _ in 1 2 3 4 5; do later lock many --wait 900 -- "$work/add_one" || echo failed; done) \
        >"$work/many$i" 2>&1 &
    own "$!"
    eval "many$i=\$!"
done
for i in 1 2 3 4 5 6; do eval "wait \"\$many$i\""; done
is "$(cat "$COUNT") $(cat "$work"/many?)" "30 " "30 programs, each alone"
is "$(sort -n -u "$COUNT.fences")" "$(cat "$COUNT.fences")" "their numbers only grow"

is "$(on_terminal "$later_bin lock tty -- sh -c 'read -r word; echo got \$word'" 'hello\n' | tail -n 1)" \
    "got hello" "a program may read the terminal"

# ---- words

for wrong in 'a' 'a --show -- true' 'a --ttl 0 -- true' 'a --ttl soon -- true' 'a --wait x -- true' \
    'a --conflict-exit 256 -- true' 'a b -- true' 'a{b -- true'; do
    # shellcheck disable=SC2086
    run later lock $wrong
    is "$status" 64 "later lock $wrong: wrong usage"
done
# By a socket a server that is gone refuses at once, by TCP a moment later; it is tried twice a second.
sh -c 'ulimit -t 1; exec "$0" lock gone --ttl 6 -- sleep 60' "$later_bin" 2>"$work/words" </dev/null &
locker=$!
own "$locker"
wait_until 10 held gone
stop_redis KILL
ended
is "$status" 69 "Redis is gone: ended when its ttl is over, and no processor was busy with trying"
like "$(cat "$work/words")" '^later lock: gone: lost, since Redis was not reached for [0-9.]+ seconds \(.+\); ending sleep$' \
    "and told, with the reason"
run later lock a --wait 60 -- true
is "$status" 69 "no Redis: at once, also with --wait"
finish
