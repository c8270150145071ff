#!/bin/sh
# later export, and later push --file of what it wrote: bytes, ids, times and priorities come back.
# Lines that would lose data are refused.
. "${top_srcdir:=.}/tests/system/lib.sh"
start_redis 'appendonly no'

# jobs QUEUE STATE: what the state holds, in order, without the times of ready jobs
jobs()
{
    later peek "$1" --state "$2" -n 100000 --json |
        sed 's/"attempts":[0-9]*/"attempts":N/; s/"error":.*,"document"/"error":E,"document"/' |
        if [ "$2" = delayed ]; then cat; else sed 's/"score":[0-9.-]*/"score":S/'; fi
}

# ---- a mistake that once lost data: `later peek --json` into `later push --file`

later push hello '[1]' --id precious -q lost --in 1h >/dev/null
later peek lost --state delayed --json >"$work/peeked"
run later push --file "$work/peeked" -q lost2
is "$status" 65 "a line of later peek --json is refused"
like "$err" 'line 1: document: is a string, as `later peek` and `show` print it; `later export`' \
    "and it is said what to do"
printf '%s\n' '{"type":"t","state":"delayed"}' '{"type":"t","queue":"lost2","id":"x","document":{}}' \
    '{"document":{"type":"t"},"score":5}' >"$work/mistakes"
run later push --file "$work/mistakes" -q lost2
is "$status" 65 "so are others that look like it"
is "$(printf '%s\n' "$err" | grep -c 'later export')" 1 "a line with a state is refused"
like "$err" 'line 2: type: unknown beside a document' "a type beside a document"
like "$err" 'line 3: score: unknown beside a document' "a score beside a document"
run later size lost2
is "$status" 66 "nothing of it was pushed: there is no such queue"

# ---- export, and push again

later push a '{"n":  12345678901234567890, "x":[1.50,"\u00e9"]}' --id d1 -q q --in 2h --priority 7 >/dev/null
later push b --id d2 -q q --at 2096-01-01T00:00:00.123456Z >/dev/null
redis EVAL 'redis.call("HSET", KEYS[1], ARGV[1], ARGV[2]) redis.call("ZADD", KEYS[2], 4000000000.5, ARGV[1])' 2 \
    'later:{q}:jobs' 'later:{q}:delayed' lines "$(printf '{"type":"b",\n"payload":\n[]}')" >/dev/null
redis EVAL 'redis.call("HSET", KEYS[1], ARGV[1], ARGV[2]) redis.call("ZADD", KEYS[2], 4000000001, ARGV[1])' 2 \
    'later:{q}:jobs' 'later:{q}:delayed' spaces ' {"id":"another","priority":3, "type":"b"} ' >/dev/null
redis HINCRBY 'later:{q}:stats' pushed 2 >/dev/null
for i in 3 1 2; do
    later push r "$i" --id "r$i" -q q --priority "$i" >/dev/null
done
printf '{"type":"f","id":"f1","queue":"q","in":0,"mine":true}\n' | later push --file - >/dev/null
redis ZADD 'later:{q}:ready' 0 '{"type":"plain"}' >/dev/null
later push dead --id dead1 -q dead --priority -4 >/dev/null
later bury dead1 --token "$(later reserve dead | cut -f 2)" -q dead --error 'no'

jobs q delayed >"$work/delayed"
jobs q ready >"$work/ready"
jobs dead dead >"$work/dead"
run later export -q q --state delayed
is "$status $err" "0 " "export --state delayed"
is "$(printf '%s\n' "$out" | head -n 1 | sed 's/"at":[0-9.]*/"at":T/')" \
    '{"queue":"q","id":"d1","at":T,"priority":7,"document":{"type":"a","id":"d1","priority":7,"payload":{"n":  12345678901234567890, "x":[1.50,"\u00e9"]}}}' \
    "a line: queue, id, at, priority, the document's own bytes"
is "$(printf '%s\n' "$out" | grep -c document_base64)" 2 "base64 where bytes cannot stand in a line"
later export -q q --state delayed >"$work/lines"
later export -q q --state ready >>"$work/lines"
later export -q dead --state dead >"$work/dead.lines"
is "$(wc -l <"$work/lines")" 9 "a job a line"
is "$(later size q | cut -f 2,3)" "$(printf '5\t4')" "exporting changes nothing"

for state in delayed ready; do
    later cancel -q q --state $state --yes >/dev/null
done
later cancel -q dead --state dead --yes >/dev/null
run later push --file "$work/lines" --json
is "$status $(printf '%s\n' "$out" | grep -c '"queue":"q".*"result":"pushed"')" "0 9" \
    "all exported lines are pushed again"
jobs q delayed | diff - "$work/delayed" >"$work/diff"
is "$? $(cat "$work/diff")" "0 " "delayed: the same ids, times, priorities, bytes"
# A job that was its own document now has an id: the one that it would have been adopted under.
sha=$(printf '{"type":"plain"}' | sha1sum | cut -d' ' -f 1)
jobs q ready | sed "s/\"$sha\"/null/" | sort >"$work/again"
sort "$work/ready" | diff - "$work/again" >"$work/diff"
is "$? $(cat "$work/diff")" "0 " "ready: the same ids, priorities, bytes"
is "$(jobs q ready | field id | grep -v "$sha" | tr '\n' ' ')" "r3 r2 r1 f1 " "in the same order"
run later push --file "$work/lines"
like "$err" '0 pushed, 0 replaced, 9 existed' "a second time they exist"
run later push --file "$work/dead.lines"
is "$status $out" "0 dead1" "what is dead"
is "$(jobs dead ready | sed 's/"state":"ready"/"state":"dead"/; s/"error":[^,]*/"error":E/')" \
    "$(sed 's/"error":[^,]*/"error":E/' "$work/dead")" "an exported dead job begins anew"
run later check
is "$status" 0 "later check adds up"

# ---- a shard; ids that stay taken; a job that is to follow another one

redis SET 'later:{ev}:shards' '1 2' >/dev/null
later push t -q ev --id e1 >/dev/null
part=$(redis --raw ZSCORE 'later:{ev/0}:ready' e1)
is "$(later export -q "ev/$([ -n "$part" ]; echo $?)" --state ready)" \
    '{"queue":"ev","id":"e1","priority":0,"document":{"type":"t","id":"e1"}}' "a line of a shard goes to its queue"

later push t -q stay --id u --unique-for 7200 --in 1h >/dev/null
later push t -q stay --id d --throttle 4000000 --in 1h >/dev/null
later push old -q stay --id s >/dev/null
later reserve stay >"$work/held"
later push new '"100%"' -q stay --id s --again --priority 4 --unique-for 60 2>/dev/null >/dev/null
later release s --token "$(cut -f 2 "$work/held")" -q stay --in 1h
later export -q stay --state delayed >"$work/lines"
until=$(noted d d stay)
is "$(field type <"$work/lines" | tr '\n' ' ')" "t t old new " "a job and the one that is to follow it are two lines"
later cancel -q stay --state delayed --yes >/dev/null
later push --file "$work/lines" >/dev/null 2>&1
is "$(noted u u stay) $(echo "$until $(noted d d stay)" | awk '{ print ($2 - $1 > -1 && $2 - $1 < 3600) }')" "7200.000000 1" \
    "ids stay taken as long as they would have"
is "$(later show s -q stay --json | field type) $(noted p s stay) $(noted u s stay)" "new 4 60.000000" \
    "the one that is to follow takes the place of the other"

# ---- what cannot be pushed

redis ZADD 'later:{odd}:delayed' 1e300 far >/dev/null
redis HSET 'later:{odd}:jobs' far '{"type":"t"}' >/dev/null
redis ZADD 'later:{odd}:delayed' 4000000000 bad 4000000001 'no json' 4000000002 '{"type":"t","n":1}' >/dev/null
redis HSET 'later:{odd}:jobs' bad 'not JSON' >/dev/null
run later export -q odd --state delayed
is "$status $out" "65 {\"queue\":\"odd\",\"id\":\"$(printf '{"type":"t","n":1}' | sha1sum | cut -d' ' -f 1)\",\"at\":4000000002,\"priority\":0,\"document\":{\"type\":\"t\",\"n\":1}}" \
    "a plain job keeps its time; what could not be pushed is left out"
is "$(printf '%s\n' "$err" | sed 's/left out: document: .*/left out: document/; s/[0-9a-f]\{40\}/SHA/')" \
    "later export: bad: left out: document
later export: SHA: left out: document
later export: far: left out: it is due at a time that cannot be pushed
later export: 1 exported, 3 left out" "and each is named: no JSON, and a time beyond all"
run later export -q odd
is "$status" 64 "--state must be said"
like "$err" '--state is missing: ready, delayed, dead, waiting or done' "a missing --state is named"
run later export -q odd --state reserved
is "$status" 64 "what is reserved is somebody's"

# ---- many jobs, with equal and different scores, while others come and go

redis EVAL 'for i = 1, 2500 do
    local id = string.format("id%04d", i * 7919 % 2500)
    redis.call("ZADD", KEYS[1], i % 5 == 0 and i or 7, id)
    redis.call("HSET", KEYS[2], id, "{\"type\":\"n\",\"payload\":" .. i .. "}")
end' 2 'later:{many}:ready' 'later:{many}:jobs' >/dev/null
later export -q many --state ready >"$work/lines"
is "$(wc -l <"$work/lines") $(field id <"$work/lines" | sort -u | wc -l)" "2500 2500" \
    "export of more jobs than a page, each once"
is "$(sed 's/.*"id":"\([^"]*\)".*/\1/' "$work/lines" | md5sum)" \
    "$(redis ZRANGE 'later:{many}:ready' 0 -1 | md5sum)" "in the order of the queue"
# The output goes to a slow reader. Meanwhile every third job goes, and others come before those
# that are left.
mkfifo "$work/fifo"
"$later_bin" export -q many --state ready >"$work/fifo" &
exporter=$!
own "$exporter"
exec 3<"$work/fifo"
read -r first <&3
redis EVAL 'for i = 0, 2499, 3 do redis.call("ZREM", KEYS[1], string.format("id%04d", i)) end
    for i = 1, 30 do redis.call("ZADD", KEYS[1], 7, "a" .. i) redis.call("ZADD", KEYS[1], 1, "b" .. i) end' \
    1 'later:{many}:ready' >/dev/null
{
    printf '%s\n' "$first"
    cat <&3
} | field id >"$work/ids"
wait "$exporter"
is "$?" 0 "while the queue is in use"
redis ZRANGE 'later:{many}:ready' 0 -1 | grep '^id' | sort >"$work/stayed"
is "$(sort -u "$work/ids" | comm -23 "$work/stayed" - | wc -l)" 0 "what stays is exported"
is "$(grep '^id' "$work/ids" | sort | uniq -d | wc -l)" 0 "no job is exported twice while the queue is in use"
finish
