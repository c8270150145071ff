#!/bin/sh
# later push --flow, later flow: files of jobs that wait for each other, and what becomes of them.
. "${top_srcdir:=.}/tests/system/lib.sh"
needs redis-server redis-cli
start_redis 'appendonly yes'

# field NAME FLOW: a number, or the state, of a flow.
field()
{
    later flow --json | sed -n "s/.*\"flow\":\"$2\".*\"$1\":\"\{0,1\}\([a-z0-9]*\).*/\1/p"
}

# one: the next job is done; prints its id.
one()
{
    line=$(later reserve default) || return 1
    later ack "$(echo "$line" | cut -f 1)" --token "$(echo "$line" | cut -f 2)" -q default >/dev/null
    echo "$line" | cut -f 1
}

# ---- extract, two transforms, load

cat >"$work/etl" <<'END'
{"type":"null","step":"load","after":["a","b"]}
{"type":"null","step":"a","after":["extract"]}
{"type":"null","step":"b","after":["extract"]}
{"type":"null","step":"extract"}
{"type":"null","step":"sorry","after":["load"],"when":"failed"}
{"type":"null","step":"last","after":["*"],"when":"ended"}
{"type":"null"}
END
is "$(later push --flow etl --file "$work/etl" | sort | tr '\n' ' ')" \
    "etl.a etl.b etl.extract etl.last etl.load etl.sorry etl:7 " "push: all ids"
is "$(later flow --json | sed 's/,"made.*//')" \
    '{"queue":"default","flow":"etl","state":"running","closed":true,"total":7,"open":2,"waiting":5,"dead":0,"done":0,"gone":0,"skipped":0' \
    "the list: two are ready"
is "$(later size default --json | sed 's/.*"ready":\([0-9]*\).*"waiting":\([0-9]*\).*/\1 \2/')" "2 5" "size"
is "$(later flow show etl | cut -f 1-3 | tr '\t\n' ',;')" \
    "1,extract,open;1,,open;2,a,waiting;2,b,waiting;3,load,waiting;4,sorry,waiting;5,last,waiting;" \
    "show: level by level"
is "$(later peek default --state waiting | wc -l | tr -d ' ')" 5 "peek --state waiting"
run later push --flow etl --file "$work/etl"
is "$status $err" "0 later push: flow etl: 0 pushed, 7 existed" "the same again adds nothing"
is "$(one) $(one)" "etl.extract etl:7" "two run"
is "$(one) $(one)" "etl.a etl.b" "both transforms, after extract"
run later flow wait etl --timeout 0
is "$status $err" "75 later flow: etl is running; it goes on" "wait: the time is up"
is "$(one)" etl.load "load, after both"
is "$(one) $(field skipped etl)" "etl.last 1" "sorry is not needed; last is the last"
run later flow wait etl
is "$status" 0 "wait: all done"
is "$(field state etl) $(field 'done' etl)" "done 6" "the list says done"
run later push --flow etl --file "$work/etl"
is "$err" "later push: flow etl: 0 pushed, 7 existed" "what has ended is not pushed again"

# ---- a dead step blocks; kick lets it go on

printf '%s\n' '{"type":"null","step":"x"}' '{"type":"null","step":"y","after":["x"]}' >"$work/two"
later push --flow two --file "$work/two" >/dev/null
line=$(later reserve default)
later bury two.x --token "$(echo "$line" | cut -f 2)" -q default --error no >/dev/null 2>&1 ||
    later bury two.x --token "$(echo "$line" | cut -f 2)" -q default >/dev/null
is "$(field state two)" blocked "a dead step: blocked"
run later flow wait two
is "$status" 65 "wait: blocked"
is "$(later flow kick two)" 1 "kick"
is "$(one)" two.x "the step again"
is "$(one) $(field state two)" "two.y done" "the flow has gone on"

# ---- gone steps, cancel

later push --flow gone --file "$work/two" >/dev/null
later cancel gone.x >/dev/null
is "$(later show gone.y --json | grep -o 'needs step x of flow gone[^"]*')" \
    "needs step x of flow gone, which was cancelled, purged, expired or trimmed" "a gone step, and why"
is "$(later flow cancel gone)" 1 "cancel: what is left"
is "$(field state gone)" ended "ended, not done"
later push --flow all --file - <"$work/etl" >/dev/null
mkfifo "$work/pipe"
cat "$work/etl" >"$work/pipe" &
run later push --flow all --file "$work/pipe"
wait $!
like "$status $err" '^66 .*cannot be read again: .*; `-` reads a pipe' "a pipe that is not standard input"
later reserve default >/dev/null
is "$(later flow cancel all)" 7 "cancel: waiting, ready and reserved jobs"
is "$(later size default --json | sed 's/.*"ready":\([0-9]*\).*"reserved":\([0-9]*\).*"waiting":\([0-9]*\).*/\1 \2 \3/')" \
    "0 0 0" "nothing is left"

# ---- open, and closed later

printf '%s\n' '{"type":"null","step":"end","after":["*"]}' '{"type":"null"}' >"$work/some"
later push --flow batch --file "$work/some" --open >/dev/null
is "$(one) $(field state batch)" "batch:2 open" "an open flow"
is "$(one)" "" "all of none is not yet all"
later flow close batch
is "$(one)" batch.end "closed: now it is"
echo '{"type":"null","step":"late"}' >"$work/late"
run later push --flow batch --file "$work/late"
is "$status" 65 "a closed flow takes no more"
contains "$err" "flow batch is closed" "which is said"

# ---- two queues: without a laterd, news of the other one stays where it is

printf '%s\n' '{"type":"null","step":"b","after":["a"],"queue":"other"}' '{"type":"null","step":"a","queue":"home"}' \
    '{"type":"null","step":"c","queue":"home"}' >"$work/wide"
later push --flow wide --file "$work/wide" -q home >/dev/null
is "$(later flow show wide | cut -f 2-4,7 | sort | tr '\t\n' ',;')" \
    "a,open,wide.a,home;b,waiting,wide.b,other;c,open,wide.c,home;" "show: where each job lies"
run later push --flow wide --file "$work/wide" -q home
is "$err" "later push: flow wide: 0 pushed, 3 existed" "the same again adds nothing"
is "$(later size other --json | sed 's/.*"waiting":\([0-9]*\).*/\1/') $(redis ZCARD 'later:{other}:news')" "1 2" \
    "the job waits in its queue, which has told so each time"
contains "$(later show wide.b --json)" "waits for" "show: what it waits for, in another queue"
is "$(later metrics | grep 'laterd_queue_news{queue="other"}')" 'laterd_queue_news{queue="other"} 2' "metrics count news"
contains "$(later check other)" "2 of flows, for other queues" "check counts news"
is "$(later flow cancel wide)" 3 "cancel: jobs of both queues"
run later forget other
is "$status" 75 "a queue with news is not forgotten"
contains "$err" "has news of flows for other queues; let a laterd serve it once more" "which is said"
redis DEL 'later:{other}:news' >/dev/null
runs "without news it is" later forget other
later flow close wide >/dev/null
# The flow lies in the queue of the first job if -q does not say.
printf '%s\n' '{"type":"null","step":"b","after":["a"],"queue":"other"}' '{"type":"null","step":"a"}' >"$work/wide"
later push --flow wide2 --file "$work/wide" >/dev/null
contains "$(later flow --json)" '{"queue":"other","flow":"wide2"' "the first job says where a flow lies"
later flow cancel wide2 >/dev/null
redis DEL 'later:{default}:news' 'later:{other}:news' >/dev/null

# ---- many jobs: they are kicked and cancelled by hundreds, in each queue by itself

# few_calls: has this server, or node, been asked for fewer than twenty scripts since the last reset?
few_calls()
{
    redis INFO commandstats | awk -F '[=,]' '/^cmdstat_eval/ { sum += $2 } END { exit sum >= 20 }'
}
# sizes QUEUE: ready, dead, waiting
sizes() { later size "$1" --json | sed 's/.*"ready":\([0-9]*\).*"dead":\([0-9]*\).*"waiting":\([0-9]*\).*/\1 \2 \3/'; }

{
    seq 450 | sed 's/.*/{"type":"null","step":"s&"}/'
    seq 250 | sed 's/.*/{"type":"null","step":"w&","after":["s&"],"when":"failed","queue":"other"}/'
} >"$work/hundreds"
later push --flow hundreds --file "$work/hundreds" -q many >/dev/null
later bury -q many --state ready --yes >/dev/null
is "$(sizes many) $(sizes other)" "0 450 0 0 0 250" "450 are dead; nobody has told the others"
redis CONFIG RESETSTAT >/dev/null
is "$(later flow kick hundreds)" 450 "kick: each of them"
runs "in few calls" few_calls
is "$(sizes many)" "450 0 0" "all are ready"
redis CONFIG RESETSTAT >/dev/null
is "$(later flow cancel hundreds)" 700 "cancel: in both queues"
runs "in few calls" few_calls
is "$(sizes many) $(sizes other)" "0 0 0 0 0 0" "nothing is left"
is "$(redis HGET 'later:{other}:stats' buried_waiting)" "" "and none of those that waited has moved before"
later check many other >/dev/null
is "$?" 0 "the sums hold"
redis DEL 'later:{many}:news' 'later:{other}:news' >/dev/null

# ---- what is refused, before anything is pushed

# refused NAME WORDS LINE...
refused()
{
    name=$1 words=$2
    shift 2
    printf '%s\n' "$@" >"$work/bad"
    run later push --flow bad --file "$work/bad"
    is "$status $(later flow --json | grep -c '"bad"')" "65 0" "$name: nothing is pushed"
    contains "$err" "$words" "$name: why"
}
refused "a circle" 'a circle: a (line 1) waits for b (line 2) waits for a' \
    '{"type":"t","step":"a","after":["b"]}' '{"type":"t","step":"b","after":["a"]}'
refused "itself" 'a circle: a (line 1) waits for a' '{"type":"t","step":"a","after":["a"]}'
refused "an unknown step" 'line 2: after: there is no step c' '{"type":"t","step":"a"}' \
    '{"type":"t","after":["a","c"]}'
refused "a step twice" 'line 2: step: a is also the step of line 1' '{"type":"t","step":"a"}' '{"type":"t","step":"a"}'
refused "all and one of them" 'line 2: after: step z waits for all jobs, this one too' \
    '{"type":"t","step":"z","after":["*"]}' '{"type":"t","after":["z"]}'
refused "no list" 'line 1: after: must be a list of 1 to 100 steps' '{"type":"t","after":"a"}'
refused "an empty list" 'line 1: after: must be a list' '{"type":"t","after":[]}'
refused "when" 'line 1: when: must be done, ended or failed' '{"type":"t","after":["a"],"when":"never"}'
refused "when alone" 'line 1: when: needs' '{"type":"t","when":"done"}'
refused "a step's name" 'line 1: step: must be 1 to 64 letters' '{"type":"t","step":"a b"}'
refused "another flow" 'line 1: flow: is not bad' '{"type":"t","flow":"good"}'
refused "no type" 'line 1: no type' '{"step":"a"}'
refused "nothing" 'the file has no jobs' ''
run later flow show nowhere
is "$status $err" "66 later flow: no flow nowhere" "no such flow"
run later flow wait nowhere
is "$status" 66 "wait: no such flow"

refused_shard()
{
    run later push --flow f --file "$work/two" -q default/1
    is "$status" 64 "a shard: refused"
    contains "$err" 'default/1' "and named"
}
refused_shard

# ---- a job that waits is buried by hand; kick runs it

later push --flow by-hand --file "$work/two" >/dev/null
is "$(later bury by-hand.y)" "by-hand.y	waiting" "bury: one that waits"
is "$(field dead by-hand)" 1 "the flow knows"
is "$(later kick by-hand.y)" "by-hand.y	dead" "and kick revives it"
is "$(later bury -q default --state ready --yes)" 2 "bury: those that are ready"
is "$(later cancel -q default --state dead --yes)" 2 "cancel: those that are dead"

# ---- many, and the sums

{
    awk 'BEGIN { for (i = 1; i <= 3000; i++) print "{\"type\":\"null\",\"payload\":" i "}" }'
    echo '{"type":"report","step":"report","after":["*"]}'
} >"$work/many"
is "$(later push --flow many --file "$work/many" | wc -l | tr -d ' ')" 3001 "many jobs and a report"
is "$(field open many) $(field waiting many)" "3000 1" "the report waits for all"
is "$(later check default >/dev/null; echo $?)" 0 "the sums hold"

# ---- Redis goes away while two wait: for the job, until its time is up; for the flow, until Redis is back

later flow wait many --timeout 300 >"$work/waits" 2>&1 &
waiter=$!
own "$waiter"
looks()
{
    [ "$(called hmget)" -gt "$looked" ]
}
looked=$(called hmget)
wait_until 10 looks
# So that Redis goes before that time is up, and is back before the flow's wait gives up, half a minute later.
later wait many:1 -q default --timeout 15 2>"$work/lost" &
lost=$!
own "$lost"
waits()
{
    redis_all CLIENT LIST | grep -q 'flags=[a-zA-Z]*b.* cmd=blmove'
}
wait_until 10 waits
stop_redis
wait "$lost"
is "$?" 69 "wait for a job: its time is up while Redis is away"
like "$(cat "$work/lost")" 'cannot reach Redis' "and it says so"
start_redis 'appendonly yes'
is "$(later flow cancel many)" 3001 "Redis is back, and the flow is cancelled"
wait "$waiter"
is "$?" 65 "wait for a flow: it has outlasted the outage"
finish
