#!/bin/sh
# later check: the invariants hold, and whatever breaks them is found.
. "${top_srcdir:=.}/tests/system/lib.sh"
start_redis 'appendonly no'

run later check
is "$status" 0 "check without any queue: status 0"
contains "$err" 'later check: no queues: later:queues is empty' "and it is said what was looked at"

# ---- jobs that go through every state

awk 'BEGIN { for (i = 0; i < 700; i++) print "{\"type\":\"t\",\"id\":\"j" i "\"}" }' |
    later push -f - -q q >/dev/null 2>&1
later push t -q q --id delayed --in 1h >/dev/null
redis ZADD 'later:{q}:ready' 1 '{"type":"plain","n":1}' 2 '{"type":"plain","n":2}' >/dev/null
redis ZADD 'later:{q}:delayed' 4102444800 '{"type":"plain","n":3}' >/dev/null
later reserve q -n 300 >"$work/held"
sed -n 3,12p "$work/held" | while IFS="$(printf '\t')" read -r id token _; do later ack "$id" --token "$token" -q q; done
sed -n 13,20p "$work/held" | while IFS="$(printf '\t')" read -r id token _; do later bury "$id" --token "$token" -q q; done
later cancel j20 j600 -q q >/dev/null
later cancel -q q --state dead --yes >/dev/null
run later check q
is "$status" 0 "all is well: status 0"
is "$out" "$(printf '%s\t%s\t%s\t%s\n' \
    q counters ok 'pushed 701 + adopted 2 = done 10 + expired 0 + cancelled 10 + purged 0 + trimmed 0 + moved 0 + jobs 683' \
    q sets ok 'ready 401 + delayed 2 + reserved 281 + dead 0 + waiting 0 = jobs 683 + unadopted 1' \
    q members ok '684 looked at, each in one set, with its document')" "both sums, and what was looked at"
is "$(later check q --json | sed -n 2p)" \
    '{"queue":"q","check":"sets","ok":true,"ready":401,"delayed":2,"reserved":281,"dead":0,"waiting":0,"jobs":683,"unadopted":1}' \
    "--json: the numbers"

# ---- each way to break it, and then repair it

# broken NAME CHECK PATTERN: the check fails and says this.
broken()
{
    run later check q
    is "$status" 1 "$1: status 1"
    is "$(printf '%s\n' "$out" | awk -F '\t' '$3 == "VIOLATED" { print $2 }' | tr '\n' ' ')" "$2 " \
        "$1: $2 violated"
    like "$out" "$3" "$1: in words"
}
mended()
{
    run later check q
    is "$status" 0 "check of the mended queue: status 0"
}

redis HINCRBY 'later:{q}:stats' 'done' 1 >/dev/null
broken "a counter that is too high" "counters sets" 'done 11 '
redis HINCRBY 'later:{q}:stats' 'done' -1 >/dev/null
mended

document=$(redis HGET 'later:{q}:jobs' j650)
score=$(redis ZSCORE 'later:{q}:ready' j650)
redis ZREM 'later:{q}:ready' j650 >/dev/null
broken "a job in no set" "sets members" 'ready 400 .* = jobs 683 '
like "$out" '1 faults; the first: j650 has a document and is in no set' "the first fault is named"
redis ZADD 'later:{q}:ready' "$score" j650 >/dev/null
mended

redis HSET 'later:{q}:records' ghost 'a=3' >/dev/null
broken "a record without a job" members 'the first: ghost has a record and no job'
redis HSET 'later:{q}:records' ghost "$(printf 't=4102444800\n')" >/dev/null
mended # its record says until when its id is taken
redis HDEL 'later:{q}:records' ghost >/dev/null

redis DEL 'later:{q}:wake' >/dev/null
redis RPUSH 'later:{q}:wake' 1 1 >/dev/null
broken "two wakes" members 'wake has more than one element'
redis LTRIM 'later:{q}:wake' 0 0 >/dev/null
mended

redis ZADD 'later:{q}:ready' 1 '{"type":"twice"}' >/dev/null
redis ZADD 'later:{q}:delayed' 9999999999 '{"type":"twice"}' >/dev/null
mended # they are two jobs, not adopted yet
redis ZREM 'later:{q}:ready' '{"type":"twice"}' >/dev/null
redis ZREM 'later:{q}:delayed' '{"type":"twice"}' >/dev/null

redis ZADD 'later:{q}:dead' 5 j650 >/dev/null
broken "a job in two sets" "sets members" 'j650 is in ready dead|j650 is in dead ready'
redis ZREM 'later:{q}:dead' j650 >/dev/null
mended

redis ZADD 'later:{q}:reserved' 9999999999 zzzzzzzzzzzzzzzz >/dev/null
redis ZADD 'later:{q}:reserved:zzzzzzzzzzzzzzzz' 1 j650 >/dev/null
broken "ready and reserved" "sets members" 'j650 is in ready reserved'
redis DEL 'later:{q}:reserved:zzzzzzzzzzzzzzzz' >/dev/null
redis ZREM 'later:{q}:reserved' zzzzzzzzzzzzzzzz >/dev/null
mended

held=$(redis ZRANGE "later:{q}:reserved:$(redis ZRANGE 'later:{q}:reserved' 0 0)" 0 0)
redis ZADD 'later:{q}:reserved' 9999999999 zzzzzzzzzzzzzzzz >/dev/null
redis ZADD 'later:{q}:reserved:zzzzzzzzzzzzzzzz' 1 "$held" >/dev/null
broken "two tokens for a job" "sets members" "$held is reserved twice"
redis DEL 'later:{q}:reserved:zzzzzzzzzzzzzzzz' >/dev/null
redis ZREM 'later:{q}:reserved' zzzzzzzzzzzzzzzz >/dev/null
mended

# The sum alone would not show this: one job is in two sets, another in none.
redis ZADD 'later:{q}:dead' 5 j650 >/dev/null
redis ZREM 'later:{q}:ready' j651 >/dev/null
run later check q
is "$status" 1 "one twice, one missing: status 1"
is "$(printf '%s\n' "$out" | sed -n 2p | cut -f 3)" ok "though the sum is right"
like "$out" 'members	VIOLATED	.*j650 is in' "a job in two sets is found"
redis ZREM 'later:{q}:dead' j650 >/dev/null
redis ZADD 'later:{q}:ready' "$score" j651 >/dev/null
mended

redis HDEL 'later:{q}:jobs' "$held" >/dev/null
broken "a reserved job without its document" "counters sets members" "$held has no document"
redis HSET 'later:{q}:jobs' "$held" "$document" >/dev/null
mended

# ---- many queues

later push t -q other >/dev/null
redis HINCRBY 'later:{other}:stats' pushed 5 >/dev/null
run later check
is "$status" 1 "one queue of several is broken: status 1"
is "$(printf '%s\n' "$out" | awk -F '\t' '$3 == "VIOLATED" { print $1, $2 }')" "other counters" \
    "it is named, the other is well"
like "$(on_terminal "$later_bin check other")" "$(printf '\033')\\[31mVIOLATED" "in red on a terminal"
redis HINCRBY 'later:{other}:stats' pushed -5 >/dev/null

# ---- a queue in use: pushes, plain ones too, workers, cancels, and checks meanwhile

busy()
{
    while test ! -e "$work/enough"; do
        [ "$(redis ZCARD 'later:{busy}:ready')" -lt 500 ] || continue
        awk 'BEGIN { for (i = 0; i < 100; i++) print "{\"type\":\"t\"}" }' | later push -f - -q busy
        for n in 1 2 3; do
            redis ZADD 'later:{busy}:ready' 1 "{\"type\":\"p\",\"n\":\"$n $(date +%N)\"}"
        done
        later cancel "$(later peek busy -n 1 | cut -f 1)" -q busy
    done >/dev/null 2>&1
}

# slowly COMMAND...: stops it for a moment every few milliseconds, as on a busy machine.
slowly()
{
    "$@" &
    slow=$!
    own "$slow"
    while kill -STOP "$slow" && ! gone "$slow"; do
        sleep 0.03
        kill -CONT "$slow"
        sleep 0.002
    done 2>/dev/null
    wait "$slow"
}
busy &
pusher=$!
own "$pusher"
"$later_bin" work busy -p 4 -- true >/dev/null 2>&1 </dev/null &
worker=$!
own "$worker"
failed=0
for i in $(seq 30); do
    [ "$i" -gt 2 ] && how='' || how=slowly # so that the queue moves during each look
    $how "$later_bin" check busy >"$work/check" || {
        failed=$((failed + 1))
        sed 's/^/# /' "$work/check"
    }
done
touch "$work/enough"
wait "$pusher"
kill "$worker"
wait "$worker"
is "$failed" 0 "30 checks of a busy queue find nothing wrong"
later work busy --until-empty -p 8 -- true
run later check busy
is "$status" 0 "nor in the end"
is "$(later size busy | cut -f 2-5)" "$(printf '0\t0\t0\t0')" "when all is done"

# ---- names that were lost, as by a FLUSHALL while clients go on

if [ "$redis_kind" != cluster ]; then
    redis DEL later:queues >/dev/null
    run later check
    is "$status" 1 "a queue that later:queues does not name is found"
    like "$out" "$(printf '^q\tname\tVIOLATED\tit has jobs but is not in later:queues')" \
        "a queue with jobs that later:queues does not name is a violation"
    like "$out" "$(printf '^q\tcounters\tok')" "the queue is checked like any other"
    later check --json >"$work/out"
    like "$(cat "$work/out")" '^\{"queue":"q","check":"name","ok":false\}$' \
        "check --json of a queue without a name in later:queues"
    redis SADD later:queues q other busy >/dev/null
    redis ZADD 'later:{zadd}:ready' 1 '{"type":"plain"}' >/dev/null
    run later check
    like "$status $out" "$(printf 'zadd\tname\tok\tit is not in later:queues yet')" "plain ZADDs need no name"
    is "$status" 0 "and break nothing"
    redis DEL 'later:{zadd}:ready' >/dev/null
fi
# ---- saved searches

later search --save 'all dead' --state dead >/dev/null
later search --save 'of q' -q q --state dead >/dev/null
run later check
is "$status $(echo "$out" | grep -c search)" "0 0" "searches that can be used"
later search --save 'of none' -q nobody-here >/dev/null
redis HSET later:searches odd 'colour:red' bare 'red' >/dev/null
run later check
is "$status" 0 "stale ones break nothing"
is "$(echo "$out" | grep stale | sort)" "$(printf '%s\n' "-	search	stale	bare: red is no condition; later search --unsave drops it" \
    "-	search	stale	odd: colour is not a condition; later search --unsave drops it" \
    "nobody-here	search	stale	of none: its queue is not there; later search --unsave drops it" | sort)" "and are said"
is "$(later check --json | grep -c '"check":"search","ok":true,"search":"o')" 2 "--json, too"
run later check q
is "$(echo "$out" | grep -c stale)" 0 "who asks about a queue does not hear of them"
redis DEL later:searches >/dev/null
# ---- many small queues: their answers are asked for together

redis_all FLUSHALL >/dev/null
i=0
while [ "$i" -lt 100 ]; do
    i=$((i + 1))
    printf '{"type":"t","queue":"small%d"}\n' "$i"
done | later push --file - >/dev/null
reads()
{
    redis_all INFO stats | tr -d '\r' | awk -F: '$1 == "total_reads_processed" { sum += $2 } END { print sum + 0 }'
}
before=$(reads)
run later check
is "$status" 0 "a hundred queues are checked"
is "$(echo "$out" | grep -c "ok.*pushed 1 ")" 100 "each has its sums"
is "$((($(reads) - before) < 1000))" 1 "their commands come to Redis in fewer than ten pieces a queue"
redis DEL 'later:{small7}:ready' >/dev/null
run later check
is "$status $(echo "$out" | grep VIOLATED | cut -f 1 | sort -u)" "1 small7" "one that has lost a job is found among them"
finish
