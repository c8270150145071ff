#!/bin/sh
# later work: a laterd of its own, with a program for each job.
. "${top_srcdir:=.}/tests/system/lib.sh"
start_redis 'appendonly yes' 'appendfsync always'

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
like "$err" 'failed, buried: exit status 65 job=bury' "a burial is told"

later push t -q q --id held >/dev/null
run later work q -n 1 -- sh -c 'exit 75'
is "$status $(later show held -q q | cut -f 2,5)" "$(printf '0 delayed\t0')" "75 gives it back, without an attempt"
later cancel held -q q >/dev/null

later push t -q q --id retry --backoff 3600 >/dev/null
run later work q -n 1 --json -- sh -c 'echo told >&2; exit 1'
is "$(state q retry) $(noted a retry q)" "delayed 1" "any other status: the job comes back later"
like "$err" '^told$' "the program's words are seen"
like "$(printf '%s\n' "$err" | grep '^{.*"job":"retry"' | jq -r '"\(.text) \(.queue) \(.type) \(.attempt)"')" \
    '^failed, again in (2[7-9][0-9][0-9]|3[0-5][0-9][0-9]|3600).*: exit status 1 q t 1$' \
    "work --json logs how a job ended as JSON; the backoff of the document"
is "$(later show retry -q q | cut -f 7)" "retry: exit status 1" "the reason is kept"

later push t -q q --id wait >/dev/null
later work q -n 1 -- false 2>/dev/null
wait_s=$(later show wait -q q --json | field score)
now=$(redis TIME | tr '\n' ' ' | awk '{ printf "%d.%06d", $1, $2 }')
is "$(awk "BEGIN { print ($wait_s - $now <= 1) }")" 1 "by default after a second at most"

later push t -q crash --id crash --backoff 0 --max-attempts 2 >/dev/null
run later work crash --until-empty -- sh -c 'kill -9 $$'
is "$(later show crash -q crash | cut -f 2,5,7)" "$(printf 'dead\t2\tcrash: killed by signal 9 (Killed)')" \
    "killed by a signal: a failure, whose kind is a crash"
printf '%s\n' 'retry = { max_attempts = 4; base = 0.01; };' \
    'types = ( { name = "few"; max_attempts = 2; timeout = 0.2; on_dead = "alert"; } );' \
    'limits = ( { type = "paced"; max = 2; per = 3600; } );' \
    'queues = ( { name = "narrow"; max_running = 1; }, { name = "other"; } );' >"$work/laterd.conf"
for type in t few; do
    later push $type -q conf --id $type >/dev/null
    later push $type -q conf --id $type-own --max-attempts 3 >/dev/null
done
run later work conf -C "$work/laterd.conf" -n 14 -- sh -c 'test "$LATER_TYPE" = alert'
for job in t t-own few few-own; do
    later show $job -q conf | cut -f 1,2,5
done >"$work/shown"
is "$(tr '\t\n' '  ' <"$work/shown")" "t dead 4 t-own dead 3 few dead 2 few-own dead 3 " \
    "as the daemon's configuration has it, the document before"
is "$(redis HGET 'later:{conf}:stats' 'done')" 2 "its hooks are pushed"
later push few -q conf --id over >/dev/null
run later work conf -C "$work/laterd.conf" -n 1 -- sleep 30
like "$err" '(timed out|over its time).* job=over' "so has the time of a type"
for i in 1 2 3; do
    later push paced -q pace --id "paced$i" >/dev/null
    later push t -q narrow --id "narrow$i" >/dev/null
done
spawn "$later_bin" work pace -C "$work/laterd.conf" -p 3 -- sh -c 'echo "$LATER_ID" >>"$1"' - "$work/paced"
runs "a limit: two of three begin" wait_until 20 sh -c "test \$(wc -l <$work/paced) -eq 2"
runs "the third waits for its turn" wait_until 20 has pace delayed 1
kill "$!"
wait "$!"
is "$(wc -l <"$work/paced" | tr -d ' ')" 2 "and has not begun"
later work narrow -C "$work/laterd.conf" -p 3 -n 3 -- sh -c 'echo begin; sleep 0.2; echo end' >"$work/narrow"
is "$(tr '\n' ' ' <"$work/narrow")" "begin end begin end begin end " "max_running of a queue"
printf 'crash_max = no;\n' >"$work/laterd.conf"
run later work conf -C "$work/laterd.conf" -n 1 -- true
is "$status" 78 "a wrong configuration: status 78"

later push t -q q --id last --max-attempts 2 --backoff 0 >/dev/null
run later work q --until-empty -- false
is "$(state q last) $(noted a last q)" "dead 2" "after its last attempt: buried"

later push t -q slow --timeout 0.3 --backoff 60 --id slow >/dev/null
run later work slow -n 1 -- sleep 30
like "$(later show slow -q slow | cut -f 2,7)" '^delayed.timeout: ' \
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
like "$err" 'no-such-program: no such program' "a program that cannot be run is named"
: >"$work/plain"
run later work q -- "$work/plain"
is "$status" 66 "a file that may not be executed: status 66"
like "$err" 'plain may not be executed; chmod' "and what makes it a program"
is "$(later show nofile -q q | cut -f 2,5)" "$(printf 'ready\t0')" "the job is not touched"

# ---- what holds for other workers

for i in 1 2 3; do later push t -q locks --lock L --id "lock$i" >/dev/null; done
later work locks -p 3 -n 3 -- sh -c 'echo begin; sleep 0.2; echo end' >"$work/locked"
is "$(tr '\n' ' ' <"$work/locked")" "begin end begin end begin end " "jobs of one lock run one after another"
later push t -q ends --id kept --result 600 --on-done after >/dev/null
later work ends -n 1 -- true
is "$(later wait kept -q ends --timeout 0)" null "a result is kept"
is "$(later search -q ends | grep -c '"type":"after"')" 1 "on_done is pushed"
run later work q
is "$status" 64 "work without a program: status 64"
run later work -- true
is "$status" 64 "work without a queue: status 64"
run later work q --until-empty -n 3 -- true
is "$status" 64 "--until-empty and -n together: status 64"

# ---- how many, when it ends

for i in 1 2 3 4 5 6; do
    later push t -q low --id "low$i" >/dev/null
    later push t -q high --id "high$i" >/dev/null
done
later work high low -n 8 -- sh -c 'echo "$LATER_ID"' >"$work/order"
is "$(wc -l <"$work/order" | tr -d ' ')" 8 "-n: so many begin"
is "$(($(count low ready) + $(count high ready)))$(count low reserved)$(count high reserved)" 400 "not one more is taken"
later work high low --until-empty -- sh -c 'echo "$LATER_ID"' >>"$work/order"
is "$(sort "$work/order" | uniq | wc -l | tr -d ' ')$(count low ready)$(count high ready)" 1200 \
    "--until-empty ends when nothing is left"
run later work low --until-empty -- true
is "$status$out" 0 "an empty queue is empty"
later push t -q low >/dev/null
later pause low >/dev/null
run later work low --until-empty -- true
is "$status $(count low ready)" "0 1" "a paused queue is left as it is"
later resume low >/dev/null

for i in 1 2 3 4 5 6 7 8; do later push t -q par >/dev/null; done
# Each ends only when four have started.
later work par --until-empty --parallel 4 -- sh -c \
    "echo begin; echo >>$work/there; until test \$(wc -l <$work/there) -ge 4; do sleep 0.02; done; echo end" >"$work/par"
most=$(awk '/begin/ { n++ } /end/ { n-- } n > most { most = n } END { print most }' "$work/par")
is "$most" 4 "--parallel 4: four at a time"
for i in 1 2 3 4; do later push t -q alone >/dev/null; done
is "$(later work alone -n 4 -- sh -c 'echo begin; sleep 0.3; echo end' | tr '\n' ' ')" \
    "begin end begin end begin end begin end " "without it, one at a time"

awk 'BEGIN { for (i = 0; i < 300; i++) print "{\"type\":\"t\"}" }' | later push -f - -q fast >/dev/null 2>&1
is "$(later work fast --until-empty -p 8 -- true; redis HGET 'later:{fast}:stats' 'done')" 300 "300 short ones"

# ---- waiting

worker idle -n 2 -- sh -c 'echo "$LATER_ID"'
wait_until 20 blocks 1
begun=$(date +%s%N)
later push t -q idle --id i1 >/dev/null
wait_until 20 grep -q i1 "$work/worked"
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
worker lease -n 1 --lease 12 -- sh -c "until test -e $work/renewed; do sleep 0.05; done"
wait_until 20 has lease reserved 1
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
later work lapsed -n 1 --lease 9 -- true
is "$? $(redis HGET 'later:{lapsed}:stats' lapsed)" "0 1" "one that ran out is returned"

later push t -q lost --id lost >/dev/null
worker lost -n 1 -- sh -c 'trap "echo stopped; exit 3" TERM; echo started; sleep 60 & wait'
wait_until 20 grep -q started "$work/worked"
later cancel lost -q lost >/dev/null
wait "$worker"
is $? 0 "a cancelled job: the worker goes on"
like "$(cat "$work/worked")" '^stopped$' "its program gets TERM"
like "$(cat "$work/words")" '(reservation was withdrawn|was cancelled).* job=lost' "that is told"

# ---- stopping

for i in 1 2 3; do later push t -q stop --id "s$i" >/dev/null; done
worker stop --json -- sh -c "echo begin; until test -e $work/enough; do sleep 0.02; done; echo end"
wait_until 20 grep -q begin "$work/worked"
kill -TERM "$worker"
wait_until 20 grep -q '"text":"stopping: ' "$work/words"
touch "$work/enough"
wait "$worker"
is "$? $(tr '\n' ' ' <"$work/worked")" "0 begin end " "TERM: the program may end, no other begins"
is "$(later size stop | cut -f 2-5)" "$(printf '2\t0\t0\t0')" "the others wait"

worker stop -p 2 -- sh -c 'echo begin; exec sleep 300'
wait_until 20 sh -c "test \$(grep -c begin $work/worked) -eq 2"
kill -INT "$worker"
wait_until 20 grep -q stopping "$work/words"
kill -INT "$worker"
wait "$worker"
is "$? $(later size stop | cut -f 2-5)" "0 $(printf '2\t0\t0\t0')" "the second one returns them"
is "$(redis HGETALL 'later:{stop}:records' | grep '^a=')" "" "without an attempt"

export PIDS="$work/pids"
worker stop -n 1 -- "$work/deaf"
wait_until 20 test -s "$PIDS"
kill -TERM "$worker"
wait_until 20 grep -q stopping "$work/words"
kill -TERM "$worker"
wait "$worker"
is "$? $(later size stop | cut -f 2-5)" "0 $(printf '2\t0\t0\t0')" "also what does not hear"
runs "the program is gone" wait_until 20 gone "$(cat "$PIDS")"

worker stop -n 1 -- sh -c "echo \$\$ >$work/orphan; exec sleep 300"
wait_until 20 test -s "$work/orphan"
kill -KILL "$worker"
wait "$worker" 2>/dev/null
runs "KILL of the worker ends its program, too" wait_until 20 gone "$(cat "$work/orphan")"

# ---- Redis goes away

for i in 1 2; do later push t -q away --id "a$i" --backoff 0 >/dev/null; done
worker away -n 2 -- sh -c "echo begin; while ! test -e $work/go; do sleep 0.05; done"
wait_until 20 grep -q begin "$work/worked"
stop_redis KILL
touch "$work/go"
runs "Redis is gone: it is told" wait_until 20 grep -q redis "$work/words"
start_redis 'appendonly yes' 'appendfsync always'
wait "$worker"
is $? 0 "when it is back, work goes on"
is "$(later check away | cut -f 3 | sort -u)" ok "later check holds after Redis was away"
is "$(redis HGET 'later:{away}:stats' 'done')" 2 "jobs that ended while Redis was away are done"
finish
