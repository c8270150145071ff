#!/bin/sh
# later work: a program for each job.
. "${top_srcdir:=.}/tests/system/lib.sh"
start_redis 'appendonly no'

# script NAME: makes the program $work/NAME from standard input.
script()
{
    { echo '#!/bin/sh' && cat; } >"$work/$1"
    chmod +x "$work/$1"
}
# worker ARGS...: runs later work in the background as $worker; its messages go to $work/words.
worker()
{
    "$later_bin" work "$@" >"$work/worked" 2>"$work/words" </dev/null &
    worker=$!
    own "$worker"
}
count()
{
    redis ZCARD "later:{$1}:$2"
}
has()
{
    test "$(count "$1" "$2")" -eq "$3"
}
state()
{
    later show "$2" -q "$1" | cut -f 2
}

# ---- what the program gets, and what its exit means

later push mail.send '{"to":"a"}' -q q --id j1 >/dev/null
is "$(later work q --until-empty -- sh -c 'cat; echo; echo "$LATER_ID $LATER_TYPE $LATER_QUEUE $LATER_ATTEMPT"')" \
    "$(printf '{"type":"mail.send","id":"j1","payload":{"to":"a"}}\nj1 mail.send q 1')" \
    "the document on standard input, the rest in the environment"
is "$(redis HGET 'later:{q}:stats' 'done')" 1 "0: the job is done"

later push t -q q --id bury >/dev/null
run later work q -n 1 -- sh -c 'exit 65'
is "$status $(state q bury)" "0 dead" "exit status 65 buries the job"
is "$(later show bury -q q | cut -f 7)" "buried: exit status 65" "on purpose, as its error says"
is "$err" "later work: bury: buried: exit status 65" "a burial is told"

later push t -q q --id retry --backoff 3600 >/dev/null
run later work q -n 1 --json -- sh -c 'echo told >&2; exit 1'
is "$(state q retry) $(noted a retry q)" "delayed 1" "any other status: the job comes back later"
is "$(printf '%s' "$out" | sed 's/"seconds":[0-9.]*/"seconds":S/')" \
    '{"queue":"q","id":"retry","type":"t","attempt":1,"result":"released","seconds":S}' "work --json prints how a job ended"
like "$err" '^told$' "the program's words are seen"
like "$err" 'retry: exit status 1; again in (4[5-9]|5[0-9]|60) min' \
    "the backoff of the document"
is "$(later show retry -q q | cut -f 7)" "retry: exit status 1" "the reason is kept"

later push t -q q --id wait >/dev/null
later work q -n 1 -- false 2>/dev/null
wait_s=$(later show wait -q q --json | field score)
now=$(redis TIME | tr '\n' ' ' | awk '{ printf "%d.%06d", $1, $2 }')
is "$(awk "BEGIN { print ($wait_s - $now <= 1) }")" 1 "by default after a second at most"

# After a crash the job runs again, the first time at once, then after the backoff. crash_max (3) of
# them end it.
later push t -q crash --id crash --backoff 0 >/dev/null
later work crash -n 1 -- sh -c 'kill -9 $$' 2>/dev/null
is "$(later show crash -q crash | cut -f 2,5,7)" "$(printf 'ready\t1\tcrash: killed by signal 9 (Killed)')" \
    "killed by a signal: again at once"
run later work crash --until-empty -- sh -c 'kill -9 $$'
is "$(later show crash -q crash | cut -f 2,5,7)" "$(printf 'dead\t3\tcrash: killed by signal 9 (Killed)')" \
    "three times: buried, with the kind of its last failure"
printf '%s\n' 'crash_max = 2; retry = { max_attempts = 4; base = 0.01; };' \
    'types = ( { name = "few"; max_attempts = 2; timeout = 0.2; } );' >"$work/laterd.conf"
for type in t few; do
    later push $type -q conf --id $type >/dev/null
    later push $type -q conf --id $type-own --max-attempts 3 >/dev/null
done
later push t -q conf --id crash >/dev/null
run later work conf -C "$work/laterd.conf" -n 14 -- sh -c 'if [ $LATER_ID = crash ]; then kill -9 $$; fi; exit 1'
for job in t t-own few few-own crash; do
    later show $job -q conf | cut -f 1,2,5
done >"$work/shown"
is "$(tr '\t\n' '  ' <"$work/shown")" "t dead 4 t-own dead 3 few dead 2 few-own dead 3 crash dead 2 " \
    "as the daemon's configuration has it, the document before"
later push few -q conf --id over >/dev/null
run later work conf -C "$work/laterd.conf" -n 1 -- sleep 30
like "$err" 'over: over its time: 0.2 s' "so has the time of a type"
printf 'crash_max = no;\n' >"$work/laterd.conf"
run later work conf -C "$work/laterd.conf" -n 1 -- true
is "$status" 78 "a wrong configuration: status 78"

later push t -q q --id last --max-attempts 2 --backoff 0 >/dev/null
run later work q --until-empty -- false
is "$(state q last) $(noted a last q)" "dead 2" "after its last attempt: buried"

later push t -q slow --timeout 0.3 --backoff 60 --id slow >/dev/null
run later work slow -n 1 -- sleep 30
is "$(later show slow -q slow | cut -f 2,7)" "$(printf 'delayed\ttimeout: over its time: 0.3 s')" \
    "over its time: stopped, and again later"
script deaf <<'END'
trap '' TERM
echo $$ >"$PIDS"
sleep 300 &
wait
sleep 300
END

redis ZADD 'later:{bad}:ready' 1 '{broken' >/dev/null
later push t -q bad --id expired --expires-at 1000000001 >/dev/null
run later work bad --until-empty -- touch "$work/ran"
is "$(later size bad | cut -f 2-5) $(test -e "$work/ran" || echo never)" \
    "$(printf '0\t0\t0\t1 never')" "what is not to be run never runs"

later push t -q q --id nofile >/dev/null
run later work q --until-empty -- "$work/no-such-program"
is "$status" 66 "no such program: status 66"
like "$err" 'no-such-program: No such file' "a program that cannot be run is named"
is "$(later show nofile -q q | cut -f 2,5)" "$(printf 'ready\t0')" "the job is given back"
run later work q
is "$status" 64 "work without a program: status 64"
run later work -- true
is "$status" 64 "work without a queue: status 64"
run later work q --until-empty -n 3 -- true
is "$status" 64 "--until-empty and -n together: status 64"

# ---- how many, in which order, when it ends

for i in 1 2 3 4 5 6; do
    later push t -q low --id "low$i" >/dev/null
    later push t -q high --id "high$i" >/dev/null
done
is "$(later work high low -n 8 -- sh -c 'echo "$LATER_ID"' | tr '\n' ' ')" \
    "high1 high2 high3 high4 high5 high6 low1 low2 " "queues in their order; -n"
is "$(count low ready) $(count low reserved)" "4 0" "not one more is taken"
is "$(later work low --until-empty -- cat </dev/null | wc -c | tr -d ' ')" 96 \
    "--until-empty ends when nothing is left"
run later work low --until-empty -- true
is "$status$out$err" 0 "an empty queue is empty"

for i in 1 2 3 4 5 6 7 8; do later push t -q par >/dev/null; done
# Each ends only when four have started.
later work par --until-empty --parallel 4 -- sh -c \
    "echo begin; echo >>$work/there; until test \$(wc -l <$work/there) -ge 4; do sleep 0.02; done; echo end" >"$work/par"
most=$(awk '/begin/ { n++ } /end/ { n-- } n > most { most = n } END { print most }' "$work/par")
is "$most" 4 "--parallel 4: four at a time"

awk 'BEGIN { for (i = 0; i < 300; i++) print "{\"type\":\"t\"}" }' | later push -f - -q fast >/dev/null 2>&1
is "$(later work fast --until-empty -p 8 --json -- true | grep -c acked)" 300 "300 short ones"

# ---- waiting

worker idle -n 2 -- sh -c 'echo "$LATER_ID"'
wait_until 5 blocks 1
begun=$(date +%s%N)
later push t -q idle --id i1 >/dev/null
wait_until 5 grep -q i1 "$work/worked"
took=$((($(date +%s%N) - begun) / 1000000))
echo "# a push woke it in $took ms"
later push t -q idle --id i2 --in 0.5 >/dev/null
wait "$worker"
is "$? $(tr '\n' ' ' <"$work/worked")" "0 i1 i2 " "a delayed one is begun when it is due"

later push t -q again --id again --backoff 0.2 --max-attempts 3 >/dev/null
worker again -n 3 -- sh -c 'echo "$LATER_ATTEMPT"; exit 1'
wait "$worker"
is "$(tr '\n' ' ' <"$work/worked")$(state again again)" "1 2 3 dead" "three attempts, without a laterd"

# ---- leases

later push t -q lease --id kept >/dev/null
worker lease -n 1 --lease 6 -- sh -c "until test -e $work/renewed; do sleep 0.05; done"
wait_until 5 has lease reserved 1
lease_end() { redis ZRANGE 'later:{lease}:reserved' 0 -1 WITHSCORES | tail -n 1; }
score=$(lease_end)
renewed() { [ "$(awk "BEGIN { print ($(lease_end) > $score + 0.5) }")" = 1 ]; }
wait_until 10 renewed
is $? 0 "the lease is renewed while the program runs"
touch "$work/renewed"
wait "$worker"
is "$? $(redis HGET 'later:{lease}:stats' 'done')" "0 1" "and the job ends well"

later push t -q lapsed --id lapsed >/dev/null
later reserve lapsed --lease 1 >/dev/null
advance_redis 1
later work lapsed -n 1 -- true
is "$? $(redis HGET 'later:{lapsed}:stats' lapsed)" "0 1" "one that ran out is returned, without a laterd"

later push t -q lost --id lost >/dev/null
worker lost -n 1 --lease 6 --json -- sh -c 'trap "echo stopped; exit 3" TERM; echo started; sleep 60 & wait'
wait_until 5 grep -q started "$work/worked"
later cancel lost -q lost >/dev/null
wait "$worker"
is $? 0 "a cancelled job: the worker goes on"
like "$(cat "$work/worked")" '^stopped$' "its program gets TERM"
like "$(cat "$work/worked")" '"id":"lost".*"result":"lost"' "its result is lost"
like "$(cat "$work/words")" 'lost: the reservation is lost; its program is stopped' "a lost reservation is told"

later push t -q ends --id ends >/dev/null
worker ends -n 1 -- sh -c "touch $work/begun; until test -e $work/may-end; do sleep 0.02; done"
wait_until 5 test -e "$work/begun"
later cancel ends -q ends >/dev/null
touch "$work/may-end"
wait "$worker"
like "$(cat "$work/words")" 'ends: the reservation is lost; its result is not counted' \
    "an end after the loss is not counted"

# ---- stopping

for i in 1 2 3; do later push t -q stop --id "s$i" >/dev/null; done
worker stop -- sh -c "echo begin; until test -e $work/enough; do sleep 0.02; done; echo end"
wait_until 5 grep -q begin "$work/worked"
kill -TERM "$worker"
wait_until 5 grep -q stopping "$work/words"
touch "$work/enough"
wait "$worker"
is "$? $(tr '\n' ' ' <"$work/worked")" "0 begin end " "TERM: the program may end, no other begins"
is "$(later size stop | cut -f 2-5)" "$(printf '2\t0\t0\t0')" "the others wait"
like "$(cat "$work/words")" 'stopping: 1 still running' "it tells how many it waits for"

worker stop -p 2 -- sh -c 'echo begin; exec sleep 30'
wait_until 5 sh -c "test \$(grep -c begin $work/worked) -eq 2"
kill -INT "$worker"
wait_until 5 grep -q stopping "$work/words"
kill -INT "$worker"
wait "$worker"
is "$? $(later size stop | cut -f 2-5)" "0 $(printf '2\t0\t0\t0')" "the second one returns them"
is "$(redis HGETALL 'later:{stop}:records' | grep '^a=')" "" "without an attempt"

export PIDS="$work/pids"
worker stop -n 1 -- "$work/deaf"
wait_until 5 test -s "$PIDS"
# Signals that come too close together count as one.
terms=0
until gone "$worker" || [ $terms -ge 600 ]; do
    kill -TERM "$worker"
    terms=$((terms + 1))
    sleep 0.1
done
wait "$worker"
is "$? $(later size stop | cut -f 2-5)" "0 $(printf '2\t0\t0\t0')" "the third one kills what does not hear"
is "$(gone "$(cat "$PIDS")" && echo gone)" gone "the program is gone"

worker stop -n 1 -- sh -c "echo \$\$ >$work/orphan; exec sleep 30"
wait_until 5 test -s "$work/orphan"
kill -KILL "$worker"
wait "$worker" 2>/dev/null
wait_until 5 gone "$(cat "$work/orphan")"
is "$(gone "$(cat "$work/orphan")" && echo gone)" gone "KILL of the worker ends its program, too"

worker empty -- true
wait_until 5 blocks 1
kill -STOP "$worker"
later push t -q empty >/dev/null
kill -TERM "$worker"
kill -CONT "$worker"
wait "$worker"
is "$? $(redis LLEN 'later:{empty}:wake')" "0 1" "who leaves puts the wake back"

# ---- Redis goes away

stop_redis
start_redis 'appendonly yes' 'appendfsync always'
for i in 1 2; do later push t -q away --id "a$i" --backoff 0 >/dev/null; done
worker away -n 2 --json -- sh -c "echo begin; while ! test -e $work/go; do sleep 0.05; done"
wait_until 5 grep -q begin "$work/worked"
stop_redis KILL
touch "$work/go"
wait_until 10 grep -q 'it is tried again' "$work/words"
like "$(cat "$work/words")" 'it is tried again' "Redis is gone: it is told"
start_redis 'appendonly yes' 'appendfsync always'
wait "$worker"
is "$? $(grep -c '"result":"acked"' "$work/worked")" "0 2" "when it is back, the end is told, and work goes on"
is "$(later check away | cut -f 3 | sort -u)" ok "later check holds after Redis was away"
is "$(redis HGET 'later:{away}:stats' 'done')" 2 "jobs that ended while Redis was away are done"

# ---- a reserve whose answer is lost: Redis stands still once it has the question but before it answers

has_looked()
{
    test "$(called evalsha)" -gt "$looks"
}
# sockets: the worker's, by their numbers. has_hung_up: does it no longer wait for the answer?
sockets()
{
    find "/proc/$worker/fd" -type l -printf '%l\n' | grep socket | sort
}
has_hung_up()
{
    [ "$(sockets)" != "$connected" ]
}
# push_at_once QUEUE: no process is started for it.
push_at_once()
{
    echo '["push","t","-q","'"$1"'"]' >&5
    while read -r answer <&6; do
        case $answer in *'"status":'*) break ;; esac
    done
}
if applies hangs; then
    mkfifo "$work/asks" "$work/answers"
    "$later_bin" serve <"$work/asks" >"$work/answers" 2>/dev/null &
    own "$!"
    exec 5>"$work/asks" 6<"$work/answers"
    # The worker must not look around (it does every 0.8 s) between its wake and its reserve. So the
    # time right after a look is used, and if that went by, the test is repeated.
    for try in $(seq 10); do
        worker "hangs-$try" -n 1 -- cat
        wait_until 5 blocks 1
        looks=$(called evalsha)
        connected=$(sockets)
        wait_until 5 has_looked
        kill -STOP "$worker"
        push_at_once "hangs-$try"
        pause_redis
        kill -CONT "$worker"
        wait_until 20 has_hung_up # after 5 s; it gives back what it did not hear of within 5 more
        resume_redis
        wait "$worker"
        is $? 0 "Redis stood still, the job was done after that"
        returned=$(redis HGET "later:{hangs-$try}:stats" returned)
        test -z "$returned" || break
    done
    is "$returned" 1 "what a reserve took whose answer was lost is given back"
    like "$(cat "$work/words")" 'it is tried again' "the message says that the call is tried again"
    is "$(redis HGET "later:{hangs-$try}:stats" lapsed)$(redis EXISTS "later:{hangs-$try}:records")" 0 \
        "it did not lapse, and is no attempt"
    exec 5>&- 6<&-
    is "$(later check "hangs-$try" | cut -f 3 | sort -u)" ok "later check holds after Redis stood still"
fi
finish
