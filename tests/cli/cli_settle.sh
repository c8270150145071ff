#!/bin/sh
# later reserve, ack, release, bury, touch: a worker by hand.
. "${top_srcdir:=.}/tests/system/lib.sh"
start_redis 'appendonly no'

token_of()
{
    cut -f 2
}

# ---- reserve

run later reserve q
is "$status $out$err" "75 " "an empty queue: status 75, no words"
later push t '{"a":1}' -q q --id a >/dev/null
later push t -q q --id b --priority 1 >/dev/null
line=$(later reserve q)
like "$line" '^b	[0-9a-z]{16}	1	\{"type":"t","id":"b","priority":1\}$' \
    "ID TAB TOKEN TAB ATTEMPT TAB document"
b=$(printf '%s' "$line" | token_of)
now=$(redis TIME | head -n 1)
line=$(later reserve q --lease 2m --json)
like "$line" '^\{"queue":"q","id":"a","token":"[0-9a-z]{16}","attempt":1,"lease_until":[0-9.]+,"document":"\{\\"type\\":\\"t\\",\\"id\\":\\"a\\",\\"payload\\":\{\\"a\\":1\}\}"\}$' \
    "reserve --json prints token, attempt and document"
a=$(printf '%s' "$line" | field token)
until=$(printf '%s' "$line" | field lease_until | cut -d. -f1)
is "$((until - now >= 120 && until - $(redis TIME | head -n 1) <= 120))" 1 "--lease 2m holds for two minutes"
is "$(test "$a" != "$b" && echo new)" new "each reserve has a token of its own"

# ---- settle

run later ack a --token "$b" -q q
is "$status" 77 "another job's token: status 77"
like "$err" 'this token is not, or no longer, the owner of job a in queue q' "a wrong token is named"
run later ack a --token nonsense -q q
is "$status" 77 "what is no token is nobody's"
run later ack nobody --token "$a" -q q
is "$status" 77 "the token of another job: status 77"
is "$(held_by_tokens q)" 2 "wrong tokens have changed nothing"
run later ack a --token "$a" -q q
is "$status$out$err" 0 "ack: no words"
is "$(redis HGET 'later:{q}:jobs' a)" "" "an acked job has no document"
run later ack a --token "$a" -q q
is "$status" 77 "acking twice: status 77"

is "$(later release b --token "$b" -q q --in 1h --error 'try "again"' --json)" \
    '{"queue":"q","id":"b","result":"released","state":"reserved"}' "release --json names the result"
is "$(later show b -q q | cut -f 2,5)" "$(printf 'delayed\t1')" "--in: delayed; an attempt is counted"
is "$(later show b -q q --json | sed 's|,"why":.*|}|' | field text)" 'try "again"' "--error is kept"
later kick b -q q >/dev/null
b=$(later reserve q | token_of)
later release b --token "$b" -q q
is "$(later show b -q q | cut -f 2,5)" "$(printf 'ready\t2')" "release without --in: ready"
line=$(later reserve q)
is "$(printf '%s' "$line" | cut -f 3)" 3 "the third attempt"
later release b --token "$(printf '%s' "$line" | token_of)" -q q --uncounted
is "$(later show b -q q | cut -f 2,5)" "$(printf 'ready\t2')" "return: no attempt"
later release b --token "$(later reserve q | token_of)" -q q --uncounted --in 1h
is "$(later show b -q q | cut -f 2)" delayed "return --in delays the job"
later kick b -q q >/dev/null
later bury b --token "$(later reserve q | token_of)" -q q --error 'hopeless'
is "$(later show b -q q | cut -f 2,7)" "$(printf 'dead\tburied: hopeless')" "bury --error keeps the reason"
run later release q b
is "$status" 64 "ack without a token: status 64"
run later release q b x y
is "$status" 64 "a word too many"

# ---- touch

later push t -q l --id l >/dev/null
line=$(later reserve l --lease 60)
token=$(printf '%s' "$line" | token_of)
before=$(redis TIME | head -n 1)
is "$(later touch l --token "$token" -q l --lease 1h --json)" '{"queue":"l","id":"l","result":"touched","state":"reserved"}' \
    "touch --json names the end of the lease"
until=$(redis ZSCORE 'later:{l}:reserved' "$token" | cut -d. -f1)
is "$((until - before >= 3600 && until - $(redis TIME | head -n 1) <= 3600))" 1 "the lease is renewed"
run later touch l --token 0123456789abcdef -q l
is "$status" 77 "touch with another token: status 77"

# ---- many

redis EVAL 'for i = 1, 600 do redis.call("ZADD", KEYS[1], i, "id" .. i) redis.call("HSET", KEYS[2], "id" .. i, "{\"type\":\"n\"}") end' \
    2 'later:{many}:ready' 'later:{many}:jobs' >/dev/null
is "$(later reserve many -n 500 | cut -f 1,2 | sort -u | wc -l)" 500 "reserve -n 500 takes 500 jobs"
is "$(later reserve many -n 500 | token_of | sort -u | wc -l)" 1 "the jobs of one call have one token"
run later reserve many -n 501
is "$status" 64 "reserve -n 501: status 64"

# ---- a job that was returned or taken over meanwhile

later push n -q over --id o >/dev/null
old=$(later reserve over | token_of)
later release o --token "$old" -q over --uncounted
run later ack o --token "$old" -q over
is "$status" 77 "returned since: ack is refused"
gone_token=$(later reserve over --lease 1s | token_of)
advance_redis 1
# overdue QUEUE
overdue()
{
    test "$(later size "$1" | cut -f 9)" -eq 1
}
wait_until 10 overdue over
if applies lapses; then

# Nobody serves this queue, so nobody else would return the job. In a queue that is served, a new
# connection waits a third of a lease before it lapses any.
alive=$(($(redis TIME | head -n 1) + 3600)) # for as long as the test takes
redis HSET later:hosts a:1 "{\"host\":\"a\",\"seen\":$alive,\"queues\":[\"over\"]}" >/dev/null
run later reserve over --lease 30
is "$status" 75 "a lease ran out: a laterd that serves the queue returns it"
redis DEL later:hosts >/dev/null
run later reserve over --lease 1h
is "$status" 75 "nobody serves it, but Redis was started just now"
# Redis must have been running for a third of a lease.
old_enough()
{
    [ "$(redis INFO server | tr -d '\r' | sed -n 's/^uptime_in_seconds://p')" -ge 4 ]
}
advance_redis 4
wait_until 10 old_enough
new=$(later reserve over --lease 9 | token_of)
later touch o --token "$new" -q over --lease 1h
like "$new" '^[0-9a-z]{16}$' "nobody serves it: another has the job at once"
for verb in ack release 'release --uncounted' bury touch; do
    # shellcheck disable=SC2086 # words
    run later $verb o --token "$gone_token" -q over
    is "$status $out" "77 " "taken over since: $verb is refused"
done
is "$(later show o -q over | cut -f 2,5)" "$(printf 'reserved\t1')" "and has changed nothing but the lapse"
run later ack o --token "$new" -q over
is "$status" 0 "who has it now may ack"

fi

# ---- jobs that may not run are settled

redis ZADD 'later:{screen}:ready' 1 '{"no type":1}' 2 '{broken' >/dev/null
later push t -q screen --id late --expires-at 1000000001 >/dev/null
later push t -q screen --id tired --max-attempts 1 >/dev/null
redis HSET 'later:{screen}:records' tired a=1 >/dev/null
later push t -q screen --id good >/dev/null
is "$(later reserve screen 2>"$work/err" | cut -f 1)" good "only what may run is handed out"
is "$(grep -c . "$work/err")" 4 "the others are told"
is "$(later size screen | cut -f 2-5)" "$(printf '0\t0\t1\t3')" "buried, or expired"
is "$(redis HGET 'later:{screen}:stats' expired)" 1 "an expired job is counted"
like "$(later peek screen --state dead | cut -f 7)" 'bad: not JSON' "a bad document is buried with the reason"

# ---- --wait

begun=$(date +%s%N)
run later reserve w --wait 0.5
took=$((($(date +%s%N) - begun) / 1000000))
is "$status" 75 "--wait: nothing came"
is "$((took >= 480)) $(soon "$took" 1500)" "1 1" "reserve --wait returns after that time"
[ "$took" -ge 480 ] || echo "# $took ms"

# waiting NAME: starts a reserve that waits, in the background.
waiting()
{
    "$later_bin" reserve w --wait 300 --lease 10m >"$work/$1" 2>&1 </dev/null &
    waiter=$!
    own "$waiter"
}
waiting first
wait_until 5 blocks 1
later push t -q w --id w1 >/dev/null
wait "$waiter"
is "$? $(cut -f 1 "$work/first")" "0 w1" "a push ends the waiting"
is "$(redis LLEN 'later:{w}:wake')" 0 "no wake is left over"

waiting plain
wait_until 5 blocks 1
redis ZADD 'later:{w}:ready' 1 '{"type":"plain"}' >/dev/null
wait "$waiter"
is "$? $(cut -f 4 "$work/plain")" '0 {"type":"plain"}' "a plain ZADD is found, without a laterd"

waiting due
wait_until 5 blocks 1
later push t -q w --id due --in 0.3 >/dev/null
wait "$waiter"
is "$? $(cut -f 1 "$work/due")" '0 due' "a delayed one is found when it is due, without a laterd"

later pause w
waiting paused
wait_until 5 blocks 1
later push t -q w --id paused >/dev/null
later resume w
wait "$waiter"
is "$? $(cut -f 1 "$work/paused")" "0 paused" "resume wakes a waiting reserve"

waiting left
wait_until 5 blocks 1
kill -TERM "$waiter"
redis LPUSH 'later:{w}:wake' 1 >/dev/null
redis ZADD 'later:{elsewhere}:ready' 1 x >/dev/null
wait "$waiter"
is $? 143 "TERM ends it as TERM does"
is "$(cat "$work/left")" "" "an ended reserve says nothing"

# A wake that came, and TERM before it could be followed: it is for the next. Its BLPOP ends by itself
# now and then; where that was just before the push, once more.
waiting stopped
is_eaten()
{
    kill -CONT "$waiter"
    blocks 1 || return 1
    kill -STOP "$waiter"
    later push t -q w --id stopped
    [ "$(redis LLEN 'later:{w}:wake')" -gt 0 ] || return 0
    later cancel stopped -q w
    redis DEL 'later:{w}:wake'
    return 1
}
wait_until 5 is_eaten
is "$(redis LLEN 'later:{w}:wake')" 0 "the wake is eaten"
kill -TERM "$waiter"
kill -CONT "$waiter"
wait "$waiter"
is "$? $(redis LLEN 'later:{w}:wake') $(held_by_tokens w)" "143 1 4" \
    "who leaves puts it back and takes nothing"
later reserve w >/dev/null

later push t -q w --id last >/dev/null
redis DEL 'later:{w}:wake' >/dev/null
is "$(later reserve w --wait 5 | cut -f 1)" last "what is there is taken at once, wake or not"

# Two wait and two jobs come: both get one, though there is only one wake.
waiting one
one=$waiter
waiting two
two=$waiter
wait_until 5 blocks 2
printf '{"type":"t"}\n{"type":"t"}\n' | later push -f - -q w >/dev/null
wait "$one"
first=$?
wait "$two"
is "$first $?" "0 0" "reserve leaves the wake for the next"
is "$(cut -f 1 "$work/one" "$work/two" | sort -u | wc -l)" 2 "each has another job"

# ---- an answer that is lost

# A proxy loses the answers of half of all scripts. A reserve that so has no answer gives back what it took.
if applies proxy; then
    seq 60 | sed 's/.*/{"type":"t","id":"x&"}/' | later push -f - -q x >/dev/null
    "$top_builddir/tests/faults/proxy" 0 "$redis_socket" "$work/control" >"$work/port" &
    own $!
    wait_until 10 [ -s "$work/port" ]
    python3 - "$work/control" <<'PYTHON'
import socket, sys
proxy = socket.socket(socket.AF_UNIX)
proxy.connect(sys.argv[1])
proxy.sendall(b"drop 5000\n")
PYTHON
    for _ in $(seq 40); do
        LATER_REDIS_URL=redis://127.0.0.1:$(cat "$work/port") later reserve x >>"$work/taken" 2>>"$work/lost" || :
    done
    contains "$(cat "$work/lost")" 'it may or may not have been done' "a reserve without an answer says so"
    is "$(held_by_tokens x)" "$(wc -l <"$work/taken")" "and holds no job, of 40 reserves"
fi

for queue in q l w x; do
    is "$(later check "$queue" | cut -f 3 | sort -u)" ok "check $queue"
done
finish
