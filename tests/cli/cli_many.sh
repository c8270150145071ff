#!/bin/sh
# later search --count, kick, bury, cancel and export, with conditions, in a queue in use: exactly the
# right jobs are affected. LATER_SOAK=N: N million jobs instead of a few thousand.
. "${top_srcdir:=.}/tests/system/lib.sh"
start_redis 'appendonly no' 'lua-time-limit 600000' # the test's own scripts are no short ones
total=6000
[ "$redis_kind" = single ] || total=600 # a set only adds the walk over its nodes
[ -z "${LATER_SOAK:-}" ] || total=$((1000000 * LATER_SOAK))

# ---- the jobs: one in five is ready and gets performed; two are delayed; two get buried

awk -v total="$total" 'BEGIN {
    for (i = 0; i < total; i++) {
        type = i % 5 == 0 ? "work" : i % 5 < 3 ? "plan." i % 4 : "grave." i % 3
        at = i % 5 == 1 || i % 5 == 2 ? sprintf(",\"at\":%.3f", 4000000000 + (total - i) / 8) : ""
        printf "{\"queue\":\"m\",\"id\":\"j%d\",\"priority\":%d%s,\"document\":", i, i % 3 - 1, at
        printf "{\"type\":\"%s\", \"payload\":{\"tenant\":%d,\"n\":%d,\"deep\":[{\"s\":\"x%d\"}]}}}\n",
            type, i % 10, i, i % 50
    }
}' </dev/null >"$work/lines"
later push --file "$work/lines" >/dev/null
is "$(later size m | cut -f 2-5)" "$(printf '%d\t%d\t0\t0' $((total * 3 / 5)) $((total * 2 / 5)))" \
    "$total jobs"

# ids AWK-CONDITION: the ids of those that meet it, given n, the number; sorted.
ids()
{
    awk -v total="$total" "BEGIN { for (n = 0; n < total; n++) if ($1) print \"j\" n }" </dev/null | sort
}

# there STATE: the ids in that state.
there()
{
    if [ "$1" = ready ]; then
        redis ZRANGE 'later:{m}:ready' 0 -1
    else
        redis --raw ZRANGE "later:{m}:$1" 0 -1
    fi | grep . | sort
}

# exactly NAME FILE AWK-CONDITION: the file has exactly those ids.
exactly()
{
    ids "$3" >"$work/wanted"
    is "$(cmp "$work/wanted" "$2" 2>&1 | head -c 200)" "" "$1: exactly those ($(wc -l <"$work/wanted"))"
}

grave='n % 5 > 2' plan='(n % 5 == 1 || n % 5 == 2)'

later bury -q m --type 'grave.*' --state ready --yes >"$work/count"
is "$(cat "$work/count")" $((total * 2 / 5)) "bury --type: it tells how many"
there dead >"$work/dead"
exactly "bury --type" "$work/dead" "$grave"
contains "$(later show j3 -q m --json)" '"kind":"buried","text":"by hand"' "the reason is kept"

# Attempts and errors as workers leave them, and some old ones.
redis EVAL '
    local kinds, ids = { "retry", "timeout", "crash" }, redis.call("ZRANGE", KEYS[1], 0, -1)
    for _, id in ipairs(ids) do
        local n = tonumber(string.sub(id, 2))
        redis.call("HSET", KEYS[2], id, string.format(
            "a=%d\n%se={\"at\":%d,\"attempt\":%d,\"kind\":\"%s\",\"text\":\"error %d of %d\",\"host\":\"h\"}\n",
            n % 7, n % 3 == 1 and "" or "p=" .. n % 3 - 1 .. "\n", ARGV[1] - 5, n % 7, kinds[n % 3 + 1], n % 11, n))
        if n % 2 == 0 then redis.call("ZADD", KEYS[1], ARGV[1] - 7200 - n / 1000, id) end
    end' 2 'later:{m}:dead' 'later:{m}:records' "$(redis TIME | head -n 1)" >/dev/null

# ---- what a look costs

# worked: prints how many seconds Redis has worked.
worked()
{
    redis INFO cpu | awk -F : '/^used_cpu_(sys|user):/ { sum += $2 } END { print sum }'
}
# look: counts jobs that no job matches. $share is the share of Redis's time that it took, in
# percent. The slower the machine is, the more often it rests, and asks Redis before and after that
# how long it has worked; $calls are the other commands.
look()
{
    redis CONFIG RESETSTAT >/dev/null
    before="$(date +%s.%N) $(worked)"
    found=$(later search --count -q m --type 'none.*')
    after="$(date +%s.%N) $(worked)"
    calls=$(redis INFO commandstats | awk -F '[=,]' '!/^cmdstat_(info|ping):/ { sum += $2 } END { print sum }')
    share=$(echo "$before $after" | awk '{ printf "%.0f", 100 * ($4 - $2) / ($3 - $1) }')
    took=$(echo "$before $after" | awk '{ printf "%.1f s, Redis worked %.2f s", $3 - $1, $4 - $2 }')
}
if [ "$redis_kind" = single ]; then
    look
    run test "$found" -eq 0 -a "$calls" -lt $((total / 40))
    is "$status" 0 "a look at $total jobs takes $calls commands"
    turns=1 # a short look may have ended in the middle of a burst
    while [ "$share" -gt 15 ] && [ "$turns" -lt 5 ]; do
        look
        turns=$((turns + 1))
    done
    run test "$share" -le 15 # this includes what the test itself asks
    is "$status" 0 "and a tenth of Redis's time, or little more: $took, $share %"
fi

like "$(on_terminal "$later_bin search --count -q m --type 'none.*'" | cat -v)" '\[#* *\] +[0-9]+ %  [0-9]+ jobs  [0-9]+/s' \
    "on a terminal: how far it is"

spawn "$later_bin" work m -- true

# ---- looking

# exported STATE NAME AWK-CONDITION OPTION...: later export writes exactly those jobs.
exported()
{
    state=$1 name=$2 condition=$3
    shift 3
    "$later_bin" export -q m --state "$state" "$@" 2>"$work/err" |
        sed 's/^{"queue":"m","id":"\([^"]*\)".*/\1/' | sort >"$work/got"
    exactly "export $name" "$work/got" "$condition"
}

exported dead '--kind' "$grave && n % 3 == 1" --kind timeout
exported dead '--error' "$grave && n % 11 == 4" --error '^error 4 of [0-9]+$'
exported dead '--attempts' "$grave && n % 7 > 4" --attempts '>4'
exported dead '--older' "$grave && n % 2 == 0" --older 1h
exported dead '--newer and --type' "$grave && n % 2 == 1 && n % 3 == 2" --newer 1h --type 'grave.2'
exported delayed '--where' "$plan && n % 10 == 6 && n % 50 == 16" \
    --where payload.tenant=6 --where payload.deep.0.s=x16
exported delayed '--text' "$plan && n % 50 == 7" --text '"x7"'
is "$(later export -q m --state delayed -n 5 | wc -l)" 5 "export -n writes that many lines"
is "$(later search --count -q m --where payload.deep.0.s=x7)" "$(ids "($grave || $plan) && n % 50 == 7" | wc -l)" \
    "count, in all states"

# ---- a dry run

run later cancel -q m --state delayed --type plan.1 --dry-run
is "$status $out $(later size m | cut -f 3)" "0 $(ids "$plan && n % 4 == 1" | wc -l) $((total * 2 / 5))" \
    "a dry run tells how many, and does nothing"

# ---- acting

later kick -q m --state dead --kind crash --attempts '<=2' --yes >"$work/count"
exactly_kicked="$grave && n % 3 == 2 && n % 7 <= 2"
is "$(cat "$work/count")" "$(ids "$exactly_kicked" | wc -l)" "kick: how many"
there dead >"$work/dead"
exactly "kick leaves" "$work/dead" "$grave && !($exactly_kicked)"
later cancel -q m --state dead --older 1h --type grave.1 --yes >"$work/count"
purged="$grave && n % 2 == 0 && n % 3 == 1"
is "$(cat "$work/count")" "$(ids "$purged" | wc -l)" "purge: how many"
there dead >"$work/dead"
exactly "purge leaves" "$work/dead" "$grave && !($exactly_kicked) && !($purged)"
later cancel -q m --where payload.tenant=2 --state delayed --yes >"$work/count"
is "$(cat "$work/count")" "$(ids "$plan && n % 10 == 2" | wc -l)" "cancel: how many"
later bury -q m --state delayed --text '"n":7,' --yes >/dev/null
later kick -q m --state delayed --where payload.n=11 --yes >/dev/null
there delayed >"$work/delayed"
exactly "cancel, bury and kick leave" "$work/delayed" "$plan && n % 10 != 2 && n != 7 && n != 11"
is "$(later show j7 -q m | cut -f 2)" dead "the buried one is dead"

# ---- the workers were busy all the time

performs() { [ "$(redis HGET 'later:{m}:stats' 'done')" -ge 1 ]; }
wait_until 20 performs
run gone "$spawned"
is "$status" 1 "the workers still run"
kill "$spawned"
wait_until 40 gone "$spawned"
like "$(redis HGET 'later:{m}:stats' 'done')" '^[1-9]' "the workers have performed jobs meanwhile"
is "$(later check m | cut -f 3 | sort -u)" ok "later check holds after exporting beside a worker"

# ---- export and push again: the same bytes, ids, times, priorities

# print_of STATE: id, time (if delayed), priority and document of all jobs in that state.
print_of()
{
    redis EVAL '
        local list, n = {}, 0
        local all = redis.call("ZRANGE", KEYS[1], 0, -1, "WITHSCORES")
        for i = 1, #all, 2 do
            n = n + 1
            list[n] = table.concat({ all[i], ARGV[1] == "delayed" and all[i + 1] or "",
                string.match(redis.call("HGET", KEYS[2], all[i]) or "", "p=[^\n]*") or "",
                redis.call("HGET", KEYS[3], all[i]) }, " ")
        end
        table.sort(list)
        return { n, redis.sha1hex(table.concat(list, "\n")) }' \
        3 "later:{m}:$1" 'later:{m}:records' 'later:{m}:jobs' "$1" | tr '\n' ' '
}
before="$(print_of delayed)$(print_of dead)"
for state in delayed dead; do
    later export -q m --state "$state" >"$work/$state.ndjson"
    later cancel -q m --state "$state" --yes >/dev/null
done
is "$(later size m | cut -f 3,5)" "$(printf '0\t0')" "exported and purged"
later cancel -q m --state ready --yes >/dev/null
later push --file "$work/delayed.ndjson" >/dev/null
delayed=$(print_of delayed)
later push --file "$work/dead.ndjson" >/dev/null
later bury -q m --state ready --yes >/dev/null
is "$delayed$(print_of dead)" "$before" "and pushed again: the same bytes, ids, times, priorities"
is "$(later check m | cut -f 3 | sort -u)" ok "later check holds after acting beside a worker"

# ---- all queues; a rate; only jobs that are where they were seen; ^C

for i in 1 2 3; do
    later push mail '{"tenant":7}' --id "a$i" -q "all$i" >/dev/null
    later push mail '{"tenant":8}' --id "b$i" -q "all$i" >/dev/null
done
is "$(later search --count --all-queues --type mail --where payload.tenant=7)" \
    "$(printf 'all1\t1\nall2\t1\nall3\t1')" "count --all-queues prints a row a queue"
is "$(later bury --all-queues --type mail --where payload.tenant=7 --yes --json)" \
    "$(printf '{"queue":"all%d","buried":1}\n' 1 2 3)" "bury --all-queues --json"
later push t -q run --id r1 >/dev/null
later push t -q run --id r2 >/dev/null
later reserve run -n 1 >"$work/held"
is "$(later cancel -q run --type t --yes)" 2 "cancel takes a running one, too"
run later ack r1 --token "$(cut -f 2 "$work/held")" -q run
is "$status" 77 "whose token is worth nothing then"
is "$(later check run | cut -f 3 | sort -u)" ok "later check holds after cancelling running jobs"

# put_off QUEUE COUNT: so many delayed jobs.
put_off()
{
    yes '{"type":"t","in":3600}' | head -n "$2" | later push --file - -q "$1" >/dev/null
}
put_off slow 40
kicked()
{
    [ "$(redis ZCARD "later:{$1}:ready")" -ge 2 ]
}
spawn "$later_bin" kick -q slow --all --rate 4 --yes # nine seconds from the second job to the last,
wait_until 20 kicked slow
kill -STOP "$spawned" # and it stands still while others act
id=$(redis ZRANGE 'later:{slow}:delayed' 0 -1 | tail -n 1)
later cancel "$id" -q slow >/dev/null
redis ZADD 'later:{slow}:delayed' XX 4000000000 "$(redis ZRANGE 'later:{slow}:delayed' 0 -1 | tail -n 1)" >/dev/null
kill -CONT "$spawned"
wait_until 40 gone "$spawned"
is "$(cat "$work/spawned.out")" 38 "those that went elsewhere meanwhile are left alone"
like "$(cat "$work/spawned.err")" '2 left alone: no longer where they were' "jobs that have moved are told of"
put_off stop 400
spawn env --default-signal=INT "$later_bin" kick -q stop --all --rate 4 --yes
wait_until 20 kicked stop
kill -INT "$spawned"
wait "$spawned"
is $? 75 "^C: status 75"
like "$(cat "$work/spawned.err")" "stopped: $(redis ZCARD 'later:{stop}:ready') of 400 kicked" \
    "after ^C kick says how far it came"

# purge without conditions, which does not look first
awk 'BEGIN { for (i = 0; i < 1200; i++) print "{\"type\":\"t\",\"queue\":\"much\"}" }' </dev/null >"$work/lines"
later push --file "$work/lines" >/dev/null
if [ "$redis_kind" = single ]; then
    # held_up: does a script wait?
    held_up()
    {
        redis CLIENT LIST | grep 'cmd=evalsha' | grep -q 'flags=b'
    }
    redis CLIENT PAUSE 60000 WRITE >/dev/null
    spawn env --default-signal=INT "$later_bin" cancel -q much --state ready --yes
    wait_until 20 held_up
    # It waits for its answer for five seconds. It stands still until that is there, however long this takes.
    kill -STOP "$spawned"
    kill -INT "$spawned"
    redis CLIENT UNPAUSE >/dev/null
    goes_on() { ! held_up; }
    wait_until 20 goes_on
    kill -CONT "$spawned"
    wait "$spawned"
    is $? 75 "cancel, ^C: status 75"
    left=$(redis ZCARD 'later:{much}:ready')
    words="stopped: $((1200 - left)) of 1200 cancelled"
    [ "$left" -lt 1200 ] || words='stopped(; nothing was done|: 0 of 1200 cancelled)' # it asks for the size first
    like "$(cat "$work/spawned.err")" "^later cancel: $words\$" "after ^C each verb says how far it came"
    run test "$left" -ge 700
    is "$status" 0 "which is one call, or none"
fi
later cancel -q much --state ready --yes >/dev/null
is "$(later size much | cut -f 2)" 0 "and all of them"
is "$(later export -q m --state delayed --dry-run) $(later export -q m --state delayed -n 7 --dry-run --json)" \
    "$(redis ZCARD 'later:{m}:delayed') {\"count\":7}" "export --dry-run only counts"

# ---- asks a program, which answers by a line

later push t -q asked --id a1 --in 1h >/dev/null
later push t -q asked --id a2 --in 1h >/dev/null
# asked ANSWER: what kick says, and how it exits, if it is answered so.
asked()
{
    run_with "$1" kick -q asked --all --json --ask line
}
run_with() # INPUT ARGUMENT...: as run, with this on standard input
{
    input=$1
    shift
    out=$(printf '%b' "$input" | later "$@" 2>"$work/asked.err")
    status=$?
    err=$(cat "$work/asked.err")
}
for answer in 'no\n' 'yes' '' 'yes \n' 'yesterday\n' '\n'; do
    asked "$answer"
    is "$status $err $out" '75 later kick: nothing was done {"searched":2,"of":2,"found":2,"asks":"Kick 2 delayed jobs of queue asked"}' "another answer than yes: nothing is done"
done
mkfifo "$work/answer"
"$later_bin" kick -q asked --all --json --ask line <"$work/answer" >"$work/asked" 2>"$work/asked.err" &
asks=$!
own "$asks"
exec 4>"$work/answer"
wait_until 60 grep -q asks "$work/asked"
later push t -q asked --id a3 --in 1h >/dev/null # after the walk
kill "$asks"
wait "$asks"
is "$? $(later size asked | cut -f 2-3)" "75 $(printf '0\t3')" "TERM while it asks: nothing is done"
exec 4>&-
: >"$work/asked" # before the next one is waited for
"$later_bin" kick -q asked --all --json --ask line <"$work/answer" >"$work/asked" 2>"$work/asked.err" &
asks=$!
own "$asks"
exec 4>"$work/answer"
wait_until 60 grep -q asks "$work/asked"
later push t -q asked --id a4 --in 1h >/dev/null
later cancel a2 -q asked >/dev/null
echo yes >&4
wait "$asks"
is "$? $(tail -n 1 "$work/asked") $(cat "$work/asked.err")" '0 {"queue":"asked","kicked":2} later kick: 1 left alone: no longer where they were' "yes: those that it has counted, if they are still there"
exec 4>&-
is "$(later size asked | cut -f 2-3)" "$(printf '2\t1')" "and no others"
is "$(printf '%s\n' '["kick","-q","asked","--all","--json","--ask","line"]' yes '["size","--names"]' | later serve | sed 's/^\x1e/end /' | head -n 3)" \
    '{"searched":1,"of":1,"found":1,"asks":"Kick 1 delayed jobs of queue asked"}
{"queue":"asked","kicked":1}
end {"status":0,"words":""}' "later serve passes the answer on"
run_with '' kick -q asked --all --json --ask line
is "$status $out" '0 {"queue":"asked","kicked":0}' "of none it asks nothing"

# ---- refused

# refuses WORDS ARGUMENTS...: exits with 64 and this message
refuses()
{
    words=$1
    shift
    run later "$@"
    is "$status" 64 "$*: status 64"
    contains "$err" "$words" "a refusal says why"
}
refuses 'of a delayed job only the time' cancel -q m --state delayed --older 1h
refuses 'is not one of dead, delayed' kick -q m --state ready
refuses 'is not one of ready, delayed' bury -q m --state dead
refuses '--state is missing' export -q m --type t
refuses '--state: given twice' search --count -q m --state dead --state dead
refuses '--not: older:1h is not NAME:VALUE' search --count -q m --not older:1h
refuses 'which queue? -q Q, or -A for all' search --count
refuses 'which queue? -q Q, or -A for all' cancel --state dead --yes
refuses '-q is one queue, -A all of them' search --count -q m -A
refuses 'there are too many words, from `n` on; one with spaces wants quotes' search m n --type a
refuses 'There is no terminal to ask on: add --yes' cancel -q m --type 'grave.*'
refuses '--ask goes with --json' cancel -q m --type 'grave.*' --ask line
refuses '--ask: page is not `line`' cancel -q m --type 'grave.*' --ask page --json
refuses 'name jobs by ID, or give -q or -A and a condition' cancel
refuses 'name jobs by ID, or give -q or -A and a condition' cancel -q m
refuses 'name jobs by ID, or give -q or -A and a condition' kick -A --yes
later push t -q here --id alone >/dev/null
later push t -q there --id other --in 1h >/dev/null
for verb in kick bury cancel; do
    refuses 'a condition is missing' "$verb" alone -q here --dry-run
    refuses 'a condition is missing' "$verb" other -q there --rate 5
    refuses 'alone is the id of a job' "$verb" alone -q here --type t --yes
done
is "$(later size here there | cut -f 2-5)" "$(printf '1\t0\t0\t0\n0\t1\t0\t0')" "and nothing happens to those jobs"
finish
